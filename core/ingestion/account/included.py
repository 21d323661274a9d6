"""Finds the files that pages include: their text goes in with the page that does."""

import posixpath
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from core.ingestion.sites.page_files import read_inside

_INCLUDE = re.compile(
    r"\{\{\s{0,20}#(?:rustdoc_)?(?:include|playground|playpen)\s{1,20}(?P<mdbook>[^\s{}:]+)"
    r"|\{\{<\s{0,20}include\s{1,20}(?P<quarto>[^\s<>{}]+)"
    r"|^[ \t]*-{1,8}8<-{1,8}[ \t]+[\"'](?P<snippet>[^\"'\n:]+)"
    r"|^[ \t]*(?:`{3,}|:{3,})\{(?:literal)?include\}[ \t]+(?P<myst>[^\s]+)"
    r"|^[ \t]*\.\.[ \t]+(?:literal)?include::[ \t]+(?P<rst>[^\s]+)"
    r"|^(?:[^%\n]|\\%){0,200}?\\(?:input|include|subfile)[ \t]*\{(?P<tex>[^{}\n]+)\}"
    r"|^import\s[^\n;]{0,200}?from\s{1,20}[\"'](?P<mdx>[^\"'\n]+)",
    re.MULTILINE,
)
_MARKS = ("{{", "8<", "import", "include::", "include}", "\\in", "\\subfile")
"""One of them is in every text that includes a file."""
_SNIPPETS = re.compile(
    r"^[ \t]*-{1,8}8<-{1,8}[ \t]*\n((?:(?![ \t]*-{1,8}8<-)[^\n]*\n)*)", re.MULTILINE
)


def included_files(
    folder: Path, pages: Collection[str], others: Collection[str], roots: Sequence[str]
) -> frozenset[str]:
    """Return which of `others` the pages include, directly or through another file.

    Args:
        folder: the site's; all paths are relative to it.
        pages: the files that are read as documents.
        others: those that are not.
        roots: folders in which included files are looked for, next to the page's own.
    """
    candidates, found = frozenset(others), set[str]()
    waiting = list(pages) if candidates else []
    while waiting:
        page = waiting.pop()
        for name in _named(read_inside(folder, page) or ""):
            for place in _places(name, page, roots):
                if place in candidates and place not in found:
                    found.add(place)
                    waiting.append(place)
    return frozenset(found)


def _named(text: str) -> Iterator[str]:
    if not any(
        mark in text
        for mark in ("{{", "8<", "import", "include::", "include}", "\\in", "\\subfile")
    ):
        return
    for match in _INCLUDE.finditer(text):
        yield match[match.lastgroup or 0]
    for block in _SNIPPETS.finditer(text):
        yield from (line.strip().partition(":")[0] for line in block[1].split("\n") if line.strip())


def _places(name: str, page: str, roots: Sequence[str]) -> Iterator[str]:
    if name.startswith("@site/"):
        yield posixpath.normpath(name.removeprefix("@site/"))
        return
    for root in (posixpath.dirname(page), *roots):
        path = posixpath.normpath(posixpath.join(root, name.lstrip("/")))
        yield path
        yield f"{path}.tex"
