"""Questions that a newcomer could ask, each tried beforehand: the course has answered it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from adapters.guide import Guide
from core.access.reading import Reader
from core.errors import BotError, ServiceError
from core.i18n import current_language, text
from core.markdown.writing import one_line
from core.models import AgentRequest, AgentResponse, Outcome

logger = logging.getLogger(__name__)

MOST = 4
"""Questions suggested at most."""
_ASKER = "suggestions"
"""Who tries them: on whose account a model's tokens are."""
_TOPICS = 12
"""Sections that are tried until there are enough questions."""
_LONGEST_TOPIC = 75

Rehearse = Callable[[AgentRequest], Awaitable[AgentResponse]]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A question that the course answers."""

    topic: str
    question: str


class Suggestions:
    """Tries questions about a course's sections, once for each edition and language."""

    def __init__(self, guide: Guide, rehearse: Rehearse) -> None:
        """Prepare to try.

        Args:
            rehearse: Returns the answer to a question, which is neither shown nor stored.
        """
        self._guide = guide
        self._rehearse = rehearse
        self._known: dict[tuple[UUID, str], asyncio.Task[list[Suggestion]]] = {}

    async def about(self, reader: Reader, course_id: str) -> Sequence[Suggestion]:
        """Return questions that a course answers; none where it may not be read.

        Raises:
            BotError: when nothing can be tried now.
        """
        mark = await self._guide.mark(reader, course_id)
        if mark is None:
            return ()
        key = (mark.edition.generation, current_language())
        if key not in self._known:
            names = await self._guide.sections_like(
                reader, course_id, "", limit=_TOPICS, longest=_LONGEST_TOPIC
            )
            self._known[key] = asyncio.create_task(self._tried(course_id, names))
        trying = self._known[key]
        try:
            return await asyncio.shield(trying)
        except BotError:
            if self._known.get(key) is trying:
                del self._known[key]
            raise

    async def _tried(self, course_id: str, names: Sequence[str]) -> list[Suggestion]:
        """Return a question for each section that answers one, until there are enough."""
        found = dict[str, Suggestion]()
        for name in names:
            topic = one_line(name.rpartition(" › ")[2])
            if topic and topic not in found:
                suggestion = await self._about(course_id, topic)
                found |= {topic: suggestion} if suggestion is not None else {}
            if len(found) == MOST:
                break
        logger.info("%d questions about %s are suggested", len(found), course_id)
        return [*found.values()]

    async def _about(self, course_id: str, topic: str) -> Suggestion | None:
        """Return the first way to ask about a topic that is answered from its section."""
        for question in _asked_about(f"“{topic}”"):
            asked = AgentRequest(course_id=course_id, query_text=question, user_id=_ASKER)
            answer = await self._rehearse(asked)
            if answer.outcome is Outcome.ERROR:
                raise ServiceError("a question could not be tried")
            if _answers(answer, topic):
                return Suggestion(topic, question)
        return None


def _asked_about(topic: str) -> Iterator[str]:
    yield text("suggestion-says", topic=topic)
    yield text("suggestion-explain", topic=topic)
    yield text("suggestion-what", topic=topic)


def _answers(response: AgentResponse, topic: str) -> bool:
    """Return whether a question was answered, and from the section that it is about."""
    if response.outcome is not Outcome.ANSWERED:
        return False
    places = ((chunk.page_title, *chunk.headings) for chunk in response.grounding_chunks)
    return any(topic == one_line(heading) for path in places for heading in path)
