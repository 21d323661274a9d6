"""Puts the parts of a passage together, and tells where its lists, entries and tables are."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

from core.ingestion.document import Block, BlockKind, BlockRole, EntryPart
from core.models import ChunkBlock

_INDENT = "   "
"""In front of an item or a paragraph, for each item that it lies in."""
_ORDERED = re.compile(r"\s*(?:\d{1,4}|[A-Za-z])[.)]\s")


def join(group: Sequence[Block]) -> str:
    """Put the parts together: list items on lines of their own, the rest apart."""
    text = _indented(group[0])
    for before, after in pairwise(group):
        text += _glue(before, after) + _indented(after)
    return text


def blocks_of(group: Sequence[Block]) -> Iterator[ChunkBlock]:
    """Yield what of a passage is more than prose, and what is no text that answers."""
    spans = _spans(group)
    laid_out = [_laid_out(number, block) for number, block in enumerate(group)]
    for kinds in (_layouts(group), laid_out, [_role(block) for block in group]):
        for kind, run in groupby(enumerate(kinds), key=itemgetter(1)):
            numbers = [number for number, _ in run]
            if kind is not None:
                yield ChunkBlock(kind[0], spans[numbers[0]][0], spans[numbers[-1]][1])


def goes_on(run: Sequence[Block], part: Block) -> bool:
    """Return whether a part is of the list that the parts before it are of."""
    first = run[0]
    if first.entry is not None or first.kind is not BlockKind.LIST_ITEM or not part.level:
        return False
    if part.kind is BlockKind.LIST_ITEM and part.level <= first.level:
        is_alike = part.level == first.level and is_ordered(part) == is_ordered(first)
        return is_alike and part.entry is not EntryPart.START
    return part.kind in {BlockKind.LIST_ITEM, BlockKind.PARAGRAPH}


def goes_on_entry(before: Block | None, part: Block) -> bool:
    """Return whether a part is of the entry that the part right before it is of."""
    return part.entry is EntryPart.REST and before is not None and before.entry is not None


def is_ordered(item: Block) -> bool:
    """Return whether a part begins with a number or letter, as the items of steps do."""
    return _ORDERED.match(item.text) is not None


def _layouts(group: Sequence[Block]) -> list[tuple[str, int] | None]:
    """Return the list or entry of each block, the same for all that are of one; else None."""
    layouts: list[tuple[str, int] | None] = []
    first = 0
    for number, block in enumerate(group):
        if layouts and layouts[-1] and goes_on(group[first:number], block):
            layouts.append(layouts[-1])
            continue
        if layouts and goes_on_entry(group[number - 1], block):
            layouts.append(layouts[-1])
            continue
        first = number
        if block.entry is EntryPart.START:
            layouts.append(("entry", number))
        elif block.kind is BlockKind.LIST_ITEM:
            layouts.append(("ordered_list" if is_ordered(block) else "list", number))
        else:
            layouts.append(None)
    return layouts


def _laid_out(number: int, block: Block) -> tuple[str, int] | None:
    is_laid_out = block.kind in {BlockKind.CODE, BlockKind.TABLE, BlockKind.FORMULA}
    return (block.kind.value, number) if is_laid_out else None


def _role(block: Block) -> tuple[str, int] | None:
    return None if block.role is BlockRole.TEXT else (block.role.value, 0)


def _glue(before: Block, after: Block) -> str:
    return "\n" if before.kind is after.kind is BlockKind.LIST_ITEM else "\n\n"


def _spans(group: Sequence[Block]) -> list[tuple[int, int]]:
    """Return where each part is in the text that `join` makes."""
    spans, end = [(0, len(_indented(group[0])))], len(_indented(group[0]))
    for before, after in pairwise(group):
        start = end + len(_glue(before, after))
        end = start + len(_indented(after))
        spans.append((start, end))
    return spans


def _indented(block: Block) -> str:
    """Return a block's text with the blanks that tell which list and item it is of."""
    match block.kind:
        case BlockKind.LIST_ITEM:
            return _INDENT * (block.level - 1) + block.text
        case BlockKind.PARAGRAPH:
            return _INDENT * block.level + block.text
        case _:
            return block.text
