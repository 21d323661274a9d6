"""What Obsidian adds to Markdown: comments, links and embeds between double brackets, block ids."""

import re
from collections.abc import Callable, Iterator, Sequence

from core.ingestion.formats.includes import (
    Includes,
    SourceLine,
    front_matter,
    included_lines,
    joined,
    prose_changed,
    source_lines,
)

_LINK = re.compile(
    r"(?<![\w\])])(?P<embed>!?)\[\[(?P<target>[^\[\]|\n]{0,300}?)(?:\\?\|(?P<label>[^\[\]\n]{0,300}))?\]\](?![(\[:])"
)
_EMBED_LINE = re.compile(
    r"[ \t]*!\[\[(?P<target>[^\[\]|\n]{1,300})(?:\|[^\[\]\n]{0,300})?\]\][ \t]*"
)
_BLOCK_ID = re.compile(r"(?:(?<=\s)|\A)\^(?=[\w-]*[A-Za-z])[A-Za-z0-9-]{3,40}[ \t]*\Z")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*\Z")
_MADE_BY_PLUGIN = re.compile(
    r"^[ \t>]*```(dataview|dataviewjs|tasks|query|button)\b.*", re.MULTILINE
)
_NUMBERS = re.compile(r"[-\d.\s]*(?:,[-\d.\s]*)+|[-\d.]{0,4}")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif)\Z", re.IGNORECASE)
_SUFFIX = re.compile(r"\.\w{1,5}\Z")


_EMBED = "\0"
"""Around the name of a note that is to stand here; no Markdown has this character."""


def without_obsidian(
    lines: Sequence[SourceLine], includes: Includes, chain: tuple[str, ...] = ()
) -> list[SourceLine]:
    """Return a page with embedded notes in place, links as their words, and no comments.

    Source: the help of Obsidian, "Internal links", "Embed files", "Comments".
    """
    text = joined(lines)
    if text.count("%%") > 1:
        lines = list(_without_comments(lines, includes))
    if "[[" not in text and "^" not in text and not _MADE_BY_PLUGIN.search(text):
        return list(lines)

    def change(text: str, number: int) -> str:
        if embed := _EMBED_LINE.fullmatch(text) if "![[" in text else None:
            return _EMBED + embed["target"] + _EMBED
        if "[[" in text:
            # A drawn table keeps its columns.
            width = len if text.lstrip().startswith("|") else (lambda _: 0)
            text = _LINK.sub(
                lambda link: _words(link, number, includes).ljust(width(link[0])), text
            )
        return _BLOCK_ID.sub("", text) if "^" in text else text

    return list(_embedded(prose_changed(lines, change), includes, chain))


def _without_comments(lines: Sequence[SourceLine], includes: Includes) -> Iterator[SourceLine]:
    """Return the lines without comments, which may go over several of them, outside of code."""
    marks = _Comments(lambda *_: None)
    for _ in prose_changed(lines, marks.without):
        pass  # how many are opened, and whether the last is closed
    most = marks.opened - marks.is_open
    return prose_changed(lines, _Comments(includes.left_out, most).without)


class _Comments:
    """Takes comments out of one piece of text after another."""

    def __init__(self, note: Callable[[str, int, str], None], most: int = 1_000_000) -> None:
        self.opened, self.is_open = 0, False
        self._note, self._most = note, most
        self._begins, self._waiting = 0, list[str]()

    def without(self, text: str, number: int) -> str:
        """Return the text outside of comments; a mark right after a word, `50%%`, opens none."""
        shown = ""
        for at, piece in enumerate(text.split("%%")):
            if at and self.is_open:
                self._note("comment", self._begins, " ".join(self._waiting))
                self._waiting.clear()
                self.is_open = False
            elif at and (self.opened >= self._most or shown[-1:].isalnum()):
                shown += "%%"
            elif at:
                self.opened, self.is_open, self._begins = self.opened + 1, True, number
            if self.is_open:
                self._waiting.append(piece)
            else:
                shown += piece
        return shown


def _embedded(
    lines: Iterator[SourceLine], includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    """Yield the lines with each embedded note in its place, without what plugins would draw."""
    is_drawn = False
    for line in lines:
        if is_drawn:
            is_drawn = not line.text.strip(" \t>").startswith("```")
        elif drawn := _MADE_BY_PLUGIN.fullmatch(line.text):
            includes.left_out(f"{drawn[1]} block", line.number)
            is_drawn = True
        elif line.text.startswith(_EMBED) and line.text.endswith(_EMBED):
            yield from _note(line.text.strip(_EMBED), line.number, includes, chain)
        elif _EMBED in line.text:  # next to code
            includes.left_out("embedded note", line.number)
            yield SourceLine(re.sub(f"{_EMBED}[^{_EMBED}]*{_EMBED}", "", line.text), line.number)
        else:
            yield line


def _note(
    target: str, number: int, includes: Includes, chain: tuple[str, ...]
) -> Iterator[SourceLine]:
    name, _, part = target.strip().partition("#")
    if _SUFFIX.search(name) and not name.endswith(".md"):
        is_picture = _PICTURE.search(name) is not None
        includes.left_out("picture" if is_picture else "embedded file", number)
        return
    file = name if name.endswith(".md") else f"{name}.md"
    path = next((one for one in (file, f"@site/{file}") if includes.value(one) is not None), None)
    if path is None or path in chain or (text := includes.text(path, chain)) is None:
        includes.left_out("embedded note", number)
        return
    written = source_lines(text)
    body = _part([line.text for line in written[front_matter(written).height :]], part.strip())
    inner = included_lines("\n".join(["", *body, ""]), number)
    yield from without_obsidian(inner, includes, (*chain, path))


def _part(lines: list[str], name: str) -> list[str]:
    """Return the lines of the section, or the block, that an embed names; all without a name."""
    if name.startswith("^"):
        return [line for line in lines if line.rstrip().endswith(name)]
    wanted = name.rpartition("#")[2].strip().lower()
    found, depth = list[str](), 0
    for line in lines if wanted else ():
        heading = _HEADING.fullmatch(line)
        if heading and depth and len(heading[1]) <= depth:
            break
        if heading and not depth and heading[2].lower() == wanted:
            depth = len(heading[1])
        if depth:
            found.append(line)
    return found if wanted else lines


def _words(link: re.Match[str], number: int, includes: Includes) -> str:
    target, label = link["target"].strip(), link["label"]
    if link["embed"]:
        is_picture = _PICTURE.search(target) is not None
        includes.left_out("picture" if is_picture else "embedded note", number)
        return ""
    if _NUMBERS.fullmatch(target):
        return link[0]  # a list in a list
    return label.strip() if label else " > ".join(filter(None, target.replace("^", "").split("#")))
