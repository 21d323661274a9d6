"""`glossator init`: writes a first glossator.toml and .env from a few answers."""

import asyncio
import json
import os
import re
import shlex
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import typer
from pydantic import TypeAdapter, ValidationError

from adapters.actions.command_names import CommandNames
from adapters.chat.delivery.take_turn import take_turn
from adapters.chat.markdown.printable import on_one_line, printable
from bot.backup import back_up
from bot.backup import restore as restore_backup
from bot.backup_archive import Manifest
from bot.cli.ask import console_request, open_reply
from bot.cli.context import counted, services
from bot.cli.exits import BadInput, Exit, UsageError, sentence_for
from bot.course_tables import sentence_of
from bot.database import WHAT_TO_DO, SchemaState, make_current
from bot.database import check as check_schema
from bot.database import upgrade as upgrade_schema
from bot.embedders import install_folder, install_model
from bot.keys import NAMES, given, setting_of
from bot.log import configure_logging, tell
from bot.model_tables import FOREIGN_KEYS, GEMINI, ModelTable, read_tables
from bot.models import Models
from bot.platforms import PLATFORMS
from bot.services import DEMO, Services
from bot.settings import Settings, load_settings
from bot.wiring import demo_folder, handbook_folder, ingest_demo, make_data_dir, open_services
from core.domain import EXTRACTIVE, CourseId, course_id_like
from core.domain.errors import BotError, ConfigurationError
from core.domain.i18n import use_terms
from core.providers.capabilities import SettingNames
from core.providers.services import OLLAMA
from core.storage.database import create_engine, dispose
from core.storage.installations import KeyIds

COURSE_FILE, ENV_FILE = Path("glossator.toml"), Path(".env")
TOKENS: Mapping[str, Mapping[str, str]] = {
    **{name: entry.tokens for name, entry in PLATFORMS.items()},
    "terminal": {},
}
"""The variables that each platform needs, with what is asked for."""
_KEYS_OF_GEMINI = ("GLOSSATOR_MODELS__GEMINI__API_KEY", *FOREIGN_KEYS)
_NOBODY, _OLLAMA, _HOUSE = "none", "ollama", "house"
_OLLAMA_PORT = 11_434
_HOUSE_KEY = f"GLOSSATOR_MODELS__{_HOUSE.upper()}__API_KEY"
_LATER = " (Enter: later)"
_CONNECTS = 0.5
"""Seconds in which a program of this machine takes a connection."""
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class InitArguments:
    """What the command line says; what it leaves out is asked for."""

    course: str | None
    title: str | None
    sources: Sequence[str]
    platforms: Sequence[str]
    generator: str | None
    model: str | None
    environment: Mapping[str, str]
    """Has the tokens and keys, which are no options."""
    asks: bool


@dataclass(frozen=True, slots=True)
class WriterChoice:
    """The model that writes the answers, and what both files say of it."""

    name: str = EXTRACTIVE
    table: Mapping[str, str | int] = field(default_factory=dict)
    """Of glossator.toml; empty where a key is all that it needs."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of .env; an empty one is to be filled in."""


class _Mistake(UsageError):
    """An answer that cannot be used; `near` is one that can."""

    def __init__(self, detail: str, near: str | None = None) -> None:
        super().__init__(detail)
        self.near = near


def init(arguments: InitArguments) -> int:
    """Write both files in the current folder, and say what comes next.

    At a terminal, an answer that cannot be used is asked for again, and the others are kept.

    Raises:
        UsageError: when one of the files is there or cannot be written; without a terminal, also
            for all answers that are missing or cannot be used.
    """
    for file in (COURSE_FILE, ENV_FILE):
        if file.exists() or file.is_symlink():
            raise UsageError(f"{file} is there already, and stays as it is: nothing was written.")
    if not os.access(Path.cwd(), os.W_OK):
        raise UsageError(f"The folder {Path.cwd()} cannot be written: nothing was written.")
    ask, typed = _Asking(arguments.asks), list[str]()

    def read_id(answer: str) -> str:
        typed.append(answer)
        return _course_id(answer)

    course = ask.noting(
        lambda: ask.until_usable(
            arguments.course, "--course", "Id of the course", "biology", read_id
        ),
        "",
    )
    title = arguments.title
    if title is None:  # what is no id may be meant as a title: "BIO 201"
        title = ask.line("Title of the course", typed[0]) if arguments.asks else course
    title = title.strip() or course
    sources = arguments.sources or [
        ask.noting(
            lambda: ask.until_usable(
                None, "--source", "Folder, file or URL of the book", "book", _source
            ),
            "",
        )
    ]
    tokens = ask.noting(lambda: _tokens(arguments, ask), dict[str, str]())
    writer = ask.noting(lambda: _writer(arguments, ask), WriterChoice())
    if ask.mistakes:
        raise UsageError(" ".join(ask.mistakes))
    secrets = {**tokens, **writer.variables}
    _write(COURSE_FILE, _course_file(course, title, sources, writer), 0o644)
    _write(ENV_FILE, "".join(f"{'' if v else '# '}{n}={v}\n" for n, v in secrets.items()), 0o600)
    _say_what_comes_next(sources, tokens, secrets)
    return Exit.OK


