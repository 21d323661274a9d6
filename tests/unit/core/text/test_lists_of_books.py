"""Lists in lists, as a book has them, come back whole out of the passages that it is cut into."""

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.ingestion.chunking import chunk_document
from core.ingestion.formats.markdown import parse_markdown
from core.text.step_lists import StepList, find_step_lists


@dataclass(frozen=True)
class Written:
    """An item of a book's list."""

    sentences: int
    note: bool
    """Whether it has a paragraph of its own behind its words."""
    numbered: bool
    """Whether the items below it have numbers."""
    below: tuple["Written", ...] = ()


def items(below: st.SearchStrategy[tuple[Written, ...]]) -> st.SearchStrategy[Written]:
    lengths = st.one_of(st.integers(1, 12), st.integers(1, 80))
    return st.builds(Written, lengths, st.booleans(), st.booleans(), below)


LEAVES = items(st.just(()))
MIDDLE = items(st.lists(LEAVES, max_size=4).map(tuple))
STEPS = st.lists(items(st.lists(MIDDLE, max_size=4).map(tuple)), min_size=2, max_size=8)
SHORT, NOTED = Written(1, False, False), Written(1, True, False)


def markdown(
    written: tuple[Written, ...] | list[Written], numbered: bool, depth: int = 0
) -> Iterator[tuple[str, int, str, str]]:
    """Yield each item's mark, its depth, its words, and its lines in a page."""
    for number, item in enumerate(written, 1):
        mark = f"{number}." if numbered else "-"
        words = " ".join(f"Turn screw {n} a bit." for n in range(item.sentences))
        note = "It hums a little." if item.note else ""
        blanks = " " * 4 * depth
        lines = f"{blanks}{mark} {words}\n" + (f"\n{blanks}    {note}\n\n" if note else "")
        yield mark, depth, f"{mark} {words} {note}".strip(), lines
        yield from markdown(item.below, item.numbered, depth + 1)


def told(texts: list[str], one: StepList) -> list[tuple[str, int, str]]:
    return [
        (
            item.mark,
            item.depth,
            " ".join(" ".join(texts[p.text_number][p.start : p.end] for p in item.parts).split()),
        )
        for step in one.steps
        for item in step.items
    ]


@settings(max_examples=150, deadline=None)
@given(STEPS, st.booleans(), st.booleans())
@example([Written(1, False, False, (SHORT, SHORT)), SHORT, SHORT], False, False)
@example(
    [SHORT, Written(1, False, True, (SHORT, SHORT)), *[Written(9, False, True)] * 5], True, True
)
@example([NOTED, NOTED, NOTED], False, False)
@example([Written(80, False, False), SHORT, SHORT], False, False)
def test_the_steps_of_a_list_are_those_of_the_book(
    written: list[Written], numbered: bool, announced: bool
) -> None:
    book = list(markdown(written, numbered))
    page = "# Lathe\n\n" + ("To set it up:\n\n" if announced else "")
    page += "".join(lines for *_, lines in book) + "\nLathes are loud.\n"
    document = parse_markdown(page, dialect="markdown", read_include=lambda _: None)
    texts = [passage.text for passage in chunk_document(document).passages]
    [found] = find_step_lists(texts)
    assert told(texts, found) == [(mark, depth, words) for mark, depth, words, _ in book]
    assert len(found.steps) == len(written)
    assert found.is_clear
