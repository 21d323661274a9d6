"""The commands about the database's tables and keys: `glossator db`."""

import asyncio
from typing import Annotated

import typer

from bot.cli.options import readable

db_app = typer.Typer(no_args_is_help=True, help="Prepare the database, or check it.")


@db_app.command("upgrade")
def db_upgrade() -> int:
    """Bring the database's tables up to date."""
    from bot.cli.db import upgrade

    return asyncio.run(upgrade())


@db_app.command("check")
def db_check() -> int:
    """Say whether the database's tables are up to date."""
    from bot.cli.db import check

    return asyncio.run(check())


@db_app.command("forget-key")
def db_forget_key(
    name: Annotated[str, typer.Argument(metavar="pseudonym|encryption", callback=readable)],
) -> int:
    """Let the database go on with another key, after the one of before was lost."""
    from bot.cli.db import forget_key

    return asyncio.run(forget_key(name))
