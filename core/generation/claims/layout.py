"""Cuts the text of a claim into sentences, and keeps its layout."""

import re
from collections.abc import Iterator, Sequence

from core.generation.base import Claim, QuotedWords
from core.markdown.code import code_in, outside_code
from core.markdown.fences import fence_opened_by
from core.markdown.locating import CodeKind
from core.markdown.writing import fenced
from core.text.sentences import Span, sentence_spans

_BULLET = re.compile(r"(?P<mark>[-*•+]|(?P<number>\d{1,3})[.)])(?:[ \t]+|$)")
_LAID_OUT = ("|", "$$")
"""What a table or a formula on its own lines begins with."""
_ENDLESS = re.compile(r"[.!?…]{40}|`{40}|~{40}")
"""No prose: a sentence's end or a fence would be looked for from every place in it."""
_HEADINGS = re.compile(r"(?: {0,3}#{1,6}(?:[ \t][^\n]*)?(?:\n\s*|$))+")
_BULLET_SIGN = re.compile(r"^([ \t]*)•(?=[ \t])", re.MULTILINE)
_ALPHANUMERIC = re.compile(r"[^\W_]")
_QUOTE_OR_TAB = re.compile(r"[>\t]")
_MARKERS = re.compile(
    r"(?:^|(?<![ \t])[ \t]+|(?<=[.!?…,;:”’\"')]))\[\d{1,3}\](?:[ \t]?\[\d{1,3}\])*"
)


class ClaimCutter:
    """Makes one claim of each sentence of an answer, in reading order."""

    def __init__(self) -> None:
        self._at_start = True
        self._after_layout = False
        self._item = ""
        """A line that stands for the item of a list which the text may go on; empty: no item."""

    def cut(self, text: str, quotes: tuple[QuotedWords, ...]) -> Iterator[Claim]:
        """Yield the claims of `text`, which begins where the text before it ended.

        Each of them rests on all of `quotes`. Headings and rules are left out.
        """
        text = self._with_fences(text)
        spans = [span for span in self._sentence_spans(text) if _says_something(text, span)]
        end = 0
        for start, stop in spans:
            if heading := _HEADINGS.match(text, start, stop):
                start = heading.end()
            sentence, gap = text[start:stop], text[end:start]
            end = stop
            if claim := self._claim(sentence, gap, quotes, column=_column(text, start)):
                yield claim
        self._at_start = self._at_start and not text.strip()

    def _with_fences(self, text: str) -> str:
        """Return the text with fences that outlive being cut, as indented code would not."""
        before = len(self._item)
        for code in reversed(code_in(f"{self._item}{text}")):
            if code.start < before:
                break
            start, end = code.start - before, code.end - before
            if code.kind is CodeKind.INDENTED:
                text = text[:start] + fenced(code.content) + text[end:]
            elif code.kind is CodeKind.FENCE and not code.top:
                start, column = _without_quotes(text, start)
                written = fenced(code.content, code.info).replace("\n", "\n" + " " * column)
                text = text[:start] + written + text[end:]
        return text

    def _sentence_spans(self, text: str) -> Sequence[Span]:
        """Return the sentences, read as what stands in the item that the text goes on."""
        if _ENDLESS.search(text):
            return [Span(len(text) - len(text.lstrip()), len(text.rstrip()))]
        before = len(self._item)
        read = _BULLET_SIGN.sub(r"\1-", f"{self._item}{text}")
        spans = (Span(start - before, end - before) for start, end in sentence_spans(read))
        return [span for span in spans if span.start >= 0]

    def _claim(
        self, sentence: str, gap: str, quotes: tuple[QuotedWords, ...], column: int
    ) -> Claim | None:
        feeds, indent = gap.count("\n"), len(gap) - len(gap.rstrip(" "))
        is_laid_out = _is_laid_out(sentence)
        bullet = _BULLET.match(sentence) if feeds or self._at_start else None
        lead = None
        if bullet:
            mark = f"{bullet['number']}." if bullet["number"] else "-"
            lead = "\n" * max(min(feeds, 2), 1) + f"{' ' * indent}{mark} "
            sentence = sentence[bullet.end() :]
        elif feeds > 1 or (feeds and (is_laid_out or self._after_layout)):
            lead = "\n\n"
        if is_laid_out and column:
            sentence = re.sub(rf"(?m)^ {{1,{column}}}", "", sentence)
        if bullet:
            self._item = f"{' ' * indent}{bullet['mark']} .\n\n"
        elif feeds and not indent:
            self._item = ""
        self._at_start, self._after_layout = False, is_laid_out
        text = _without_markers(sentence).strip()
        return Claim(text, quotes, lead) if text else None


def begins_item(text: str) -> bool:
    """Return whether the text begins with an item of a list."""
    return _BULLET.match(text.lstrip()) is not None


def begins_block(text: str) -> bool:
    """Return whether the text begins with code, a table or a formula on lines of its own."""
    return _is_laid_out(text.lstrip())


def _without_quotes(text: str, start: int) -> tuple[int, int]:
    """Return where to write a fence in its line, without quotes and tabs, and that column."""
    line = start - _column(text, start)
    quote = _QUOTE_OR_TAB.search(text, line, start)
    start = quote.start() if quote else start
    return start, start - line


def _column(text: str, start: int) -> int:
    return start - text.rfind("\n", 0, start) - 1


def _is_laid_out(sentence: str) -> bool:
    """Return whether this is code, a table or a formula on lines of its own."""
    first = sentence.partition("\n")[0]
    return sentence.startswith(_LAID_OUT) or fence_opened_by(first) is not None


def _says_something(text: str, span: Span) -> bool:
    """Return whether there is a word or number in it, more than the number of an item."""
    bullet = _BULLET.match(text[span.start : span.end])
    start = span.start + (bullet.end() if bullet else 0)
    return _ALPHANUMERIC.search(text, start, span.end) is not None


def _without_markers(sentence: str) -> str:
    """Return the sentence without `[1]`: the citations are numbered by code."""
    return outside_code(sentence, lambda prose: _MARKERS.sub("", prose))
