"""Takes the markup out of a text without moving its letters."""

import html
import re

_LINK_TARGET = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\)|\]\[[^\]\n]*\]")
_INLINE_TAG = re.compile(
    r"</?(?:em|strong|b|i|u|s|code|kbd|sub|sup|br|a|span|mark|small|p|dfn|abbr)(?:\s[^<>]*)?/?>",
    re.I,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")


def without_markup(text: str) -> str:
    """Return a text of equal length with link targets, inline tags and entities resolved."""
    if "](" in text or "][" in text:
        text = _LINK_TARGET.sub(_blanked, text)
    if "<" in text:
        text = _INLINE_TAG.sub(_blanked, text)
    return _ENTITY.sub(_unescaped, text) if "&" in text else text


def _blanked(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _unescaped(match: re.Match[str]) -> str:
    character = html.unescape(match.group())
    # A longer text would move every offset behind it.
    return character.ljust(len(match.group())) if len(character) == 1 else match.group()
