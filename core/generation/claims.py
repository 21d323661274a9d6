"""Cuts text that a citation carries into claims, and keeps its layout."""

import re
from collections.abc import Iterator, Sequence

from core.generation.base import Claim, NotCovered, Quoted
from core.generation.escaping import unescape
from core.generation.refusals import is_refusal
from core.models import CODE
from core.text.sentences import Span, sentence_spans

DraftText = Claim | NotCovered

_BULLET = re.compile(r"(?P<mark>[-*•+]|(?P<number>\d{1,3})[.)])(?:[ \t]+|$)")
_LAID_OUT = re.compile(r"```|~~~|\||\$\$")
_ENDLESS = re.compile(r"[.!?…]{40}|`{40}|~{40}")
"""No prose: a sentence's end or a fence would be looked for from every place in it."""
_MARKERS = re.compile(
    r"(?:^|(?<![ \t])[ \t]+|(?<=[.!?…,;:”’\"')]))\[\d{1,3}\](?:[ \t]?\[\d{1,3}\])*"
)


class ClaimCutter:
    """Makes one claim of each sentence of a draft, in reading order."""

    def __init__(self) -> None:
        self._at_start = True
        self._after_layout = False
        self._is_refused = False

    def cut(self, text: str, quotes: tuple[Quoted, ...]) -> Iterator[DraftText]:
        """Yield the claims of `text`, which begins where the text before it ended.

        Each of them rests on all of `quotes`, which stand behind the last one. Another than
        that one may be a refusal in the model's own words.
        """
        spans = [span for span in _sentence_spans(text) if _says_something(text, span)]
        end = 0
        for number, (start, stop) in enumerate(spans, 1):
            sentence, gap = text[start:stop], text[end:start]
            end = stop
            if (not quotes or number < len(spans)) and is_refusal(sentence):
                yield from self.refuse()
            elif claim := self._claim(sentence, gap, quotes):
                yield claim
        self._at_start = self._at_start and not text.strip()

    def refuse(self) -> Iterator[NotCovered]:
        """Yield that something is not covered, once in a draft."""
        if not self._is_refused:
            self._is_refused = True
            yield NotCovered()

    def _claim(self, sentence: str, gap: str, quotes: tuple[Quoted, ...]) -> Claim | None:
        feeds, indent = gap.count("\n"), len(gap) - len(gap.rstrip(" "))
        is_laid_out = _LAID_OUT.match(sentence) is not None
        bullet = _BULLET.match(sentence) if feeds or self._at_start else None
        lead = None
        if bullet:
            mark = f"{bullet['number']}." if bullet["number"] else "-"
            lead = "\n" * max(min(feeds, 2), 1) + f"{' ' * indent}{mark} "
            sentence = sentence[bullet.end() :]
        elif feeds > 1 or (feeds and (is_laid_out or self._after_layout)):
            lead = "\n\n"
        if is_laid_out and indent:
            sentence = re.sub(rf"(?m)^ {{1,{indent}}}", "", sentence)
        self._at_start, self._after_layout = False, is_laid_out
        text = unescape(_without_markers(sentence)).strip()
        return Claim(text, quotes, lead) if text else None


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
