"""Cuts a parsed document into passages of about 200 tokens, each inside one section."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from operator import itemgetter

from core.domain import ChunkBlock
from core.domain.links import code_span
from core.domain.markdown import code_in, code_spans, lines_of
from core.domain.sentences import count_tokens, sentence_spans
from core.ingestion.document import Block, BlockKind, BlockRole, EntryPart, ParsedDocument

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


MOSTLY_LINKS = 0.7
"""The share of a block's letters in links from which it only leads elsewhere."""
MOSTLY_QUESTIONS = 0.6
FEWEST_QUESTIONS = 3
"""A section with so many questions, and so large a share of them, asks and does not tell."""
_EXERCISES = re.compile(
    r"[\W\d]*(?!frequently asked)(?:exercises?|problems|problem sets?|quiz(?:zes)?"
    r"|(?:\w+[ -]){0,2}(?:exercises|questions)|übungen|übungsaufgaben|aufgaben)\W*",
    re.I,
)
"""The whole heading: "The Moral Hazard Problem" is above an explanation."""


def with_roles(blocks: Sequence[Block], heading: str, *, leads: bool) -> list[Block]:
    """Return the blocks of a section with their roles; one that its markup gave stays.

    Args:
        heading: The section's own, empty before the first.
        leads: Whether the section stands before the first heading of a paged document, where
            title, copyright and contents are.
    """
    asked = [block.text.rstrip().endswith("?") for block in blocks]
    questions = sum(asked)
    asks = questions >= FEWEST_QUESTIONS and questions >= MOSTLY_QUESTIONS * len(blocks)
    asks = asks or _EXERCISES.fullmatch(heading) is not None
    role = BlockRole.EXERCISE if asks else BlockRole.FRONT_MATTER if leads else BlockRole.TEXT
    return [
        block
        if block.role is not BlockRole.TEXT
        else replace(block, role=BlockRole.NAVIGATION if block.linked >= MOSTLY_LINKS else role)
        for block in blocks
    ]


TARGET_TOKENS = 200
LARGEST_TOKENS = 300
"""Prose above this is cut between sentences."""
LARGEST_WHOLE_TOKENS = 440
"""Code, tables and formulas up to this stay whole; the embedder reads 512 with its heading."""
LARGEST_ENTRY_TOKENS = 200
"""An entry is its first block with as many further ones as fit; what is beyond is prose."""
SMALLEST_TOKENS = 40

_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t:|-]*-[ \t:|-]*\|?[ \t]*$")


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading, up to the next heading of any level."""

    path: tuple[str, ...]
    """The headings from the top down to this one; empty before the first heading."""
    anchor: str | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class DocumentPassage:
    """A chunk before it belongs to a course."""

    section: Section
    text: str
    char_start: int
    char_end: int
    token_count: int
    locator: dict[str, int] = field(default_factory=dict)
    blocks: tuple[ChunkBlock, ...] = ()
    recognised: bool = False
    """Whether text of it was read from a picture of the page."""


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document's text and its passages; `passage.text` is `text[char_start:char_end]`."""

    text: str
    sections: tuple[Section, ...]
    passages: tuple[DocumentPassage, ...]


def chunk_document(document: ParsedDocument) -> ChunkedDocument:
    """Return the document's text and its passages in reading order.

    A passage never crosses a heading. Ordered lists, fences, tables and formulas of up to 440
    tokens stay whole; a longer fence is cut at blank lines and fenced again, a longer table is cut
    between rows and repeats its header row.
    """
    sections = tuple(_with_roles(split_sections(document.blocks)))
    text: list[str] = []
    passages: list[DocumentPassage] = []
    position = 0
    for section in sections:
        if section.path and section.path[-1]:
            text.append(section.path[-1] + "\n\n")
            position += len(text[-1])
        for group in _pack(_whole_lists(list(_parts(section.blocks)))):
            content = join(group)
            passages.append(_passage(section, group, content, position))
            text.append(content + "\n\n")
            position += len(text[-1])
    return ChunkedDocument("".join(text), sections, tuple(passages))


