"""Numbers the citations of one answer; a citation is words that stand in the book."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.grounding.quoting import locate_quote
from core.models import CODE, Citation, RetrievedChunk, source_urls
from core.text.links import without_links

_BLOCK = re.compile(r"^\s*(?:```|~~~|\||\$\$)")
_FENCES = ("```", "~~~")
_FENCE = 3
_BRACKETED_NUMBER = re.compile(r"\[(\d+)\]")


class Place(NamedTuple):
    """Where quoted words stand: a chunk of the evidence and a span of its text."""

    chunk_number: int
    start: int
    end: int


@dataclass
class CitationLedger:
    """Numbers the citations of one answer.

    `evidence` are the chunks that may be cited. Equal passages share a number.
    """

    evidence: Sequence[RetrievedChunk]
    citations: list[Citation] = field(default_factory=list)

    def locate(self, chunk_number: int, quote: str, start: int | None = None) -> Place | None:
        """Return where the quote stands, in whole sentences; none when it does not.

        Args:
            chunk_number: Which of the evidence it is said to stand in.
            quote: What is said to stand there.
            start: Where it begins; where it stands there to the letter, that is its place.
        """
        if not 0 <= chunk_number < len(self.evidence):
            return None
        content = self.evidence[chunk_number].content_text
        if start is not None and start >= 0 and quote and content.startswith(quote, start):
            return Place(chunk_number, start, start + len(quote))
        span = locate_quote(content, quote)
        return Place(chunk_number, *span) if span else None

    def cite(self, text: str, places: Sequence[Place]) -> str:
        """Return `text` without links, followed by the markers of its citations."""
        markers = dict.fromkeys(self._marker(place) for place in places)
        shown = presentable(text)
        return f"{shown}{_glue(shown)}{' '.join(f'[{marker}]' for marker in markers)}"

    @property
    def grounding_chunks(self) -> tuple[RetrievedChunk, ...]:
        """The cited chunks in order of first citation, each once."""
        by_id = {chunk.chunk_id: chunk for chunk in self.evidence}
        cited = dict.fromkeys(citation.chunk_id for citation in self.citations)
        return tuple(by_id[chunk_id] for chunk_id in cited)

    @property
    def sources(self) -> tuple[str, ...]:
        """The cited chunks' URLs in order of first citation, each once."""
        return source_urls(self.grounding_chunks, tuple(self.citations))

    def _marker(self, place: Place) -> int:
        chunk = self.evidence[place.chunk_number]
        for citation in self.citations:
            known = (citation.chunk_id, citation.char_start, citation.char_end)
            if known == (chunk.chunk_id, place.start, place.end):
                return citation.marker
        marker = len(self.citations) + 1
        self.citations.append(
            Citation(
                marker=marker,
                chunk_id=chunk.chunk_id,
                quote=chunk.content_text[place.start : place.end],
                char_start=place.start,
                char_end=place.end,
            )
        )
        return marker


def _glue(shown: str) -> str:
    """Return what stands between a text and its markers; right below a table is a row."""
    last = shown.rstrip().rpartition("\n")[-1]
    if last.lstrip().startswith("|"):
        return "\n\n"
    return "\n" if is_block(shown) or is_block(last) else " "


def is_block(text: str) -> bool:
    """Return whether the text is a fence, table or formula that stands on its own lines."""
    return _BLOCK.match(text) is not None


def presentable(text: str) -> str:
    """Return the text without links, its prose without what looks like our markers.

    What opens code and never closes it becomes a plain quotation mark: the code of one claim
    must not swallow the marker of the next.
    """
    text = without_links(text.strip())
    shown, position = "", 0
    for match in CODE.finditer(text):
        code = match.group()
        closed = len(code) >= 2 * _FENCE and code.endswith(code[:_FENCE])
        if code.startswith(_FENCES) and not closed:
            break
        shown += _prose(text[position : match.start()]) + code
        position = match.end()
    return shown + _prose(text[position:])


def _prose(text: str) -> str:
    plain = text.replace("`", "‘").replace("~~~", "—")
    return _BRACKETED_NUMBER.sub(r"(\1)", plain)
