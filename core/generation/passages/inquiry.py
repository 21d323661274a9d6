"""What an answer has to be about: the question, and the quote or turn it depends on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from core.generation.base import GenerationTask
from core.generation.passages.definitions import defined_term
from core.index.terms import TermStatistics
from core.models import EXPLAIN_QUOTE, ConversationTurn, gist_of
from core.text.sentences import sentences

CONTEXT = 0.5
"""What a word of the quote, of the question before or of the section searched counts."""
PREVIOUS_ANSWER = 0.25
LONGEST_EMBEDDED = 600
"""Characters of a quote or of an earlier question that are embedded."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question as pieces are scored against it."""

    weights: Mapping[int, float]
    """What each term counts; they sum to 1 unless there are none."""
    embedded: tuple[str, ...]
    """Texts whose mean vector stands for the question; the first is the question itself."""
    given: tuple[frozenset[int], ...] = ()
    """The terms of each sentence of the quote that is explained."""
    known: tuple[frozenset[int], ...] = ()
    """The terms of each sentence of the answer before, where the question leans on it."""
    own: Mapping[int, float] = field(default_factory=dict)
    """What each term of the question itself counts where it leans; they sum to 1, too."""
    defines: frozenset[int] = frozenset()
    """The terms of X in "What is X?"."""

    def coverage(self, terms: frozenset[int], *, known: bool = False) -> float:
        """Return the weight of the question's terms among `terms`, 0 to 1.

        Args:
            known: Whether a text says what the answer before said: all of what the question leans
                on is in it, so only the question's own terms count.
        """
        weights = self.own if known else self.weights
        return sum(weight for term, weight in weights.items() if term in terms)


def read_inquiry(task: GenerationTask) -> Inquiry:
    """Return what the task asks, with the quote, turn or section that its question rests on."""
    if task.selected_text is not None:
        return _about_quote(task, task.selected_text)
    term = defined_term(task.question)
    own = task.encode_terms(term or task.question)
    if task.leans and task.history:
        return _about_turn(task, task.history[-1], own)
    before = " ".join(gist_of(task.thread)) or task.section
    if task.leans and before:
        said = before[-LONGEST_EMBEDDED:]
        parts = [(own, 1.0), (task.encode_terms(said), CONTEXT)]
        return Inquiry(_weigh(parts, task.statistics), (task.question, f"{said} {task.question}"))
    defines = frozenset(own) if term else frozenset[int]()
    return Inquiry(_weigh([(own, 1.0)], task.statistics), (task.question,), defines=defines)


def _about_quote(task: GenerationTask, quote: str) -> Inquiry:
    """Mix question and quote; without a question of its own, ask for what explains the quote."""
    key, start = task.encode_terms(quote), quote[:LONGEST_EMBEDDED]
    if task.question != EXPLAIN_QUOTE:
        parts = [(task.encode_terms(task.question), 1.0), (key, CONTEXT)]
        return Inquiry(_weigh(parts, task.statistics), (f"{task.question} {start}",))
    said = tuple(frozenset(task.encode_terms(sentence)) for sentence in sentences(quote))
    return Inquiry(_weigh([(key, 1.0)], task.statistics), (start,), given=said)


def _about_turn(task: GenerationTask, turn: ConversationTurn, own: Sequence[int]) -> Inquiry:
    """Mix the question with the turn before it, whose answer is known."""
    cited = turn.agent_response.citations
    said = [task.encode_terms(one) for citation in cited for one in sentences(citation.quote)]
    before = task.encode_terms(turn.question)
    parts = [(own, 1.0), (before, CONTEXT), *((one, PREVIOUS_ANSWER) for one in said)]
    with_context = f"{turn.question[:LONGEST_EMBEDDED]} {task.question}"
    return Inquiry(
        _weigh(parts, task.statistics),
        (task.question, with_context),
        known=tuple(frozenset(one) for one in said),
        own=_weigh([(own, 1.0)], task.statistics),
    )


def _weigh(
    parts: Sequence[tuple[Sequence[int], float]], statistics: TermStatistics
) -> dict[int, float]:
    """Return each term's share of the rarity of all; a term's largest factor counts."""
    factors: dict[int, float] = {}
    for terms, factor in parts:
        for term in terms:
            factors[term] = max(factor, factors.get(term, 0.0))
    weights = statistics.rarity(list(factors)) * np.fromiter(factors.values(), np.float64)
    total = float(weights.sum())
    return dict(zip(factors, (weights / total).tolist(), strict=True)) if total else {}
