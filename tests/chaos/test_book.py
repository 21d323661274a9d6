"""The checker's book says of each name what is asked about it."""

from tests.chaos.book import book, fact_about, name_of, names_in
from tests.chaos.templates import BUOYS


def test_each_name_has_its_sentence() -> None:
    pages = book(BUOYS)
    names = [name_of(number) for number in range(BUOYS)]
    for page in pages.values():
        _, *sections = page.removeprefix("# ").split("\n\n## ")
        for section in sections:
            _, _, content = section.partition("\n\n")
            [name] = names_in(section)
            assert content.startswith(fact_about(name))
            names.remove(name)
    assert names == []
