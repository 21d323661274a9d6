"""Reads a model's text while it arrives: claims, their quotes, and what is not covered."""

import re
from collections.abc import Callable, Generator, Iterator

from core.generation.base import Quoted
from core.generation.block import Block
from core.generation.claims import ClaimCutter, DraftText
from core.generation.escaping import unescape, visible
from core.generation.tags import Tag, TagKind, TagReader
from core.providers.base import ignore

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_QUOTES = 16
"""Of one claim; more are not looked up."""
_LONGEST_QUOTE = 4_000
"""Characters; what is longer stands in no passage."""
_TERMINATORS = ".!?…。！？｡"
_CLOSERS = "\"'”’»)]*_"
_CONTINUES = ",;:(–—"
_QUOTATION_MARKS = {
    '"': '"',
    "'": "'",
    "“": "”",
    "„": "“",
    "‘": "’",
    "«": "»",
    "»": "«",
    "「": "」",
    "`": "`",
}


class DraftParser:
    """Cuts a model's text into claims; `feed` it in pieces of any size, then `close` it.

    A claim comes as soon as the text behind its last citation shows that no other follows.
    How the text is cut into pieces makes no difference, and no text is an error. Claims of
    what is only said, without a citation, come without quotes.
    """

    def __init__(self, foresee: Callable[[str], None] = ignore) -> None:
        """Tell `foresee` what is claimed when its first citation begins."""
        self._foresee = foresee
        self._tags = TagReader()
        self._block = Block()
        self._cutter = ClaimCutter()
        self._quotes: list[Quoted] = []
        self._citation: Tag | None = None
        self._quoted: list[str] = []
        self._is_cited = False
        """Whether the last thing read was a citation's end, and blanks."""
        self._has_gap = False

    def feed(self, text: str) -> list[DraftText]:
        """Return what is complete by now."""
        return [part for token in self._tags.feed(visible(text)) for part in self._take(token)]

    def close(self) -> list[DraftText]:
        """Return the rest; a citation that was not closed ends here."""
        parts = list(self._take(self._tags.close()))
        self._end_citation()
        return [*parts, *self._flush()]

    def _take(self, token: str | Tag) -> Iterator[DraftText]:
        if isinstance(token, Tag):
            yield from self._take_tag(token)
        elif self._citation is not None:
            self._quoted.append(token)
        else:
            yield from self._read(token)

    def _take_tag(self, tag: Tag) -> Iterator[DraftText]:
        is_text = tag.is_bare and (
            tag.kind is TagKind.OPENS
            if self._citation is not None
            else self._block.in_code and not self._is_cited
        )
        if is_text:
            yield from self._take(tag.written)
            return
        self._end_citation()
        if tag.kind is TagKind.NOT_COVERED:
            yield from self._flush()
            yield from self._cutter.refuse()
        elif tag.kind is not TagKind.CLOSES:
            if not self._quotes and self._block.has_content:
                self._foresee(self._block.text)
            self._block.cite()
            self._citation, self._is_cited = tag, False
            if tag.kind is TagKind.EMPTY:
                self._end_citation()

    def _end_citation(self) -> None:
        if self._citation is None:
            return
        quote = _bare_quote("".join(self._quoted)[:_LONGEST_QUOTE])
        room = _MOST_QUOTES - len(self._quotes)
        self._quotes += [Quoted(number, quote) for number in self._citation.chunk_numbers[:room]]
        self._citation, self._quoted = None, []
        self._is_cited, self._has_gap = True, False

    def _read(self, text: str) -> Iterator[DraftText]:
        """Take up text that is not quoted."""
        for match in _LINES.finditer(text):
            line = match.group()
            if self._is_cited:
                line = yield from self._read_behind_citation(line)
            words = line.lstrip()
            yield from self._append(line[: len(line) - len(words)])
            if self._block.paragraph_is_over and words:
                yield from self._flush()
            yield from self._append(words)

    def _append(self, line: str) -> Iterator[DraftText]:
        start = 0
        while start < len(line):
            piece = line[start : start + self._block.room]
            self._block.add(piece)
            start += len(piece)
            if not self._block.room:
                yield from self._flush()

    def _read_behind_citation(self, line: str) -> Generator[DraftText, None, str]:
        """Return what is left once it is clear whether the sentence goes on."""
        for place, character in enumerate(line):
            if character in " \t":
                self._has_gap = True
            elif not self._has_gap and character in _TERMINATORS + _CLOSERS:
                self._complete_sentence(character)
            elif self._goes_on(character):
                self._is_cited = False
                glue = " " if self._has_gap and character not in ",;:\n" else ""
                return glue + line[place:]
            else:
                yield from self._flush()
                return line[place:]
        return ""

    def _complete_sentence(self, mark: str) -> None:
        """Put a mark that stands behind the citation where it belongs, before it."""
        is_double = mark in _TERMINATORS and self._block.ends_sentence
        if self._block.has_content and self._block.room and not is_double:
            self._block.add(mark)

    def _goes_on(self, character: str) -> bool:
        if self._block.is_row:
            return True
        within = self._block.has_content and not self._block.ends_sentence
        return within and (character.islower() or character in _CONTINUES)

    def _flush(self) -> Iterator[DraftText]:
        """Yield the claims of the text so far, each with the quotes that stand behind it."""
        quotes, self._quotes, self._is_cited = tuple(self._quotes), [], False
        yield from self._cutter.cut(self._block.take(), quotes)


def _bare_quote(quote: str) -> str:
    """Return a quote without the quotation marks around it."""
    text = unescape(quote.strip())
    inner = text[1:-1]
    is_marked = len(text) > 1 and _QUOTATION_MARKS.get(text[0]) == text[-1]
    return inner.strip() if is_marked and text[0] not in inner else text
