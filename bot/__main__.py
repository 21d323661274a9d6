"""The program's entry, for `python -m bot` and the console script."""

import gc
import sys

_INTERRUPTED = 130
_OBJECTS = 10_000
"""New ones after which garbage is looked for; with the usual 700, that is a tenth of a start."""


def main() -> int:
    """Run the command line and return its exit code, also when Ctrl-C comes while it loads."""
    gc.set_threshold(_OBJECTS)
    try:
        from bot.cli import main as command_line

        return command_line()
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
