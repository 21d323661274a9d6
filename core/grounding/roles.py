"""Finds claims that exchange who does something and whom or what it is done to."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from core.grounding.words import Reading, Word

_DETERMINERS = frozenset(
    "a an the this that these those its their his her our your my each every some any no".split()
)
_PREPOSITIONS = frozenset(
    "to of in on at by for from with into onto between among through during against over under "
    "upon about within without".split()
)
_BE = frozenset("is are was were be been being get gets got".split())
_CONTINUE = frozenset({"than", "as", "to"})
"""Words that begin no clause of their own here: `harder than quartz` is one."""
_RELATIVES = frozenset("that which who whom whose where".split())
_MOST_OF = 0.75
_FEWEST = 3

_Sentence = Sequence[Word]


def roles_differ(claim: Reading, quotes: Reading) -> bool:
    """Return whether two things have changed sides around the same verb or comparison.

    `Banks lend to households` turns round `Households lend to banks`. A passive, or an
    adverbial that moved with its preposition, turns nothing round.
    """
    theirs = list(_clauses(quotes))
    return any(_is_only_exchanged(ours, theirs) for ours in _clauses(claim))


def _is_only_exchanged(ours: _Sentence, theirs: Sequence[_Sentence]) -> bool:
    """Return whether a clause is turned round, and stands nowhere as the claim has it."""
    alike = [other for other in theirs if _is_about_the_same(ours, other)]
    return bool(alike) and all(_is_exchanged(ours, other) for other in alike)


def _clauses(text: Reading) -> Iterator[_Sentence]:
    """Yield the clauses, what `than` begins together with what it is compared with."""
    held: list[Word] = []
    for _, group in groupby(text.words, key=lambda word: word.clause):
        words = list(group)
        if held and words[0].lower not in _CONTINUE:
            yield held
            held = []
        held += words
    yield held


def _is_about_the_same(ours: _Sentence, theirs: _Sentence) -> bool:
    here, there = _places(ours), _places(theirs)
    shared = sum(stem in there for stem in here)
    return shared >= max(_FEWEST, _MOST_OF * len(here))


def _is_exchanged(ours: _Sentence, theirs: _Sentence) -> bool:
    if _relatives(ours) != _relatives(theirs):
        return False
    here, there = _places(ours), _places(theirs)
    shared = [stem for stem in here if stem in there]
    return any(
        _turns(shared, pivot, (ours, here), (theirs, there))
        for pivot in shared
        if _is_pivot(ours, here[pivot]) and _is_pivot(theirs, there[pivot])
    )


def _relatives(words: _Sentence) -> set[str]:
    return {word.lower for word in words if word.lower in _RELATIVES}


def _places(words: _Sentence) -> dict[str, int]:
    """Return where each content stem stands; those that stand twice tell nothing."""
    stems = [word.stem for word in words if word.is_content]
    return {
        word.stem: place
        for place, word in enumerate(words)
        if word.is_content and stems.count(word.stem) == 1
    }


def _turns(
    shared: Sequence[str],
    pivot: str,
    ours: tuple[_Sentence, dict[str, int]],
    theirs: tuple[_Sentence, dict[str, int]],
) -> bool:
    """Return whether a thing before the pivot and one behind it have changed places."""
    (words, here), (others, there) = ours, theirs
    if _is_passive(words, here[pivot]) != _is_passive(others, there[pivot]):
        return False
    moved = [
        stem
        for stem in shared
        if (here[stem] < here[pivot]) != (there[stem] < there[pivot])
        and not _keeps_preposition(words, here[stem], others, there[stem])
    ]
    forward = any(here[stem] < here[pivot] for stem in moved)
    return forward and any(here[stem] > here[pivot] for stem in moved)


def _is_pivot(words: _Sentence, place: int) -> bool:
    """Return whether a word may be a verb, or an adjective that compares."""
    before = words[place - 1].lower if place else ""
    after = words[place + 1].lower if place + 1 < len(words) else ""
    if after == "than":
        return True
    return place > 0 and before not in _DETERMINERS | _PREPOSITIONS - {"to"} and after != "of"


def _is_passive(words: _Sentence, place: int) -> bool:
    before = {word.lower for word in words[max(0, place - 3) : place]}
    is_participle = words[place].lower.endswith(("ed", "en", "n", "t", "d"))
    has_agent = any(word.lower == "by" for word in words[place:])
    return has_agent or (bool(before & _BE) and is_participle)


def _keeps_preposition(words: _Sentence, here: int, others: _Sentence, there: int) -> bool:
    own = _preposition(words, here)
    return own is not None and own == _preposition(others, there)


def _preposition(words: _Sentence, place: int) -> str | None:
    """Return the preposition of the noun at a place, past its article and one more word."""
    for word in reversed(words[max(0, place - 3) : place]):
        if word.lower in _PREPOSITIONS:
            return word.lower
    return None
