"""Keeps addresses of the web out of what we say: links come from the citation table alone."""

import re

_URL = re.compile(r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s<>()\[\]\"'`|]+|\bwww\.[^\s<>()\[\]\"'`|]+")
_SCHEME = re.compile(r"(?i)^[a-z][a-z0-9+.-]*://")
_TRAILING = ".,;:!?"


def without_links(text: str) -> str:
    """Return the text with every URL reduced to the bare name of its host.

    >>> without_links("See https://user@www.example.org/a?b=c.")
    'See example.org.'
    """
    return _URL.sub(_host, text)


def _host(match: re.Match[str]) -> str:
    url = match.group()
    tail = url[len(url.rstrip(_TRAILING)) :]
    address = _SCHEME.sub("", url.rstrip(_TRAILING))
    host = re.split(r"[/?#\\]", address, maxsplit=1)[0].rsplit("@", 1)[-1]
    return host.removeprefix("www.").removeprefix("WWW.") + tail
