"""The sentences that are ours and not the book's, in one place."""

from collections.abc import Sequence

from core.grounding.misquoting import Misquote
from core.grounding.rewording import Reworded
from core.markdown.writing import beginning, one_line
from core.models import QuoteStatus
from core.text.links import prose_without_links

_MOST_DIFFERENCES = 3
_MOST_NAMED = 3
"""Words of a quote that are named."""

SEARCHING = "Searching the book …"
QUOTE_CUT = "Your quote was longer than 8,000 characters; I read it up to the last whole sentence."
THREAD_PARTLY_SEEN = "I saw only a part of what was said in this thread before."
QUOTE_TOO_SHORT = "The quoted passage is too short to be found in the book."
QUOTE_NOT_FOUND = "The quoted passage is not from this book."
NOT_STORED = "This answer could not be stored: a follow-up will not know of it."
PARTLY_COVERED = "The book answers only a part of this question."
LEFT_OUT = "I left out what the book does not carry, so this answer may be incomplete."
PLANTED = "I left out text of the book that reads like an instruction to a machine."
TRANSLATED = "The book is in another language, so I could compare less of this answer with it."
CUT_SHORT = "This answer reached its length limit; ask on for the rest."
MODEL_FAILED = "The language model is not available: these are the book's own sentences."
SEARCHED_BY_WORDS = "The book could only be searched by its words; ask again later for more."
BUDGET_SPENT = "Today's budget for the language model is spent: these are the book's own sentences."
TOO_DEAR = "This question is too long for the language model: these are the book's own sentences."
NOT_COUNTED = "The language model cannot be used now: these are the book's own sentences."
NOT_SURE = "I am not sure that this answers your question; it is the closest the book comes."
NOT_SURE_WITHIN = (
    "I am not sure that this answers your question; it is the closest this section comes, and "
    "the rest of the book was not searched."
)
PARTLY_COVERED_WITHIN = (
    "This section answers only a part of this question; the rest of the book was not searched."
)

_MISQUOTED = {
    Misquote.HIDDEN: "it leaves out a word such as “not” or “never”",
    Misquote.NEGATION: "only one of them says “not” or the like",
    Misquote.NUMBER: "a number is another one",
}
_NOT_COVERED = "The book doesn't cover this."
_NOT_SEARCHED = "; the rest of the book was not searched."
_LONGEST_HEADING = 80
"""Characters of a heading that are shown while its section is read."""


def reading(headings: Sequence[str]) -> str:
    """Return what is shown while the sections that were found are read."""
    return f"Reading {', '.join(f'“{_shortened(h)}”' for h in headings)} …"


def not_covered(nearest_sections: Sequence[str], *, within: bool = False) -> str:
    """Return the answer to a question that the book, or one section of it, does not cover."""
    said = f"I found no answer in this section{_NOT_SEARCHED}" if within else _NOT_COVERED
    return f"{said}{_sections(nearest_sections)}"


def no_section(name: str) -> str:
    """Return the answer when the section that a question names does not exist."""
    return f"This book has no {prose_without_links(name)}."


def not_carried(nearest_sections: Sequence[str], *, within: bool = False) -> str:
    """Return the answer when nothing that was written is carried by the book, or its section."""
    whose = "this section's" if within else "the book's"
    end = _NOT_SEARCHED if within else "."
    return f"I found no answer that {whose} words carry{end}{_sections(nearest_sections)}"


def _shortened(heading: str) -> str:
    return beginning(one_line(prose_without_links(heading)), _LONGEST_HEADING)


def _steps(numbers: Sequence[int]) -> str:
    return f"step{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _sections(names: Sequence[str]) -> str:
    if not names:
        return ""
    return f" The nearest sections are {'; '.join(f'“{prose_without_links(n)}”' for n in names)}."


def steps_left_out(
    first: int,
    shown_to: int,
    last: int | None,
    section: str,
    *,
    dropped: Sequence[int] = (),
    shortened: Sequence[int] = (),
    others: Sequence[str] = (),
    is_clear: bool = True,
) -> str:
    """Return the sentences that say which steps of a list are not shown, and which other lists.

    Args:
        first: The number of the first step that was read.
        shown_to: The number of the last step that is shown.
        last: The number of the list's last step; None: it is not known.
        section: The heading below which the list stands.
        dropped: The numbers of those in between that are not shown.
        shortened: The numbers of those of which only the beginning is shown.
        others: The headings below which other lists stand that may be meant.
        is_clear: Whether it can be told which steps are of the list.
    """
    told = []
    place = f"“{_shortened(section)}”"
    if not is_clear:
        told.append(f"I can't tell which steps are of one list; for all of them, read {place}.")
    if first > 1 or shown_to != last:
        steps = f"step {first}" if first == shown_to else f"steps {first} to {shown_to}"
        total = "a longer list" if last is None else f"{last}"
        are = "This is" if first == shown_to else "These are"
        told.append(f"{are} {steps} of {total}; for the others, read {place}.")
    if shortened:
        told.append(f"Of {_steps(shortened)} this is the beginning; for the rest, read {place}.")
    if dropped:
        left_out = _steps(dropped)
        told.append(f"I left out {left_out} of this list, which may not be by the book's author.")
    if others:
        names = ", ".join(f"“{_shortened(name)}”" for name in others[:_MOST_NAMED])
        more = " and elsewhere" if len(others) > _MOST_NAMED else ""
        told.append(f"There are other steps below {names}{more}.")
    return " ".join(told)


def quote_place(
    status: QuoteStatus,
    place: str,
    misquote: Misquote | None = None,
    reworded: Sequence[Reworded] = (),
) -> str:
    """Return the sentence that says where a quoted passage stands, and how it misquotes it."""
    told = "; ".join(map(_difference, reworded[:_MOST_DIFFERENCES]))
    if misquote is Misquote.WORD:
        return f"Your quote differs from the book in “{place}”: the book has {told}."
    if misquote is not None:
        return f"Your quote differs from the book in “{place}”: {_MISQUOTED[misquote]}."
    if status is QuoteStatus.VERBATIM:
        return f"This passage stands in “{place}”."
    end = f": the book has {told}." if told else "."
    return f"This passage stands, in slightly other words, in “{place}”{end}"


def _difference(one: Reworded) -> str:
    if not one.written:
        return f"no “{one.quoted}”"
    return f"“{one.written}” for your “{one.quoted}”" if one.quoted else f"also “{one.written}”"
