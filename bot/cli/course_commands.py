"""The subcommands of `glossator courses`."""

import asyncio
from typing import Annotated

import typer

from bot.cli.exits import Exit
from bot.cli.options import CourseOption, JsonOption, YesOption, readable

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
    from bot.cli.access import set_owner

    return asyncio.run(set_owner(course, owner))


@courses_app.command("grant")
def courses_grant(course: CourseArgument, tenant: TenantArgument) -> int:
    """Let a server or workspace read a course that it does not own."""
    from bot.cli.access import grant

    return asyncio.run(grant(course, tenant))


@courses_app.command("revoke")
def courses_revoke(course: CourseArgument, tenant: TenantArgument) -> int:
    """Take a grant back; within two seconds nothing of the course is shown there any more."""
    from bot.cli.access import revoke

    return asyncio.run(revoke(course, tenant))


@courses_app.command("tenants")
def courses_tenants(as_json: JsonOption = False) -> int:
    """List the servers and workspaces that let the bot in, and what they may read."""
    from bot.cli.access import list_tenants

    return asyncio.run(list_tenants(as_json=as_json))
