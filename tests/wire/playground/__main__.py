"""`python -m tests.wire.playground`: try the bot in a browser, without a token."""

import argparse
import asyncio
import contextlib
import signal
import sys
from pathlib import Path

from core.domain.errors import BotError
from tests.wire.playground.running import OWN_DATA, Playground

_LAST_PORT = 65_535


async def serve(port: int, data_dir: Path | None) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, then stop the bot and the page."""
    stop = asyncio.Event()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        with contextlib.suppress(NotImplementedError, AttributeError):  # Windows: Ctrl-C interrupts
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), stop.set)
    async with Playground(port=port, data_dir=data_dir) as playground:
        print(f"\nOpen {playground.url} in a browser; stop with Ctrl-C.\n", flush=True)
        await stop.wait()
        print("Stopping ...", flush=True)


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="playground", description=__doc__)
    parser.add_argument("--port", type=_port, default=0, help="0: any free port")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--data-dir", type=Path, default=OWN_DATA, help="the playground's own data folder"
    )
    which.add_argument(
        "--own-courses",
        action="store_true",
        help="answer from a copy of your courses, with your settings and keys",
    )
    given = parser.parse_args()
    try:
        asyncio.run(serve(given.port, None if given.own_courses else given.data_dir))
    except OSError as error:
        sys.exit(f"playground: {error.strerror}")
    except BotError as error:
        sys.exit(f"playground: {error}")
    except KeyboardInterrupt:
        return


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {_LAST_PORT}")
    return int(text)


if __name__ == "__main__":
    main()
