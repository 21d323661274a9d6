"""A local Discord to try things in: `python -m tests.wire.discord --port 0`."""

import argparse
import asyncio

from tests.wire.discord.server import DiscordServer


async def serve(port: int) -> None:
    """Serve until interrupted."""
    async with DiscordServer(port=port) as server:
        world = server.world
        print(f"API      {server.api_url}")
        print(f"gateway  {server.gateway_url}")
        print(f"token    {world.application.token}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="tests.wire.discord", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    try:
        asyncio.run(serve(parser.parse_args().port))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
