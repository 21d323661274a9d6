"""Decides which assignments and sections a question belongs to; in doubt it does."""

import logging
import re
import unicodedata
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.domain import EXPLAIN_QUOTE, AgentRequest, ConversationTurn, RetrievedChunk
from core.domain.errors import EmbeddingError
from core.domain.sentences import sentences
from core.providers.base import ChatEnd
from core.providers.embeddings.base import Embedder, Vectors
from core.retrieval.ranking import BUILT_IN
from core.retrieval.retrieval import Retrieval
from core.teaching.policy import AnswerPolicy, Assignment

logger = logging.getLogger(__name__)

DOUBT = 0.40
"""Cosine of question and assignment, by the built-in model, from which it may belong ..."""
SHARED = 0.40
"""... where the assignment has this share of its words, by rarity: the case that it is about."""
SHARED_IN_SECTIONS = 0.30
"""The same of a question that is answered from the assignment's own sections."""
SURE = 0.60
"""Cosine from which it belongs whatever its words, and no judge is asked."""
DENIED = 0.15
"""Probability below which a judge's no counts."""
_UNLIKE = 95
"""Percentile of what the book's headings reach, which is in doubt by any other model."""
_FEWEST_WORDS = 4
"""Words of a part of an assignment that is compared by itself."""
_MOST_COMPARED = 12
"""Texts of a question that are compared."""
_LONGEST = 1_000
_REMEMBERED = 64
_MARKS = re.compile(r"[\W_]+")
_INTRODUCED = re.compile(r"[:：]\s+(\S.*)", re.S)
"""What comes after a colon."""
_NAME = re.compile(r"(?<![\w.])[^\W\d]\w*?(?:_\w+|\.\w{2,})+")
"""What is written as names in code and of files are."""
_QUOTED = re.compile(r"[\"“”„«»‘]([^\"“”„«»‘]+)[\"“”«»’]")

Titles = Callable[[str], Awaitable[Sequence[str]]]
"""Returns some headings of a course's book."""
Judging = Callable[[str, str, Assignment, list[ChatEnd]], Awaitable[float | None]]
"""Returns the probability that a question, of a course, belongs to an assignment; None: unknown.

The calls of a model, which have to be paid for, are appended to the list.
"""


async def no_judge(
    course_id: str, question: str, assignment: Assignment, calls: list[ChatEnd]
) -> None:
    """Return that nothing is known."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, with what it was asked about."""

    request: AgentRequest
    retrieval: Retrieval
    turns: Sequence[ConversationTurn] = ()
    """What was said before, oldest first."""
    wants_it_done: bool = False
    """Whether it asks for a task's result."""
    judge_calls: list[ChatEnd] = field(default_factory=list, compare=False)
    """What a judge used to decide to which assignment it belongs."""

    @property
    def texts(self) -> list[str]:
        """What may say which task it is about: the question first."""
        request = self.request
        found = [] if request.query_text == EXPLAIN_QUOTE else [request.query_text]
        found += [request.selected_text] if request.selected_text else []
        found += [one.text for one in request.thread_messages if one.by_asker][-3:]
        if self.retrieval.leans or self.wants_it_done:
            own = [turn.user_input for turn in self.turns if turn.user_id == request.user_id]
            found += [f"{before} {request.query_text}" for before in own[-2:]]
        pieces = [piece for text in found for piece in _pieces(text)]
        return [text[:_LONGEST] for text in dict.fromkeys([*found, *pieces])][:_MOST_COMPARED]


@dataclass(frozen=True, slots=True)
class _Compared:
    """An assignment's parts as vectors."""

    parts: tuple[str, ...]
    vectors: Vectors
    doubt_from: float
    """Likeness from which a question may belong."""


