"""The course that is asked about: one fact for every name, so that an answer tells its question."""

import re
from collections.abc import Iterator, Mapping

COURSE = "buoys"
COURSE_FILE = f"""\
[courses.{COURSE}]
title = "Buoys"
sources = ["{COURSE}"]
"""
_ON_A_PAGE = 20
_NAME = re.compile(r"\bK\d{4}\b")
_QUESTIONS = (
    "How long does the lamp of buoy {} burn?",
    "For how many hours does the lamp of buoy {} burn on one charge?",
    "How many hours does the lamp of buoy {} burn on a charge of gas?",
)


def name_of(number: int) -> str:
    """Return the name of a buoy."""
    return f"K{number:04}"


def fact_about(name: str) -> str:
    """Return the one sentence of the book about a buoy."""
    hours = 1_000 + int(name[1:]) * 7
    return f"The lamp of buoy {name} burns for {hours} hours on one charge of gas."


def question_about(name: str) -> str:
    """Return a question that this sentence answers."""
    return _QUESTIONS[int(name[1:]) % len(_QUESTIONS)].format(name)


def names_in(text: str) -> list[str]:
    """Return the buoys of which a text tells, in order, each once."""
    return list(dict.fromkeys(_NAME.findall(text)))


def book(buoys: int) -> Mapping[str, str]:
    """Return the files of a book about so many buoys."""
    pages = range(0, buoys, _ON_A_PAGE)
    return {
        f"{COURSE}/page-{first:04}.md": "".join(_page(range(first, min(first + _ON_A_PAGE, buoys))))
        for first in pages
    }


def _page(numbers: range) -> Iterator[str]:
    yield f"# Buoys from number {numbers.start}\n\n"
    for number in numbers:
        name = name_of(number)
        # Both sentences say the same words: to the hashing embedder nothing else is akin.
        yield f"## Station {number}\n\n{fact_about(name)} "
        yield f"The mooring of buoy {name} lies {number + 11} fathoms deep.\n\n"
