"""Reads a model's text while it arrives: claims, their quotes, and what is not covered."""

import re
from collections.abc import Generator, Iterator, Sequence

from core.generation.base import Claim, NotCovered, Quoted
from core.generation.block import Block
from core.generation.escaping import unescape, visible
from core.generation.refusals import is_refusal
from core.generation.tags import Tag, TagKind, TagReader
from core.models import CODE
from core.text.sentences import Span, sentence_spans

DraftText = Claim | NotCovered

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_BULLET = re.compile(r"(?P<mark>[-*•+]|(?P<number>\d{1,3})[.)])(?:[ \t]+|$)")
_LAID_OUT = re.compile(r"```|~~~|\||\$\$")
_ENDLESS = re.compile(r"[.!?…]{40}|`{40}|~{40}")
"""No prose: a sentence's end or a fence would be looked for from every place in it."""
_MARKERS = re.compile(
    r"(?:^|(?<![ \t])[ \t]+|(?<=[.!?…,;:”’\"')]))\[\d{1,3}\](?:[ \t]?\[\d{1,3}\])*"
)
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

    def __init__(self) -> None:
        self._tags = TagReader()
        self._block = Block()
        self._quotes: list[Quoted] = []
        self._citation: Tag | None = None
        self._quoted: list[str] = []
        self._is_cited = False
        """Whether the last thing read was a citation's end, and blanks."""
        self._has_gap = False
        self._at_start = True
        self._after_layout = False
        self._is_refused = False

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
            yield from self._refuse()
        elif tag.kind is not TagKind.CLOSES:
            self._block.cite()
            self._citation, self._is_cited = tag, False
            if tag.kind is TagKind.EMPTY:
                self._end_citation()

    def _end_citation(self) -> None:
        if self._citation is None:
            return
        quote = _bare_quote("".join(self._quoted))
        self._quotes += [Quoted(number, quote) for number in self._citation.chunk_numbers]
        self._citation, self._quoted = None, []
        self._is_cited, self._has_gap = True, False

    def _read(self, text: str) -> Iterator[DraftText]:
        """Take up text that is not quoted."""
        for match in _LINES.finditer(text):
            line = match.group()
            if self._is_cited:
                line = yield from self._read_behind_citation(line)
            if self._block.paragraph_is_over and line.strip():
                yield from self._flush()
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
        text = self._block.take()
        spans = [span for span in _sentence_spans(text) if _says_something(text, span)]
        end = 0
        for number, (start, stop) in enumerate(spans, 1):
            sentence, gap = text[start:stop], text[end:start]
            is_carried = bool(quotes) and number == len(spans)
            end = stop
            if not is_carried and is_refusal(sentence):
                yield from self._refuse()
            elif shown := self._claim(sentence, gap, quotes):
                yield shown
        self._at_start = self._at_start and not text.strip()

    def _claim(self, sentence: str, gap: str, quotes: tuple[Quoted, ...]) -> Claim | None:
        lead = None
        is_layout = _LAID_OUT.match(sentence) is not None
        feeds, indent = gap.count("\n"), len(gap) - len(gap.rstrip(" "))
        bullet = _BULLET.match(sentence) if feeds or self._at_start else None
        if bullet:
            mark = f"{bullet['number']}." if bullet["number"] else "-"
            lead = "\n" * max(min(feeds, 2), 1) + f"{' ' * indent}{mark} "
            sentence = sentence[bullet.end() :]
        elif feeds > 1 or (feeds and (is_layout or self._after_layout)):
            lead = "\n\n"
        self._at_start, self._after_layout = False, is_layout
        if is_layout:
            sentence = re.sub(rf"(?m)^ {{1,{indent}}}", "", sentence) if indent else sentence
        text = unescape(_without_markers(sentence)).strip()
        return Claim(text, quotes, lead) if text else None

    def _refuse(self) -> Iterator[NotCovered]:
        if not self._is_refused:
            self._is_refused = True
            yield NotCovered()


def _sentence_spans(text: str) -> Sequence[Span]:
    if _ENDLESS.search(text):
        return [Span(len(text) - len(text.lstrip()), len(text.rstrip()))]
    return sentence_spans(text)


def _says_something(text: str, span: Span) -> bool:
    """Return whether there is a word or number in it, more than the number of an item."""
    sentence = text[span.start : span.end]
    bullet = _BULLET.match(sentence)
    words = sentence[bullet.end() :] if bullet else sentence
    return any(character.isalnum() for character in words)


def _without_markers(sentence: str) -> str:
    """Return the sentence without `[1]`: the citations are numbered by code."""
    shown, position = "", 0
    for code in CODE.finditer(sentence):
        shown += _MARKERS.sub("", sentence[position : code.start()]) + code.group()
        position = code.end()
    return shown + _MARKERS.sub("", sentence[position:])


def _bare_quote(quote: str) -> str:
    """Return a quote without the quotation marks around it."""
    text = unescape(quote.strip())
    inner = text[1:-1]
    is_marked = len(text) > 1 and _QUOTATION_MARKS.get(text[0]) == text[-1]
    return inner.strip() if is_marked and text[0] not in inner else text
