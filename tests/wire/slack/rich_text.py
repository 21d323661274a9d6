"""A text that a person typed, as the rich_text block that Slack's client makes of it."""

import html
import re
from collections.abc import Iterator

from tests.wire.slack.errors import Json

_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_INLINE = re.compile(
    r"<(?P<entity>[^<>\n]+)>|`(?P<code>[^`\n]+)`"
    r"|(?<!\w)\*(?P<bold>[^*\n]+)\*(?!\w)|(?<!\w)_(?P<italic>[^_\n]+)_(?!\w)"
    r"|(?<!\w)~(?P<strike>[^~\n]+)~(?!\w)"
)
_QUOTE = re.compile(r"(?:>|&gt;) ?(.*)")


def rich_text(text: str, block_id: str) -> list[Json]:
    """Return the block of a text in mrkdwn with its entities; no block for no text."""
    elements = [element for part in _parts(text) for element in part]
    return [{"type": "rich_text", "block_id": block_id, "elements": elements}] if elements else []


def _parts(text: str) -> Iterator[list[Json]]:
    position = 0
    for fence in _FENCE.finditer(text):
        yield _lines(text[position : fence.start()].strip("\n"))
        code = [{"type": "text", "text": html.unescape(fence[1])}]
        yield [{"type": "rich_text_preformatted", "elements": code, "border": 0}]
        position = fence.end()
    yield _lines(text[position:].strip("\n"))


def _lines(text: str) -> list[Json]:
    """Return sections and quotes, one for each run of lines of a kind."""
    runs: list[tuple[str, list[str]]] = []
    for line in text.split("\n") if text else []:
        quoted = _QUOTE.fullmatch(line)
        kind = "rich_text_quote" if quoted else "rich_text_section"
        if not runs or runs[-1][0] != kind:
            runs.append((kind, []))
        runs[-1][1].append(quoted[1] if quoted else line)
    return [{"type": kind, "elements": list(_inline("\n".join(lines)))} for kind, lines in runs]


def _inline(text: str) -> Iterator[Json]:
    position = 0
    for match in _INLINE.finditer(text):
        if match.start() > position:
            yield {"type": "text", "text": html.unescape(text[position : match.start()])}
        yield _entity(match["entity"]) if match["entity"] else _styled(match)
        position = match.end()
    if position < len(text):
        yield {"type": "text", "text": html.unescape(text[position:])}


def _styled(match: re.Match[str]) -> Json:
    style = str(match.lastgroup)
    return {"type": "text", "text": html.unescape(match[style]), "style": {style: True}}


def _entity(inner: str) -> Json:
    target, _, label = inner.partition("|")
    if target.startswith("@"):
        return {"type": "user", "user_id": target[1:]}
    if target.startswith("#"):
        return {"type": "channel", "channel_id": target[1:]}
    if target.startswith("!subteam^"):
        return {"type": "usergroup", "usergroup_id": target.removeprefix("!subteam^")}
    if target.startswith("!"):
        return {"type": "broadcast", "range": target[1:]}
    link: Json = {"type": "link", "url": html.unescape(target)}
    return link | ({"text": html.unescape(label)} if label else {})