class _Asking:
    """Asks at the terminal; without one, what is missing or of no use is an error."""

    def __init__(self, asks: bool) -> None:
        self.asks = asks
        self.mistakes: list[str] = []
        """What is missing or of no use, where it cannot be asked for."""

    def noting(self, answer: Callable[[], Answer], instead: Answer) -> Answer:
        """Return an answer; `instead`, with a note of the mistake, where it is of no use."""
        try:
            return answer()
        except UsageError as mistake:
            self.mistakes.append(mistake.user_message)
            return instead

    def until_usable(
        self,
        given: str | None,
        option: str,
        prompt: str,
        default: str,
        read: Callable[[str], Answer],
    ) -> Answer:
        """Return what was given or is answered, once it can be used.

        Args:
            given: by the option; None: it is asked for.
            option: how it is called.
            prompt: what is asked.
            default: what Enter answers.
            read: raises _Mistake for what cannot be used.

        Raises:
            UsageError: without a terminal.
        """
        while True:
            if given is None and not self.asks:
                raise UsageError(f"Give {option}: there is no terminal to ask on.")
            try:
                return read(self.line(prompt, default) if given is None else given)
            except _Mistake as mistake:
                if not self.asks:
                    raise
                print(mistake.user_message)
                given, default = None, mistake.near or default

    def line(self, prompt: str, default: str) -> str:
        """Return an answer; Enter answers with the default."""
        answer: str = typer.prompt(prompt, default=default)
        return answer.strip()

    def secret(self, prompt: str) -> str:
        """Return what is typed unseen; empty where that is put off."""
        while True:
            value: str = typer.prompt(prompt, default="", show_default=False, hide_input=True)
            try:
                return _secret("it", value.strip())
            except UsageError as error:
                print(error.user_message)


def _course_id(typed: str) -> str:
    try:
        return TypeAdapter(CourseId).validate_python(typed)
    except ValidationError:
        near = course_id_like(typed)
        such = f", such as {near}" if near else ""
        message = f"{typed!r} is no course's id: lower-case letters, digits, - and _{such}."
        raise _Mistake(message, near) from None


def _source(typed: str) -> str:
    if not typed:
        raise _Mistake("Name a folder, a file or a URL.")
    return typed


def _secret(name: str, value: str) -> str:
    if any(character.isspace() or character in "'\"#$\\" for character in value):
        raise UsageError(f"The value for {name} has a character that no token has.")
    return value


# --- platforms ------------------------------------------------------------------------------


def _tokens(arguments: InitArguments, ask: _Asking) -> dict[str, str]:
    """Return the variables of the platforms' tokens; empty ones were put off."""
    given = ",".join(arguments.platforms) or (None if arguments.asks else "terminal")
    platforms = ask.until_usable(
        given, "--platform", f"Platforms ({', '.join(TOKENS)})", "terminal", _platforms
    )
    tokens: dict[str, str] = {}
    for platform in platforms:
        for name, prompt in TOKENS[platform].items():
            value = arguments.environment.get(name)
            if value is None and not arguments.asks:
                ask.mistakes.append(f"{name} is not set, and there is no terminal to ask on.")
            elif value is None:
                tokens[name] = ask.secret(prompt + _LATER)
            else:
                tokens[name] = ask.noting(partial(_secret, name, value), "")
    return tokens


def _platforms(typed: str) -> list[str]:
    named = typed.lower().replace(",", " ").split()
    if unknown := [name for name in named if name not in TOKENS]:
        raise _Mistake(f"There is no platform {unknown[0]}; there is: {', '.join(TOKENS)}.")
    return named


# --- who writes the answers -----------------------------------------------------------------


