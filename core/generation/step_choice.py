"""Chooses the list of steps that answers a question, or none where the book's prose does."""

from collections.abc import Sequence

from core.generation.base import GenerationTask
from core.generation.inquiry import Inquiry, own_terms
from core.generation.ranking import Scored
from core.generation.steps import Procedure
from core.text.sentences import Span
from core.text.step_questions import names_no_subject


def in_section(procedures: Sequence[Procedure]) -> Sequence[Procedure]:
    """Return the lists of a section whose steps are asked for: what to do, where that is told."""
    return [one for one in procedures if one.steps.tells_to_do] or procedures


def answering(
    ranked: Sequence[Scored],
    procedures: Sequence[Procedure],
    task: GenerationTask,
    inquiry: Inquiry,
) -> Sequence[Procedure]:
    """Return the list that answers best, and others that may be meant; none where prose does.

    That is the list which the best excerpt is of, or announces. Where somebody wants to do it, a
    sentence right in front of a list leads in to it as well; and so does the heading, where it has
    no less of the question than the best excerpt adds, or the question names nothing.

    Args:
        ranked: The excerpts, one for each list in the place of its items.
    """
    best = max(ranked, key=lambda one: one.score, default=None)
    if best is None:
        return []
    if own := [one for one in procedures if _holds(one, best) or _is_announced_by(one, best)]:
        return own[:1]
    if inquiry.steps is None or not inquiry.steps.plainly:
        return []
    if behind := [one for one in procedures if _is_right_behind(one, best, task)]:
        return behind[:1]
    chunk = task.evidence[best.excerpt.chunk_number]
    heading = frozenset(task.encode_terms(" ".join(chunk.headings)))
    added = inquiry.coverage(best.terms - heading)
    if not (0 < inquiry.coverage(heading) >= added or _names_nothing(task)):
        return []
    beside = [
        one
        for one in procedures
        for other in [task.evidence[one.chunk_numbers[0]]]
        if one.steps.tells_to_do
        and (other.document_id, other.headings) == (chunk.document_id, chunk.headings)
    ]
    return sorted(beside, key=lambda one: -_score(one, ranked))


def _holds(procedure: Procedure, scored: Scored) -> bool:
    excerpt = scored.excerpt
    return procedure.holds(excerpt.chunk_number, Span(excerpt.start, excerpt.end))


def _is_announced_by(procedure: Procedure, scored: Scored) -> bool:
    excerpt = scored.excerpt
    return any(
        number == excerpt.chunk_number and span.start < excerpt.end and excerpt.start < span.end
        for number, span in procedure.spans(procedure.steps.lead_in)
    )


def _is_right_behind(procedure: Procedure, scored: Scored, task: GenerationTask) -> bool:
    excerpt, steps = scored.excerpt, procedure.steps
    number, span = next(procedure.spans([*steps.lead_in, *steps.parts]))
    between = task.evidence[number].content_text[excerpt.end : span.start]
    return number == excerpt.chunk_number and excerpt.end <= span.start and between.isspace()


def _names_nothing(task: GenerationTask) -> bool:
    return names_no_subject(task.question) or not own_terms(task.question, task.encode_terms)


def _score(procedure: Procedure, ranked: Sequence[Scored]) -> float:
    return max((one.score for one in ranked if _holds(procedure, one)), default=0.0)
