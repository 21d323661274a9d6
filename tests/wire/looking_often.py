"""The bot's command line, which looks often for sources that are due."""

import sys
from functools import partial
from unittest.mock import patch

from bot import process as bot
from bot.cli import main
from bot.periodic import SourceRenewal

_EVERY = 0.2

if __name__ == "__main__":
    with patch.object(bot, "SourceRenewal", partial(SourceRenewal, every=_EVERY)):
        sys.exit(main())
