"""The command line, which `main` runs."""

from bot.cli.app import main

__all__ = ["main"]
