"""Reads the quantities of a text: values with their units, however they are written."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from core.grounding.units import OF_DEGREES, POWERS, UNITS, Unit, rate_of, spelled_out

_SCALES = {
    "hundred": 2, "thousand": 3, "thousands": 3, "k": 3, "million": 6, "millions": 6, "mn": 6,
    "m": 6, "billion": 9, "billions": 9, "bn": 9, "b": 9, "trillion": 12, "trillions": 12,
    "trn": 12, "hundreds": 2, "millones": 6, "millón": 6, "millionen": 6, "milliarden": 9,
    "mio": 6, "mrd": 9, "miljoen": 6, "miljard": 9,
    "milliards": 9, "milliard": 9, "milhões": 6, "milioni": 6, "miliardi": 9,
}  # fmt: skip
_GLUED_SCALES = frozenset("k m b mn bn trn".split())
_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
}
_TENS = {
    word: value
    for value, word in zip(
        range(20, 100, 10),
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        strict=True,
    )
}
_ORDINALS = {
    word: value
    for value, word in enumerate(
        "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        3,
    )
}
_ALL_ORDINALS = {"first": 1, "second": 2} | _ORDINALS
_FRACTIONS = {
    "half": Decimal("0.5"), "halves": Decimal("0.5"), "quarter": Decimal("0.25"),
    "quarters": Decimal("0.25"), "third": Decimal(1) / 3, "thirds": Decimal(1) / 3,
    "fourth": Decimal("0.25"), "fourths": Decimal("0.25"), "fifth": Decimal("0.2"),
    "fifths": Decimal("0.2"), "tenth": Decimal("0.1"), "tenths": Decimal("0.1"),
}  # fmt: skip
_MULTIPLES = {
    "double": 2, "doubles": 2, "doubled": 2, "doubling": 2, "twice": 2, "twofold": 2,
    "triple": 3, "triples": 3, "tripled": 3, "tripling": 3, "thrice": 3, "threefold": 3,
    "quadruple": 4, "quadrupled": 4, "dozen": 12, "dozens": 12, "both": 2, "pair": 2, "couple": 2,
}  # fmt: skip
_FIRST_YEAR, _LAST_YEAR = 1400, 2199
_PIECE = re.compile(
    r"(?P<currency>us\$|[$€£¥₹])?(?P<minus>(?<![\w)\]])[-−])?"
    r"(?P<digits>\d(?:[\d]|[.,'\u00a0\u202f](?=\d))*)"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?(?P<glued>[a-z]{1,3}\b|s\b)?"
    r"|(?P<vulgar>[¼½¾⅓⅔⅕⅛])"
    r"|(?P<word>[^\W\d_]+|°[cf]?\b|[%¢°$€£¥])"
    r"|(?P<other>\S)"
)
_NUMBER_WORDS = frozenset({*_SMALL, *_TENS, *_ORDINALS, *_FRACTIONS, *_MULTIPLES, *_SCALES}) - {
    "k",
    "m",
    "b",
}
_DIGIT = re.compile(r"[\d¼½¾⅓⅔⅕⅛]")
_WORD = re.compile(r"[^\W\d_]+")
_JOINS = frozenset({"and", "to", "or", "through", "versus", "vs", "-", "–", "—", ",", "/"})
_ARTICLES = frozenset({"a", "an"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text."""

    values: frozenset[Decimal]
    """More than one where `1.000` may be a thousand or one."""
    unit: Unit | None = None
    """None: a bare number."""
    per: str | None = None
    """What it is reckoned by: the `hour` of `$15 an hour`."""
    ordinal: bool = False
    spelled: bool = False
    """Whether it is written in words."""

    @property
    def amounts(self) -> frozenset[Decimal]:
        """The values in the base unit: 5 km are 5,000 metres."""
        factor = self.unit.factor if self.unit else 1
        return frozenset((value * factor).normalize() for value in self.values)

    @property
    def is_year(self) -> bool:
        """Whether it reads like a year, which has no unit to share with its neighbours."""
        return (
            len(self.values) == 1
            and _FIRST_YEAR <= min(self.values) <= _LAST_YEAR
            and all(value == value.to_integral_value() for value in self.values)
        )


