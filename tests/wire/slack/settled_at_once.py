"""The bot's command line, for which what was said just now stands in Slack's history at once."""

import sys
from datetime import timedelta
from unittest.mock import patch

from adapters.slack import catch_up
from bot.cli import main

if __name__ == "__main__":
    with patch.object(catch_up, "_MARGIN", timedelta(0)):
        sys.exit(main())
