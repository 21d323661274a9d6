"""Compares what a claim denies with what its quotes deny."""

from collections.abc import Iterator
from dataclasses import dataclass

from core.grounding.words import Reading, Word, alike

_NEGATORS = frozenset(
    "not no never neither nor none nobody nothing nowhere without hardly scarcely barely seldom "
    "rarely cannot unable fail fails failed failing lack lacks lacked lacking absence absent "
    "impossible unlikely refuse refuses refused deny denies denied few little prevent prevents "
    "prevented preventing avoid avoids avoided stop stops stopped false untrue wrong incorrect "
    "rather instead except excluding unless".split()
)
_WEAK = frozenset(
    "few little prevent prevents prevented preventing avoid avoids avoided stop stops stopped "
    "rather instead except excluding unless refuse refuses refused deny denies denied false "
    "wrong incorrect absence absent unlikely lack lacks lacked lacking fail fails failed failing "
    "nothing none nobody neither nor".split()
)
"""They may answer a plain negation of the other text, and need none themselves."""
_NOT_ONLY = frozenset({"only", "just", "merely", "simply", "solely", "necessarily"})
_NOT_AFTER = frozenset({"a", "the", "as", "so", "how", "too", "very", "with"})
"""`a few`, `a little`, `as little as` deny nothing."""
_STRONG_TWO = {"rather": "than", "instead": "of"}
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "non-", "a", "mis")
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


def polarity_differs(claim: Reading, quotes: Reading) -> bool:
    """Return whether one of the texts denies what the other affirms.

    A negation of the claim needs one of the quotes about the same words; a negation of the
    quotes needs one in the claim where the claim repeats what is denied. Antonyms made by a
    prefix (`stable`, `unstable`) count as negations of their root.
    """
    ours = [*_negations(claim), *_prefixed(claim, quotes)]
    theirs = [*_negations(quotes), *_prefixed(quotes, claim)]
    unmatched = _unmatched(ours, list(theirs))
    if any(not negation.is_weak for negation in unmatched):
        return True
    dropped = _unmatched(theirs, list(ours))
    return any(not n.is_weak and _is_repeated(n, claim) for n in dropped)


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
        return after not in _NOT_ONLY
    if lower in _STRONG_TWO:
        return after == _STRONG_TWO[lower]
    if lower == "no":
        return after not in {"doubt", "matter"}
    return lower not in {"few", "little"} or before not in _NOT_AFTER


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
            if root in plain and word.lower not in plain:
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
    """Return those of `ours` without a partner in `theirs`; each partner serves once."""
    left: list[Negation] = []
    for negation in ours:
        best = max(theirs, key=lambda other: _likeness(negation, other), default=None)
        if best is None or _likeness(negation, best) <= 0:
            left.append(negation)
        else:
            theirs.remove(best)
    return left


def _likeness(one: Negation, other: Negation) -> float:
    shared = sum(
        (1.0 if i == 0 or j == 0 else 0.75) / (1 + abs(i - j) / 2)
        for i, a in enumerate(one.scope)
        for j, b in enumerate(other.scope)
        if alike(a, b)
    )
    around = sum(any(alike(a, b) for b in other.before) for a in one.before)
    return shared + 0.3 * around


def _is_repeated(negation: Negation, claim: Reading) -> bool:
    """Return whether the claim says what the quotes deny, without the denial."""
    if not negation.scope:
        return False
    repeated = [any(alike(s, own) for own in claim.content_stems) for s in negation.scope]
    return repeated[0] and sum(repeated) * 2 >= len(repeated)
