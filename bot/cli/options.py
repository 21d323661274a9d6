"""The options that several commands share."""

from typing import Annotated

import typer

from bot.cli.exits import UsageError


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
