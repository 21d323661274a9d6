"""Which sentences of the evidence have a number, and what a number stands for."""

from core.answering.writers.base import Passage
from core.answering.writers.prompt import Numbering
from core.domain import ChunkBlock, RetrievedChunk
from tests.samples import chunk

TEXT = """\
Heaps are trees. They are wide.

```c
int x;

int y;
```

- one item
- two items

1. Draw a heap."""


def of(text: str, *blocks: tuple[str, str]) -> RetrievedChunk:
    spans = [ChunkBlock(k, text.index(t), text.index(t) + len(t)) for k, t in blocks]
    return chunk(content_text=text, char_end=len(text)).model_copy(update={"blocks": tuple(spans)})


def texts(numbering: Numbering, passage: Passage) -> list[tuple[int, str]]:
    return [(sentence.number, sentence.text) for sentence in numbering.add(passage)]


def test_sentences_items_and_whole_blocks_are_numbered_in_order() -> None:
    assert texts(Numbering(), Passage(0, of(TEXT), TEXT)) == [
        (1, "Heaps are trees."),
        (2, "They are wide."),
        (3, "```c\nint x;\n\nint y;\n```"),
        (4, "- one item"),
        (5, "- two items"),
        (6, "1. Draw a heap."),
    ]


def test_exercises_and_captions_are_numbered_only_where_all_is_asked_for() -> None:
    exercise = of(TEXT, ("exercise", "1. Draw a heap."))
    assert len(Numbering().add(Passage(0, exercise, TEXT))) == 5
    assert len(Numbering(with_all=True).add(Passage(0, exercise, TEXT))) == 6


def test_a_chunk_that_is_nothing_but_an_exercise_is_numbered() -> None:
    text = "Draw a heap."
    assert len(Numbering().add(Passage(0, of(text, ("exercise", text)), text))) == 1


def test_only_the_part_that_is_read_is_numbered() -> None:
    part = "They are wide."
    passage = Passage(0, of(TEXT), part, TEXT.index(part))
    assert texts(Numbering(), passage) == [(1, part)]


def test_a_sentence_keeps_its_number_when_a_search_finds_it_again() -> None:
    numbering = Numbering()
    first = numbering.add(Passage(0, of("Heaps are trees."), "Heaps are trees."))
    other = numbering.add(Passage(1, of("Roots are large."), "Roots are large."))
    again = numbering.add(Passage(0, of("Heaps are trees."), "Heaps are trees."))
    assert (again, [s.number for s in other], len(numbering)) == (first, [2], 2)


def test_quotes_of_different_chunks_are_never_joined() -> None:
    numbering = Numbering()
    numbering.add(Passage(0, of("Heaps are trees."), "Heaps are trees."))
    numbering.add(Passage(1, of("Roots are large."), "Roots are large."))
    quotes = numbering.quotes([1, 2])
    assert quotes is not None
    assert [(quote.chunk_number, quote.start) for quote in quotes] == [(0, 0), (1, 0)]
    assert numbering.quotes([3]) is None
    assert numbering.quotes([]) == ()