def _writer(arguments: InitArguments, ask: _Asking) -> WriterChoice:
    """Return the model that writes, which was tried, or was kept though it does not answer."""
    given, key = arguments.generator, _key_of_gemini(arguments)
    if given is None and not arguments.asks:
        return WriterChoice()
    address = _ollama_address(arguments.environment)
    runs = _listed(address) if given in (None, _OLLAMA) and _is_there(address) else None
    if runs is not None:
        print(printable(f"Ollama runs on this machine, with {', '.join(runs) or 'no model yet'}."))
    while True:
        named = ask.until_usable(
            given,
            "--generator",
            f"Who writes the answers: {_NOBODY} (the book's own sentences), {GEMINI}, {_OLLAMA}, "
            "or the address of a service that speaks chat completions",
            GEMINI if key else _NOBODY,
            _generator,
        )
        if named == _NOBODY:
            return WriterChoice()
        if named == GEMINI:
            writer = _gemini(arguments, ask, key)
        elif named == _OLLAMA:
            writer = _served(arguments, ask, address, runs or [], is_ollama=True)
        else:
            writer = _at_address(arguments, ask, named)
        if kept := _tried(writer, ask):
            return kept
        given, key = None, None


def _generator(typed: str) -> str:
    name = typed.strip().rstrip("/")
    if name.lower() in (_NOBODY, EXTRACTIVE, ""):
        return _NOBODY
    if name.lower() in (GEMINI, _OLLAMA):
        return name.lower()
    try:
        ModelTable.model_validate({"kind": "openai", "model": "any", "base_url": name})
    except ValidationError as error:
        known = f"{_NOBODY}, {GEMINI}, {_OLLAMA}, or an address such as https://example.org/v1"
        why = f" ({sentence_of(error.errors()[0])})" if "://" in name else ""
        near = f"http://{name}" if "://" not in name and set(name) & set(".:") else None
        raise _Mistake(f"{name} is none of these{why}: {known}.", near) from None
    return name


def _key_of_gemini(arguments: InitArguments) -> str | None:
    found = (arguments.environment.get(name) for name in _KEYS_OF_GEMINI)
    return next((value for value in found if value), None)


def _gemini(arguments: InitArguments, ask: _Asking, key: str | None) -> WriterChoice:
    name = _KEYS_OF_GEMINI[1]
    if key is None and not ask.asks:
        raise UsageError(f"{name} is not set, and there is no terminal to ask on.")
    value = ask.secret(f"Key for Gemini{_LATER}") if key is None else _secret(name, key)
    table = {"kind": GEMINI, "model": arguments.model} if arguments.model and value else {}
    return WriterChoice(GEMINI, table, {name: value})


def _at_address(arguments: InitArguments, ask: _Asking, address: str) -> WriterChoice:
    """Return the model of a service, whose address may lack the `/v1` at its end."""
    key = arguments.environment.get(_HOUSE_KEY)
    if key is None:
        key = ask.secret("Its key (Enter: it needs none)") if ask.asks else ""
    _secret(_HOUSE_KEY, key)
    likely = address if urlsplit(address).path else f"{address}/v1"
    for candidate in dict.fromkeys([likely, address]):
        if models := _listed(candidate, key):
            return _served(arguments, ask, candidate, models, key=key)
    return _served(arguments, ask, likely, [], key=key)


def _served(
    arguments: InitArguments,
    ask: _Asking,
    address: str,
    models: Sequence[str],
    *,
    key: str = "",
    is_ollama: bool = False,
) -> WriterChoice:
    """Return one of the models that a service has."""
    has = f"It has {', '.join(models)}." if models else ""
    if arguments.model is None and not ask.asks:
        raise UsageError(f"Give --model: there is no terminal to ask on. {has}".strip())
    if has and not is_ollama:
        print(printable(has))
    default = models[0] if models else ""
    model = ask.until_usable(arguments.model, "--model", "Its model", default, _model)
    table: dict[str, str | int] = {"kind": _OLLAMA if is_ollama else "openai", "model": model}
    if not is_ollama or address != OLLAMA:
        table["base_url"] = address
    return WriterChoice(_OLLAMA if is_ollama else _HOUSE, table, {_HOUSE_KEY: key} if key else {})


def _model(typed: str) -> str:
    if not typed:
        raise _Mistake("Name the model as the service calls it.")
    return typed


