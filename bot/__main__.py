"""The program's entry, for `python -m bot` and the console script."""

import sys

_INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code, also when Ctrl-C comes while it loads."""
    try:
        from bot.cli import main as command_line

        return command_line()
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
