"""Where an answer is from, for every platform."""

from adapters.markdown.footnotes import Footnote, footnotes, place_in_book
from core.models import ChunkState, source_urls
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
            quotes=("A heap is a complete binary tree",),
        )
    ]


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
    assert note.quotes == ()


def test_a_title_leads_nowhere() -> None:
    place = place_in_book(chunk(headings=("See https://evil.example/x?y=1",), source_url=None))
    assert place.title == "Heaps › See evil.example"
    assert (place.url, place.file, place.locator) == (None, "heaps.md", "")
