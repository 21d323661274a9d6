"""Turns the tokens of markdown-it into blocks."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser

from core.ingestion.document import Block, BlockKind
from core.ingestion.formats.admonitions import admonition_title, alert_title, directive_title
from core.ingestion.formats.anchors import anchor_slugs
from core.ingestion.formats.code_fences import Fence, fence_info, shown_lines
from core.ingestion.formats.dialects import Dialect
from core.ingestion.formats.html_blocks import html_blocks
from core.ingestion.formats.html_nesting import TAG, OpenElements, attribute
from core.ingestion.formats.markdown_inline import InlineText
from core.ingestion.formats.markup import fenced, pipe_table
from core.ingestion.formats.source_lines import SourceLine

_HEADING_ATTRIBUTES = re.compile(r"\s*\{:?\s*([#.][^{}]*)\}\s*$")
_HEADING_ID = re.compile(r"#([^\s.#{}]+)")


class _List(NamedTuple):
    """A list that is open: its bullet, or how its numbers end."""

    numbered: bool
    mark: str


class BlockWriter:
    """Writes the blocks of one page in reading order."""

    def __init__(self, md: MarkdownIt, lines: Sequence[SourceLine], dialect: Dialect) -> None:
        self._md, self._lines, self._dialect = md, lines, dialect
        self._elements = OpenElements()
        self._inline = InlineText(dialect, self._elements)
        self._slugs = anchor_slugs(dialect)
        self._lists: list[_List] = []
        self._numbers: list[int] = []
        self._marker = ""
        self._first_in_quote = False
        self._rows: list[list[str]] = []
        self._writers: Mapping[str, Callable[[Token, Token], Iterator[Block]]] = {
            "heading_open": self._heading,
            "paragraph_open": self._paragraph,
            "dt_open": self._term,
            "fence": self._fence,
            "code_block": self._code,
            "formula_block": self._formula,
            "html_block": self._html,
            "th_open": self._cell,
            "td_open": self._cell,
            "tr_open": self._row,
            "table_close": self._table,
            "container_directive_open": self._directive,
            "admonition_open": self._admonition,
        }

    def blocks(self, tokens: Sequence[Token]) -> Iterator[Block]:
        """Yield the visible blocks of the page's tokens."""
        for token, following in zip(tokens, [*tokens[1:], _NOTHING], strict=True):
            if token.type in _BLOCK_STARTS:
                self._elements.close_paragraphs()
            self._follow_lists(token)
            writer = self._writers.get(token.type)
            if writer is not None:
                yield from writer(token, following)
"""
"""
