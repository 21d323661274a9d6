"""Understands a follow-up as a question that stands alone, or finds out what to ask back."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from core.answering.context import AnswerContext
from core.domain import (
    EXPLAIN_QUOTE,
    MAX_QUESTION,
    MOST_CHOICES,
    ConversationTurn,
    Outcome,
    RetrievalToolInput,
)
from core.retrieval.resolving import (
    IsContent,
    LastAnswer,
    Reading,
    ReadingKind,
    Standing,
    about,
    chosen,
    figures_of,
    has_own_subject,
    leans,
    names_place,
    readings,
    refers,
    root_of,
    standing_of,
)
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever

_MOST_TERMS = 3
"""Of what the last question was about are tried in place of a pronoun."""
_MISSING = 0.5
"""Probability from which on a first question is taken to speak of what nothing in it names."""
_FEW_TERMS = 1
"""Words of its own that a question has at most which leans, where no head can tell."""


@dataclass(frozen=True, slots=True)
class Understood:
    """How a question is to be read."""

    question: str | None = None
    """The question that a follow-up is taken for; None: it stands alone."""
    is_joined: bool = False
    """Whether it is the follow-up with the whole question before it: these are no two parts."""
    choices: tuple[str, ...] = ()
    """What may be meant, where that is not to be decided; empty: it is."""
    is_lost: bool = False
    """Whether nothing tells what it speaks of."""


ALONE = Understood()


async def understand(
    retriever: Retriever,
    context: AnswerContext,
    asked: RetrievalToolInput,
    said: Sequence[ConversationTurn],
) -> Understood:
    """Return how a question is meant after what was said.

    Nothing is looked at where the asker worded it to stand alone, or asks "What is X?", where a
    passage comes with it, and where a thread of people says what it is about.

    Args:
        said: The turns before it that count, oldest first.

    Raises:
        BotError: as `Retriever.retrieve`.
    """
    request = context.request
    has_context = asked.selected_text is not None or (request.thread_messages and not said)
    stands = request.stands_alone or has_own_subject(asked.query_text)
    if stands or has_context or asked.query_text == EXPLAIN_QUOTE:
        return ALONE
    reader = _Reader(retriever, context, asked)
    if said:
        return await reader.after(said)
    return ALONE if context.may_write or asked.section_filter else await reader.first()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one question."""

    retriever: Retriever
    context: AnswerContext
    asked: RetrievalToolInput

    async def first(self) -> Understood:
        """Return how a question is meant before which nothing was said."""
        opened = await self.retriever.opened(self.context.request.course_id)
        standing = await standing_of(self.asked.query_text, opened.embedder)
        if standing is None or standing.is_missing < _MISSING or not refers(self.asked.query_text):
            return ALONE
        found = await self._find(self.asked.query_text)
        choices = self._within(found.near_sections)
        return (
            Understood(choices=(*choices,)) if len(choices) > 1 else Understood(is_lost=not choices)
        )

    async def after(self, said: Sequence[ConversationTurn]) -> Understood:
        """Return how a question is meant after others."""
        alone = await self._find(self.asked.query_text)
        question, is_content = alone.question or self.asked.query_text, _is_content(alone)
        last = said[-1].agent_response
        if last.choices and (one := chosen(question, last.choices, is_content)):
            return Understood(one)
        before = _last_answer(said)
        meant = readings(question, before, is_content)
        *terms, whole = meant
        opened = await self.retriever.opened(self.context.request.course_id)
        standing = await standing_of(question, opened.embedder, before.question)
        together = await self._find(whole.question)
        if not self._leans(question, standing, alone, together, before):
            return ALONE
        if terms and terms[0].kind is ReadingKind.ITEM:
            return Understood(terms[0].question)
        is_lost = together.signals.best_score < self.context.mark
        if (names_place(question) or is_lost) and not self._has_asked(said):
            choices = self._within([one.referent for one in terms] or before.headings)
            if len(choices) > 1:
                return Understood(choices=(*choices,))
        return await self._likeliest(terms[:_MOST_TERMS], whole, together, said)

    async def _likeliest(
        self,
        terms: Sequence[Reading],
        whole: Reading,
        together: Retrieval,
        said: Sequence[ConversationTurn],
    ) -> Understood:
        """Return the first reading with one term that leads where the whole question leads.

        Where none does, the whole last question says what is meant.
        """
        found = await asyncio.gather(*(self._find(one.question) for one in terms))
        led = together.documents[:1]
        for one, own in zip(terms, found, strict=True):
            if own.documents[:1] == led:
                return Understood(one.question)
        return Understood(whole.question, is_joined=True)

    def _leans(
        self,
        question: str,
        standing: Standing | None,
        alone: Retrieval,
        together: Retrieval,
        before: LastAnswer,
    ) -> bool:
        """Return whether a question goes on from the one before it."""
        if standing is None:
            return len(alone.encode_terms(question)) <= _FEW_TERMS
        figures = figures_of(
            standing,
            alone.signals,
            together.signals,
            refers=refers(question),
            is_cited=bool(before.files.intersection(alone.documents[:1])),
        )
        return leans(figures)

    def _within(self, headings: Sequence[str]) -> list[str]:
        """Return the question about each of some sections, so that it stands alone."""
        asked = self.asked.query_text.strip()
        named = [about(asked, heading).question for heading in headings]
        return [*dict.fromkeys(one[:MAX_QUESTION] for one in named)][:MOST_CHOICES]

    def _has_asked(self, said: Sequence[ConversationTurn]) -> bool:
        return self.context.may_write or any(one.outcome is Outcome.ASKED_BACK for one in said)

    async def _find(self, question: str) -> Retrieval:
        asked = self.asked.model_copy(update={"query_text": question[:MAX_QUESTION]})
        return await self.retriever.retrieve(self.context.request.course_id, asked)


def _is_content(found: Retrieval) -> IsContent:
    return lambda word: bool(found.encode_terms(word))


def _last_answer(said: Sequence[ConversationTurn]) -> LastAnswer:
    """Return what the last turn showed, with its question."""
    turn = said[-1]
    response = turn.agent_response
    is_bare = turn.user_input == EXPLAIN_QUOTE and turn.selected_text
    asked = (turn.selected_text or "") if is_bare else turn.question
    question = root_of(turn.user_input, asked)
    headings = [
        heading
        for chunk in response.grounding_chunks
        for heading in (*reversed(chunk.headings), chunk.page_title)
    ]
    return LastAnswer(
        question[: MAX_QUESTION // 2],
        "\n".join(one.quote for one in response.citations),
        tuple(dict.fromkeys(headings)),
        frozenset(chunk.source_file for chunk in response.grounding_chunks),
    )
