"""Writes passages as claims: where there are several below their headings, what answers bold."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from core.generation.base import Claim, QuotedWords
from core.generation.passages.pieces import ENTRY, PROSE, Piece
from core.generation.passages.windows import Window
from core.markdown.code import without_code
from core.models import RetrievedChunk

_EMPHASISED = re.compile(r"[*_\\]|~~")
"""What would take our marks for its own, or be taken for them."""


def claims_of(windows: Sequence[Window], evidence: Sequence[RetrievedChunk]) -> Iterator[Claim]:
    """Yield a claim for what of a passage stands in one chunk; sections in order of their best."""
    sections: dict[object, list[Window]] = {}
    for window in windows:
        chunk = evidence[window.pieces[0].chunk_number]
        sections.setdefault((chunk.document_id, chunk.headings), []).append(window)
    firsts = [evidence[own[0].pieces[0].chunk_number] for own in sections.values()]
    for own, heading in zip(sections.values(), _headings(firsts), strict=True):
        own.sort(key=lambda window: window.pieces[0].place[1])
        for window in own:
            by_chunk = groupby(window.pieces, key=lambda piece: piece.chunk_number)
            for number, (_, run) in enumerate(by_chunk):
                pieces = list(run)
                opens = pieces[0].opens if number else True
                yield _claim(pieces, window, evidence, heading, "\n\n" if opens else None)
                heading = None


def _headings(chunks: Sequence[RetrievedChunk]) -> list[str | None]:
    """Return what stands above each of several sections; the footnotes name their places whole.

    Nothing stands above a single one: its footnote would say the same.
    """
    if len(chunks) < 2:
        return [None] * len(chunks)
    short = [_own_heading(chunk) or chunk.page_title for chunk in chunks]
    alike = {one for one in short if short.count(one) > 1}
    return [
        place_of(chunk) if name in alike else name
        for chunk, name in zip(chunks, short, strict=True)
    ]


def _own_heading(chunk: RetrievedChunk) -> str | None:
    return chunk.section_heading or (chunk.headings[-1] if chunk.headings else None)


def place_of(chunk: RetrievedChunk) -> str:
    """Return what a passage's section is called: its page, and its heading where it has one."""
    own = _own_heading(chunk)
    return chunk.page_title if own in {None, chunk.page_title} else f"{chunk.page_title} › {own}"


def _claim(
    run: Sequence[Piece],
    window: Window,
    evidence: Sequence[RetrievedChunk],
    heading: str | None,
    lead: str | None,
) -> Claim:
    first, last = run[0], run[-1]
    marks = len(window.pieces) > 1
    text = _shown(first, window, marks=marks)
    for piece in run[1:]:
        text += ("\n\n" if piece.opens else " ") + _shown(piece, window, marks=marks)
    quote = evidence[first.chunk_number].content_text[first.start : last.end]
    quoted = QuotedWords(first.chunk_number, quote, first.start)
    return Claim(text, (quoted,), lead=lead, heading=heading)


def _shown(piece: Piece, window: Window, *, marks: bool) -> str:
    text = piece.text
    is_line = piece.kind == PROSE or (piece.kind == ENTRY and "\n" not in text)
    bold = marks and piece in window.centres and is_line
    is_emphasised = _EMPHASISED.search(without_code(text)) is not None
    return f"**{text}**" if bold and not is_emphasised else text
