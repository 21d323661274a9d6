"""What code is certain of before any judge is asked: ids, code, links, numbers, copied words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple

from core.domain.links import code_span, fenced
from core.domain.markdown import CodeKind, code_in, without_code

_SCALES = {
    "hundred": 2, "thousand": 3, "k": 3, "million": 6, "millions": 6, "millionen": 6, "mn": 6,
    "billion": 9, "billions": 9, "bn": 9, "milliarden": 9, "trillion": 12, "trillions": 12,
}  # fmt: skip
_ALIASES = {
    "%": "percent per-cent prozent pct", "$": "us$ usd dollar dollars", "€": "eur euro euros",
    "£": "gbp pound pounds", "¥": "yen", "¢": "cent cents", "s": "second seconds sec",
    "min": "minute minutes", "h": "hour hours hr hrs", "day": "days", "week": "weeks",
    "month": "months", "year": "years", "decade": "decades", "century": "centuries",
    "m": "meter meters metre metres", "km": "kilometer kilometers kilometre kilometres",
    "cm": "centimeter centimeters", "mile": "miles", "ft": "foot feet", "inch": "inches",
    "g": "gram grams", "mg": "milligram milligrams", "kg": "kilogram kilograms kilo kilos",
    "t": "ton tons tonne tonnes", "lb": "lbs", "l": "liter liters litre litres",
    "ml": "milliliter milliliters", "gallon": "gallons", "barrel": "barrels",
    "bushel": "bushels", "°c": "celsius", "°f": "fahrenheit", "k°": "kelvin", "w": "watt watts",
    "kw": "kilowatt kilowatts", "mw": "megawatt megawatts", "v": "volt volts", "hz": "hertz",
    "bit": "bits", "byte": "bytes", "kb": "kilobyte kilobytes", "mb": "megabyte megabytes",
    "gb": "gigabyte gigabytes",
}  # fmt: skip
_UNITS = {name: unit for unit, names in _ALIASES.items() for name in (unit, *names.split())}
_CARDINALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_SPELLED_FROM = (
    (0, _CARDINALS),
    (1, _ORDINALS),
    (2, "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"),
    (2, "deux trois quatre cinq six sept huit neuf dix onze douze"),
    (2, "dos tres cuatro cinco seis siete ocho nueve diez once doce"),
    (2, "due tre quattro cinque sei sette otto nove dieci undici dodici"),
    (2, "dois três quatro cinco seis sete oito nove dez onze doze"),
    (2, "twee drie vier vijf zes zeven acht negen tien elf twaalf"),
)
"""Number words, with the value of the first of each list."""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_OTHERS = {"half": "0.5", "quarter": "0.25", "twice": "2", "double": "2", "dozen": "12"}
_SPELLED = {
    **{word: Decimal(n) for m, names in _SPELLED_FROM for n, word in enumerate(names.split(), m)},
    **{word: Decimal(10 * n) for n, word in enumerate(_TENS, 2)},
    **{word: Decimal(value) for word, value in _OTHERS.items()},
}
_FORMULA = re.compile(r"\$([^$\n]*[\\^_={}][^$\n]*)\$")
"""Its signs are no dollars."""
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
"""An exponent: 10⁶ is no 106."""
_BARE_POINT = re.compile(r"(?<![\d.\w])\.(?=\d)")
_DIGITS = r"\d+(?:[.,'\u00a0\u202f]\d+)*"
_GROUPED = r"\d{1,3}(?:[.,]\d{3})+"
_AMOUNT = re.compile(
    r"(?P<money>us\$|[$€£¥])?\s?(?<![\w.])(?P<minus>(?<![\w)])[-−])?"
    rf"(?:(?P<digits>{_DIGITS})|(?P<word>[^\W\d_]+)(?:-(?P<one>[a-z]+))?)"
    r"(?:[\s-]?(?P<scale>[a-z]+)\b)?(?:[\s-]?(?P<unit>per-cent|%|°[cf]?|[$€£¥¢]|[a-z]+))?"
)


class Amount(NamedTuple):
    """A number of a text; digits with a point or comma may mean two."""

    values: frozenset[Decimal]
    unit: str | None
    """The shortest name of its unit; None: none stands next to it."""
    is_figure: bool
    """Whether it is written in digits."""

    def proves(self, claimed: "Amount") -> bool:
        """Return whether this may be the claimed number, of which a unit may be left out."""
        units = {self.unit, claimed.unit} - {None}
        return bool(self.values & claimed.values) and len(units) < 2


def amounts(text: str) -> Iterator[Amount]:
    """Yield the numbers of a text in order, those spelled in words up to 99 as well."""
    text = _FORMULA.sub(r"\1", text)
    text = _BARE_POINT.sub("0.", _RAISED.sub(lambda m: f"^{m[0]}", text))
    plain = unicodedata.normalize("NFKC", text).casefold().replace("per cent", "per-cent")
    place = 0
    while (match := _AMOUNT.search(plain, place)) is not None:
        found = _amount(match)
        if found is not None:
            yield found
        place = max(match.end("digits") if match["digits"] else match.end("word"), place + 1)


def unproved(claim: str, source: str) -> list[Amount]:
    """Return the numbers in digits of a claim that the source lacks, also as words.

    >>> [sorted(map(int, one.values)) for one in unproved("5 km and 7 km", "five km, 7 miles")]
    [[7]]
    """
    known = list(amounts(source))
    claimed = (one for one in amounts(claim) if one.is_figure)
    return [one for one in claimed if not any(other.proves(one) for other in known)]


def is_same_amount(one: str, other: str) -> bool:
    """Return whether two words are one number, or one unit, in small letters.

    >>> is_same_amount("nine", "9"), is_same_amount("hrs", "hours"), is_same_amount("9", "6")
    (True, True, False)
    """
    unit = _UNITS.get(one)
    return bool(_read(one) & _read(other)) or (unit is not None and unit == _UNITS.get(other))


def _read(word: str) -> set[Decimal]:
    return _values(word) if re.fullmatch(_DIGITS, word) else _spelled(word, None)


def _amount(match: re.Match[str]) -> Amount | None:
    values = _values(match["digits"]) if match["digits"] else _spelled(match["word"], match["one"])
    if not values:
        return None
    scale, unit = match["scale"], match["unit"]
    if scale not in _SCALES:
        scale, unit = None, scale or unit
    if scale:
        values = {value.scaleb(_SCALES[scale]) for value in values}
    if match["minus"]:
        values = {-value for value in values}
    name = match["money"] or unit
    return Amount(frozenset(values), _UNITS.get(name or ""), bool(match["digits"]))


def _values(digits: str) -> set[Decimal]:
    """Return what digits may mean: `1,000` is a thousand or, in German, one."""
    bare = re.sub(r"['\u00a0\u202f]", "", digits)
    whole = {Decimal(re.sub(r"[.,]", "", bare))} if re.fullmatch(_GROUPED, bare) else set()
    point = max(bare.rfind("."), bare.rfind(","))
    if point < 0:
        return {Decimal(bare)}
    return whole | {Decimal(f"{re.sub('[.,]', '', bare[:point])}.{bare[point + 1 :]}")}


def _spelled(word: str, one: str | None) -> set[Decimal]:
    if word not in _SPELLED:
        return set()
    return {_SPELLED[word] + _SPELLED.get(one or "", 0)}


_CODE_PART = re.compile(r"\w+|[^\w\s]")
_CODE_SIGN = re.compile(r"\w+|[-+*/%=!&|^~?@#$\\]+")
"""A name, a number or an operator; brackets and commas say little."""
_NUMBERED_CODE = re.compile(r"(?<![\w.-])[a-z]{1,6}[-_]?\d{2,}[a-z]?(?![\w-])", re.IGNORECASE)
_NAME_WITH_DIGITS = re.compile(r"(?<![^\W_])[^\W\d_][^\W_]*\d[^\W_]*")
_BETWEEN_PARTS = re.compile(r"[\s_^{}$\\-]+")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)|[\u00ad\u200b-\u200d\u2060\ufeff]")
_ONE_MARK = str.maketrans("“”„‟«»‘’‚‛–—−‑", '""""""\'\'\'\'----')
_LEADS_AWAY = re.compile(
    r"(?i)[a-z][a-z0-9+.-]{0,30}://\S+|(?:javascript|vbscript|\b(?:data|mailto|tel|file)):\S+"
    r"|\b[a-z0-9-]{2,63}(?:\.[a-z0-9-]{1,63}){0,8}\.[a-z]{2,24}\b(?:/\S*)?|//\S+"
    r"|<[@!#&][^>\s]*>?|(?<![\w.])@\w+|[\w.+-]{1,64}@[\w-]{1,63}\.\w+"
)
"""Addresses, names of hosts, and the ways to call people in chats."""
_NO_MARGIN = re.compile(r"[^>\s]")
"""What of the beginning of a line is not repeated on the lines below it."""
_DOTTED = re.compile(r"(?i)(?!www\.)[a-z0-9.-]+")
"""The name of a file as well as of a host; no chat links it."""


@dataclass(frozen=True, slots=True)
class Support:
    """What a claim of an answer rests on."""

    sentences: tuple[str, ...]
    """Those that it names, in the order of the book."""
    headings: tuple[str, ...] = ()
    """The titles above them, outermost first."""
    whose: tuple[str, ...] = ()
    """Of each sentence who wrote it, where it was not the course; empty: the course wrote all."""
    around: tuple[str, ...] = ()
    """The whole passages that they stand in, of whose words a line of code may be made."""

    @property
    def labelled(self) -> tuple[str, ...]:
        """The sentences, with who wrote them where it was not the course."""
        return tuple(
            f"[{whose} wrote:] {sentence}" if whose else sentence
            for sentence, whose in zip_longest(self.sentences, self.whose, fillvalue="")
        )


class Flaw(StrEnum):
    """Why code takes a claim out, whatever a judge would say."""

    UNCITED = "it names no sentence"
    UNKNOWN = "it names a sentence that there is not"
    NUMBER = "a number, its unit, or a name with digits stands in none of the named sentences"
    CODE = "its code stands in none of the named sentences"
    LINK = "it has a link, an address or a mention that the named sentences do not have"
    THEIRS = "it repeats what others wrote, and names sentences that do not say so"
    HELD_BACK = "it tells what the course's staff hold back"
    FORM = "it is not of the form that its kind has to have"


def certain_flaw(text: str, support: Support, asker: Sequence[str] = ()) -> Flaw | None:
    """Return what a claim surely has that neither its sentences nor the asker's words have.

    That is code, a link or a mention, a number or its unit, or a name with digits.

    Args:
        asker: What the asker wrote or pasted: its numbers and its code may be spoken of.
    """
    source = [*support.sentences, *support.headings, *asker]
    prose, near = without_code(text), "\n".join([*source, *support.around])
    for code in code_in(text):
        is_made = code.kind is CodeKind.SPAN and _is_made_of(code.content, near)
        if not is_made and _found_in(code.content, "\n".join(source)) is None:
            return Flaw.CODE
    if adds_link(prose, support.sentences, around=(*support.around, *asker)):
        return Flaw.LINK
    if unproved(prose, " \n".join(source)) or _adds_code(prose, source):
        return Flaw.NUMBER
    return None


def is_copied(text: str, support: Support) -> bool:
    """Return whether a claim is all of a cited sentence, or all of them, word for word."""
    cited = {*map(_plain, support.sentences), _plain(" ".join(support.sentences))}
    return _plain(text) in cited


def adds_link(prose: str, quoted: Sequence[str], *, around: Sequence[str] = ()) -> bool:
    """Return whether prose leads somewhere, or calls a user, that the quotes do not.

    Args:
        around: Other text of the book. A name with dots, such as `main.py`, may stand there.
    """
    known, near = (set(_LEADS_AWAY.findall(" ".join(texts))) for texts in (quoted, around))
    written = _LEADS_AWAY.findall(unicodedata.normalize("NFKC", prose))
    return any(
        name not in known and not (name in near and _DOTTED.fullmatch(name)) for name in written
    )


def with_code_of(sentence: str, quoted: Sequence[str]) -> str:
    """Return the sentence with the code of its quotes in the place of its own, byte by byte.

    Code that differs in more than blanks stays: it is no code of the quotes.
    """
    source = "\n".join(quoted)
    for code in reversed(code_in(sentence)):
        if code.content in source or (found := _found_in(code.content, source)) is None:
            continue
        own = code_span(found) if code.kind is CodeKind.SPAN else fenced(found, code.info)
        if not code.top:  # in a list or a quote, each line of it begins as the first does
            margin = sentence[sentence.rfind("\n", 0, code.start) + 1 : code.start]
            own = own.replace("\n", "\n" + _NO_MARGIN.sub(" ", margin))
        if code.kind is not CodeKind.SPAN or "\n" not in found:
            sentence = sentence[: code.start] + own + sentence[code.end :]
    return sentence


def _plain(text: str) -> str:
    """Return a text on one line, without case, emphasis and the form of its quotation marks."""
    text = _EMPHASIS.sub("", unicodedata.normalize("NFC", text).translate(_ONE_MARK))
    return " ".join(text.split()).casefold().strip(" .!:;\"'")


def _found_in(code: str, source: str) -> str | None:
    """Return the code as it stands in a source, not inside of longer words; None: nowhere.

    Blanks may differ, and so may the parentheses of a call without arguments.
    """
    code = code.strip().removesuffix("()").strip()
    parts = [re.escape(part) for part in _CODE_PART.findall(code)]
    if not parts:
        return ""
    before = r"(?<![\w.])" if code[0].isalnum() else ""
    after = r"(?!\w)" if code[-1].isalnum() else ""
    found = re.search(before + r"\s*".join(parts) + after, source)
    return found.group() if found else None


def _is_made_of(code: str, source: str) -> bool:
    """Return whether every name, number and operator of a line of code stands in a source.

    `Some(6)` is of "a new `Some` with our total `6` inside"; whether it is so is for a judge.
    """
    return all(
        re.search(
            rf"(?<!\w){re.escape(part)}(?!\w)" if part[0].isalnum() else re.escape(part), source
        )
        for part in _CODE_SIGN.findall(code)
    )


def missing_codes(question: str, passages: Iterable[str]) -> list[str]:
    """Return the codes of a question, such as `E044`, that stand in none of the passages.

    A code is letters with a number of at least two digits; hyphens, blanks and capitals are of
    no account.
    """
    return _missing(_NUMBERED_CODE.findall(question), passages)


def _adds_code(claim: str, passages: Iterable[str]) -> bool:
    """Return whether a claim has letters with digits after them, as `E044`, of its own."""
    return bool(_missing(_NAME_WITH_DIGITS.findall(unicodedata.normalize("NFKC", claim)), passages))


def _missing(codes: Sequence[str], passages: Iterable[str]) -> list[str]:
    known = "\n".join(map(_folded, passages)) if codes else ""
    return [code for code in codes if _folded(code) not in known]


def _folded(text: str) -> str:
    return _BETWEEN_PARTS.sub("", unicodedata.normalize("NFKC", text)).casefold()
