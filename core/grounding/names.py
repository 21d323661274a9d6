"""Finds the names of a claim that its quotes do not hold."""

import re
from collections.abc import Collection, Iterator, Sequence

from core.grounding.words import Reading, Word

_FUNCTION_WORDS = frozenset(
    "i i'm i'd i've i'll the a an and or but of in on at by for from to with as if then so no not "
    "this that these those it its he she they we you his her their our your who what when where "
    "why how which while although because since unless until after before during under over "
    "between among through within without despite unlike like instead rather there here thus "
    "hence therefore however moreover furthermore finally also both each every all some any many "
    "much most more less few several another other such one first second third next last yes "
    "is are was were be been has have had do does did can could will would may might must should "
    "let consider suppose imagine note notice recall think see given assuming according based "
    "people person someone everyone anyone nobody nothing something everything things "
    "generally typically usually often sometimes rarely never always only even just still yet "
    "today now later once again together overall similarly likewise conversely meanwhile "
    "otherwise indeed rust-like".split()
)
_COMMON_ENDINGS = (
    "s", "ing", "ed", "ly", "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship",
    "hood", "able", "ible", "ful", "less", "ism", "ive", "ous", "ure", "age", "ers", "ors",
    "cy", "ry", "al", "ic",
)  # fmt: skip
_NEVER_OF_NAMES = ("ous", "ly", "ing")
_PEOPLES = {
    "france": "french", "germany": "german", "spain": "spanish", "britain": "british",
    "china": "chinese", "greece": "greek", "poland": "polish", "sweden": "swedish",
    "denmark": "danish", "finland": "finnish", "turkey": "turkish", "ireland": "irish",
    "scotland": "scottish", "england": "english", "wales": "welsh", "netherlands": "dutch",
    "holland": "dutch", "switzerland": "swiss", "norway": "norwegian", "iraq": "iraqi",
    "thailand": "thai", "philippines": "filipino", "portugal": "portuguese", "peru": "peruvian",
    "europe": "european", "rome": "roman", "egypt": "egyptian", "belgium": "belgian",
    "ukraine": "ukrainian", "mexico": "mexican", "america": "us", "states": "us", "usa": "us",
    "american": "us", "u.s": "us", "u.s.a": "us", "kingdom": "uk", "u.k": "uk", "british": "uk",
}  # fmt: skip
_ENDINGS_OF_FORMS = ("", "s", "es", "n", "an", "ian", "ean", "ese", "ish", "i", "ic", "ns", "ans")
_MIXED_CASE = re.compile(r"[a-z][A-Z]|[A-Z]{2}|[A-Za-z]\d|\w_\w|\w::\w")


def unproved_names(
    claim: Reading, quotes: Reading, headings: Reading | None = None, common: Collection[str] = ()
) -> list[str]:
    """Return the names in `claim` that stand neither in its quotes nor in the headings.

    Args:
        claim: The sentence.
        quotes: All quotes of it together.
        headings: Titles above the quotes; they may name the topic.
        common: Words that the text also writes without a capital.
    """
    proof = quotes.lowers | (headings.lowers if headings else frozenset())
    forms = proof | {_PEOPLES[word] for word in proof if word in _PEOPLES}
    initials = _initials(quotes.words)
    return [
        word.written
        for word in _names(claim, common)
        if not _stands(word.lower, forms) and not _is_abbreviation(word.written, initials)
    ]


def _names(claim: Reading, common: Collection[str]) -> Iterator[Word]:
    words = [word for word in claim.words if word.written[0].isalpha()]
    shouted = len(words) > 3 and all(word.written.isupper() for word in words)
    for place, word in enumerate(words):
        if word.lower in _FUNCTION_WORDS or not any(c.isupper() for c in word.written):
            continue
        if _MIXED_CASE.search(word.written) and not shouted:
            yield word
        elif not word.written[0].isupper() or shouted:
            continue
        elif not word.opens or _is_initial_name(words, place, common):
            yield word


def _is_initial_name(words: Sequence[Word], place: int, common: Collection[str]) -> bool:
    """Return whether the capital at the head of a sentence is a name's own."""
    word = words[place]
    if place + 1 < len(words) and words[place + 1].written[0].isupper():
        is_next = words[place + 1].start - word.start - len(word.written) <= 1
        return is_next and not word.lower.endswith(_NEVER_OF_NAMES)
    return word.lower not in common and not word.lower.endswith(_COMMON_ENDINGS)


def _stands(name: str, proof: Collection[str]) -> bool:
    """Return whether a form of the name is in the proof, its parts one by one if need be."""
    if name in proof or _PEOPLES.get(name, name) in proof:
        return True
    parts = [part for part in re.split(r"[-_.'’]", name) if part]
    if len(parts) > 1:
        return "".join(parts) in proof or all(_stands(part, proof) for part in parts)
    return any(_same_name(name, other) for other in proof)


def _same_name(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < 3 or shorter[:3] != longer[:3]:
        return False
    roots = {shorter, shorter.removesuffix("a"), shorter.removesuffix("y"), shorter + "i"}
    return any(longer == root + ending for root in roots for ending in _ENDINGS_OF_FORMS)


def _initials(words: Sequence[Word]) -> str:
    """Return the first letters of all words, for abbreviations such as GDP."""
    return "".join(word.lower[0] for word in words)


def _is_abbreviation(name: str, initials: str) -> bool:
    letters = name.replace(".", "").rstrip("s")
    return len(letters) >= 2 and letters.isupper() and letters.lower() in initials
