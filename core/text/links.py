"""Keeps addresses of the web out of what we say: links come from the citation table alone."""

import re

from core.markdown.code import masked, outside_code
from core.markdown.writing import lasting
from core.models import CITATION_MARKER

_URL = re.compile(
    r"(?i)(?<![a-z])[a-z][a-z0-9+.-]{1,20}://"
    r"(?:\[[^\s\[\]]+\][^\s<>()\[\]\"'`|]*|[^\s<>()\[\]\"'`|]+)"
    r"|(?<![a-z])www\.[^\s<>()\[\]\"'`|]+"
    r"|(?:javascript|vbscript|(?<![^\W\d])(?:data|mailto)):(?:(?:javascript|vbscript|data|mailto):)*(?=[^\s:])[^\s<>\[\]\"'`|]*"
)
"""A host may be a number in brackets; digits before it, as of `%22`, are none of an address."""
_TARGET = re.compile(
    r"!?\[(?P<text>[^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])|<[/!]?[a-zA-Z][^<>]*>"
)
"""A link or an image of Markdown with its label, or a tag of HTML."""
_MARKER = re.compile(r"\s?" + CITATION_MARKER.pattern)
_SCHEME = re.compile(r"(?i)^[a-z][a-z0-9+.-]*://")
_TRAILING = ".,;:!?"
_HEADING = re.compile(r"^#{1,6} .*\n*", re.MULTILINE)


def without_links(text: str) -> str:
    """Return prose with every URL reduced to the bare name of its host.

    >>> without_links("See https://user@www.example.org/a?b=c.")
    'See example.org.'
    """
    return _URL.sub(_host, text)


def prose_without_links(markdown: str) -> str:
    """Return Markdown with each URL of its prose reduced to a host; its code stays as it is.

    >>> prose_without_links("From https://www.example.org/a: `curl https://example.org/b`")
    'From example.org: `curl https://example.org/b`'
    """
    return outside_code(markdown, without_links)


def shown_prose(text: str) -> str:
    """Return a sentence as a reader is to see it: its code as it is, its prose without targets."""
    return outside_code(lasting(text), without_targets)


def without_markers(answer: str) -> str:
    """Return an answer's Markdown without the numbers of its citations; code stays as it is."""
    return outside_code(answer, lambda prose: _MARKER.sub("", prose)).strip()


def without_layout(answer: str) -> str:
    """Return what an answer says: no headings above its passages, no bold; code stays as it is."""
    said, begins = "", 0
    for heading in _HEADING.finditer(masked(answer)):
        said += answer[begins : heading.start()]
        begins = heading.end()
    return outside_code(said + answer[begins:], lambda prose: prose.replace("**", ""))


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
