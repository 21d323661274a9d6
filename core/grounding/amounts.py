"""Reads the numbers of a text with the units that stand next to them."""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

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
