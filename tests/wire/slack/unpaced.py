"""The bot's command line, for which Slack's minute is over at once: its pace is tried elsewhere."""

import sys
from unittest.mock import patch

from adapters.slack import client as budget
from bot.cli import main

if __name__ == "__main__":
    with patch.object(budget, "_MARGIN", 0.0), patch.object(budget, "_POSTS_EVERY", 0.0):
        sys.exit(main())