def _tried(writer: WriterChoice, ask: _Asking) -> WriterChoice | None:
    """Return the model once it has answered, or is kept all the same; None: another is wanted."""
    if writer.name == GEMINI and not writer.variables[_KEYS_OF_GEMINI[1]]:
        return writer
    print(f"Trying {writer.table.get('model', writer.name)} ...", flush=True)
    complaint, context = asyncio.run(_try(writer))
    if not complaint:
        print("It answers.")
        return _with_context(writer, context)
    print(printable(complaint))
    if not ask.asks or typer.confirm("Keep it all the same?", default=False):
        print("It is kept: 'glossator doctor' tries it again.")
        return writer
    return None


async def _try(writer: WriterChoice) -> tuple[str, int | None]:
    """Return what is wrong with a model, empty where it answers, and the context that it has."""
    key = next(iter(writer.variables.values()), None)
    async with AsyncExitStack() as closing:
        try:
            settings = load_settings()
            if writer.table:
                table = ModelTable.model_validate({**writer.table, "api_key": key})
            else:
                settings = settings.with_foreign_key(str(key))
                table = read_tables(settings, {})[GEMINI]
            chat = Models(settings, {writer.name: table}, closing).chat(writer.name)
            await chat.check()
            return "", await chat.ask_context() if table.provider.tells_context else None
        except BotError as error:
            return sentence_for(error), None


def _with_context(writer: WriterChoice, context: int | None) -> WriterChoice:
    """Return the model with the context that its server gives it, unless it is too small."""
    from core.answering.writers.prompt import smallest_context

    if not writer.table or context is None or context < smallest_context(None):
        return writer
    return replace(writer, table={**writer.table, "context": context})


def _listed(address: str, key: str = "") -> list[str]:
    """Return the models that the service at an address lists."""
    from core.providers.openai import OpenAIClient, list_models

    async def ask() -> list[str]:
        client = OpenAIClient(key or None, base_url=address, names=SettingNames("", "", ""))
        try:
            return await list_models(client)
        finally:
            await client.aclose()

    return asyncio.run(ask())


def _ollama_address(environment: Mapping[str, str]) -> str:
    """Return where Ollama is: at its usual address, unless its own variable names another."""
    named = environment.get("OLLAMA_HOST", "")
    parts = urlsplit(named if "://" in named else f"http://{named}")
    try:
        host, port = parts.hostname or "127.0.0.1", parts.port or _OLLAMA_PORT
    except ValueError:
        return OLLAMA
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}:{port}/v1"


def _is_there(address: str) -> bool:
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname, parts.port), _CONNECTS):
            return True
    except OSError:
        return False


# --- files ----------------------------------------------------------------------------------


def _course_file(course: str, title: str, sources: Sequence[str], writer: WriterChoice) -> str:
    """Return the tables of a course and of its model; a JSON string is a TOML string."""
    lines = [
        f"[courses.{course}]",
        f"title = {_toml(title)}",
        f"sources = [{', '.join(map(_toml, sources))}]",
    ]
    if writer.table:
        lines += [f"generator = {_toml(writer.name)}", "", f"[models.{writer.name}]"]
        lines += [f"{key} = {_toml(value)}" for key, value in writer.table.items()]
    return "\n".join([*lines, ""])


def _toml(value: str | int) -> str:
    return json.dumps(value, ensure_ascii=False)


