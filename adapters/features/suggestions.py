"""Questions that a newcomer could ask, each tried beforehand: the course has answered it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from adapters.access.course_directory import CourseDirectory, Edition, ListedCourse
from core.access.reading import Reader
from core.errors import BotError, ServiceError
from core.i18n import current_language, text
from core.markdown.writing import one_line
from core.models import AgentRequest, AgentResponse, Outcome
from core.retrieval.topics import Likely, Topic

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