def split_sections(blocks: Sequence[Block]) -> Iterator[Section]:
    """Yield the sections in reading order, headings without a text of their own included."""
    stack: list[tuple[int, str]] = []
    anchor: str | None = None
    body: list[Block] = []
    started = False
    for block in blocks:
        if block.kind is not BlockKind.HEADING:
            body.append(block)
            continue
        if started or body:
            yield Section(tuple(title for _, title in stack), anchor, tuple(body))
        started, body = True, []
        while stack and stack[-1][0] >= block.level:
            stack.pop()
        stack.append((block.level, " ".join(block.text.split())))
        anchor = block.anchor
    if started or body:
        yield Section(tuple(title for _, title in stack), anchor, tuple(body))


def _with_roles(sections: Iterable[Section]) -> Iterator[Section]:
    for number, section in enumerate(sections):
        leads = not number and not section.path and "page" in _locator_of(section.blocks)
        heading = section.path[-1] if section.path else ""
        yield replace(section, blocks=tuple(with_roles(section.blocks, heading, leads=leads)))


def _locator_of(blocks: Sequence[Block]) -> Mapping[str, int]:
    return blocks[0].locator if blocks else {}


def _passage(
    section: Section, group: Sequence[Block], content: str, position: int
) -> DocumentPassage:
    locator = dict(group[0].locator)
    if "line_end" in group[-1].locator:
        locator["line_end"] = group[-1].locator["line_end"]
    return DocumentPassage(
        section,
        content,
        position,
        position + len(content),
        count_tokens(content),
        locator,
        tuple(sorted(blocks_of(group), key=lambda block: (block.start, block.end))),
        any(block.recognised for block in group),
    )


def _whole_lists(parts: Sequence[Block]) -> list[list[Block]]:
    """Return the parts, each by itself or with the other items of its steps where these fit.

    Steps need one another; a list of points is parted as prose is, which ranks a little better.
    """
    runs: list[list[Block]] = []
    for part in parts:
        if runs and (goes_on(runs[-1], part) or goes_on_entry(runs[-1][-1], part)):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [
        group
        for run in runs
        for group in ([run] if _stays_whole(run) else [[part] for part in run])
    ]


def _stays_whole(run: Sequence[Block]) -> bool:
    if run[0].entry is not None:
        return True
    return is_ordered(run[0]) and _size(run) <= LARGEST_WHOLE_TOKENS


