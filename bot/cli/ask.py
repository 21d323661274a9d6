"""`glossator ask`: one question, one answer."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

from pydantic import TypeAdapter

from adapters.chat.delivery.take_turn import take_turn
from adapters.chat.markdown.layout import shortened
from adapters.chat.markdown.printable import on_one_line, printable
from adapters.console import JsonReply, PlainReply, TerminalReply, place_of
from bot.cli.context import (
    check_generator,
    choose_course,
    choose_course_of,
    live_edition,
    services,
    terminal_user,
)
from bot.cli.exits import BadInput, Exit, UsageError, sentence_for
from bot.keys import PSEUDONYM
from bot.log import tell
from bot.services import Services, missing_text
from core.answering.agent import Agent
from core.answering.grounding.citations import language_of
from core.domain import (
    EXPLAIN_QUOTE,
    AgentRequest,
    AgentResponse,
    ContextMode,
    Course,
    QueryType,
    Question,
    RetrievalToolInput,
    RetrievalToolOutput,
    UserContext,
)
from core.domain.errors import (
    BotError,
    CollectionDamaged,
    CollectionMissing,
    RequestError,
    ServiceError,
)
from core.domain.i18n import text, use_locale
from core.domain.links import one_line
from core.retrieval.sections import resolve_section


@dataclass(frozen=True, slots=True)
class AskArguments:
    """What was asked on the command line."""

    text: str | None
    course_id: str | None = None
    quote: str | None = None
    quote_file: Path | None = None
    section: str | None = None
    session: UUID | None = None


async def ask(
    asked: AskArguments, *, generator: str | None, as_json: bool, evidence: bool = False
) -> int:
    """Answer one question and return the exit code.

    With `evidence`, the words that the answer rests on stand below each place.

    Raises:
        RequestError: when the question is empty, too short or too long.
    """
    quote = asked.quote if asked.quote_file is None else read_quote(asked.quote_file)
    if quote is not None and not quote.strip():
        raise UsageError("The quote is empty.")
    if asked.text is None and quote is None:
        raise UsageError("Ask a question, or quote a passage with --quote.")
    if asked.text is not None:
        TypeAdapter(Question).validate_python(asked.text)  # before a course has to be named
    async with services(keys=[PSEUDONYM], needs_room=False) as opened:
        check_generator(opened, generator)
        course = await choose_course_of(opened, asked.session, asked.course_id)
        request = console_request(
            opened, course, asked.text, quote, section=asked.section, session=asked.session
        )
        agent = opened.agent(generator)
        await opened.load_writer(course.course_id, generator)
        with (
            use_locale(request.user_context.locale),
            open_reply(as_json=as_json, evidence=evidence) as reply,
        ):
            await take_turn(agent, request, reply)
        if reply.error is not None:
            raise reply.error
        if reply.failure in (CollectionMissing.user_message, CollectionDamaged.user_message):
            tell(missing_text(course.course_id))
    return Exit.OK if reply.succeeded else Exit.UNAVAILABLE


def console_request(
    opened: Services,
    course: Course,
    text: str | None,
    quote: str | None = None,
    *,
    section: str | None = None,
    session: UUID | None = None,
    stands_alone: bool = False,
    locale: str | None = None,
) -> AgentRequest:
    """Return the request for what was typed at a terminal.

    What Glossator itself says about it is in the question's language, else that of the quote.

    Args:
        locale: Of what was said before, for a question too short to show a language.

    Raises:
        RequestError: when the question is empty, too short or too long.
    """
    quoted = quote is not None
    return AgentRequest(
        course_id=course.course_id,
        query_text=EXPLAIN_QUOTE if text is None else text,
        query_type=QueryType.SECTION_SPECIFIC if section else QueryType.GLOBAL,
        section_filter=section,
        stands_alone=stands_alone,
        context_mode=ContextMode.SELECTED_TEXT if quoted else ContextMode.FULL_BOOK,
        selected_text=quote,
        session_id=session,
        user_id=terminal_user(opened.keys),
        user_context=UserContext(
            platform="console",
            workspace="local",
            locale=language_of(*filter(None, (text, quote))) or locale,
        ),
    )


@contextmanager
def open_reply(*, as_json: bool, evidence: bool = False) -> Iterator[JsonReply]:
    """Open the reply that fits where the output goes: JSON, a terminal or a pipe."""
    if as_json:
        yield JsonReply()
    elif not sys.stdout.isatty():
        yield PlainReply(evidence=evidence)
    else:
        from rich.console import Console

        with TerminalReply(Console(), evidence=evidence) as reply:
            yield reply


def read_quote(path: Path) -> str:
    """Return the passage in a file.

    Raises:
        BadInput: when the file is missing, empty or no text.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadInput(f"The file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"The file {path} is not UTF-8 text.") from error
    if not text.strip():
        raise BadInput(f"The file {path} is empty.")
    return text


_HELP = """\
Write a question and press Enter. A line that begins with > quotes a passage; an empty line or
a question ends the quote. Where several things may be meant, its number chooses one.
  /section NAME   ask within one section from now on; /section alone: the whole book again
  /not QUESTION   what you meant, where it was understood otherwise
  /new            start a new conversation
  /help           show this
  /quit           leave (so does Ctrl-D)"""


async def chat(course_id: str | None, session: UUID | None, *, generator: str | None) -> int:
    """Answer questions until the input ends, and return the exit code."""
    async with (
        services(keys=[PSEUDONYM], needs_room=False) as opened,
        _warming(opened, generator) as warming,
    ):
        check_generator(opened, generator)
        course = await choose_course_of(opened, session, course_id)
        agent = opened.agent(generator)
        conversation = _Conversation(opened, course, agent, session or uuid4(), warming)
        tell(on_one_line(f"{course.title}. Ask away; /help explains more."))
        while (line := await _read_line("… " if conversation.quote else "? ")) is not None:
            if line.strip() == "/quit":
                return Exit.OK
            await conversation.take(line.strip())
        await conversation.take("")
    return Exit.OK


@asynccontextmanager
async def _warming(opened: Services, generator: str | None) -> AsyncIterator[asyncio.Task[None]]:
    """Load the models while the first question is typed; what fails shows in its answer."""
    warming = asyncio.create_task(opened.warm_up(generator))
    try:
        yield warming
    finally:
        await asyncio.gather(warming, return_exceptions=True)


class _Conversation:
    """What the lines before have settled: the session, the section, a quote that is coming."""

    def __init__(
        self,
        opened: Services,
        course: Course,
        agent: Agent,
        session: UUID,
        warming: asyncio.Task[None],
    ) -> None:
        self.quote: list[str] = []
        self._warming = warming
        self._opened = opened
        self._course = course
        self._agent = agent
        self._session = session
        self._section: str | None = None
        self._locale: str | None = None
        self._shown: AgentResponse | None = None
        """The latest answer."""

    async def take(self, line: str) -> None:
        """Obey, remember or answer a line; an empty one ends the quote."""
        if line.startswith(">"):
            self.quote.append(line.removeprefix(">").strip())
        elif line.startswith("/"):
            await self._obey(*line.split(maxsplit=1))
        elif line or self.quote:
            quote, self.quote = "\n".join(self.quote).strip() or None, []
            chosen = self._chosen(line) if quote is None else None
            await self._answer(chosen or line or None, quote, stands_alone=chosen is not None)

    def _chosen(self, line: str) -> str | None:
        """Return the question that a number chooses; None: it chooses none."""
        choices = self._shown.choices if self._shown is not None else ()
        place = int(line) if line.isdecimal() and len(line) == 1 else 0
        return choices[place - 1] if 0 < place <= len(choices) else None

    async def _obey(self, command: str, name: str = "") -> None:
        if command == "/new":
            self._session = uuid4()
            self.quote.clear()
            tell("A new conversation begins.")
        elif command == "/section":
            await self._limit_to(name or None)
        elif command == "/not" and name.strip():
            await self._answer(name.strip(), None, stands_alone=True)
        elif command == "/not":
            tell("Write what you meant after it: /not How long are conversations kept?")
        elif command == "/help":
            tell(_HELP)
        else:
            tell(on_one_line(f"There is no command {command}; /help shows those that there are."))

    async def _limit_to(self, section: str | None) -> None:
        """Ask within a section from now on; none: the whole book; unknown: as before."""
        try:
            if section is not None:
                edition = await live_edition(self._opened, self._course)
                sections = await self._opened.catalogue.sections(edition.generation)
                resolve_section(section, sections)
        except BotError as error:
            tell(on_one_line(sentence_for(error)))
            return
        self._section = section
        tell(on_one_line(f"From now on: {section or 'the whole book'}."))

    async def _answer(
        self, question: str | None, quote: str | None, *, stands_alone: bool = False
    ) -> None:
        if question is None and quote is None:
            return
        try:
            request = console_request(
                self._opened,
                self._course,
                question,
                quote,
                section=self._section,
                session=self._session,
                stands_alone=stands_alone,
                locale=self._locale,
            )
        except RequestError as error:
            tell(on_one_line(error.user_message))
            return
        self._locale = request.user_context.locale
        await asyncio.wait([self._warming])  # the time for an answer is not that of loading
        with use_locale(self._locale):
            with open_reply(as_json=False) as reply:
                await take_turn(self._agent, request, reply)
            self._shown = reply.response
            if reply.response is not None and reply.response.choices:
                print(text("console-choose"))
            elif reply.response is not None and reply.response.understood_as is not None:
                print(text("console-not-meant"))
            if reply.error is not None:
                tell(on_one_line(sentence_for(reply.error)))
        print()


async def _read_line(prompt: str) -> str | None:
    """Return the next line without its end, or none at the end of the input."""
    if sys.stdin.isatty():
        print(prompt, end="", file=sys.stderr, flush=True)
    line = await asyncio.to_thread(sys.stdin.readline)
    return line.rstrip("\n") if line else None


_EXCERPT = 300


async def search(
    query: str, course_id: str | None, section: str | None, top_k: int, *, as_json: bool
) -> int:
    """Print the passages found, best first, and return the exit code."""
    asked = RetrievalToolInput(query_text=query, top_k=top_k, section_filter=section)
    async with services(needs_room=False) as opened:
        course = await choose_course(opened, course_id)
        try:
            output = (await opened.retriever.retrieve(course.course_id, asked)).output
        except ServiceError as error:
            if not as_json:
                raise
            output = RetrievalToolOutput(
                retrieved_chunks=(),
                query_embedding=(),
                search_time_ms=0.0,
                total_candidates=0,
                success=False,
                error_message=error.user_message,
            )
    if as_json:
        print(output.model_dump_json(indent=2))
        return Exit.OK if output.success else Exit.UNAVAILABLE
    for number, chunk in enumerate(output.retrieved_chunks, 1):
        excerpt = shortened(one_line(chunk.content_text), _EXCERPT)
        print(on_one_line(f"{number}. {chunk.similarity_score:.2f}  {place_of(chunk)}"))
        print(printable(f"   {excerpt}\n"))
    if not output.retrieved_chunks:
        print("Nothing in this course fits the question.")
    return Exit.OK