class Belonging:
    """Compares questions with assignments, by their course's embedding model."""

    def __init__(self, titles: Titles, judge: Judging = no_judge) -> None:
        """Compare what belongs.

        Args:
            titles: What an embedding model other than the built-in one is measured on.
            judge: Asked in doubt.
        """
        self._titles = titles
        self._judge = judge
        self._known: OrderedDict[tuple[str, str, str], _Compared] = OrderedDict()

    async def about(
        self, asked: Asked, policies: Iterable[AnswerPolicy], embedder: Embedder
    ) -> list[AnswerPolicy]:
        """Return the policies whose assignment or section the question belongs to.

        Where it cannot be compared, it belongs to all of them.
        """
        policies = list(policies)
        found = [one for one in policies if one.section and _lies_in(asked, (one.section,))]
        assigned = [one for one in policies if one.assignment is not None]
        if not assigned:
            return found
        try:
            vectors = await embedder.embed_queries(asked.texts)
            likely = [await self._likeness(asked, one, embedder, vectors) for one in assigned]
        except EmbeddingError as error:
            logger.warning("questions cannot be compared with assignments: %s", error)
            return [*found, *assigned]
        best = max(likely, key=lambda one: one.likeness)
        for one in likely:
            is_meant = asked.wants_it_done and one.likeness == best.likeness
            if (one.in_doubt or is_meant) and await self._belongs(asked, one, is_meant=is_meant):
                found.append(one.policy)
        return found

    async def part_of(self, asked: Asked, assignment: Assignment, embedder: Embedder) -> str:
        """Return the part of an assignment that a question is nearest to.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        compared = await self._compared(asked.request.course_id, assignment, embedder)
        vectors = await embedder.embed_queries(asked.texts)
        return compared.parts[int((compared.vectors @ vectors.T).max(1).argmax())]

    async def _likeness(
        self, asked: Asked, policy: AnswerPolicy, embedder: Embedder, vectors: Vectors
    ) -> "_Likely":
        assignment = policy.assignment
        assert assignment is not None
        compared = await self._compared(asked.request.course_id, assignment, embedder)
        likeness = (compared.vectors @ vectors.T).max(0)
        wanted = SHARED_IN_SECTIONS if _lies_in(asked, assignment.sections) else SHARED
        words = set(asked.retrieval.encode_terms(assignment.text))
        in_doubt = _names_what_is_its_own(asked, assignment) or any(
            like >= max(SURE, compared.doubt_from)
            or (like >= compared.doubt_from and _share(asked, text, words) >= wanted)
            for like, text in zip(likeness, asked.texts, strict=True)
        )
        return _Likely(policy, assignment, float(likeness.max()), in_doubt)

    async def _belongs(self, asked: Asked, likely: "_Likely", *, is_meant: bool) -> bool:
        """Return whether a question in doubt belongs: a judge may deny it."""
        if likely.likeness >= SURE or (is_meant and len(asked.texts[0].split()) < _FEWEST_WORDS):
            return True
        request = asked.request
        question = "\n".join(asked.texts)
        chance = await self._judge(
            request.course_id, question, likely.assignment, asked.judge_calls
        )
        return chance is None or chance >= DENIED

    async def _compared(
        self, course_id: str, assignment: Assignment, embedder: Embedder
    ) -> _Compared:
        key = (course_id, embedder.name, assignment.text)
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known
        parts = tuple(_parts(assignment))
        vectors = await embedder.embed_queries(parts)
        doubt = DOUBT
        if embedder.name != BUILT_IN and (titles := await self._titles(course_id)):
            unlike = await embedder.embed_queries(list(titles))
            doubt = float(np.percentile((vectors @ unlike.T).max(0), _UNLIKE))
        self._known[key] = compared = _Compared(parts, vectors, doubt)
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return compared


@dataclass(frozen=True, slots=True)
class _Likely:
    policy: AnswerPolicy
    assignment: Assignment
    likeness: float
    in_doubt: bool
    """Whether it may belong."""


def _share(asked: Asked, text: str, words: set[int]) -> float:
    """Return the share, by rarity, of a text's words that an assignment has: 0 to 1."""
    found = asked.retrieval
    return found.statistics.coverage(found.encode_terms(text), words)


def _names_what_is_its_own(asked: Asked, assignment: Assignment) -> bool:
    """Return whether a question has a name, as of a function or a file, that is the assignment's.

    A name that what was found in the book has as well is not.
    """
    given = {name.casefold() for name in _NAME.findall(assignment.text)}
    named = given.intersection(
        name.casefold() for text in asked.texts for name in _NAME.findall(text)
    )
    if not named:
        return False
    found = "\n".join(excerpt.chunk.content_text for excerpt in asked.retrieval.evidence).casefold()
    return any(name not in found for name in named)


def _pieces(text: str) -> Iterator[str]:
    """Yield what a text quotes or introduces, and its sentences.

    Words around a task hide it from no one.
    """
    for piece in (*_QUOTED.findall(text), *_INTRODUCED.findall(text), *sentences(text)):
        if len(piece.split()) >= _FEWEST_WORDS:
            yield piece.strip()


def _parts(assignment: Assignment) -> Iterator[str]:
    """Yield the sentences of an assignment, and all of it."""
    for line in assignment.text.splitlines():
        for sentence in sentences(line):
            if len(sentence.split()) >= _FEWEST_WORDS:
                yield sentence[:_LONGEST]
    yield assignment.text[:_LONGEST]


def _lies_in(asked: Asked, sections: Sequence[str]) -> bool:
    """Return whether a question is answered from one of some sections."""
    wanted = [folded for section in sections if (folded := _folded(section))]
    if not wanted:
        return False
    leading = [excerpt.chunk for excerpt in asked.retrieval.evidence[:3]]
    titles = {_folded(title) for chunk in leading for title in _titles_of(chunk)}
    titles.add(_folded(asked.request.section_filter or ""))
    return not titles.isdisjoint(wanted)


def _titles_of(chunk: RetrievedChunk) -> tuple[str, ...]:
    return (chunk.page_title, chunk.module_name or "", *chunk.headings)


def _folded(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title.casefold())
    return _MARKS.sub(" ", plain).strip()
