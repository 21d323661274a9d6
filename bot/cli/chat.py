"""`glossator chat`: a conversation at the terminal."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

from adapters.delivery.run_turn import take_turn
from adapters.markdown.printable import on_one_line
from bot.cli.ask import console_request, open_reply
from bot.cli.context import check_generator, choose_course_of, live_edition, services
from bot.cli.exits import Exit, sentence_for
from bot.keyring.keys import PSEUDONYM
from bot.log import tell
from bot.services import Services
from core.answering.agent import Agent
from core.errors import BotError, RequestError
from core.i18n import text, use_locale
from core.models import AgentResponse, Course
from core.retrieval.named_sections.resolution import resolve_section

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
