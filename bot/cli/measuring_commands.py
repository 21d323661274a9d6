"""The commands that measure a course and its use: `eval`, `usage`, `calibrate` and `radar`."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import CourseOption, GeneratorOption, JsonOption


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
        from bot.cli.proposing import generate

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
    from bot.cli.usage import usage as work

    return asyncio.run(work(days, as_json=as_json))


def calibrate(
    course: Annotated[str, typer.Argument(metavar="COURSE", help="Whose models.")],
    as_json: JsonOption = False,
) -> int:
    """Fit the marks of an embedding model or judge that are not known, on a course's own text.

    Questions are made of the course and of other texts, and claims of its sentences, as they
    stand and altered. A judging model is called about 60 times.
    """
    from bot.cli.calibrate import calibrate as work

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
    from bot.cli.radar import radar as work

    return asyncio.run(work(course, out, dark=dark))
