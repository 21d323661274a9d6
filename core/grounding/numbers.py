"""Reads the quantities of a text: values with their units, however they are written."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

_UNITS = {
    "percent": "% percent percentage per-cent pct prozent pourcent",
    "points": "percentage-points percentage-point",
    "dollar": "$ us$ usd dollar dollars",
    "cent": "cent cents ¢",
    "euro": "€ eur euro euros",
    "pound": "£ gbp",
    "weight-pound": "lb lbs",
    "yen": "¥ jpy yen",
    "yuan": "yuan renminbi rmb cny",
    "rupee": "₹ rupee rupees inr",
    "peso": "peso pesos",
    "second": "sec secs seconds",
    "millisecond": "ms millisecond milliseconds",
    "minute": "minute minutes min mins",
    "hour": "hour hours hr hrs hourly",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years yr yrs",
    "decade": "decade decades",
    "century": "century centuries",
    "kilometre": "km kilometer kilometers kilometre kilometres",
    "metre": "meter meters metre metres",
    "centimetre": "cm centimeter centimeters centimetre centimetres",
    "millimetre": "mm millimeter millimeters millimetre millimetres",
    "mile": "mile miles",
    "foot": "foot feet ft",
    "inch": "inch inches",
    "acre": "acre acres",
    "hectare": "hectare hectares ha",
    "kilogram": "kg kilogram kilograms kilo kilos",
    "gram": "gram grams",
    "milligram": "mg milligram milligrams",
    "ton": "ton tons tonne tonnes",
    "ounce": "ounce ounces oz",
    "litre": "liter liters litre litres",
    "gallon": "gallon gallons",
    "barrel": "barrel barrels",
    "bushel": "bushel bushels",
    "celsius": "°c celsius",
    "fahrenheit": "°f fahrenheit",
    "kelvin": "kelvin",
    "degree": "° degree degrees",
    "watt": "watt watts kw kilowatt kilowatts mw megawatt megawatts gw",
    "joule": "joule joules kj calorie calories kcal",
    "volt": "volt volts",
    "hertz": "hz hertz khz mhz ghz",
    "bit": "bit bits",
    "byte": "byte bytes",
    "kilobyte": "kb kilobyte kilobytes kib",
    "megabyte": "mb megabyte megabytes mib",
    "gigabyte": "gb gigabyte gigabytes gib",
    "terabyte": "tb terabyte terabytes tib",
}
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_SCALES = {
    "hundred": 2, "thousand": 3, "thousands": 3, "k": 3, "million": 6, "millions": 6, "mn": 6,
    "m": 6, "billion": 9, "billions": 9, "bn": 9, "b": 9, "trillion": 12, "trillions": 12,
    "trn": 12, "hundreds": 2, "millones": 6, "millón": 6, "millionen": 6, "milliarden": 9,
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
_MAY_BE_LEFT_OUT = frozenset({"year", "day", "degree"})
"""Units that a faithful sentence drops: `at 65 years of age`, `at 65`."""
_YEARS = range(1400, 2200)
_PIECE = re.compile(
    r"(?P<currency>us\$|[$€£¥₹])?(?P<minus>(?<![\w)\]])[-−])?"
    r"(?P<digits>\d(?:[\d]|[.,'\u00a0\u202f](?=\d))*)"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?(?P<glued>[a-z]{1,3}\b|s\b)?"
    r"|(?P<vulgar>[¼½¾⅓⅔⅕⅛])"
    r"|(?P<word>[^\W\d_]+|°[cf]?\b|[%¢°$€£¥])"
    r"|(?P<other>\S)"
)
_JOINS = frozenset({"and", "to", "or", "through", "versus", "vs", "-", "–", "—", ",", "/"})
_ARTICLES = frozenset({"a", "an"})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text."""

    values: frozenset[Decimal]
    """More than one where `1.000` may be a thousand or one."""
    unit: str | None = None
    """None: a bare number."""
    ordinal: bool = False
    spelled: bool = False
    """Whether it is written in words."""
    start: int = 0

    def proves(self, claimed: "Quantity") -> bool:
        """Return whether what this says of a number allows the claimed one."""
        if not self.values & claimed.values or self.ordinal != claimed.ordinal:
            return False
        if claimed.unit is None and self.unit in _MAY_BE_LEFT_OUT:
            return True
        return claimed.unit == self.unit

    @property
    def is_year(self) -> bool:
        """Whether it reads like a year, which has no unit to share with its neighbours."""
        return len(self.values) == 1 and min(self.values) in _YEARS


