"""A local Discord to try things in: `python -m tests.wire.discord --port 0`."""

import argparse

from tests.wire.discord.server import DiscordServer
from tests.wire.http_shell import serve


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="tests.wire.discord", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    server = DiscordServer(port=parser.parse_args().port)
    serve(
        server,
        lambda: (
            f"API      {server.api_url}",
            f"gateway  {server.gateway_url}",
            f"token    {server.world.application.token}",
        ),
    )


if __name__ == "__main__":
    main()
