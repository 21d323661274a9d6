"""The command line; `main` is the console script."""

from bot.cli.app import main

__all__ = ["main"]
