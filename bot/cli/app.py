"""The `glossator` command: its subcommands, and one plain sentence for every failure."""

import asyncio
import difflib
import gc
import os
import re
import sys
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from adapters.chat.markdown.printable import on_one_line
from bot import __version__
from bot.cli.commands import (
    CourseOption,
    GeneratorOption,
    JsonOption,
    SectionOption,
    calibrate,
    courses_app,
    db_app,
    demo,
    evaluate,
    init,
    model_app,
    queue,
    radar,
    readable,
    sessions_app,
    usage,
    verified_app,
)
from bot.cli.exits import Exit, UsageError, exit_code, sentence_for, sentence_of_usage
from bot.wiring import handbook_folder
from core.domain.errors import BotError

app = typer.Typer(
    name="glossator",
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help=(
        "Answer questions from a course's own book, with citations that code has checked.\n\n"
        "Exit codes: 0 fine, 2 wrong usage, 3 some documents could not be read, 65 bad input data, "
        "69 a service is unavailable, 78 wrong configuration."
    ),
)
app.add_typer(sessions_app, name="sessions")
app.add_typer(courses_app, name="courses")
app.add_typer(db_app, name="db")
app.add_typer(model_app, name="model")
app.add_typer(verified_app, name="verified")
app.command()(init)
app.command()(demo)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if sys.stdout is None:  # closed by the parent process
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for our whole life
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # an old terminal's encoding is no failure
    try:
        result = app(arguments, prog_name="glossator", standalone_mode=False)
    except typer.TyperException as error:
        return _usage(error, sys.argv[1:] if arguments is None else arguments)
    except (typer.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except BotError as error:
        _complain(sentence_for(error))
        return exit_code(error)
    except BrokenPipeError:
        # The reader of our output went away; what is still buffered must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _complain(f"The output cannot be written: {error.strerror}.")
        return Exit.UNAVAILABLE
    return result if isinstance(result, int) else Exit.OK


def _complain(sentence: str) -> None:
    from bot.log import tell

    tell(on_one_line(f"glossator: {sentence}"), "ERROR")


def _usage(error: typer.TyperException, arguments: Sequence[str]) -> int:
    message = error.format_message()
    file = next((one for one in arguments if one.startswith("-") and os.path.lexists(one)), None)
    if message.startswith("Usage:"):  # a group without its command shows its help
        print(message, file=sys.stderr)
    elif message:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "glossator"
        sentence = sentence_of_usage(message, command, file)
        print(on_one_line(f"glossator: {sentence}"), file=sys.stderr)
    return error.exit_code


def _run(work: Coroutine[Any, Any, int]) -> int:
    return asyncio.run(work)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Look for no garbage: while libraries load there is none, and one answer leaves little.

    The search would take a tenth of a cold start, and as much at the end, which is near:
    what there is by then is never searched. A process that comes here again searches.
    """
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            gc.freeze()
        gc.enable()


@app.callback(invoke_without_command=True)
def _start(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        print(f"glossator {__version__}")
        raise typer.Exit


@app.command()
def ingest(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Files, folders, globs, URLs, sitemaps or git repositories "
            "(git+https://HOST/PATH@BRANCH#FOLDER); none: what glossator.toml says.",
        ),
    ] = None,
    course: Annotated[
        str | None,
        typer.Option("--course", "-c", metavar="ID", help="Into which course; made if new."),
    ] = None,
    partial: Annotated[
        bool,
        typer.Option(
            "--partial", help="Take what can be read, though most of the text files cannot."
        ),
    ] = False,
    untrusted: Annotated[
        bool,
        typer.Option(
            "--untrusted", help="Others can write these sources: name them with what they say."
        ),
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Take out the documents of all other sources: those not named here, or, where "
            "none is named, not listed in glossator.toml.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Read a book into a course; run it again whenever the book changed.

    It may be Markdown, MDX, Quarto, R Markdown, MyST, reStructuredText, LaTeX, HTML, PDF, EPUB,
    Word, PowerPoint, Jupyter notebooks, subtitles or plain text; and with the program pandoc
    OpenDocument, RTF, Org, AsciiDoc, Typst, DocBook, JATS, FictionBook, MediaWiki or Textile.

    A table says of every file that was left out why it was. Where fewer than half of the text
    files can be read, nothing is changed and the exit code is 65, unless --partial is given;
    GLOSSATOR_INGEST__LEAST_SHARE changes that share.
    """
    with _without_collecting():
        from bot.cli.ingest import ingest as work

    return _run(
        work(
            sources or [],
            course,
            partial=partial,
            untrusted=untrusted,
            replace=replace,
            as_json=as_json,
        )
    )


@app.command()
def ask(
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION",
            callback=readable,
            help="Your question; not needed with a quote.",
        ),
    ] = None,
    course: CourseOption = None,
    quote: Annotated[
        str | None,
        typer.Option(
            "--quote", "-q", metavar="TEXT", callback=readable, help="A passage to explain."
        ),
    ] = None,
    quote_file: Annotated[
        Path | None,
        typer.Option("--quote-file", metavar="FILE", help="A file with the passage to explain."),
    ] = None,
    section: SectionOption = None,
    session: Annotated[
        UUID | None,
        typer.Option("--session", "--session-id", metavar="UUID", help="Continue a conversation."),
    ] = None,
    generator: GeneratorOption = None,
    evidence: Annotated[
        bool,
        typer.Option("--evidence", help="Print the words that the answer rests on, too."),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Ask one question and print the answer with its citations."""
    with _without_collecting():
        from bot.cli.ask import AskArguments
        from bot.cli.ask import ask as work

        if quote is not None and quote_file is not None:
            raise UsageError("Give --quote or --quote-file, not both.")
        asked = AskArguments(question, course, quote, quote_file, section, session)
        return _run(work(asked, generator=generator, as_json=as_json, evidence=evidence))


@app.command()
def chat(
    course: CourseOption = None,
    session: Annotated[
        UUID | None,
        typer.Option("--session", "--session-id", metavar="UUID", help="Continue a conversation."),
    ] = None,
    generator: GeneratorOption = None,
) -> int:
    """Hold a conversation; /help inside explains its commands."""
    from bot.cli.ask import chat as work

    return _run(work(course, session, generator=generator))


@app.command()
def search(
    query: Annotated[
        str, typer.Argument(metavar="QUERY", callback=readable, help="What to look for.")
    ],
    course: CourseOption = None,
    section: SectionOption = None,
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", min=1, max=20, help="How many passages at most.")
    ] = 5,
    as_json: JsonOption = False,
) -> int:
    """Show the passages that a question finds, without an answer."""
    from bot.cli.ask import search as work

    return _run(work(query, course, section, top_k, as_json=as_json))


app.command(name="eval")(evaluate)
app.command()(usage)
app.command()(calibrate)
app.command()(radar)


@app.command()
def doctor(
    live: Annotated[
        bool,
        typer.Option("--live", help="Also have Slack judge one of everything the bot can show."),
    ] = False,
) -> int:
    """Check settings, database, index and model, and say what to do."""
    from bot.cli.doctor import doctor as work

    return _run(work(live=live))


@app.command()
def run() -> int:
    """Start the chat platforms that are configured, and answer until Ctrl-C or SIGTERM."""
    from bot.cli.setup import run as work

    return _run(work())


@app.command(name="slack-manifest")
def print_slack_manifest() -> int:
    """Print the manifest of the Slack app, with the names that the commands are set to have."""
    from bot.cli.setup import slack_manifest as work

    return work()


@app.command(name="help")
def print_page(
    page: Annotated[
        str | None,
        typer.Argument(metavar="PAGE", help="Such as discord; none: which pages there are."),
    ] = None,
) -> int:
    """Print a page of the handbook, or list its pages."""

    return help_page(page)


@app.command()
def backup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to; a file that is there stays.")
    ],
    without_index: Annotated[
        bool,
        typer.Option(
            "--without-index", help="Leave the courses' text out: they are ingested again then."
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> int:
    """Write all that is stored to one file, while the bot runs; it holds secrets."""
    from bot.cli.setup import backup as work

    return _run(work(file, with_index=not without_index, force=force))


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What 'glossator backup' wrote.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace what there is; it is lost then.")
    ] = False,
) -> int:
    """Restore a backup into an empty database and index, on SQLite or PostgreSQL."""
    from bot.cli.setup import restore as work

    return _run(work(file, force=force))


app.command()(queue)


_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK = re.compile(r"\[([^\]]+)\]\(([\w-]*)(?:\.(md|yaml))?(?:#[\w-]*)?\)")


def help_page(name: str | None) -> int:
    """Print a page of the handbook, or which pages there are.

    Raises:
        UsageError: when there is no such page, with those that come near.
    """
    pages = {page.stem: page for page in sorted(handbook_folder().glob("*.md"))}
    if name is None:
        width = max(map(len, pages))
        print("Pages of the handbook; 'glossator help PAGE' prints one:\n")
        for stem, page in pages.items():
            print(f"  {stem:<{width}}  {_title(page)}")
        print(
            "\n'glossator --help' lists the commands, and 'glossator COMMAND --help' explains one."
        )
        return Exit.OK
    stem = name.lower().removesuffix(".md").rpartition("/")[2]
    if stem not in pages:
        near = difflib.get_close_matches(stem, pages, 1)
        hint = f"did you mean {near[0]}?" if near else "'glossator help' lists them."
        raise UsageError(
            f"The handbook has no page {name}; {hint} What a command takes, its own --help says."
        )
    _print(_in_the_terminal(pages[stem].read_text("utf-8"), set(pages)))
    return Exit.OK


def _title(page: Path) -> str:
    found = _TITLE.search(page.read_text("utf-8"))
    return found[1] if found else page.stem


def _in_the_terminal(text: str, pages: set[str]) -> str:
    """Return a page whose links name the commands that print what they lead to."""

    def said(link: re.Match[str]) -> str:
        words, stem, kind = link.groups()
        if kind == "yaml":
            return f"{words} ('glossator slack-manifest')"
        if stem and stem not in pages:
            return link[0]
        return f"{words} ('glossator help {stem}')" if stem else words

    return _LINK.sub(said, _PICTURE.sub(r"(picture: \1)", text))


def _print(text: str) -> None:
    if not sys.stdout.isatty():
        print(text, end="")
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=min(Console().width, 100)).print(Markdown(text, hyperlinks=False))
