"""The checker's book says of each name what is asked about it, and the stand-ins can tell so."""

from core.grounding.planted import PlantedTextFinder, Setting
from core.grounding.quoting import QuotedPassage
from tests.chaos.book import book, fact_about, name_of, names_in, question_about
from tests.chaos.templates import BUOYS
from tests.stand_ins import open_embedder


async def test_no_sentence_that_is_asked_for_is_taken_for_a_planted_one() -> None:
    finder, mistaken = PlantedTextFinder(open_embedder()), []
    pages = book(BUOYS)
    names = [name_of(number) for number in range(BUOYS)]
    for page in pages.values():
        title, *sections = page.removeprefix("# ").split("\n\n## ")
        for section in sections:
            heading, _, content = section.partition("\n\n")
            [name] = names_in(section)
            quote = QuotedPassage(content, 0, len(fact_about(name)))
            place = f"{title} › {heading}"
            planted = await finder.planted_in(content, Setting((question_about(name),), place))
            if planted.touches(quote.start, quote.end):
                mistaken.append(name)
            names.remove(name)
    assert names == mistaken == []
