"""Keeps addresses of the web out of what we say: links come from the citation table alone."""

import re

from core.models import CODE

_URL = re.compile(
    r"(?i)(?<![a-z])[a-z][a-z0-9+.-]{1,20}://"
    r"(?:\[[^\s\[\]]+\][^\s<>()\[\]\"'`|]*|[^\s<>()\[\]\"'`|]+)"
    r"|(?<![a-z])www\.[^\s<>()\[\]\"'`|]+"
    r"|(?<![^\W\d])(?:(?:javascript|vbscript|data|mailto):)+(?=[^\s:])[^\s<>\[\]\"'`|]*"
)
"""A host may be a number in brackets; digits before it, as of `%22`, are none of an address."""
_TARGET = re.compile(
    r"!?\[(?P<text>[^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])|<[/!]?[a-zA-Z][^<>]*>"
)
"""A link or an image of Markdown with its label, or a tag of HTML."""
_SCHEME = re.compile(r"(?i)^[a-z][a-z0-9+.-]*://")
_TRAILING = ".,;:!?"


def without_links(text: str) -> str:
    """Return the text with every URL reduced to the bare name of its host.

    >>> without_links("See https://user@www.example.org/a?b=c.")
    'See example.org.'
    """
    return _URL.sub(_host, text)


def shown_prose(text: str) -> str:
    """Return a sentence as a reader is to see it: its code as it is, its prose without targets."""
    pieces, position = [], 0
    for match in CODE.finditer(text):
        pieces += [without_targets(text[position : match.start()]), match.group()]
        position = match.end()
    return "".join([*pieces, without_targets(text[position:])])


def without_targets(text: str) -> str:
    """Return prose with the labels of its links, and without the rest of them and without tags.

    >>> without_targets('The [law](a.html "b") of <b>demand</b>[x][y]')
    'The law of demandx'
    """
    while (plain := _TARGET.sub(lambda match: match["text"] or "", text)) != text:
        text = plain
    return text


def _host(match: re.Match[str]) -> str:
    url = match.group()
    tail = url[len(url.rstrip(_TRAILING)) :]
    address = _SCHEME.sub("", url.rstrip(_TRAILING))
    if _SCHEME.match(url) is None and not url.lower().startswith("www."):
        return url.partition(":")[0]
    host = re.split(r"[/?#\\]", address, maxsplit=1)[0].rsplit("@", 1)[-1]
    return host.removeprefix("www.").removeprefix("WWW.") + tail
