"""The sentences that are ours and not the book's, in one place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.i18n import Message, text
from core.markdown.writing import beginning, one_line
from core.models import AgentResponse, QuoteStatus
from core.text.links import prose_without_links

if TYPE_CHECKING:
    from core.grounding.differences import Difference

_MOST_DIFFERENCES = 3
_LONGEST_DIFFERENCE = 80
"""Characters of words in which a quote differs from the book."""
_LANGUAGES = {
    "en": Message("language-en"),
    "de": Message("language-de"),
    "fr": Message("language-fr"),
    "es": Message("language-es"),
    "it": Message("language-it"),
    "pt": Message("language-pt"),
    "nl": Message("language-nl"),
    "pl": Message("language-pl"),
    "sv": Message("language-sv"),
    "da": Message("language-da"),
    "cs": Message("language-cs"),
    "ro": Message("language-ro"),
    "tr": Message("language-tr"),
    "id": Message("language-id"),
}
_LONGEST_HEADING = 80
"""Characters of a heading that are shown while its section is read."""
_LONGEST_PLACE = 160
"""Characters of the page and heading that stand above a passage."""


def reading(headings: Sequence[str]) -> str:
    """Return what is shown while the sections that were found are read."""
    names = (text("answer-name", name=_on_one_line(h, _LONGEST_HEADING)) for h in headings)
    return text("notice-reading", names=", ".join(names))


def not_covered(*, within: bool = False) -> str:
    """Return the answer to a question that the book, or one section of it, does not cover."""
    return text("answer-not-covered-within") if within else text("answer-not-covered")


def other_language(language: str) -> str:
    """Return the answer to a question in another language than the book's, a BCP 47 tag."""
    name = _LANGUAGES[language.partition("-")[0].casefold()]
    return text("answer-other-language", language=name)


def no_section(name: str) -> str:
    """Return the answer when the section that a question names does not exist."""
    return text("answer-no-section", name=prose_without_links(name))


def not_carried(*, within: bool = False) -> str:
    """Return the answer when nothing that was written is carried by the book, or its section."""
    return text("answer-not-carried-within") if within else text("answer-not-carried")


def heading(place: str, level: int = 3) -> str:
    """Return the line above a passage that says where it stands, as Markdown.

    Above the answer to a part of the question it says which part that is, and is of level 2.
    """
    return f"{'#' * level} {_on_one_line(place, _LONGEST_PLACE)}"


def part_without(*, within: bool) -> str:
    """Return what stands in place of an answer to a part of the question."""
    return text("answer-part-without-within") if within else text("answer-part-without")


def with_nearest(said: str, sections: Sequence[str]) -> str:
    """Return a refusal as one text, which names the nearest sections, if there are any."""
    if not sections:
        return said
    names = "; ".join(text("answer-name", name=prose_without_links(one)) for one in sections)
    return f"{said} {text('answer-nearest-sections', names=names, count=len(sections))}"


def quote_place(status: QuoteStatus, place: str, differing: Sequence["Difference"] = ()) -> str:
    """Return the sentence that says where a quoted passage stands, and how it misquotes it."""
    if differing:
        told = "; ".join(map(_difference, differing[:_MOST_DIFFERENCES]))
        return text("answer-misquoted", place=place, told=told)
    if status is QuoteStatus.VERBATIM:
        return text("answer-quote-verbatim", place=place)
    return text("answer-quote-reworded", place=place)


def _on_one_line(name: str, longest: int) -> str:
    return beginning(one_line(prose_without_links(name)), longest)


def _difference(one: "Difference") -> str:
    quoted, written = (beginning(words, _LONGEST_DIFFERENCE) for words in (one.quoted, one.written))
    if not written:
        return text("answer-difference-missing", quoted=quoted)
    if not quoted:
        return text("answer-difference-added", written=written)
    return text("answer-difference", written=written, quoted=quoted)


def understood(response: AgentResponse) -> str | None:
    """Return the line above an answer that says what was understood; None: what was asked."""
    if response.understood_as is None:
        return None
    return text("answer-understood-as", question=one_line(response.understood_as))


def asking_back(choices: Sequence[str]) -> str:
    """Return the question which of several is meant, with their numbers."""
    listed = "\n".join(f"{n}. {one_line(one)}" for n, one in enumerate(choices, 1))
    return f"{text('answer-which-one')}\n\n{listed}"