def _write(file: Path, content: str, mode: int) -> None:
    """Write a new file that has its mode from the first byte on."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
        opened.write(content)


def _say_what_comes_next(
    sources: Sequence[str], tokens: Mapping[str, str], secrets: Mapping[str, str]
) -> None:
    print(f"Wrote {COURSE_FILE} and {ENV_FILE}", end="")
    print(f"; the tokens are in {ENV_FILE}, for you alone." if any(secrets.values()) else ".")
    if later := [name for name, value in secrets.items() if not value]:
        print(f"Still to be filled in, in {ENV_FILE}: {', '.join(later)}.")
    for source in sources:
        if "://" not in source and not Path(source).expanduser().exists():
            print(printable(f"There is no file or folder {source} yet: put the book there first."))
    print("Next: glossator doctor, then glossator ingest, then", end=" ")
    print("glossator run" if tokens else "glossator chat")


_THERE = "There is a file {path} already: name another one, or replace it with --force."


async def backup(path: Path, *, with_index: bool, force: bool) -> int:
    """Write everything that is stored to a file; only with `force` in place of another.

    Raises:
        UsageError: when there is a file, which stays as it is.
    """
    if not force:
        _check_is_free(path)
    async with services(needs_room=False) as opened:
        manifest = await back_up(opened, path, with_text=with_index)
        kept = _given(opened.settings)
    print(on_one_line(f"Backed up to {path}: {_summary(manifest)}."))
    for name in kept:
        tell(f"The key in {name} is not in the backup: keep it yourself.")
    _say_what_lacks(manifest)
    return Exit.OK


def _check_is_free(path: Path) -> None:
    if os.path.lexists(path) and not path.is_dir():
        raise UsageError(_THERE.format(path=path))


async def restore(path: Path, *, force: bool) -> int:
    """Restore everything from a file."""
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    manifest = await restore_backup(settings, path, force=force)
    print(
        f"Restored the backup of {manifest.made_at:%Y-%m-%d %H:%M} UTC: {_summary(manifest)}. "
        "Run 'glossator doctor'."
    )
    _say_what_lacks(manifest)
    return Exit.OK


def _summary(manifest: Manifest) -> str:
    chunks = sum(edition.chunks for edition in manifest.editions if edition.has_text)
    courses = {edition.course_id for edition in manifest.editions}
    keys = ", ".join(manifest.keys) or "none"
    return (
        f"{_counted(len(courses), 'course')} with {_counted(chunks, 'chunk')}, "
        f"{_counted(manifest.rows('sessions'), 'conversation')}, keys: {keys}"
    )


def _say_what_lacks(manifest: Manifest) -> None:
    lacking = [edition.course_id for edition in manifest.editions if not edition.has_text]
    for course_id in dict.fromkeys(lacking):
        tell(
            f"The text of {course_id} is not in the backup: after a restoration, run "
            f"'glossator ingest' for it."
        )


def _given(settings: Settings) -> list[str]:
    return [setting_of(name) for name in NAMES if given(settings, name)]


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


async def upgrade() -> int:
    """Bring the tables up to date."""
    settings = load_settings()
    make_data_dir(settings)
    engine = create_engine(settings.database_url)
    try:
        await upgrade_schema(engine)
    finally:
        await dispose(engine)
    print("The database is up to date.")
    return Exit.OK


async def check() -> int:
    """Say whether the tables are up to date; exit code 78 when they are not.

    Raises:
        ConfigurationError: saying what to do.
    """
    settings = load_settings()
    make_data_dir(settings)
    engine = create_engine(settings.database_url)
    try:
        state = await check_schema(engine)
    finally:
        await dispose(engine)
    if state is not SchemaState.CURRENT:
        raise ConfigurationError(WHAT_TO_DO[state])
    print("The database is up to date.")
    return Exit.OK


async def forget_key(name: str) -> int:
    """Forget which key the database was used with.

    Raises:
        UsageError: when there is no such kind of key.
    """
    if name not in NAMES:
        raise UsageError(f"There is no key called {name}; there is: {', '.join(NAMES)}.")
    engine = create_engine(load_settings().database_url)
    try:
        await make_current(engine)
        was_noted = await KeyIds(engine).forget(name)
    finally:
        await dispose(engine)
    print(f"Forgotten: {name}." if was_noted else "There was nothing to forget.")
    return Exit.OK


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """One question of the demo, and what it shows."""

    what: str
    question: str | None
    quote: str | None = None
    follows_up: bool = False


QUESTIONS: Sequence[DemoQuestion] = (
    DemoQuestion("a question", "What is a surge?"),
    DemoQuestion(
        "a follow-up, which leans on the question before",
        "And when is it most dangerous?",
        follows_up=True,
    ),
    DemoQuestion(
        "a quoted passage, to be explained",
        None,
        quote="Most of all, a bay can resonate like water that is pushed to and fro in a bathtub.",
    ),
    DemoQuestion("what a table says", "What is the mean range at Avonmouth?"),
    DemoQuestion("what a figure shows, by its caption", "Is there a figure of the two bulges?"),
    DemoQuestion("a question that the course does not cover", "How do earthquakes cause tsunamis?"),
)


async def demo() -> int:
    """Run the demo in a data folder of its own and return the exit code."""
    started = time.perf_counter()
    async with open_services(_offline(load_settings()), announce=print) as opened:
        await _ingest(opened)
        session = uuid4()
        for number, shown in enumerate(QUESTIONS, 1):
            if not shown.follows_up:
                session = uuid4()
            print(f"\n{'─' * 78}\n{number}. {shown.what}\n$ {_command(shown, session)}\n")
            request = console_request(
                opened,
                DEMO,
                shown.question,
                shown.quote,
                section=None,
                session=session,
            )
            with open_reply(as_json=False) as reply:
                await take_turn(opened.agent("extractive"), request, reply)
            if reply.error is not None:
                raise reply.error
    print(
        f"\n{'─' * 78}\nSix questions, answered offline in {time.perf_counter() - started:.1f} s."
    )
    folder = shlex.quote(str(opened.settings.data_dir))
    print(f"Ask more of it: GLOSSATOR_DATA_DIR={folder} glossator chat --course {DEMO.course_id}")
    print("Now your own book: glossator ingest FOLDER, then glossator chat")
    return Exit.OK


def _offline(settings: Settings) -> Settings:
    """Return the defaults in a folder of the demo's own: no server, key or course file."""
    folder = settings.data_dir / "demo"
    local = settings.embedding.model_copy(update={"provider": "local"})
    return Settings.model_construct(
        {"data_dir"},
        data_dir=folder,
        config=folder / "glossator.toml",
        embedding=local,
    )