def _parts(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks cut to fit, of which no entry has more than is shown together."""
    before: Block | None = None
    size = 0
    for block in blocks:
        for number, part in enumerate(_fit(block)):
            part = replace(part, entry=EntryPart.REST) if number and part.entry else part
            continues = goes_on_entry(before, part)
            size = count_tokens(part.text) + (size if continues else 0)
            starts = part.entry is EntryPart.START
            is_whole = starts or (continues and size <= LARGEST_ENTRY_TOKENS)
            tells = part.role is BlockRole.TEXT
            before = part if is_whole and tells else replace(part, entry=None)
            yield before


def _size(parts: Sequence[Block]) -> int:
    return sum(count_tokens(part.text) for part in parts)


def _pack(runs: Sequence[Sequence[Block]]) -> Iterator[list[Block]]:
    """Group neighbouring parts into passages of like size near the target."""
    sizes = [_size(run) for run in runs]
    passages = max(1, round(sum(sizes) / TARGET_TOKENS))
    target = sum(sizes) / passages
    group: list[Block] = []
    filled = 0
    left = sum(sizes)
    for run, size in zip(runs, sizes, strict=True):
        over = filled + size - target
        too_large = filled + size > LARGEST_TOKENS and filled >= SMALLEST_TOKENS
        if (
            group
            and (too_large or (over > 0 and over > target - filled))
            and left >= SMALLEST_TOKENS
        ):
            yield group
            group, filled = [], 0
        group.extend(run)
        filled += size
        left -= size
    if group:
        yield group


def _fit(block: Block) -> list[Block]:
    """Return the block, or several that each fit into a passage."""
    size = count_tokens(block.text)
    if block.kind in {BlockKind.PARAGRAPH, BlockKind.LIST_ITEM}:
        if size <= LARGEST_TOKENS:
            return [block]
        spans = [block.text[start:end] for start, end in sentence_spans(block.text)]
        pieces = [part for span in spans for part in _cut_words(span)]
        first, *others = _fill(pieces, " ", TARGET_TOKENS)
        rest = replace(block, kind=BlockKind.PARAGRAPH)
        return [replace(block, text=first), *(replace(rest, text=text) for text in others)]
    if size <= LARGEST_WHOLE_TOKENS:
        return [block]
    if block.kind is BlockKind.TABLE:
        return [replace(block, text=text) for text in _cut_table(block.text)]
    if block.kind is BlockKind.CODE:
        return [replace(block, text=text) for text in _cut_fence(block.text)]
    return [replace(block, text=text) for text in _fill(block.text.splitlines(), "\n")]


def _cut_words(sentence: str) -> list[str]:
    """Return the sentence, cut between words (or characters) where it is far too long."""
    if count_tokens(sentence) <= LARGEST_TOKENS:
        return [sentence]
    words = _words(sentence)
    if len(words) > 1:
        parts = [part for word in words for part in _cut_words(word)]
        return _fill(parts, " ")
    if code := list(code_spans(sentence, 0, len(sentence))):
        return _cut_code(sentence, *code[0])
    middle = len(sentence) // 2
    return _cut_words(sentence[:middle]) + _cut_words(sentence[middle:])


def _words(sentence: str) -> list[str]:
    """Return what stands between the blanks of a sentence; its spans of code are words."""
    words, start = list[str](), 0
    code = list(code_spans(sentence, 0, len(sentence)))
    for blank in re.finditer(" ", sentence):
        if not any(first < blank.start() < end for first, end in code):
            words.append(sentence[start : blank.start()])
            start = blank.end()
    return [*words, sentence[start:]]


def _cut_code(word: str, start: int, end: int) -> list[str]:
    """Return a word with a span of code that is far too long, as several with one each."""
    (code,) = code_in(word[start:end])
    spans = [code_span(part) for part in _cut_line(code.content)]
    around = [word[:start], word[end:]]
    before, after = (_cut_words(text) if text else [] for text in around)
    return [*before, *spans, *after]


def _cut_fence(text: str) -> list[str]:
    """Return a fence as several, whose code is that of the one between them."""
    opening, *body, closing = text.split("\n")
    parts = (part.strip("\n").rstrip() for part in _fill(_stanzas(body), ""))
    return [f"{opening}\n{part}\n{closing}" for part in parts if part]


def _stanzas(lines: Sequence[str]) -> list[str]:
    """Return runs of lines, each with the blank ones after it; joined they are the lines.

    A run that does not fit comes line by line.
    """
    runs = [""]
    for before, line in pairwise(["", *lines]):
        if line.strip() and not before.strip():
            runs.append("")
        runs[-1] += f"{line}\n"
    fitting = list[str]()
    for run in runs:
        fits = count_tokens(run) <= LARGEST_WHOLE_TOKENS
        fitting += [run] if fits else [p for one in lines_of(run) for p in _cut_line(one)]
    return fitting


def _cut_line(line: str) -> list[str]:
    """Return a line of code, cut after blanks where it is far too long; joined it is the line."""
    if count_tokens(line) <= LARGEST_TOKENS:
        return [line]
    middle = len(line) // 2
    middle = line.rfind(" ", 1, middle) + 1 or middle
    return _cut_line(line[:middle]) + _cut_line(line[middle:])


def _cut_table(text: str) -> list[str]:
    lines = [part for line in text.splitlines() for part in _cut_words(line)]
    has_header = len(lines) > 1 and _TABLE_RULE.match(lines[1]) is not None
    header, rows = (lines[:2], lines[2:]) if has_header else ([], lines)
    room = max(LARGEST_WHOLE_TOKENS - count_tokens("\n".join(header)), SMALLEST_TOKENS)
    return ["\n".join([*header, part]) for part in _fill(rows, "\n", room)]


def _fill(pieces: Sequence[str], glue: str, limit: int = LARGEST_WHOLE_TOKENS) -> list[str]:
    """Join neighbouring pieces into texts of like size, at most `limit` tokens where possible."""
    sizes = [count_tokens(piece) for piece in pieces]
    texts: list[str] = []
    filled = 0
    target = sum(sizes) / max(1, -(-sum(sizes) // limit))
    for piece, size in zip(pieces, sizes, strict=True):
        if texts and filled + size <= limit and filled + size / 2 <= target:
            texts[-1] += glue + piece
            filled += size
        else:
            texts.append(piece)
            filled = size
    return texts
