"""The sentences below an answer that say what it lacks, and why."""

from collections.abc import Iterator

from core.answering.assurance import WELL_SUPPORTED, DraftTally, Emptiness
from core.answering.quote_context import is_short
from core.grounding.wording import other_language
from core.i18n import text
from core.models import AgentRequest, Outcome, QuoteStatus
from core.retrieval.retrieval import Retrieval
from core.text.unread import unread_besides


def notices(
    request: AgentRequest,
    outcome: Outcome,
    retrieval: Retrieval,
    tally: DraftTally,
    *,
    is_misquoted: bool,
    is_unreadable: bool = False,
    by_model: bool = False,
) -> Iterator[str]:
    """Yield what a reader learns of how an answer came about, then of what it lacks.

    Args:
        by_model: Whether a model wrote it, which has read the question as it was asked.
        is_misquoted: Whether the reader's quote says otherwise than the book.
        is_unreadable: Whether the question is in a language that neither search nor writer reads.
    """
    if is_unreadable and outcome is not Outcome.ABSTAINED:
        yield other_language(retrieval.language)
    yield from _of_search(request, outcome, retrieval, by_model=by_model)
    if outcome is not Outcome.ABSTAINED:
        yield from _of_draft(request, outcome, tally, is_misquoted=is_misquoted)


def _of_search(
    request: AgentRequest, outcome: Outcome, retrieval: Retrieval, *, by_model: bool
) -> Iterator[str]:
    location = retrieval.quote_location
    if request.selected_text_cut:
        yield text("notice-quote-cut")
    if request.thread_partly_seen:
        yield text("notice-thread-partly-seen")
    if request.unread and outcome is not Outcome.ABSTAINED:
        yield unread_besides(request.unread)
    if retrieval.mended and not by_model:
        words = ", ".join(text("answer-name", name=word) for word in retrieval.mended)
        yield text("notice-mended", words=words)
    if retrieval.parts_left and not by_model:
        yield text("notice-parts-left", count=len(retrieval.parts))
    if retrieval.by_words:
        yield text("notice-searched-by-words")
    if location is not None and location.status is QuoteStatus.NOT_FOUND:
        short = is_short(request.selected_text)
        yield text("notice-quote-too-short") if short else text("notice-quote-not-found")


def _of_draft(
    request: AgentRequest, outcome: Outcome, tally: DraftTally, *, is_misquoted: bool
) -> Iterator[str]:
    within = request.section_filter is not None
    if tally.instead_of is Emptiness.NOTHING_HELD:
        yield text("notice-nothing-held")
    if tally.cut_short:
        yield text("notice-cut-short")
    if tally.instead_of is Emptiness.REFUSED:
        yield text("notice-no-answer-read")
    elif tally.is_beside_the_point:
        yield text("notice-closest-within") if within else text("notice-closest")
    elif tally.not_covered:
        yield text("notice-partly-covered-within") if within else text("notice-partly-covered")
    elif tally.fallen:
        yield text("notice-left-out", count=len(tally.fallen))
    elif tally.supported_share < WELL_SUPPORTED:
        yield text("notice-left-out", count=tally.dropped)
    elif outcome is Outcome.PARTIAL and not is_misquoted:
        yield text("notice-closest-within") if within else text("notice-closest")
    if tally.unjudged:
        yield text("notice-unjudged", count=tally.unjudged)
