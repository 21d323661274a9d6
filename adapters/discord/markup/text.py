"""Words as Discord must be given them: nothing in them pings, links or formats."""

import re

from adapters.markdown.visible import visible
from core.text.links import without_links

_GAP = "\u200b"
"""Invisible: what it stands in is shown as it is, and means nothing to Discord."""
_EVERYBODY = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
_MENTION = re.compile(r"<(?=[@#])")
_ANGLE = re.compile(r"<(?=\S)")
"""Begins every mention, custom emoji, timestamp, command and address in angle brackets."""
_INVITE = re.compile(r"(?:discord(?:app)?|dsc)(?=\.\w+/)", re.IGNORECASE)
_FORMATTING = re.compile(r"[\\*_~|`]|(?<=\])\(")
_LINE_START = re.compile(r"^([ \t]*)(#{1,3}(?=\s)|-#|[-+](?=\s)|>)", re.MULTILINE)
_NUMBERED = re.compile(r"^([ \t]*\d+)(?=\.\s)", re.MULTILINE)


def disarm(text: str) -> str:
    """Return words that notify no one and link nowhere, where Discord shows no Markdown.

    For names of threads, autocompletion and buttons; elsewhere `escape` is needed.
    """
    text = without_links(visible(text)).replace("://", f":{_GAP}//")
    text = _EVERYBODY.sub(f"@{_GAP}", text)
    text = text.replace("](", f"]{_GAP}(")
    return _INVITE.sub(rf"\g<0>{_GAP}", _ANGLE.sub(f"<{_GAP}", text))


def without_pings(code: str) -> str:
    """Return code that notifies no one where it is not shown as code, and else is what it is."""
    return _MENTION.sub(f"<{_GAP}", _EVERYBODY.sub(f"@{_GAP}", code))


def escape(text: str) -> str:
    """Return words that Discord shows as they are, in a message with Markdown."""
    text = _FORMATTING.sub(r"\\\g<0>", disarm(text))
    return _NUMBERED.sub(r"\1\\", _LINE_START.sub(r"\1\\\2", text))