async def _ingest(opened: Services) -> None:
    print(f"Reading a small course, “{DEMO.title}”, from {demo_folder()} ...")
    report = await ingest_demo(opened)
    print(f"{counted(report.chunks, 'chunk')}; {report.embedded} had to be embedded.")


def _command(shown: DemoQuestion, session: UUID) -> str:
    """Return the command that asks the same."""
    words = ["glossator", "ask"]
    if shown.question:
        words.append(shown.question)
    if shown.quote:
        words += ["--quote", shown.quote]
    if shown.follows_up:
        words += ["--session", str(session)]
    return shlex.join(words)


def install(source: Path | None) -> int:
    """Make the model ready to run in this environment, or else in the data folder.

    Raises:
        BadInput: when there is no such file.
        ConfigurationError: when it cannot be fetched, or is not the published one.
    """
    if source is not None and not source.exists():
        raise BadInput(f"There is no file {source}.")
    folder = install_folder(load_settings())
    install_model(folder, source, tell)
    print(f"The embedding model is ready in {folder}.")
    return Exit.OK


_NOTHING_TO_RUN = """\
glossator: No chat platform is set up, so that there is nobody to answer.

What to do next, in {folder}:

{first}
  glossator ingest                  reads the course's book
  glossator doctor                  tries what is set up, and says what does not work
  glossator run                     answers in the chat

Found there: {found}.
A platform is set up by:
{platforms}

Without any of it: 'glossator ingest FOLDER', then 'glossator chat' answers at the terminal, and
'glossator demo' shows what answers look like."""

_INIT = """\
  glossator init                    asks for a course, a platform and a model, and writes
                                    glossator.toml and .env"""
_EDIT = """\
  edit .env                         name a platform's token there, as below"""


async def run() -> int:
    """Answer on the chat platforms until the process is asked to stop."""
    settings = load_settings()
    if not settings.platforms():
        tell(printable(_nothing_to_run(settings)), "ERROR")
        return Exit.CONFIGURATION
    from bot.runner import run_bot

    said = "log_level" in settings.model_fields_set
    level = settings.log_level if said else "INFO"
    configure_logging(level, settings.log_format, with_tracebacks=True)
    with use_terms(settings.commands.terms()):
        await run_bot(settings, tell)
    return Exit.OK


def _nothing_to_run(settings: Settings) -> str:
    """Return the screen for who has set up no platform yet."""
    found = [str(path) for path in (ENV_FILE, settings.config) if path.is_file()]
    return _NOTHING_TO_RUN.format(
        folder=on_one_line(str(Path.cwd())),
        first=_EDIT if found else _INIT,
        found=" and ".join(found) or f"neither {ENV_FILE} nor {settings.config}",
        platforms="\n".join(f"  {one.set_up_by}" for one in PLATFORMS.values()),
    )


_FILE = "slack-manifest.yaml"
_COMMAND = re.compile(r"(?P<before>^ *- command: )/(?P<name>\S+)$", re.MULTILINE)


def slack_manifest() -> int:
    """Print the manifest to be pasted into Slack.

    Raises:
        ConfigurationError: when a setting is wrong, or the installation came without it.
    """
    names = load_settings().commands
    print(named((handbook_folder() / _FILE).read_text("utf-8"), names), end="")
    return Exit.OK


def named(manifest: str, names: CommandNames) -> str:
    """Return a manifest whose commands have the names of the settings."""
    chosen = names.model_dump()
    return _COMMAND.sub(lambda found: f"{found['before']}/{chosen[found['name']]}", manifest)
