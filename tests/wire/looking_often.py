"""The bot's command line, which looks often for sources that are due."""

import sys
from functools import partial
from unittest.mock import patch

from bot.cli import main
from bot.process import bot
from bot.process.source_renewal import SourceRenewal

_EVERY = 0.2

if __name__ == "__main__":
    with patch.object(bot, "SourceRenewal", partial(SourceRenewal, every=_EVERY)):
        sys.exit(main())
