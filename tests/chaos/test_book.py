"""The checker's book says of each name what is asked about it, and none of it is withheld."""

from core.grounding.planted import commands
from tests.chaos.book import book, fact_about, name_of, names_in
from tests.chaos.templates import BUOYS


def test_no_sentence_that_is_asked_for_is_taken_for_a_planted_one() -> None:
    mistaken = []
    pages = book(BUOYS)
    names = [name_of(number) for number in range(BUOYS)]
    for page in pages.values():
        _, *sections = page.removeprefix("# ").split("\n\n## ")
        for section in sections:
            _, _, content = section.partition("\n\n")
            [name] = names_in(section)
            assert content.startswith(fact_about(name))
            if commands(content):
                mistaken.append(name)
            names.remove(name)
    assert names == mistaken == []
