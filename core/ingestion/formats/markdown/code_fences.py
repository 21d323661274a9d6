"""Reads the info string of a code fence, and leaves out lines that no reader sees."""

import re
from typing import NamedTuple

from core.ingestion.formats.flavours.flavour import MarkdownFlavour
from core.ingestion.formats.flavours.mdbook import shown_code

_LANGUAGE = re.compile(r"\s*(?:\{\s*\.?)?([^\s,{}:=\"']+)(?![\w-]*=)")
_TITLE = re.compile(r"""\btitle\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_HIGHLIGHT_COMMENT = re.compile(
    r"\s*(?:\W{1,4}\s*)highlight-(?:next-line|start|end)\s*(?:\*/\}?|-->)?\s*"
)


class FenceInfo(NamedTuple):
    """The language of a fence and the title shown above it; either may be empty."""

    language: str
    title: str


def fence_info(info: str) -> FenceInfo:
    """Return what an info string says: `rust,ignore`, `js title="a.js"`, `{ .yaml }`."""
    language = _LANGUAGE.match(info)
    title = _TITLE.search(info)
    return FenceInfo(language[1] if language else "", (title[1] or title[2] or "") if title else "")


def shown_lines(code: str, language: str, dialect: MarkdownFlavour) -> str:
    """Return the code as the dialect's publisher shows it."""
    if dialect is MarkdownFlavour.MDBOOK and language.lower() in {"rust", "rs"}:
        return shown_code(code)
    if dialect is MarkdownFlavour.DOCUSAURUS and "highlight-" in code:
        lines = code.split("\n")
        return "\n".join(line for line in lines if not _HIGHLIGHT_COMMENT.fullmatch(line))
    return code
