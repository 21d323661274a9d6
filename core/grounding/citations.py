"""Lets a claim into the answer only with words of the book that carry it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.models import CODE, Citation, RetrievedChunk, source_urls
from core.text.links import without_links

_BLOCK = re.compile(r"^\s*(?:```|~~~|\||\$\$)")
_FENCES = ("```", "~~~")
_FENCE = 3
_BRACKETED_NUMBER = re.compile(r"\[(\d+)\]")


@dataclass
class CitationLedger:
    """Numbers the citations of one answer; what it refuses is counted, not shown.

    `evidence` are the chunks that may be cited. Equal passages share a number.
    """

    evidence: Sequence[RetrievedChunk]
    citations: list[Citation] = field(default_factory=list)
    refused: int = 0

    def admit(self, text: str, chunk_number: int, quote: str) -> str | None:
        """Return `text` with the marker of its citation, or none when it is refused.

        It is refused when there is no such chunk or the quote does not stand in it word
        for word (runs of blanks count as one).
        """
        span = self._locate(chunk_number, quote)
        if span is None or not text.strip():
            self.refused += 1
            return None
        marker = self._marker(self.evidence[chunk_number], *span)
        shown = _presentable(text)
        glue = "\n" if _BLOCK.match(shown) else " "
        return f"{shown}{glue}[{marker}]"

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

    def _locate(self, chunk_number: int, quote: str) -> tuple[int, int] | None:
        if not 0 <= chunk_number < len(self.evidence) or not quote.strip():
            return None
        content = self.evidence[chunk_number].content_text
        wanted = quote.strip()
        if (start := content.find(wanted)) >= 0:
            return start, start + len(wanted)
        words = r"\s+".join(re.escape(word) for word in wanted.split())
        match = re.search(words, content)
        return match.span() if match else None

    def _marker(self, chunk: RetrievedChunk, start: int, end: int) -> int:
        for citation in self.citations:
            place = (citation.chunk_id, citation.char_start, citation.char_end)
            if place == (chunk.chunk_id, start, end):
                return citation.marker
        marker = len(self.citations) + 1
        self.citations.append(
            Citation(
                marker=marker,
                chunk_id=chunk.chunk_id,
                quote=chunk.content_text[start:end],
                char_start=start,
                char_end=end,
            )
        )
        return marker


def is_block(text: str) -> bool:
    """Return whether the text is a fence, table or formula that stands on its own lines."""
    return _BLOCK.match(text) is not None


def _presentable(text: str) -> str:
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
