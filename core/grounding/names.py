"""Finds the names of a claim that its quotes do not hold."""

import re
from collections.abc import Collection, Iterator, Sequence

from core.grounding.units import OF_DEGREES
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
    "otherwise indeed rust-like "
    # Verbs that tell somebody what to do.
    "use employ call add declare write create define return pass run set get put take make print "
    "import include install open start stop build check compare choose find keep remove replace "
    "select store try type convert increase multiply divide subtract calculate compute draw read "
    "apply avoid ensure remember do don't change move look click enter place hold turn wrap mark "
    "need want "
    # Adjectives that many sentences begin with.
    "big large small high low good bad new old young poor rich strong weak long short early late "
    "free open full dry wet hot cold warm cool dark bright hard soft fast slow deep wide thick "
    "thin main major minor whole raw pure true false common simple complex modern ancient "
    "human".split()
)
_COMMON_ENDINGS = (
    "s", "ing", "ed", "ly", "tion", "sion", "ment", "ness", "ity", "ance", "ence", "ship",
    "hood", "able", "ible", "ful", "less", "ism", "ive", "ous", "ure", "age", "ers", "ors",
    "cy", "ry", "al", "ic",
)  # fmt: skip
_NEVER_OF_NAMES = ("ous", "ly", "ing")
_ENDINGS_OF_LONG = ("ate", "ent", "ant")
_LONG = 8
"""Letters; `Grant` and `Kate` are shorter, `Important` and `Immediate` are not."""
_NAMES_LIKE_WORDS = frozenset(
    "sicily italy hungary nepal senegal portugal florence paris texas kansas arkansas athens "
    "cyprus honduras laos naples brussels illinois massachusetts carthage lausanne calgary "
    "hayes keynes charles james thomas adams jones williams davies socrates hippocrates "
    "archimedes reynolds rogers roberts richards stevens hughes harris lewis davis morris "
    "phillips collins edwards evans jacobs hastings emily sally kelly molly billy harry mary "
    "barry larry henry gregory lazarus marcus julius augustus janus venus mars".split()
)
"""Names that end like common words."""
_ONE_THING = frozenset("is was has does".split())
_ONE_OR_MANY = _ONE_THING | frozenset("had did were are can will may and".split())
_CAPITALS = re.compile(r"[A-Z]{2,}s?")
_PRONOUNS_LIKE_NAMES = frozenset({"who", "it", "us"})
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
    claim: Reading,
    quotes: Reading,
    headings: Reading | None = None,
    common: Collection[str] = (),
    named: Collection[str] = (),
) -> list[str]:
    """Return the names in `claim` that stand neither in its quotes nor in the headings.

    Args:
        claim: The sentence.
        quotes: All quotes of it together.
        headings: Titles above the quotes; they may name the topic.
        common: Words that the text also writes without a capital.
        named: Words, in lower case, that the text writes with a capital within sentences.
    """
    readings = [quotes, headings] if headings else [quotes]
    proof = frozenset[str]().union(*(reading.lowers for reading in readings))
    forms = proof | {_PEOPLES[word] for word in proof if word in _PEOPLES}
    names = _names(claim, quotes, common, frozenset(named) | _NAMES_LIKE_WORDS)
    return [
        word.written
        for word in names
        if not _is_proved(word.written, claim, readings)
        and (_is_acronym(word) or not _stands(word.lower, forms))
    ]


def _names(
    claim: Reading, quotes: Reading, common: Collection[str], named: Collection[str]
) -> Iterator[Word]:
    words = [word for word in claim.words if word.written[0].isalpha()]
    shouted = len(words) > 3 and all(word.written.isupper() for word in words)
    for place, word in enumerate(words):
        if shouted or not any(c.isupper() for c in word.written):
            continue
        if _is_acronym(word):
            yield word
        elif word.lower in _FUNCTION_WORDS | OF_DEGREES:
            continue
        elif _MIXED_CASE.search(word.written):
            yield word
        elif not word.written[0].isupper():
            continue
        elif (
            not word.opens
            or _is_initial_name(words, place, common, named)
            or _replaces_name(words, place, quotes, named)
        ):
            yield word


def _is_acronym(word: Word) -> bool:
    if _CAPITALS.fullmatch(_bare(word.written)) is None:
        return False
    return word.lower not in _FUNCTION_WORDS or word.lower in _PRONOUNS_LIKE_NAMES


def _is_initial_name(
    words: Sequence[Word], place: int, common: Collection[str], named: Collection[str]
) -> bool:
    """Return whether the capital at the head of a sentence is a name's own."""
    word = words[place]
    after = words[place + 1] if place + 1 < len(words) else None
    if after and after.written[0].isupper():
        is_next = after.start - word.start - len(word.written) <= 1
        return is_next and not word.lower.endswith(_NEVER_OF_NAMES)
    if word.lower in common:
        return False
    is_long = len(word.lower) >= _LONG and word.lower.endswith(_ENDINGS_OF_LONG)
    if word.lower in named or not (is_long or word.lower.endswith(_COMMON_ENDINGS)):
        return True
    if word.lower.endswith("ly"):
        return after is not None and after.lower in _ONE_OR_MANY
    is_plural = word.lower.endswith("s") and not word.lower.endswith(("ss", "ics", "us"))
    return is_plural and after is not None and after.lower in _ONE_THING


def _replaces_name(
    words: Sequence[Word], place: int, quotes: Reading, named: Collection[str]
) -> bool:
    """Return whether a quote has a name, not in the claim, in front of the same next word."""
    word, after = words[place], next((w for w in words[place + 1 :] if w.is_content), None)
    if after is None or word.lower in quotes.lowers:
        return False
    own = {other.lower for other in words}
    pairs = zip(quotes.content, quotes.content[1:], strict=False)
    return any(
        following.stem == after.stem
        and before.written[0].isupper()
        and before.lower in named
        and before.lower not in own
        for before, following in pairs
    )


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


def _is_proved(name: str, claim: Reading, readings: Sequence[Reading]) -> bool:
    """Return whether the name, an abbreviation of it, or what it abbreviates is in the proof."""
    name = _bare(name)
    if any(name in (own := _bare(word.written), f"{own}s") for r in readings for word in r.words):
        return True
    if _CAPITALS.fullmatch(name):
        forms = {_PEOPLES.get(word.lower) for r in readings for word in r.words}
        letters = name.lower()
        return letters in forms or any(_abbreviates(name.rstrip("s"), r.words) for r in readings)
    short = {word.written for r in readings for word in r.words if _is_acronym(word)}
    return any(_spells(name, letters, claim.words) for letters in short)


def _bare(name: str) -> str:
    """Return the name without the ending of a possessive."""
    return re.split(r"['’]", name, maxsplit=1)[0]


def _abbreviates(letters: str, words: Sequence[Word]) -> bool:
    return any(True for _ in _spelled_by(letters, words))


def _spells(name: str, letters: str, words: Sequence[Word]) -> bool:
    """Return whether the name is one of the words that make up an abbreviation."""
    return any(name in {word.written for word in run} for run in _spelled_by(letters, words))


def _spelled_by(letters: str, words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield the runs of words whose first letters are these; `of` and its like are skipped.

    Two letters are the initials of any two words, so that these have to have capitals.
    """
    telling = [word for word in words if word.is_content]
    size = len(letters)
    for start in range(len(telling) - size + 1):
        run = telling[start : start + size]
        if "".join(word.lower[0] for word in run) != letters.lower():
            continue
        if size > 2 or all(word.written[0].isupper() for word in run):
            yield run
