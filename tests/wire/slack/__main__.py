"""A local Slack to try things in: `python -m tests.wire.slack --port 0`."""

import argparse

from tests.wire.http_shell import serve
from tests.wire.slack.server import SlackServer


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="tests.wire.slack", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    server = SlackServer(port=parser.parse_args().port)
    serve(
        server,
        lambda: (
            f"API             {server.api_url}",
            f"bot token       {server.world.installation.token}",
            f"app token       {server.world.app.app_token}",
            f"signing secret  {server.world.app.signing_secret}",
        ),
    )


if __name__ == "__main__":
    main()
