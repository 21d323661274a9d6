"""Cuts the evidence into what an answer may quote: whole sentences, lists, code, tables."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from uuid import UUID

from core.generation.citable import (
    is_bound_to_previous,
    is_citable,
    is_citable_step,
    leans_on_previous,
)
from core.markdown.code import code_in
from core.markdown.fences import fence_opened_by
from core.markdown.locating import CodeKind
from core.markdown.writing import one_line
from core.models import RetrievedChunk
from core.text.sentences import Span, sentence_spans
from core.text.step_lists import find_step_lists

LONGEST_LIST = 700
"""Characters; the items of a longer list are quoted one by one."""
LONGEST_BLOCK = 25
"""Lines of code or rows of a table that may be quoted whole."""

_BULLET = re.compile(r"(?:[-*•+]|\d{1,3}[.)])[ \t]+")
_PUNCTUATED = re.compile(r"[.!?。！？｡…][\"'”’»)\]]*\s*$", re.M)


class ExcerptKind(StrEnum):
    """How an excerpt is laid out, which decides how it is shown."""

    SENTENCE = "sentence"
    ITEM = "item"
    LIST = "list"
    CODE = "code"
    TABLE = "table"
    FORMULA = "formula"
    STEPS = "steps"
    """The part of a list of steps that stands in one chunk."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A verbatim part of one chunk of the evidence."""

    chunk_number: int
    """Position of its chunk in the evidence, from 0."""
    start: int
    end: int
    """Its span in the chunk's text."""
    quote: str
    kind: ExcerptKind
    place: tuple[UUID, int]
    """Its document and where it starts there, in characters."""
    citable: bool = True
    """False: only there so that the next one knows what comes before it."""
    leans: bool = False
    """Begins with words that only the excerpt before it explains."""
    bound: bool = False
    """Leans so much that it is shown behind the excerpt before it, or not at all."""
    tells_to_do: bool = False
    """Is of a list of steps that somebody is to take."""
    given: bool = False
    """The reader has it before them: it need not be shown for the next one to be understood."""
    follows: bool = False
    """Comes right behind the excerpt before it in the same section."""

    @property
    def text(self) -> str:
        """The quote as it is shown: a sentence on one line, other layouts as they are."""
        if self.kind in {ExcerptKind.SENTENCE, ExcerptKind.ITEM}:
            return one_line(self.quote)
        return self.quote


def cut_excerpts(evidence: Sequence[RetrievedChunk], language: str) -> list[Excerpt]:
    """Return all excerpts in reading order: documents as ranked, then by position.

    Args:
        evidence: What is cut.
        language: The language of the course, by which steps are recognised.
    """
    excerpts: list[Excerpt] = []
    before: RetrievedChunk | None = None
    for number, chunk in in_reading_order(evidence):
        cut = list(_cut(number, chunk, language))
        if cut and before is not None and is_next(before, chunk):
            cut[0] = replace(cut[0], follows=True)
        excerpts.extend(cut)
        before = chunk
    return excerpts


def in_reading_order(evidence: Sequence[RetrievedChunk]) -> list[tuple[int, RetrievedChunk]]:
    """Return the chunks with their numbers: documents as ranked, then by position."""
    ranks: dict[UUID, int] = {}
    for chunk in evidence:
        ranks.setdefault(chunk.document_id, len(ranks))
    return sorted(
        enumerate(evidence), key=lambda pair: (ranks[pair[1].document_id], pair[1].char_start)
    )


def is_next(before: RetrievedChunk, chunk: RetrievedChunk) -> bool:
    """Return whether a chunk comes right behind another one in the same section."""
    return (
        before.document_id == chunk.document_id
        and before.headings == chunk.headings
        and before.chunk_index + 1 == chunk.chunk_index
    )


def _cut(number: int, chunk: RetrievedChunk, language: str) -> Iterator[Excerpt]:
    text = chunk.content_text
    punctuated = _PUNCTUATED.search(text) is not None
    steps = [part for one in find_step_lists([text], language) for part in one.parts]
    spans = [Span(*span) for span in chunk.sentences] or sentence_spans(text)
    for position, (span, kind) in enumerate(_group(text, spans)):
        quote = text[span.start : span.end]
        prose = kind in {ExcerptKind.SENTENCE, ExcerptKind.ITEM}
        is_step = kind is ExcerptKind.ITEM and any(p.start <= span.start < p.end for p in steps)
        yield Excerpt(
            chunk_number=number,
            start=span.start,
            end=span.end,
            quote=quote,
            kind=kind,
            place=(chunk.document_id, chunk.char_start + span.start),
            citable=(
                is_citable_step(quote, chunk.headings)
                if is_step
                else is_citable(quote, chunk.headings, punctuated=punctuated)
                if prose
                else _is_short(quote, kind)
            ),
            leans=prose and leans_on_previous(quote),
            bound=prose and is_bound_to_previous(quote),
            follows=position > 0,
        )


def _is_short(quote: str, kind: ExcerptKind) -> bool:
    if kind is ExcerptKind.FORMULA or _has_empty_fence(quote):
        return False
    return quote.count("\n") < LONGEST_BLOCK + 2


def _has_empty_fence(quote: str) -> bool:
    blocks = (code for code in code_in(quote) if code.kind is CodeKind.FENCE)
    return any(not code.content.strip() for code in blocks)


def _group(text: str, spans: Sequence[Span]) -> Iterator[tuple[Span, ExcerptKind]]:
    """Join a lead-in ("...:") with the list, code, table or formula that it announces."""
    position = 0
    while position < len(spans):
        lead = spans[position]
        kind = _kind(text, lead)
        end = position + 1
        if kind is ExcerptKind.SENTENCE and text[lead.end - 1] in ":：" and end < len(spans):
            announced = _kind(text, spans[end])
            end = _end_of_announced(text, spans, end)
            joined = Span(lead.start, spans[end - 1].end)
            if end > position + 1 and joined.end - joined.start <= LONGEST_LIST:
                yield joined, _joined_kind(announced)
                position = end
                continue
            end = position + 1
        yield _without_bullet(text, lead), kind
        position = end


def _joined_kind(announced: ExcerptKind) -> ExcerptKind:
    return announced if announced in {ExcerptKind.CODE, ExcerptKind.TABLE} else ExcerptKind.LIST


def _end_of_announced(text: str, spans: Sequence[Span], first: int) -> int:
    """Return the position behind the list, or the one block, that starts at `first`."""
    kind = _kind(text, spans[first])
    if kind is ExcerptKind.SENTENCE:
        return first
    end = first + 1
    if kind is not ExcerptKind.ITEM:
        return end
    while end < len(spans):
        same_line = "\n" not in text[spans[end - 1].end : spans[end].start]
        if not same_line and _kind(text, spans[end]) is not ExcerptKind.ITEM:
            break
        end += 1
    return end


def _kind(text: str, span: Span) -> ExcerptKind:
    if fence_opened_by(text[span.start : span.end].partition("\n")[0]):
        return ExcerptKind.CODE
    if text.startswith("|", span.start):
        return ExcerptKind.TABLE
    if text.startswith("$$", span.start):
        return ExcerptKind.FORMULA
    return ExcerptKind.ITEM if _BULLET.match(text, span.start) else ExcerptKind.SENTENCE


def _without_bullet(text: str, span: Span) -> Span:
    bullet = _BULLET.match(text, span.start, span.end)
    return Span(bullet.end(), span.end) if bullet and bullet.end() < span.end else span
