"""The bot's command line, with the history looked through every second instead of by minutes."""

import sys
from unittest.mock import patch

from adapters.slack import catch_up
from bot.cli import main

MODULE = "tests.wire.slack.quick_looks"

if __name__ == "__main__":
    with patch.multiple(catch_up, _LOOKS_EVERY=1.0, _AWAKE_EVERY=0.2, _BETWEEN_CALLS=0.0):
        sys.exit(main())
