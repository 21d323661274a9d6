"""Removes the characters that a reader cannot see but a model would read."""

import re
from collections.abc import Mapping
from dataclasses import replace

from core.ingestion.document import Block, ParsedDocument, document_of

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f"  # controls other than tab and newline
    "\u00ad\u180e\u200b\u2060-\u2064\ufeff\ufff9-\ufffb"  # soft hyphen, zero width, annotations
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"  # direction overrides
    "\ud800-\udfff"  # halves of a surrogate pair
    "\U000e0000-\U000e0fff"  # tags and the supplementary variation selectors
    "]+"
)
_STRAY_JOINER = re.compile("(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])")
_LINE_SEPARATOR = re.compile("[\x85\u2028\u2029]")


def visible(text: str) -> str:
    """Return `text` without control, zero-width, direction and tag characters.

    The joiners that Persian, Indic scripts and emoji need stay between two characters
    outside ASCII; elsewhere they go too.
    """
    if text.isascii() and text.isprintable():
        return text
    return _STRAY_JOINER.sub("", _UNSEEN.sub("", _LINE_SEPARATOR.sub("\n", text)))


def visible_document(document: ParsedDocument) -> ParsedDocument:
    """Return the document with only visible characters in everything it says."""
    return document_of(
        visible(document.title).strip() or None if document.title else None,
        (_visible_block(block) for block in document.blocks),
        metadata=_visible_values(document.metadata),
        warnings=map(visible, document.warnings),
        left_out=(
            replace(each, kind=visible(each.kind), where=visible(each.where))
            for each in document.left_out
        ),
    )


def _visible_block(block: Block) -> Block:
    anchor = visible(block.anchor) if block.anchor else None
    return replace(block, text=visible(block.text), anchor=anchor or None)


def _visible_values(metadata: Mapping[str, str]) -> dict[str, str]:
    return {visible(name): visible(value) for name, value in metadata.items()}
