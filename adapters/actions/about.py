"""Questions that a newcomer could ask, each tried beforehand: the course has answered it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from adapters.chat.access import Location
from adapters.chat.course_directory import CourseDirectory, Edition, ListedCourse
from adapters.chat.front_desk import FrontDesk
from adapters.chat.places import PlaceContext
from core.domain import MAX_QUESTION, AgentRequest, AgentResponse, Outcome
from core.domain.errors import BotError, RequestError, ServiceError
from core.domain.i18n import Message, current_language, text
from core.domain.links import one_line
from core.retrieval.sections import Likely, Topic
from core.storage.access import Reader
from core.storage.privacy import StoredAmounts

logger = logging.getLogger(__name__)


MOST = 4
"""Questions suggested at most."""
_ASKER = "suggestions"
"""Who tries them: on whose account a model's tokens are."""
_TOPICS = 12
"""Topics that are tried until there are enough questions."""
_SHORT = 2
"""Words that a topic may have to be asked about by a bare "what is" though it is not defined."""

TopicsOf = Callable[[Edition, str], Awaitable[Sequence[Topic]]]
Rehearse = Callable[[AgentRequest], Awaitable[AgentResponse]]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that the course answers."""

    topic: str
    question: str


class Suggestions:
    """Tries questions about a course's sections, once for each edition and language."""

    def __init__(self, directory: CourseDirectory, topics: TopicsOf, rehearse: Rehearse) -> None:
        """Prepare to try.

        Args:
            topics: Returns what may be asked about in an edition of a course's language.
            rehearse: Returns the answer to a question, which is neither shown nor stored.
        """
        self._directory = directory
        self._topics = topics
        self._rehearse = rehearse
        self._known: dict[tuple[UUID, str], asyncio.Task[list[Suggestion]]] = {}

    async def about(self, reader: Reader, course_id: str) -> Sequence[Suggestion]:
        """Return questions that a course answers; none where it may not be read.

        Raises:
            BotError: when nothing can be tried now.
        """
        mark = await self._directory.mark(reader, course_id)
        if mark is None:
            return ()
        key = (mark.edition.generation, current_language())
        if key not in self._known:
            self._known[key] = asyncio.create_task(self._tried(mark))
        trying = self._known[key]
        try:
            return await asyncio.shield(trying)
        except BotError:
            if self._known.get(key) is trying:
                del self._known[key]
            raise

    async def _tried(self, mark: ListedCourse) -> list[Suggestion]:
        """Return a question for each topic that is answered from its section, until enough are."""
        course_id = mark.course.course_id
        topics = await self._topics(mark.edition, mark.course.language)
        names = [topic.name for topic in topics]
        found = list[Suggestion]()
        for topic in topics[:_TOPICS]:
            said = topic.said or _within_a_sentence(topic.name, names)
            suggestion = await self._about(course_id, topic, said)
            found += [suggestion] if suggestion is not None else []
            if len(found) == MOST:
                break
        logger.info("%d questions about %s are suggested", len(found), course_id)
        return found

    async def _about(self, course_id: str, topic: Topic, said: str) -> Suggestion | None:
        """Return the first way to ask about a topic that is answered from its section.

        Args:
            said: The topic as it is written in a sentence.
        """
        for question in _ways_to_ask(topic, said):
            if await self._is_answered(course_id, question, topic.heading):
                return Suggestion(topic.name, question)
        return None

    async def _is_answered(self, course_id: str, question: str, topic: str) -> bool:
        """Return whether a question is answered from the section that it is about.

        Raises:
            ServiceError: when it is not known now.
        """
        asked = AgentRequest(course_id=course_id, query_text=question, user_id=_ASKER)
        answer = await self._rehearse(asked)
        if answer.outcome is Outcome.ERROR:
            raise ServiceError("a question could not be tried")
        return _answers(answer, topic)


def _ways_to_ask(topic: Topic, said: str) -> Iterator[str]:
    """Yield questions about a topic, the likeliest first; a heading that asks is one."""
    match topic.likely:
        case Likely.ASKS:
            yield topic.name
            return
        case Likely.IS:
            yield text("suggestion-what", topic=said)
        case Likely.ARE:
            yield text("suggestion-what-many", topic=said)
    yield text("suggestion-says", topic=said)
    if topic.likely > Likely.ARE and len(said.split()) <= _SHORT:
        yield text("suggestion-what", topic=said)


def _within_a_sentence(topic: str, names: Sequence[str]) -> str:
    """Return a heading as it is written in a sentence: small, unless it begins with a name.

    That is seen in the course's other headings, where the same word stands further on; and a
    heading of several words of which none but the first is large is written like a sentence.
    """
    first, *others = topic.split()
    small = first[0].lower() + first[1:]
    is_sentence = bool(others) and not any(word[0].isupper() for word in others)
    is_small = any(small in name.split()[1:] for name in names)
    is_plain = first[1:] == first[1:].lower() and not topic.endswith("?")
    return small + topic[len(first) :] if is_plain and (is_sentence or is_small) else topic


