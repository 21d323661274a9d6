"""Reads messages as Discord's client does: what it shows as code, mentions, links and embeds."""

import re
from dataclasses import dataclass, field

_TOKENS = re.compile(
    r"(?P<escape>\\[^0-9A-Za-z\s])"
    r"|(?P<block>```(?:[A-Za-z0-9_+.#-]+?\n)?\n*[^\n].*?\n*```)"
    r"|(?P<code>(?P<ticks>`+)(?:.*?[^`])(?P=ticks)(?!`))"
    r"|(?P<masked>\[(?:\[[^\]]*\]|[^\[\]]|\](?=[^\[]*\]))*\]\(\s*<?(?:\([^)]*\)|[^\s\\]|\\.)*?>?(?:\s+['\"].*?['\"])?\s*\))"
    r"|(?P<autolink><(?:[A-Za-z][^: >]*:/[^ >]+|[\w.+-]+@[\w.-]+|\+\d+)>)"
    r"|(?P<url>(?:https?|steam|discord)://[^\s<]+)"
    r"|(?P<user><@!?\d+>|<@&\d+>)"
    r"|(?P<place><#\d+>|</[^>:]+:\d+>|<id:\w+>|<t:-?\d+(?::\w)?>|<a?:\w+:\d+>)"
    r"|(?P<invite>(?:discord\.gg|discord(?:app)?\.com/invite|discord\.gift|dsc\.gg)/\w+)"
    r"|(?P<everyone>@everyone|@here)",
    re.DOTALL | re.IGNORECASE,
)


@dataclass
class Seen:
    """What a message does beside being read."""

    pings: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    widgets: list[str] = field(default_factory=list)


def seen(message: str) -> Seen:
    """Return whom a message notifies and where it leads."""
    result = Seen()
    for match in _TOKENS.finditer(message):
        kind = match.lastgroup
        if kind in {"user", "everyone"}:
            result.pings.append(match.group())
        elif kind in {"masked", "autolink", "url", "invite"}:
            result.links.append(match.group())
        elif kind == "place":
            result.widgets.append(match.group())
    return result


def raw_pings(message: str) -> list[str]:
    """Return what a server would find that looks for mentions without reading Markdown."""
    prose = re.sub(r"\\[^\w\s]|```.*?```|(`+)(?!`).*?[^`]\1(?!`)", "\0", message, flags=re.DOTALL)
    return re.findall(r"<@[!&]?\d+>|@everyone|@here|<#\d+>", prose)


def code_shown(message: str) -> list[str]:
    """Return what a message shows as code, without marks, language and padding."""
    return [_content(match) for match in _TOKENS.finditer(message) if _is_code(match)]


def leaves_code_open(message: str) -> bool:
    """Return whether marks of a block of code are left that belong to none."""
    left = _TOKENS.sub(
        lambda match: "" if _is_code(match) or match["escape"] else match[0], message
    )
    return "```" in left


def _is_code(match: re.Match[str]) -> bool:
    return match.lastgroup in {"block", "code"}


def _content(match: re.Match[str]) -> str:
    if match["block"] is not None:
        return re.sub(r"\A(?:[A-Za-z0-9_+.#-]+?\n)?\n*|\n*\Z", "", match["block"][3:-3])
    ticks = len(match["ticks"])
    code = match["code"][ticks:-ticks]
    return (
        code[1:-1]
        if ticks > 1 or code.strip(" ").startswith("`") or code.strip(" ").endswith("`")
        else code
    )
