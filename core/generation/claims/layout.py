"""Cuts the text of a claim into sentences, and keeps its layout."""

import re
from collections.abc import Iterator

from core.generation.base import Claim, QuotedWords
from core.markdown.code import code_in, masked, outside_code
from core.markdown.fences import is_block
from core.markdown.locating import CodeKind
from core.markdown.writing import lasting
from core.text.sentences import sentence_spans

_ITEM = re.compile(r"(?:[-*•+]|(?P<number>\d{1,3})[.)])(?:[ \t]+|$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t].*)?$", re.MULTILINE)
_ITEM_SIGN = re.compile(r"^([ \t]*)•(?=[ \t])", re.MULTILINE)
_MARKERS = re.compile(
    r"(?:^|(?<![ \t])[ \t]+|(?<=[.!?…,;:”’\"')]))\[\d{1,3}\](?:[ \t]?\[\d{1,3}\])*"
)


class ClaimCutter:
    """Makes one claim of each sentence, item or block of an answer, in reading order."""

    def __init__(self) -> None:
        self._is_first = True
        self._after_layout = False

    def cut(self, text: str, quotes: tuple[QuotedWords, ...]) -> Iterator[Claim]:
        """Yield the claims of `text`, each of which rests on all of `quotes`.

        Text with code inside of a list stays one claim. Headings, rules and markers of citations
        are left out.
        """
        body = text.lstrip("\n")
        indent = len(body) - len(body.lstrip(" "))
        if not _ITEM.match(body, indent):  # what is indented before an item is no code
            indent = 0
        before = text[: len(text) - len(body) + indent]
        text = before + lasting(body[indent:])
        text = _without_headings(text)
        if _nests_code(text):
            self.begin_paragraph()
            yield Claim(_without_markers(text), quotes, "\n\n")
            return
        end = 0
        for start, stop in sentence_spans(_ITEM_SIGN.sub(r"\1-", text)):
            if _says_something(text[start:stop]):
                yield from self._claim(text[end:start], text[start:stop], quotes, opens=not end)
                end = stop

    def begin_paragraph(self) -> None:
        """Let the next claim begin a paragraph."""
        self._is_first, self._after_layout = False, True

    def _claim(
        self, gap: str, sentence: str, quotes: tuple[QuotedWords, ...], *, opens: bool
    ) -> Iterator[Claim]:
        """Yield a sentence, if there is anything in it, with the layout that `gap` makes."""
        feeds, lead = gap.count("\n"), None
        opens = opens or feeds > 0
        item = _ITEM.match(sentence) if opens else None
        block = is_block(sentence)
        if item:
            mark = f"{item['number']}." if item["number"] else "-"
            indent = " " * (len(gap) - len(gap.rstrip(" ")))
            lead = "\n" * max(min(feeds, 2), 1) + f"{indent}{mark} "
            sentence = sentence[item.end() :]
        elif block or (not self._is_first and (feeds > 1 or (opens and self._after_layout))):
            lead = "\n\n"
        self._is_first = False
        self._after_layout = bool(item) or block or (self._after_layout and not opens)
        if text := _without_markers(sentence):
            yield Claim(text, quotes, lead)


def _without_headings(text: str) -> str:
    """Return a text without its headings, those with code in them included."""
    for found in reversed(list(_HEADING.finditer(masked(text, "x")))):
        text = text[: found.start()] + text[found.end() :]
    return text


def _without_markers(text: str) -> str:
    return outside_code(text, lambda prose: _MARKERS.sub("", prose)).strip()


def _nests_code(text: str) -> bool:
    """Return whether there is code in a list or a quote, which would not outlive a cut."""
    return any(code.kind is not CodeKind.SPAN and not code.top for code in code_in(text))


def _says_something(sentence: str) -> bool:
    """Return whether there is a word or number in it, more than the number of an item."""
    item = _ITEM.match(sentence)
    return any(map(str.isalnum, sentence[item.end() if item else 0 :]))
