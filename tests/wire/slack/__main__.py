"""A local Slack to try things in: `python -m tests.wire.slack --port 0`."""

import argparse
import asyncio

from tests.wire.slack.server import SlackServer


async def serve(port: int) -> None:
    """Serve until interrupted."""
    async with SlackServer(port=port) as server:
        world = server.world
        print(f"API             {server.api_url}")
        print(f"bot token       {world.installation.token}")
        print(f"app token       {world.app.app_token}")
        print(f"signing secret  {world.app.signing_secret}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="tests.wire.slack", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    try:
        asyncio.run(serve(parser.parse_args().port))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