def quantities(text: str) -> list[Quantity]:
    """Return the numbers of `text` in order, each with the unit that it shares in a list.

    Digits of every script, number words of English, fractions, ordinals from `third` on,
    multiples, and scales (`1.5 million`) are read; `one`, `first` and `second` are not
    numbers on their own, for they mostly stand for something else.
    """
    pieces = list(_PIECE.finditer(_plain(text)))
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
    return found


def is_of_quantity(word: str) -> bool:
    """Return whether a word in lower case is a number, a scale or a unit."""
    return word[0].isdigit() or word in _UNIT_OF or word in _SCALES or word in _SMALL


def unproved(claimed: Iterable[Quantity], quoted: Iterable[Quantity]) -> list[Quantity]:
    """Return the claimed numbers that no quoted one carries; digits serve once."""
    left = list(quoted)
    missing: list[Quantity] = []
    for quantity in claimed:
        proof = next((other for other in left if other.proves(quantity)), None)
        if proof is None:
            missing.append(quantity)
        elif not quantity.spelled:
            left.remove(proof)
    return missing


def _share_unit(found: list[Quantity], waiting: list[int], quantity: Quantity) -> None:
    """Give the unit of `quantity` to the numbers listed in front of it."""
    if quantity.unit:
        for index in waiting:
            found[index] = replace(found[index], unit=quantity.unit)
        waiting.clear()
    elif not quantity.ordinal and not quantity.is_year:
        waiting.append(len(found))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().replace("per cent", "percent")


def _read(pieces: "list[re.Match[str]]", place: int) -> tuple[Quantity | None, int]:
    """Return the quantity that begins at `place`, if any, and where to go on."""
    piece = pieces[place]
    if piece["digits"]:
        return _digits(pieces, place)
    if piece["vulgar"]:
        value = Decimal(str(unicodedata.numeric(piece["vulgar"]))).quantize(Decimal("0.001"))
        return _measured(pieces, place + 1, frozenset({value}), piece.start())
    if piece["word"]:
        return _spelled(pieces, place)
    return None, place + 1


def _digits(pieces: "list[re.Match[str]]", place: int) -> tuple[Quantity | None, int]:
    piece = pieces[place]
    values = frozenset(_values(piece["digits"]))
    if piece["minus"]:
        values = frozenset(-value for value in values)
    if piece["ordinal"]:
        return Quantity(values, ordinal=True, start=piece.start()), place + 1
    glued, unit = piece["glued"], _UNIT_OF.get(piece["currency"] or "")
    if glued in _GLUED_SCALES:
        values = frozenset(value.scaleb(_SCALES[glued]) for value in values)
    elif glued in _UNIT_OF:
        unit = _UNIT_OF[glued]
    return _measured(pieces, place + 1, values, piece.start(), unit=unit)


def _spelled(pieces: "list[re.Match[str]]", place: int) -> tuple[Quantity | None, int]:
    """Read a number written in words, such as `twenty-one` or `two thirds`."""
    start, word = pieces[place].start(), pieces[place].group()
    if word in _ORDINALS and not _is_fraction(pieces, place):
        values = frozenset({Decimal(_ORDINALS[word])})
        return Quantity(values, ordinal=True, spelled=True, start=start), place + 1
    if word in _MULTIPLES or word in _FRACTIONS:
        part_of = Decimal(_MULTIPLES[word]) if word in _MULTIPLES else _FRACTIONS[word]
        return Quantity(_rounded(part_of), None, spelled=True, start=start), place + 1
    value, after = _small_number(pieces, place)
    if value is None:
        return None, place + 1
    last = after + 1 if _word(pieces, after) == "-" else after
    part = _word(pieces, last)
    if part in _FRACTIONS and value < 10:
        return Quantity(_rounded(value * _FRACTIONS[part]), spelled=True, start=start), last + 1
    if word in _TENS and part in _ALL_ORDINALS:
        values = frozenset({value + _ALL_ORDINALS[part]})
        return Quantity(values, ordinal=True, spelled=True, start=start), last + 1
    measured, end = _measured(pieces, after, frozenset({value}), start, spelled=True)
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
    start: int,
    *,
    unit: str | None = None,
    spelled: bool = False,
) -> tuple[Quantity, int]:
    """Return the quantity with the scale and the unit that follow its number."""
    if (word := _word(pieces, place)) in _SCALES and word not in _GLUED_SCALES:
        values = frozenset(value.scaleb(_SCALES[word]) for value in values)
        place += 1
    ahead = place + 1 if _word(pieces, place) in {"-", "–"} else place
    if unit is None and (word := _word(pieces, ahead)) in _UNIT_OF:
        unit, place = _UNIT_OF[word], ahead + 1
        if unit == "percent" and _word(pieces, place).startswith("point"):
            unit, place = "points", place + 1
    return Quantity(values, unit, spelled=spelled, start=start), place


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
