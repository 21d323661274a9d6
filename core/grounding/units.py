"""Knows the units of quantities: their names, their size, and the rates made of them."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit as a multiple of its base unit."""

    base: str
    factor: Decimal = Decimal(1)

    def to_the(self, power: int) -> "Unit":
        """Return the unit of areas or volumes."""
        return self if power == 1 else Unit(f"{self.base}^{power}", self.factor**power)


POWERS = {"square": 2, "sq": 2, "cubic": 3}
"""What stands in front of units of areas and volumes."""
OF_DEGREES = frozenset({"celsius", "fahrenheit"})
"""Written like names behind `degrees`."""


_NAMES = {
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
    "minute": "minute minutes min mins",
    "hour": "hour hours hr hrs",
    "day": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years yr yrs",
    "decade": "decade decades",
    "century": "century centuries",
    "metre": "meter meters metre metres",
    "mile": "mile miles",
    "foot": "foot feet ft",
    "inch": "inch inches",
    "acre": "acre acres",
    "hectare": "hectare hectares ha",
    "gram": "gram grams",
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
    "watt": "watt watts",
    "watt-hour": "watt-hour watt-hours watthour watthours",
    "joule": "joule joules",
    "calorie": "calorie calories",
    "volt": "volt volts",
    "ampere": "ampere amperes amp amps",
    "ohm": "ohm ohms",
    "pascal": "pascal pascals",
    "newton": "newton newtons",
    "mole": "mole moles",
    "hertz": "hertz hz",
    "bit": "bit bits",
    "byte": "byte bytes",
}
_PREFIXES = {
    "kilo": 3, "mega": 6, "giga": 9, "tera": 12, "deci": -1, "centi": -2, "milli": -3,
    "micro": -6, "nano": -9, "pico": -12,
}  # fmt: skip
_TAKE_PREFIXES = frozenset(
    "metre gram litre watt joule calorie volt ampere ohm pascal newton mole hertz bit byte "
    "second ton watt-hour".split()
)
_BINARY = {"kib": 1, "mib": 2, "gib": 3, "tib": 4}
_SYMBOLS = {"k": "kilo", "M": "mega", "G": "giga", "T": "tera", "d": "deci", "c": "centi",
            "m": "milli", "µ": "micro", "μ": "micro", "n": "nano", "p": "pico"}  # fmt: skip
_SYMBOLS_OF = {
    "W": ("watt", "kMGTm"), "Hz": ("hertz", "kMGT"), "J": ("joule", "kMGm"),
    "cal": ("calorie", "k"), "V": ("volt", "kMm"), "Pa": ("pascal", "kMGm"),
    "g": ("gram", "kmµμn"), "m": ("meter", "kcmµμnd"), "l": ("liter", "dcmµμ"),
    "L": ("liter", "dcmµμ"), "b": ("bit", "kMGT"), "B": ("byte", "kMGT"),
    "s": ("second", "mµμn"), "mol": ("mole", "mµμn"), "A": ("ampere", "mkµμ"),
}  # fmt: skip
"""Symbols of units, each with the prefixes that it takes: here letter case counts."""
_WRITTEN = {
    f"{prefix}{symbol}": f"{_SYMBOLS[prefix]}{name}"
    for symbol, (name, prefixes) in _SYMBOLS_OF.items()
    for prefix in prefixes
} | {"KB": "kilobyte", "kWh": "kilowatt-hour", "MWh": "megawatt-hour", "GWh": "gigawatt-hour",
     "W": "watt", "J": "joule", "V": "volt", "g": "gram", "l": "liter", "L": "liter"}  # fmt: skip
_RATE_SYMBOLS = {"h": "hour", "s": "second", "kg": "kilogram", "l": "liter", "g": "gram",
                 "dl": "deciliter", "ml": "milliliter", "m": "meter"}  # fmt: skip
_SPEEDS = {"mph": "mile per hour", "kph": "kilometer per hour"}
_SYMBOL = re.compile(
    rf"(?<=\d)(?P<gap>[\s-]?)(?P<symbol>{'|'.join(sorted(_WRITTEN, key=len, reverse=True))})"
    rf"(?:\s?/\s?(?P<rate>{'|'.join(sorted(_RATE_SYMBOLS, key=len, reverse=True))}))?(?![\w'’])"
)
_SPEED = re.compile(rf"(?<=\d)\s?({'|'.join(_SPEEDS)})\b")
_METRES = re.compile(r"(?<=\d)\sm(?![\w'’])")
"""With a blank: `5m` is five million."""
_PER = frozenset({"per", "/", "each", "every"})
_ARTICLES = frozenset({"a", "an"})
_RATE_NAMES = {
    "annual": "year", "annually": "year", "yearly": "year", "annum": "year", "monthly": "month",
    "weekly": "week", "daily": "day", "hourly": "hour", "capita": "person", "head": "person",
    "people": "person", "inhabitant": "person", "resident": "person",
}  # fmt: skip
_TIMES = frozenset("second minute hour day week month year decade century".split())
_BACK_IN_TIME = frozenset("ago later earlier before after since".split())


def _units() -> Iterator[tuple[str, Unit]]:
    for base, names in _NAMES.items():
        yield from ((name, Unit(base)) for name in names.split())
        for prefix, power in _PREFIXES.items() if base in _TAKE_PREFIXES else ():
            for name in (base, *names.split()):
                yield prefix + name, Unit(base, Decimal(1).scaleb(power))
    for name, power in _BINARY.items():
        yield name, Unit("byte", Decimal(1024) ** power)


def _all_units() -> dict[str, Unit]:
    units = dict(_units())
    for symbol, name in _WRITTEN.items():
        if len(symbol) > 1:  # for those who write `5 mb`
            units.setdefault(symbol.lower(), units[name])
    return units


UNITS = _all_units()
"""Every name of a unit in lower case, and what it measures."""


def spelled_out(text: str) -> str:
    """Return the text with the symbols behind numbers as words: letter case tells MW from mW.

    >>> spelled_out("5 MW or 5mW, at 90 km/h")
    '5 megawatt or 5 milliwatt, at 90 kilometer per hour'
    """
    text = _SPEED.sub(lambda match: f" {_SPEEDS[match[1]]}", text)
    return _METRES.sub(" meter", _SYMBOL.sub(_named, text))


def _named(match: re.Match[str]) -> str:
    rate = f" per {_RATE_SYMBOLS[match['rate']]}" if match["rate"] else ""
    return f"{match['gap'] or ' '}{_WRITTEN[match['symbol']]}{rate}"


def _reckoned(word: str) -> str:
    unit = UNITS.get(word)
    word = unit.base if unit and unit.factor == 1 else word.removesuffix("s")
    return _RATE_NAMES.get(word, word)


def rate_of(words: Sequence[str]) -> str | None:
    """Return what the number in front of `words` is reckoned by, if anything.

    >>> rate_of(["an", "hour"]), rate_of(["calls", "per", "minutes"]), rate_of(["a", "week", "ago"])
    ('hour', 'minute', None)
    """
    start = 0 if words and words[0] in _PER | _ARTICLES else 1
    if len(words) < start + 2 or words[start] not in _PER | _ARTICLES:
        return None
    word = words[start + 1]
    unit = UNITS.get(word)
    is_rate = words[start] in _PER or (start == 0 and unit is not None)
    if not is_rate or (len(words) > start + 2 and words[start + 2] in _BACK_IN_TIME):
        return None
    return _reckoned(word)
