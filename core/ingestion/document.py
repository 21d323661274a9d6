"""What a parser hands on: one document as plain text, and its structure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block is, which decides where it may be cut."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    CODE = "code"
    TABLE = "table"
    FORMULA = "formula"


class BlockRole(StrEnum):
    """What a block is for: only text answers questions."""

    TEXT = "text"
    EXERCISE = "exercise"
    CAPTION = "caption"
    NAVIGATION = "navigation"
    BOILERPLATE = "boilerplate"
    FRONT_MATTER = "front_matter"


class EntryPart(StrEnum):
    """Where in an entry a block stands: in a term or option with what is said of it."""

    START = "start"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item, table, fence, formula or heading.

    `text` is never blank. Inline markup is gone (links and emphasis are their own words),
    inline code keeps its backticks, formulas their dollar signs, code its fence with the
    language, tables are pipe tables with their header row, list items keep a bullet or number.
    """

    kind: BlockKind
    text: str
    level: int = 0
    """1 to 6 for a heading, otherwise in how many lists it lies: counted for list items, and for
    paragraphs of one."""
    anchor: str | None = None
    """For a heading: the fragment its published page gives it, without `#`."""
    locator: Mapping[str, int] = field(default_factory=dict)
    """Where it stood in the source, counted from 1: `page`, `slide`, `cell`, or `line_start` and
    `line_end` (inclusive); and `second`, from 0, in a recording."""
    role: BlockRole = BlockRole.TEXT
    """As its markup says; otherwise judged by where the block stands."""
    linked: float = 0.0
    """The share of its letters that stand in links, 0 to 1."""
    recognised: bool = False
    """Whether a program read it from a picture of the page, as of a scan."""
    entry: EntryPart | None = None
    """Its part in an entry of a definition or option list; the first block begins with the term.
    None outside of one."""


@dataclass(frozen=True, slots=True)
class Omission:
    """An element of a document that its text does not have, such as a text box or struck words."""

    kind: str
    """A singular noun for people: `text box`, `equation`, `struck text`, `comment`."""
    where: str = ""
    """Where it stood, for people: `page 3`, `slide 4`, `line 12`; empty where that is not known."""
    words: int = 0
    """How many words it held; 0 where it held none, or they cannot be counted."""
    count: int = 1
    """How many such elements it stands for: more than one where a document has very many."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document after parsing: its title and its blocks in reading order."""

    title: str | None
    """From front matter or metadata, else none; the first heading is used instead."""
    blocks: tuple[Block, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    """What front matter or document properties say: `slug`, `sidebar_label`, `author` ..."""
    warnings: tuple[str, ...] = ()
    """One sentence for each thing left out: a missing include, a page without text."""
    left_out: tuple[Omission, ...] = ()
    """Every element that was not read, in reading order."""
    format: str = ""
    """The name of the entry of its format; empty while its reader is at work."""


def document_of(
    title: str | None,
    blocks: Iterable[Block],
    *,
    metadata: Mapping[str, str] | None = None,
    warnings: Iterable[str] = (),
    left_out: Iterable[Omission] = (),
) -> ParsedDocument:
    """Return a document with its blank blocks dropped."""
    kept = tuple(block for block in blocks if block.text.strip())
    return ParsedDocument(title, kept, dict(metadata or {}), tuple(warnings), tuple(left_out))
