"""Keeps what a model reads from being mistaken for our own tags, in a way that comes undone."""

import re

_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, all but tab and line feed
    r"\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff"  # zero width, bidi controls
    r"\ud800-\udfff\U000e0000-\U000e007f]"  # lone surrogates, tag characters
)
_IMITATION = re.compile(
    r"<(?=\s*/?\s*(?:cite|not[-_ ]?covered|passage|quote|question|sentence)\b)", re.IGNORECASE
)
_ENTITIES = {
    "&lt;": "<",
    "&gt;": ">",
    "&amp;": "&",
    "&quot;": '"',
    "&apos;": "'",
    "&#39;": "'",
    "&#x27;": "'",
    "&#34;": '"',
}
_ENTITY = re.compile("|".join(_ENTITIES))


def visible(text: str) -> str:
    """Return the text without control characters and without what nobody would see."""
    return _INVISIBLE.sub("", text)


def escape(text: str) -> str:
    """Return text in which nothing reads like a tag of ours; `unescape` gives it back.

    Only such tags and what is an entity already are changed: ordinary text and ordinary code
    stay as they are.
    """
    return _IMITATION.sub("&lt;", _ENTITY.sub(_escaped_entity, text))


def escape_attribute(text: str) -> str:
    """Return text that can stand between double quotes inside a tag, on one line."""
    plain = " ".join(text.replace("&", "&amp;").split())
    return plain.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def unescape(text: str) -> str:
    """Return the text with each entity turned into its character, once."""
    return _ENTITY.sub(lambda match: _ENTITIES[match.group()], text)


def _escaped_entity(match: re.Match[str]) -> str:
    return "&amp;" + match.group()[1:]
