"""Words as Slack must be given them: nothing in them pings, links or formats."""

import re

from adapters.markdown.splitting import shortened, utf16_length
from adapters.markdown.visible import visible, without_controls
from core.markdown.code import code_in, outside_code
from core.markdown.locating import CodeKind
from core.markdown.writing import one_line
from core.text.links import without_links

_GAP = "\u200b"
"""Invisible: what it stands in is shown as it is, and means nothing to Slack."""
_EVERYBODY = re.compile(r"@(?=here|channel|everyone|group)", re.IGNORECASE)
_EMOJI = re.compile(r":(?=[\w+'-]+:)")
_HOST = re.compile(r"(?<=[^\W_])\.(?=[^\W\d_]{2})")
"""Slack makes links of bare names of hosts, and takes `main.py` for one."""
_FORMATTING = re.compile(r"[\\*~|`]|(?<!\w)_|_(?!\w)|(?<=\])[(:]")
_LINE_START = re.compile(r"^([ \t]*)(#{1,6}(?=\s)|[-+](?=\s))", re.MULTILINE)
_NUMBERED = re.compile(r"^([ \t]*\d+)(?=[.)]\s)", re.MULTILINE)
_QUOTES = re.compile(r"^(?=[ \t]*>)", re.MULTILINE)
_CONTROL = re.compile(r"^[ \t]*(?:>[ \t]?)+|[&<>]", re.MULTILINE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LONGEST_URL = 2_000
_LONGEST_LABEL = 120


def unlinked(text: str) -> str:
    """Return words without an address, as a block shows them that formats nothing."""
    return without_links(visible(text)).replace("://", f":{_GAP}//")


def disarm(text: str) -> str:
    """Return words that notify no one and link nowhere; `controls_escaped` has to follow."""
    text = _EVERYBODY.sub(f"@{_GAP}", _HOST.sub(f".{_GAP}", unlinked(text)))
    return _QUOTES.sub(_GAP, _EMOJI.sub(f":{_GAP}", text))


def escape(text: str) -> str:
    """Return words that a block of Markdown shows as they are, once controls are escaped."""
    text = _FORMATTING.sub(r"\\\g<0>", disarm(text))
    return _NUMBERED.sub(r"\1\\", _LINE_START.sub(r"\1\\\2", text))


def markdown_escaped(markdown: str, *, escape_code: bool) -> str:
    """Return Markdown without the controls of its prose, and of its code where asked for.

    Code in it must have nothing that acts if Slack should read it as prose; see `divided`.
    """
    return controls_escaped(markdown) if escape_code else outside_code(markdown, controls_escaped)


def controls_escaped(text: str) -> str:
    """Return a text without the three characters that begin and end what Slack acts on.

    Only the marks of quotes, at the beginning of a line, stay: alone they mean nothing else.
    """
    return _CONTROL.sub(lambda found: _ENTITIES.get(found.group(), found.group()), text)


def escaped_length(text: str) -> int:
    """Return how many UTF-16 units a text has at most when its controls are escaped."""
    longer = (text.count(sign) * (len(entity) - 1) for sign, entity in _ENTITIES.items())
    return utf16_length(text) + sum(longer)


def link(label: str, url: str) -> str:
    """Return a link of our own in mrkdwn, its controls escaped."""
    label = words(shortened(one_line(label), _LONGEST_LABEL)).replace("|", "¦")
    if len(url) > _LONGEST_URL:
        return label
    address = re.sub(r"[<>|\s]", _percent, url).replace("&", "&amp;")
    return f"<{address}|{label}>"


def words(text: str) -> str:
    """Return words for mrkdwn, their controls escaped, with code in them as it is."""
    shown, position = "", 0
    for code in code_in(text):
        if code.kind is CodeKind.SPAN and "`" not in code.content:
            shown += f"{disarm(text[position : code.start])}`{without_controls(code.content)}`"
            position = code.end
    shown += disarm(text[position:])
    return "".join(_ENTITIES.get(character, character) for character in shown)


def _percent(character: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in character.group().encode())
