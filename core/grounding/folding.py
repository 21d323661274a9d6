"""Reduces text to what makes it the same words, and remembers where each letter stood."""

import html
import re
import unicodedata
from array import array
from dataclasses import dataclass
from functools import lru_cache

_LINK_TARGET = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\)|\]\[[^\]\n]*\]")
_INLINE_TAG = re.compile(
    r"</?(?:em|strong|b|i|u|s|code|kbd|sub|sup|br|a|span|mark|small|p|dfn|abbr)(?:\s[^<>]*)?/?>",
    re.I,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_KEPT = re.compile(
    r"[^\W_]+"
    r"|(?<=\d)\.(?=\d)"  # 1.5 is not 15
    r"|(?<![^\s(\[$€£¥])[-−–](?=[$€£¥]?\d)"  # a minus changes a number
    r"|[%‰$€£¥°]"
)
_MINUS = "-−–"


@dataclass(frozen=True, slots=True)
class Folded:
    """The letters, digits and units of a text in their plainest form, without blanks."""

    letters: str
    offsets: "array[int]"
    """Where each letter stood in the text."""

    def holds_word_border(self, text: str, position: int) -> bool:
        """Return whether the letter at `position` begins a word of `text`, or is its end."""
        if not 0 < position < len(self.letters):
            return True
        before, here = self.offsets[position - 1], self.offsets[position]
        between = text[before + 1 : here]
        if between:
            return True
        return not (text[before].isalnum() and text[here].isalnum()) or _is_cjk(text[here])


def without_markup(text: str) -> str:
    """Return a text of equal length with link targets, inline tags and entities resolved."""
    if "](" in text or "][" in text:
        text = _LINK_TARGET.sub(_blanked, text)
    if "<" in text:
        text = _INLINE_TAG.sub(_blanked, text)
    return _ENTITY.sub(_unescaped, text) if "&" in text else text


@lru_cache(maxsize=128)
def fold(text: str) -> Folded:
    """Return `text` without case, accents, blanks, marks of Markdown and punctuation."""
    plain = without_markup(text)
    pieces: list[str] = []
    offsets = array("l")
    for match in _KEPT.finditer(plain):
        word, start = match.group(), match.start()
        if word.isascii():
            pieces.append(word.lower())
            offsets.extend(range(start, match.end()))
            continue
        for place, character in enumerate(word, start):
            folded = _fold_character(character)
            pieces.append(folded)
            offsets.extend([place] * len(folded))
    return Folded("".join(pieces), offsets)


@lru_cache(maxsize=1 << 12)
def _fold_character(character: str) -> str:
    if character in _MINUS:
        return "-"
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(part for part in folded if part.isalnum() or part in "%‰$€£¥°")


def _blanked(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _unescaped(match: re.Match[str]) -> str:
    character = html.unescape(match.group())
    # A longer text would move every offset behind it.
    return character.ljust(len(match.group())) if len(character) == 1 else match.group()


def _is_cjk(character: str) -> bool:
    return "\u2e80" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7af"
