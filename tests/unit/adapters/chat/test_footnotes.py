"""Where an answer is from, for every platform."""

from uuid import uuid4

import pytest

from adapters.chat.markdown.footnotes import Footnote, footnotes, place_in_book
from core.domain import ChunkState, source_urls
from core.domain.i18n import use_locale
from tests.samples import URL, chunk, citation, response


def test_a_footnote_names_the_place_its_page_and_its_address() -> None:
    book = chunk(state=ChunkState.RETURNED, metadata={"page": 3})
    citations = (citation(book, 1),)
    answer = response(
        response_text="A tree [1].",
        grounding_chunks=(book,),
        citations=citations,
        sources=source_urls((book,), citations),
    )
    assert footnotes(answer) == [
        Footnote(
            markers=(1,),
            title="Heaps › Definition",
            locator="p. 3",
            url=URL,
            file="heaps.md",
        )
    ]


@pytest.mark.parametrize(
    ("language", "locator"),
    [("en", "p. 3 · text recognised from a scan"), ("de", "S. 3 · Text aus einem Scan erkannt")],
)
def test_the_place_of_a_scanned_page_says_that_its_text_was_recognised(
    language: str, locator: str
) -> None:
    with use_locale(language):
        assert place_in_book(chunk(metadata={"page": 3, "recognised": 1})).locator == locator


@pytest.mark.parametrize(
    ("language", "locator"),
    [("en", "p. 3 · not the course's own"), ("de", "S. 3 · nicht vom Kurs selbst")],
)
def test_the_place_in_a_source_that_others_can_write_says_so(language: str, locator: str) -> None:
    with use_locale(language):
        assert place_in_book(chunk(metadata={"page": 3, "untrusted": 1})).locator == locator


def test_citations_of_one_place_share_a_footnote() -> None:
    book = chunk(state=ChunkState.RETURNED)
    quotes = [part.rstrip(".") for part in book.content_text.split(". ")]
    citations = tuple(citation(book, n, quote) for n, quote in enumerate(quotes, 1))
    answer = response(
        response_text=" ".join(f"{quote}. [{n}]" for n, quote in enumerate(quotes, 1)),
        grounding_chunks=(book,),
        citations=citations,
        sources=source_urls((book,), citations),
    )
    [note] = footnotes(answer)
    assert note.numbers == "[1] [2]"


def test_a_breadcrumb_names_nothing_twice_and_shows_no_formula_raw() -> None:
    place = place_in_book(chunk(page_title="Heaps", headings=("Heaps", "Choosing $k$", "Heaps")))
    assert place.title == "Heaps › Choosing k"


def test_what_the_asker_wrote_is_no_place_of_the_book() -> None:
    place = place_in_book(chunk(page_title="your message", metadata={"asker": 1}))
    assert (place.title, place.url, place.file) == ("your message", None, "")


def test_files_of_the_same_title_have_a_footnote_each() -> None:
    books = [
        chunk(state=ChunkState.RETURNED, source_file=name, chunk_id=uuid4())
        for name in ("heaps-1.md", "heaps-2.md")
    ]
    citations = tuple(citation(book, n) for n, book in enumerate(books, 1))
    answer = response(
        response_text="A tree [1]. A tree [2].",
        grounding_chunks=tuple(books),
        citations=citations,
        sources=source_urls(tuple(books), citations),
    )
    assert [(note.file, note.markers) for note in footnotes(answer)] == [
        ("heaps-1.md", (1,)),
        ("heaps-2.md", (2,)),
    ]


def test_a_title_leads_nowhere() -> None:
    place = place_in_book(chunk(headings=("See https://evil.example/x?y=1",), source_url=None))
    assert place.title == "Heaps › See evil.example"
    assert (place.url, place.file, place.locator) == (None, "heaps.md", "")
