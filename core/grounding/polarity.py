"""Compares what a claim denies with what its quotes deny."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from core.grounding.numbers import is_of_quantity
from core.grounding.words import Reading, Word, alike

_WEAK = frozenset(
    "few little prevent prevents prevented preventing avoid avoids avoided stop stops stopped "
    "rather instead except excluding absent unlikely".split()
)
"""They may answer a plain negation of the other text, and need none themselves."""
_NEGATORS = _WEAK | frozenset(
    "not no non never neither nor none nobody nothing nowhere without hardly scarcely barely "
    "seldom rarely cannot unable fail fails failed failing lack lacks lacked lacking absence "
    "impossible refuse refuses refused deny denies denied unless".split()
)
_UNLESS = frozenset({"unless", "without", "except"})
_PLAIN = frozenset({"not", "no", "never", "cannot"})
_NOT_ONLY = frozenset({"only", "just", "merely", "simply", "solely"})
_NOT_AFTER = frozenset({"a", "the", "as", "so", "how", "too", "very", "with"})
"""`a few`, `a little`, `as little as` deny nothing."""
_STRONG_TWO = {"rather": "than", "instead": "of"}
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "a", "mis")
_SUFFIX = "less"
_SHORTEST_ROOT = 4
_REACH = 4


@dataclass(frozen=True, slots=True)
class Negation:
    """A word that denies, and the stems near it that it is about, nearest first."""

    word: Word
    scope: tuple[str, ...]
    before: tuple[str, ...]

    @property
    def is_weak(self) -> bool:
        """Whether other wording may express it without any negation."""
        return self.word.lower in _WEAK


def is_contradicted(one: Reading, other: Reading) -> bool:
    """Return whether one of the texts denies what the other affirms.

    A denial of what the other text does not speak of is no matter. Antonyms made by a prefix
    (`stable`, `unstable`) count as denials of their root.
    """
    return _compare(one, other).contradict()


def hides_denial(part: Reading, whole: Reading, *, anywhere: bool) -> bool:
    """Return whether a part of a text affirms what the whole text denies.

    Only a denial that its sentence begins with leaves a sentence when it is cut off, as in
    `do not open the hive`; what is left of others can be seen to be a fragment.

    Args:
        anywhere: Whether the part looks like a sentence wherever it was cut.
    """
    compared = _compare(part, whole)
    said = _affirmed(part, compared.ours, compared.added)
    return any(
        _is_repeated(negation, said)
        and any(alike(negation.scope[0], own) for own in said)
        and (anywhere or _begins_sentence(negation, whole))
        for negation in compared.dropped
        if negation.word.lower in _PLAIN
    )


def _begins_sentence(negation: Negation, text: Reading) -> bool:
    """Return whether no word with a meaning of its own stands in front of a denial."""
    if negation.word.lower == "no":
        return negation.word.opens  # `with no brood` is no sentence
    for word in reversed([word for word in text.words if word.start <= negation.word.start]):
        if word.is_content:
            return False
        if word.opens:
            return True
    return True


@dataclass(frozen=True, slots=True)
class _Compared:
    """The denials of a claim and of its quotes, and those that only one of them has."""

    claim: Reading
    quotes: Reading
    ours: Sequence[Negation]
    theirs: Sequence[Negation]
    added: Sequence[Negation]
    dropped: Sequence[Negation]

    def contradict(self) -> bool:
        """Return whether what only one denies is affirmed by the other."""
        said = _affirmed(self.claim, self.ours, self.added)
        quoted = _affirmed(self.quotes, self.theirs, self.dropped)
        return any(_is_repeated(negation, said) for negation in self.dropped) or any(
            _is_repeated(negation, quoted) for negation in self.added
        )


def _compare(claim: Reading, quotes: Reading) -> _Compared:
    ours = _undoubled([*_negations(claim), *_prefixed(claim, quotes)], quotes)
    theirs = _undoubled([*_negations(quotes), *_prefixed(quotes, claim)], claim)
    dropped = [n for n in _unmatched(theirs, ours) if not n.is_weak]
    added = [n for n in _unmatched(ours, theirs) if not n.is_weak]
    return _Compared(claim, quotes, ours, theirs, added, dropped)


def _undoubled(negations: list[Negation], other: Reading) -> list[Negation]:
    """Return the denials without a `not ... unless` that the other text puts as `only if`."""
    unless = next((n for n in negations if n.word.lower in _UNLESS), None)
    plain = next((n for n in negations if n.word.lower in _PLAIN), None)
    if unless is None or plain is None or "only" not in other.lowers:
        return negations
    return [n for n in negations if n is not unless and n is not plain]


def _affirmed(
    text: Reading, negations: Sequence[Negation], unmatched: Sequence[Negation]
) -> frozenset[str]:
    """Return the content stems of the clauses that deny nothing.

    A denial such as `impossible` that the other text has, too, answers no other denial.
    """
    denied = {n.word.clause for n in negations if n.word.lower in _PLAIN or n in unmatched}
    return frozenset(word.stem for word in text.content if word.clause not in denied)


def _negations(text: Reading) -> Iterator[Negation]:
    for place, word in enumerate(text.words):
        if word.lower not in _NEGATORS or not _denies(text.words, place):
            continue
        yield _about(text, place)


def _denies(words: tuple[Word, ...], place: int) -> bool:
    lower = words[place].lower
    after = words[place + 1].lower if place + 1 < len(words) else ""
    before = words[place - 1].lower if place else ""
    if lower == "not":
        adds = any(word.lower in {"but", "also"} for word in words[place:])
        return after not in _NOT_ONLY or not adds
    if lower in _STRONG_TWO:
        return after == _STRONG_TWO[lower]
    if lower.startswith(("fail", "refuse")):
        return after == "to"
    if lower == "absence":
        return after == "of"
    if lower in {"no", "not"} and _is_bound(words, place):
        return False  # bounds are compared with their numbers
    if lower == "no":
        return after not in {"doubt", "matter"}
    return lower not in {"few", "little"} or before not in _NOT_AFTER


def _is_bound(words: tuple[Word, ...], place: int) -> bool:
    """Return whether the word at a place begins a bound, such as `no more than 5`."""
    ahead = [word.lower for word in words[place + 1 : place + 4]]
    return len(ahead) == 3 and ahead[1] == "than" and is_of_quantity(ahead[2])


def _about(text: Reading, place: int) -> Negation:
    word = text.words[place]
    after = [w for w in text.words[place + 1 : place + 12] if w.is_content]
    near = [w.stem for w in after if w.clause <= word.clause + (w.lower in {"than", "of"})]
    if not near:
        near = [w.stem for w in after[:2]]
    before = [w.stem for w in text.words[max(0, place - 8) : place] if w.is_content]
    return Negation(word, tuple(near[:_REACH]), tuple(reversed(before[-3:])))


def _prefixed(text: Reading, other: Reading) -> Iterator[Negation]:
    """Yield `unstable` as a denial of `stable` where only the other text has the plain word."""
    plain = {word.lower: word.stem for word in other.content}
    for word in text.content:
        for root in _roots(word.lower):
            if root in plain and word.lower not in plain and root not in text.lowers:
                yield Negation(word, (plain[root],), ())
                break


def _roots(lower: str) -> Iterator[str]:
    for prefix in _PREFIXES:
        root = lower.removeprefix(prefix)
        if root != lower and len(root) >= _SHORTEST_ROOT + (len(prefix) < 2):
            yield root.lstrip("-")
    if lower.endswith(_SUFFIX) and len(lower) > len(_SUFFIX) + 2:
        yield lower.removesuffix(_SUFFIX)


def _unmatched(ours: list[Negation], theirs: list[Negation]) -> list[Negation]:
    """Return those of `ours` without a partner in `theirs`; the likest are paired first."""
    pairs = sorted(
        (
            (-likeness, i, j)
            for i, one in enumerate(ours)
            for j, other in enumerate(theirs)
            if (likeness := _likeness(one, other)) > 0
        ),
    )
    paired: dict[int, int] = {}
    for _, i, j in pairs:
        if i not in paired and j not in paired.values():
            paired[i] = j
    return [negation for i, negation in enumerate(ours) if i not in paired]


def _likeness(one: Negation, other: Negation) -> float:
    shared = sum(
        (1.0 if i == 0 or j == 0 else 0.75) / (1 + abs(i - j) / 2)
        for i, a in enumerate(one.scope)
        for j, b in enumerate(other.scope)
        if alike(a, b)
    )
    if not shared and one.scope and other.scope:
        return 0.0
    around = sum(any(alike(a, b) for b in other.before) for a in one.before)
    same = one.word.lower == other.word.lower and shared + around > 0
    return shared + 0.3 * around + 2 * same


def _is_repeated(negation: Negation, said: Collection[str]) -> bool:
    """Return whether most of what is denied stands among the stems `said` undenied."""
    repeated = sum(any(alike(root, own) for own in said) for root in negation.scope)
    is_one_word = negation.word.lower in _PLAIN and len(negation.scope) == 1
    if is_one_word and not _is_said_of_the_same(negation, said):
        return False  # it may be there for another reason
    return bool(repeated) and repeated * 2 >= len(negation.scope)


def _is_said_of_the_same(negation: Negation, said: Collection[str]) -> bool:
    """Return whether anything that stands in front of the denial is there, or nothing does."""
    before = [
        root for root in negation.before if not any(map(partial(alike, root), negation.scope))
    ]
    return not before or any(alike(root, own) for root in before for own in said)
