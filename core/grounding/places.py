"""Lines up a claim with its quotes: which words stand in the same place in both."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.grounding.words import Reading, Word, alike, base_form

_LEANS = frozenset({"and", "but", "or", "nor"})
_BEGINS_SUBJECT = frozenset(
    "a an the this that these those its their his her our your my some any each every no".split()
)
_STANDS_FOR_SUBJECT = frozenset({"it", "they", "he", "she"})
_JOINS_SUBJECTS = frozenset({"and", "or", "nor"})
_LONGEST_SUBJECT = 3
_AT_EDGE = 0.5
"""What it tells that both words begin, or end, what they stand in."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a claim or a quote."""

    word: Word
    root: str
    """Its stem; where the claim has another form of a word of the quotes, their stem."""
    before: str
    """The stem of the word in front of it in its sentence, if any."""
    form: str
    """What inflections of the word share, and an employee and an employer do not."""


Line = Sequence[Term]
"""The content words of a clause or a sentence, in order."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim and its quotes as lines of terms whose roots can be compared."""

    ours: Sequence[Line]
    theirs: Sequence[Line]


class Alignments:
    """A claim and its quotes, cut up in two ways."""

    def __init__(self, claim: Reading, quotes: Reading) -> None:
        roots = _roots(claim, quotes)
        own, quoted = list(_terms(claim, roots)), list(_terms(quotes, {}))
        self.by_sentence = Alignment(_sentences(own), _sentences(quoted))
        """Cut at full stops, colons and brackets."""
        self.by_clause = Alignment(
            [_content(clause) for clause in _clauses(own)], list(_completed(_clauses(quoted)))
        )
        """Cut at commas and conjunctions, too; the clauses of the quotes with a subject that
        they leave out."""


def likeness_of_places(ours: Line, place: int, theirs: Line, other: int) -> float:
    """Return how alike the neighbours of two words are: 1 for each that is the same, 0 to 2.

    Two words at the beginning, or at the end, of their lines count half; and nothing without
    any neighbour.
    """
    sides = [_side(ours, place, theirs, other, step) for step in (-1, 1)]
    return sum(sides) if 1.0 in sides else 0.0


def _side(ours: Line, place: int, theirs: Line, other: int, step: int) -> float:
    one, two = place + step, other + step
    are_edges = (not 0 <= one < len(ours), not 0 <= two < len(theirs))
    if any(are_edges):
        return _AT_EDGE if all(are_edges) else 0.0
    return float(ours[one].root == theirs[two].root)


def _roots(claim: Reading, quotes: Reading) -> dict[str, str]:
    """Return for each stem of the claim that the quotes have in another form the one of theirs."""
    return {
        root: next((other for other in quotes.content_stems if alike(root, other)), root)
        for root in claim.content_stems - quotes.content_stems
    }


def _terms(text: Reading, roots: Mapping[str, str]) -> Iterator[Term]:
    before = ""
    for word in text.words:
        yield Term(
            word,
            root=roots.get(word.stem, word.stem),
            before="" if word.opens else before,
            form=base_form(word.lower),
        )
        before = word.stem


def _sentences(terms: Iterable[Term]) -> list[Line]:
    lines: list[list[Term]] = []
    for term in terms:
        if term.word.opens or not lines:
            lines.append([])
        lines[-1].append(term)
    return [_content(line) for line in lines]


def _clauses(terms: Iterable[Term]) -> Iterator[list[Term]]:
    for _, clause in groupby(terms, key=lambda term: term.word.clause):
        yield list(clause)


def _content(line: Line) -> list[Term]:
    return [term for term in line if term.word.is_content]


def _completed(clauses: Iterable[Line]) -> Iterator[Line]:
    """Yield the content of each clause; that of `and burns it` with what it leaves out."""
    before: list[Term] = []
    previous: Line = ()
    for clause in clauses:
        own = _content(clause)
        # What the clause has in its place stands at the end of the one before.
        kept = before[: max(len(before) - len(own), 0)] if _leans_on_previous(clause) else []
        if before and _is_subject_too(previous, clause):
            kept = before
        before, previous = [*kept, *own], clause
        yield before


def _is_subject_too(previous: Line, clause: Line) -> bool:
    """Return whether two clauses are one: `Gold` and `and silver conduct heat`."""
    is_phrase = all(term.word.is_content or term.word.lower == "of" for term in previous[1:])
    is_short = len(_content(previous)) <= _LONGEST_SUBJECT
    return clause[0].word.lower in _JOINS_SUBJECTS and is_phrase and is_short


def _leans_on_previous(clause: Line) -> bool:
    if any(term.word.lower in _STANDS_FOR_SUBJECT for term in clause):
        return True
    begins_subject = any(term.word.lower in _BEGINS_SUBJECT for term in clause[1:2])
    return clause[0].word.lower in _LEANS and not begins_subject