@lru_cache(maxsize=1 << 10)
def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of `text` in order, each with the unit that it shares in a list.

    Digits of every script, number words of English, fractions, ordinals from `third` on,
    multiples, and scales (`1.5 million`) are read; `one`, `first` and `second` are not
    numbers on their own, for they mostly stand for something else.
    """
    plain = _plain(text)
    if _DIGIT.search(plain) is None and _NUMBER_WORDS.isdisjoint(_WORD.findall(plain)):
        return ()
    pieces = list(_PIECE.finditer(plain))
    found: list[Quantity] = []
    waiting: list[int] = []  # bare numbers that wait for the unit of "5 or 6 percent"
    place = 0
    while place < len(pieces):
        quantity, after = _read(pieces, place)
        if quantity is None:
            if pieces[place].group() not in _JOINS:
                waiting.clear()
        else:
            _share_unit(found, waiting, quantity)
            found.append(quantity)
        place = after
    return tuple(found)


def is_of_quantity(word: str) -> bool:
    """Return whether a word in lower case is a number, a scale or a unit."""
    return word[0].isdigit() or word in UNITS or word in _SCALES or word in _SMALL


def _share_unit(found: list[Quantity], waiting: list[int], quantity: Quantity) -> None:
    """Give the unit of `quantity` to the numbers listed in front of it."""
    if quantity.unit:
        for index in waiting:
            found[index] = replace(found[index], unit=quantity.unit)
        waiting.clear()
    elif not quantity.ordinal and not quantity.is_year:
        waiting.append(len(found))


def _plain(text: str) -> str:
    text = spelled_out(unicodedata.normalize("NFC", text))
    return text.casefold().replace("per cent", "percent")


def _read(pieces: "list[re.Match[str]]", place: int) -> tuple[Quantity | None, int]:
    """Return the quantity that begins at `place`, if any, and where to go on."""
    piece = pieces[place]
    if piece["digits"]:
        return _digits(pieces, place)
    if piece["vulgar"]:
        value = Decimal(str(unicodedata.numeric(piece["vulgar"]))).quantize(Decimal("0.001"))
        return _measured(pieces, place + 1, frozenset({value}))
    if piece["word"]:
        return _spelled(pieces, place)
    return None, place + 1


def _digits(pieces: "list[re.Match[str]]", place: int) -> tuple[Quantity | None, int]:
    piece = pieces[place]
    values = frozenset(_values(piece["digits"]))
    if piece["minus"]:
        values = frozenset(-value for value in values)
    if piece["ordinal"]:
        return Quantity(values, ordinal=True), place + 1
    glued, unit = piece["glued"], piece["currency"]
    if glued in _GLUED_SCALES:
        values = frozenset(value.scaleb(_SCALES[glued]) for value in values)
    elif glued in UNITS:
        unit = glued
    return _measured(pieces, place + 1, values, unit=unit)


def _spelled(pieces: "list[re.Match[str]]", place: int) -> tuple[Quantity | None, int]:
    """Read a number written in words, such as `twenty-one` or `two thirds`."""
    word = pieces[place].group()
    if word in _ORDINALS and not _is_fraction(pieces, place):
        values = frozenset({Decimal(_ORDINALS[word])})
        return Quantity(values, ordinal=True, spelled=True), place + 1
    if word in _MULTIPLES or word in _FRACTIONS:
        part_of = Decimal(_MULTIPLES[word]) if word in _MULTIPLES else _FRACTIONS[word]
        return Quantity(_rounded(part_of), None, spelled=True), place + 1
    value, after = _small_number(pieces, place)
    if value is None:
        return None, place + 1
    last = after + 1 if _word(pieces, after) == "-" else after
    part = _word(pieces, last)
    if part in _FRACTIONS and value < 10:
        return Quantity(_rounded(value * _FRACTIONS[part]), spelled=True), last + 1
    if word in _TENS and part in _ALL_ORDINALS:
        values = frozenset({value + _ALL_ORDINALS[part]})
        return Quantity(values, ordinal=True, spelled=True), last + 1
    measured, end = _measured(pieces, after, frozenset({value}), spelled=True)
    is_pronoun = word in _ARTICLES or (word == "one" and after == place + 1)
    if is_pronoun and measured.unit is None and measured.values == {value}:
        return None, place + 1
    return measured, end


def _small_number(pieces: "list[re.Match[str]]", place: int) -> tuple[Decimal | None, int]:
    """Return the value of number words up to 99, or of the article in `a million`."""
    word = _word(pieces, place)
    if word in _ARTICLES:
        scaled = _word(pieces, place + 1) in _SCALES and len(_word(pieces, place + 1)) > 2
        return (Decimal(1), place + 1) if scaled else (None, place + 1)
    if word in _TENS:
        after = place + 2 if _word(pieces, place + 1) == "-" else place + 1
        if 0 < _SMALL.get(_word(pieces, after), 0) < 10:
            return Decimal(_TENS[word] + _SMALL[_word(pieces, after)]), after + 1
        return Decimal(_TENS[word]), place + 1
    if word in _SMALL:
        return Decimal(_SMALL[word]), place + 1
    return None, place + 1


def _measured(
    pieces: "list[re.Match[str]]",
    place: int,
    values: frozenset[Decimal],
    *,
    unit: str | None = None,
    spelled: bool = False,
) -> tuple[Quantity, int]:
    """Return the quantity with the scale, the unit and the rate that follow its number.

    `unit` is the name of one that stood in front of it.
    """
    if (word := _word(pieces, place)) in _SCALES and word not in _GLUED_SCALES:
        values = frozenset(value.scaleb(_SCALES[word]) for value in values)
        place += 1
    ahead = place + 1 if _word(pieces, place) in {"-", "–"} else place
    power = POWERS.get(_word(pieces, ahead), 1)
    ahead += power > 1
    if unit is None and (word := _word(pieces, ahead)) in UNITS:
        unit, place = word, ahead + 1
        if UNITS[unit].base == "percent" and _word(pieces, place).startswith("point"):
            unit, place = "percentage-points", place + 1
        elif UNITS[unit].base == "degree" and _word(pieces, place) in OF_DEGREES:
            unit, place = _word(pieces, place), place + 1
    per = rate_of([piece.group() for piece in pieces[place : place + 5]])
    measure = UNITS[unit].to_the(power) if unit else None
    return Quantity(values, measure, per, spelled=spelled), place


def _word(pieces: "list[re.Match[str]]", place: int) -> str:
    return pieces[place].group() if place < len(pieces) else ""


def _is_fraction(pieces: "list[re.Match[str]]", place: int) -> bool:
    before = _word(pieces, place - 1) if place else ""
    return pieces[place].group() in _FRACTIONS and before in {"one", "a", "-"}


def _values(digits: str) -> Iterator[Decimal]:
    """Yield what the digits may mean: `1,000` is a thousand, `1.000` that or one."""
    digits = "".join(str(unicodedata.digit(d)) if d.isdigit() else d for d in digits)
    bare = re.sub(r"['\u00a0\u202f]", "", digits)
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", bare):
        yield Decimal(re.sub(r"[.,]", "", bare))
        if bare.count(".") == 1 and "," not in bare:
            yield Decimal(bare)
        return
    if bare.count(",") == 1 and "." not in bare:
        yield Decimal(bare.replace(",", "."))
        return
    point = max(bare.rfind("."), bare.rfind(",")) if bare.count(".") != 2 else -1
    if point < 0 or bare.count(bare[point]) > 1:
        yield Decimal(re.sub(r"[.,]", "", bare))
        return
    yield Decimal(re.sub(r"[.,]", "", bare[:point]) + "." + bare[point + 1 :])


def _rounded(value: Decimal) -> frozenset[Decimal]:
    return frozenset({value.quantize(Decimal("0.001")).normalize()})
