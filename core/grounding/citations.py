"""Numbers the citations of one answer; a citation is words that stand in the book."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from core.markdown.code import code_in, outside_code
from core.markdown.fences import is_block
from core.markdown.writing import fenced, lasting
from core.models import Citation, RetrievedChunk, source_urls
from core.text.links import without_links

_BRACKETED_NUMBER = re.compile(r"\[(\d+)\]")
_BACKTICK = re.compile(r"\\?`")
_TILDES = re.compile("~{3,}")


class CitedPlace(NamedTuple):
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

    def locate(self, chunk_number: int, quote: str, start: int) -> CitedPlace | None:
        """Return where the quote stands, to the letter; None when it does not stand there.

        Args:
            chunk_number: Which of the evidence it is said to stand in.
            quote: What is said to stand there.
            start: Where it begins.
        """
        if not 0 <= chunk_number < len(self.evidence) or not quote.strip() or start < 0:
            return None
        if not self.evidence[chunk_number].content_text.startswith(quote, start):
            return None
        return CitedPlace(chunk_number, start, start + len(quote))

    def cite(self, text: str, places: Sequence[CitedPlace]) -> str:
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

    def _marker(self, place: CitedPlace) -> int:
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


def below_mark(text: str, lead: str | None) -> str:
    """Return a claim's text; lines of a block move right, below the mark of their item.

    Args:
        lead: The layout in front of it, such as a bullet.
    """
    mark = (lead or "").rpartition("\n")[2]
    if not mark.strip() or not is_block(text):
        return text
    return text.replace("\n", "\n" + " " * len(mark))


def presentable(text: str) -> str:
    """Return Markdown as it is shown: its code byte for byte, its prose without links.

    The prose has nothing that looks like our markers. Code that was left open is closed; what
    opens none and never closes becomes a plain quotation mark, since the text of one claim must
    not swallow the marker of the next.
    """
    text = lasting(text)
    shown = outside_code(text, _prose)
    return shown if _codes(shown) == _codes(text) else _in_blocks(text)


def _codes(text: str) -> list[str]:
    return [code.content for code in code_in(text)]


def _in_blocks(text: str) -> str:
    """Return prose and code that cannot be taken for anything else: each on lines of its own."""
    return outside_code(
        text,
        lambda prose: " ".join(_prose(prose).split()),
        code=lambda code, _: f"\n\n{fenced(code.content)}\n\n",
    ).strip()


def _prose(text: str) -> str:
    plain = _TILDES.sub("—", _BACKTICK.sub("‘", without_links(text)))
    return _BRACKETED_NUMBER.sub(r"(\1)", plain)
