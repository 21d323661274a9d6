"""The commands about conversations: `glossator sessions`."""

import asyncio
from typing import Annotated
from uuid import UUID

import typer

from bot.cli.exits import Exit, UsageError
from bot.cli.options import CourseFilterOption, JsonOption, YesOption

sessions_app = typer.Typer(
    no_args_is_help=True, help="List, show, export and forget conversations."
)


@sessions_app.command("list")
def sessions_list(
    course: CourseFilterOption = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 20,
    as_json: JsonOption = False,
) -> int:
    """List conversations, the latest first."""
    from bot.cli.sessions import list_sessions

    return asyncio.run(list_sessions(course, limit, as_json=as_json))


@sessions_app.command("show")
def sessions_show(session: UUID, as_json: JsonOption = False) -> int:
    """Show the turns of a conversation."""
    from bot.cli.sessions import show_session

    return asyncio.run(show_session(session, as_json=as_json))


@sessions_app.command("export")
def sessions_export() -> int:
    """Print all that is stored about this terminal's user, as JSON."""
    from bot.cli.sessions import export_sessions

    return asyncio.run(export_sessions())


@sessions_app.command("forget")
def sessions_forget(
    session: Annotated[UUID | None, typer.Argument(help="Which conversation.")] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every conversation opened on this terminal.")
    ] = False,
    yes: YesOption = False,
) -> int:
    """Delete a conversation with all its turns; before all of them go, you are asked."""
    from bot.cli.sessions import forget_session

    if (session is None) != everything:
        raise UsageError("Name one session, or give --all.")
    if everything and not yes and not typer.confirm("Delete every conversation of this terminal?"):
        print("Nothing was deleted.")
        return Exit.OK
    return asyncio.run(forget_session(session))
