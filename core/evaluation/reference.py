"""How much of a reference answer stands in what a reader is shown."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.evaluation.metrics import contains_answer, interval
from core.evaluation.questions import GoldQuestion
from core.evaluation.report import mean, number
from core.markdown.code import outside_code
from core.models import CITATION_MARKER, AgentResponse, Outcome, RetrievedChunk

SPAN = "span"
"""The kind of rows whose reference answers stand in the book word for word."""
_WORD = re.compile(r"[^\W_]+")
_MARKER = re.compile(rf"\s*{CITATION_MARKER.pattern}")
_WORDS_AROUND_A_PLACE = 6
"""A line that names a section in at most so many words more is ours: `The closest: Scarcity`."""


@dataclass(frozen=True, slots=True)
class Referred:
    """What one answerable question showed."""

    kind: str
    share: float | None
    """Share of the reference's terms, beyond the question's, that are shown; None: it has none."""
    span: bool | None
    """Whether a gold span is shown; None: the row has no spans."""
    words: int | None
    """Number of words shown; None: the question was refused."""


def shown_text(response: AgentResponse) -> str:
    """Return what a reader sees of the book; empty for a refusal or an error.

    Citation markers are left out, and so are the lines that only name a cited section.
    """
    if response.outcome not in {Outcome.ANSWERED, Outcome.PARTIAL}:
        return ""
    names = {_folded(name) for chunk in response.grounding_chunks for name in _names(chunk)}
    lines = response.response_text.split("\n")
    kept = "\n".join(line for line in lines if not _names_a_place(line, names))
    return outside_code(kept, lambda prose: _MARKER.sub("", prose)).strip()


def _names(chunk: RetrievedChunk) -> Iterator[str]:
    yield from (*chunk.headings, chunk.page_title, chunk.module_name or "")


def _names_a_place(line: str, names: Iterable[str]) -> bool:
    """Return whether the line has little more than headings of what is cited, and no marker."""
    if CITATION_MARKER.search(line):
        return False
    left = f" {_folded(line)} "
    for name in sorted(names, key=len, reverse=True):
        if name:
            left = left.replace(f" {name} ", "  ")
    rest = left.split()
    return len(rest) <= _WORDS_AROUND_A_PLACE and len(rest) < len(_folded(line).split())


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def referred(
    row: GoldQuestion, response: AgentResponse, encode_terms: Callable[[str], Sequence[int]]
) -> Referred:
    """Compare what is shown with the row's reference answers.

    Args:
        row: An answerable question; it may have no reference answer.
        response: The finished answer; a refusal shows nothing, so its share is 0.
        encode_terms: Gives the distinct terms of a text in the book's language, without stop
            words. Of several references the one that is shown best counts.
    """
    shown = shown_text(response)
    held, asked = set(encode_terms(shown)), set(encode_terms(row.question))
    wanted = [set(encode_terms(answer)) - asked for answer in row.answers]
    shares = [len(terms & held) / len(terms) for terms in wanted if terms]
    return Referred(
        kind=row.kind or "none",
        share=max(shares) if shares else None,
        span=contains_answer(shown, row.answers) if row.kind == SPAN and row.answers else None,
        words=len(_WORD.findall(shown)) if shown else None,
    )


def summarise_references(rows: Sequence[Referred]) -> dict[str, Any]:
    """Return the block `reference` of the report: all rows together, then each kind."""
    kinds = sorted({row.kind for row in rows})
    by_kind = {kind: _figures([row for row in rows if row.kind == kind]) for kind in kinds}
    return {**_figures(rows), "by_kind": by_kind}


def _figures(rows: Sequence[Referred]) -> dict[str, Any]:
    shares = [row.share for row in rows if row.share is not None]
    spans = [float(row.span) for row in rows if row.span is not None]
    return {
        "n": len(rows),
        "references": len(shares),
        "reference_share": mean(shares),
        "reference_share_ci95": _bounds(shares),
        "span_shown": mean(spans),
        "span_shown_ci95": _bounds(spans),
        "words_shown": mean(row.words for row in rows if row.words is not None),
    }


def _bounds(values: Sequence[float]) -> tuple[float | None, ...] | None:
    return tuple(number(bound) for bound in interval(values)) if values else None