def _answers(response: AgentResponse, topic: str) -> bool:
    """Return whether a question was answered, and from the section that it is about."""
    if response.outcome is not Outcome.ANSWERED:
        return False
    places = ((chunk.page_title, *chunk.headings) for chunk in response.grounding_chunks)
    return any(topic == one_line(heading) for path in places for heading in path)


_LONGEST = 1_900
"""Characters of a list, so that what stands around it fits as well."""


class Facts:
    """Describes what answers in a place, in Markdown; raises StoreError when the database fails."""

    def __init__(
        self,
        *,
        desk: FrontDesk,
        directory: CourseDirectory,
        handbook: str,
        version: str,
        writer: Message | str,
        escape: Callable[[str], str],
    ) -> None:
        """Put together what is said.

        Args:
            handbook: The id of the course that questions about the bot are answered from.
            version: Of Glossator.
            writer: The model that writes answers, or `extractive`.
            escape: Makes a text one that the platform shows letter by letter.
        """
        self.handbook = handbook
        self._desk = desk
        self._directory = directory
        self._version = version
        self._writer = writer
        self._escape = escape

    async def sources(self, here: PlaceContext) -> str:
        """Return the titles of the course that is answered from in a place."""
        mark = await self._mark(here)
        if mark is None:
            return text("course-none-set")
        titles = await self._directory.titles(here.reader, mark.course.course_id)
        head = text(
            "about-sources",
            title=self._escape(mark.course.title),
            created=mark.edition.created_at,
        )
        return "\n".join([head, *self._shortened(titles)])

    async def about(self, here: PlaceContext) -> str:
        """Return the version, the model, and the edition of the course."""
        mark = await self._mark(here)
        lines = [f"Glossator {self._version}", text("about-writer", writer=self._writer)]
        if mark is not None:
            lines.append(
                text(
                    "about-course",
                    title=self._escape(mark.course.title),
                    created=mark.edition.created_at,
                    documents=text("about-documents", count=mark.edition.documents),
                    passages=text("about-passages", count=mark.edition.chunks),
                )
            )
        return "\n".join(lines)

    async def courses(self, reader: Reader) -> list[str]:
        """Return a line for each course that the reader may read; without any, the handbook's."""
        courses = await self._directory.own(reader) or await self._directory.courses(reader)
        return [
            f"{self._escape(mark.course.title)} (`{course_id}`)"
            for course_id, mark in sorted(courses.items())
        ]

    async def _mark(self, here: PlaceContext) -> ListedCourse | None:
        return await self._directory.mark(here.reader, await self._desk.course_of(here))

    def _shortened(self, titles: list[str]) -> list[str]:
        """Return the titles as a list, as many as fit, and how many more there are."""
        lines, length = list[str](), 0
        for number, title in enumerate(titles):
            line = f"- {self._escape(title)}"
            length += len(line) + 1
            if length > _LONGEST:
                return [*lines, text("about-sources-more", more=len(titles) - number)]
            lines.append(line)
        return lines


def asked_here(question: str, platform: str) -> str:
    """Return a question about the bot as one about the bot on this platform.

    The handbook tells of several platforms and of the terminal, and the asker means this one.
    """
    here = f"{platform}: {question}"
    return question if platform.casefold() in question.casefold() else here[:MAX_QUESTION]


def in_words(stored: StoredAmounts, platform: str) -> str:
    """Return what is stored about a user, for them."""
    if not stored.anything:
        return text("privacy-nothing-stored")
    return text(
        "privacy-stored",
        questions=text("privacy-questions", count=stored.questions),
        records=text("privacy-records", count=stored.waiting),
        votes=text("privacy-votes", count=stored.votes),
        platform=platform,
    )


class Greeting:
    """Writes greetings, in Markdown; raises StoreError when the database fails."""

    def __init__(
        self, desk: FrontDesk, directory: CourseDirectory, escape: Callable[[str], str]
    ) -> None:
        """Prepare to write.

        Args:
            escape: Makes a text one that the platform shows letter by letter.
        """
        self._desk = desk
        self._directory = directory
        self._escape = escape

    async def words(self, location: Location) -> str:
        """Return the greeting of a whole tenant, which names no course that it may not read."""
        hello = text("greeting-hello")
        try:
            here = await self._desk.here(location)
        except RequestError:
            return f"{hello}\n{text('greeting-not-admitted')}"
        own = await self._directory.own(here.reader)
        if len(own) > 1:
            step = text("greeting-courses", count=len(own))
        elif own:
            (mark,) = own.values()
            step = text("greeting-one-course", title=self._escape(mark.course.title))
        elif await self._directory.only(here.reader) is not None:  # the handbook, at the operator's
            step = text("greeting-no-book")
        else:
            step = text("greeting-no-course")
        return f"{hello}\n{step}\n{text('greeting-help')}"
