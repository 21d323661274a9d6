"""The commands about what students ask the staff: `glossator queue` and `glossator verified`."""

import asyncio
from typing import Annotated
from uuid import UUID

import typer

from bot.cli.course_commands import CourseArgument
from bot.cli.exits import Exit
from bot.cli.options import JsonOption, YesOption

verified_app = typer.Typer(
    no_args_is_help=True, help="List, show, judge and retire what a course's staff verified."
)
AnswerArgument = Annotated[
    UUID, typer.Argument(metavar="ID", help="Which answer; 'list' shows it.")
]
WordingArgument = Annotated[
    UUID, typer.Argument(metavar="ID", help="Which wording; 'show' lists an answer's.")
]


def queue(course: CourseArgument, as_json: JsonOption = False) -> int:
    """List the questions about a course that wait for its staff, in all workspaces."""
    from bot.cli.staff import list_queue

    return asyncio.run(list_queue(course, as_json=as_json))


@verified_app.command("list")
def verified_list(course: CourseArgument, as_json: JsonOption = False) -> int:
    """List the answers that are not retired, those to be looked at again first."""
    from bot.cli.staff import list_verified

    return asyncio.run(list_verified(course, as_json=as_json))


@verified_app.command("show")
def verified_show(answer: AnswerArgument, as_json: JsonOption = False) -> int:
    """Show an answer with what it cites, its wordings, and what changed in the book."""
    from bot.cli.staff import show_verified

    return asyncio.run(show_verified(answer, as_json=as_json))


@verified_app.command("same")
def verified_same(wording: WordingArgument) -> int:
    """Confirm that a wording asks what its answer answers: who asks it is shown the answer."""
    from bot.cli.staff import judge_wording

    return asyncio.run(judge_wording(wording, is_same=True))


@verified_app.command("other")
def verified_other(wording: WordingArgument) -> int:
    """Say that a wording asks something else: it is not proposed again."""
    from bot.cli.staff import judge_wording

    return asyncio.run(judge_wording(wording, is_same=False))


@verified_app.command("retire")
def verified_retire(answer: AnswerArgument, yes: YesOption = False) -> int:
    """Show an answer to no one any more; it is kept, with its revisions."""
    from bot.cli.staff import retire_verified

    if not yes and not typer.confirm(f"Retire {answer}?"):
        print("Nothing was retired.")
        return Exit.OK
    return asyncio.run(retire_verified(answer))
