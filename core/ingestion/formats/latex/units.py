r"""Writes the numbers and units of siunitx, and the formulas of mhchem, as a page prints them."""

import re
from collections.abc import Mapping, Sequence

from core.ingestion.formats.markup import lowered, raised


def _symbols(written: str) -> Mapping[str, str]:
    """Return names and what they stand for, written `name=sign`."""
    return dict(pair.split("=") for pair in written.split())


_PREFIXES = _symbols(
    "quecto=q ronto=r yocto=y zepto=z atto=a femto=f pico=p nano=n micro=µ milli=m centi=c "
    "deci=d deca=da deka=da hecto=h kilo=k mega=M giga=G tera=T peta=P exa=E zetta=Z yotta=Y "
    "ronna=R quetta=Q kibi=Ki mebi=Mi gibi=Gi tebi=Ti "
)
_UNITS = _symbols(
    "metre=m meter=m second=s gram=g kilogram=kg ampere=A kelvin=K mole=mol candela=cd "
    "hertz=Hz newton=N pascal=Pa joule=J watt=W coulomb=C volt=V farad=F ohm=Ω siemens=S "
    "weber=Wb tesla=T henry=H lumen=lm lux=lx becquerel=Bq gray=Gy sievert=Sv katal=kat "
    "celsius=°C degreeCelsius=°C degree=° arcminute=′ arcsecond=″ percent=% minute=min hour=h "
    "day=d litre=l liter=L hectare=ha tonne=t bar=bar mmHg=mmHg astronomicalunit=au dalton=Da "
    "electronvolt=eV decibel=dB bel=B neper=Np radian=rad steradian=sr bit=bit byte=B "
    "angstrom=Å atomicmassunit=u nauticalmile=M knot=kn barn=b permille=‰ gauss=G are=a "
)
_SHORT_FORM = re.compile(
    r"(k|M|G|T|m|u|n|p|f|c|d|h)?(g|m|s|A|K|mol|Hz|N|Pa|J|W|C|V|F|ohm|S|Wb|T|H|eV|bar|l|L|B)"
)
_UNIT = re.compile(r"\\([A-Za-z]+)\s*(?:\{([^{}]*)\})?|([^\\\s]+)")
_POWERS_AFTER = {"squared": "2", "cubed": "3"}
_POWERS_BEFORE = {"square": "2", "cubic": "3"}
_NUMBER = re.compile(r"([^eEdD]*)[eEdD]([-+]?[\d.]+)")
_SIGNS: Mapping[str, str] = {
    r"\pm": " ± ",
    "+-": " ± ",
    r"\times": " × ",
    r"\cdot": " · ",
    r"\approx": "≈ ",
    r"\sim": "~",
    r"\leq": "≤ ",
    r"\le": "≤ ",
    r"\geq": "≥ ",
    r"\ge": "≥ ",
    r"\ll": "≪ ",
    r"\gg": "≫ ",
    "<=": "≤ ",
    ">=": "≥ ",
}
_SIGN = re.compile("|".join(re.escape(sign) for sign in sorted(_SIGNS, key=len, reverse=True)))
_EXPONENT = re.compile(r"([\^_])(?:\{([^{}]*)\}|(\\?\w|[-+]\d*))")
_CHEMICAL = re.compile(r"(?<=[A-Za-z)\]}])(\d+)")
_ARROWS = (("<=>", "⇌"), ("<->", "↔"), ("->", "→"), ("<-", "←"))
_TO_A_UNIT = frozenset("°′″")

UNIT_MACROS: Mapping[str, str] = {
    **dict.fromkeys(("num", "ang", "numlist", "numproduct", "si", "unit", "ce", "tablenum"), "[{"),
    **dict.fromkeys(("qty", "numrange", "qtylist", "SIlist", "qtyproduct"), "[{{"),
    **dict.fromkeys(("qtyrange", "SIrange"), "[{{{"),
    "SI": "[{[{",
}
"""The commands that `quantity` reads, with their arguments as pylatexenc writes them."""


def quantity(name: str, given: Sequence[str | None], own: Mapping[str, str]) -> str:
    r"""Return what a command prints: `\qty{5}{\kilo\gram}`, `5 kg`; `\numlist{1;2}`, `1 and 2`.

    Args:
        name: one of `UNIT_MACROS`.
        given: its arguments without braces, none for one that is left out.
        own: what the document declares its own units to be.
    """
    option, *parts = (part or "" for part in given)
    first = parts[0] if parts else ""
    match name:
        case "num" | "tablenum":
            return number(first)
        case "ang":
            return "".join(f"{n}{s}" for n, s in zip(first.split(";"), "°′″", strict=False) if n)
        case "numlist":
            return _listed([number(one) for one in first.split(";")])
        case "numproduct":
            return " × ".join(number(one.strip()) for one in first.split("x"))
        case "numrange":
            return f"{number(first)} to {number(parts[1])}"
        case "si" | "unit":  # the package units writes the number as an option
            is_number = re.fullmatch(r"[-+\d.,]+", option)
            return _measured(option, unit(first, own)) if is_number else unit(first, own)
        case "ce":
            return chemical(first)
        case "SI":
            return parts[1] + _measured(number(first), unit(parts[2], own))
        case "qtyrange" | "SIrange":
            return _measured(f"{number(first)} to {number(parts[1])}", unit(parts[2], own))
        case "qtylist" | "SIlist":
            symbol = unit(parts[1], own)
            return _listed([_measured(number(one), symbol) for one in first.split(";")])
        case "qtyproduct":
            symbol = unit(parts[1], own)
            return " × ".join(_measured(number(one), symbol) for one in first.split("x"))
    return _measured(number(first), unit(parts[1], own))


def _measured(value: str, symbol: str) -> str:
    gap = "" if symbol[:1] in _TO_A_UNIT and symbol != "°C" else " "
    return f"{value}{gap}{symbol}".strip()


def _listed(values: Sequence[str]) -> str:
    *others, last = values
    return f"{', '.join(others)} and {last}" if others else last


def number(written: str) -> str:
    """Return a number as it is printed: `3e8`, `3 × 10⁸`."""
    text = _SIGN.sub(lambda sign: _SIGNS[sign[0]], written.strip())
    if power := _NUMBER.fullmatch(text):
        factor = power[1].strip()
        return (f"{factor} × " if factor else "") + "10" + raised(power[2].lstrip("+"))
    return " ".join(_raised_signs(text).split())


def unit(written: str, own: Mapping[str, str], depth: int = 0) -> str:
    """Return the symbol of a unit: `\\metre\\per\\second\\squared`, `m/s²`."""
    above, below = list[str](), list[str]()
    prefix, power, side = "", "", above
    after = above
    for found in _UNIT.finditer(written):
        name, argument, literal = found.groups()
        if literal is not None:
            text = _raised_signs(re.sub(r"[.~]", " ", literal.replace("{", "").replace("}", "")))
            side.append(prefix + text.strip())
            prefix, after, side = "", side, above
        elif name in _PREFIXES and not argument:
            prefix += _PREFIXES[name]
        elif name == "per":
            side = below
        elif name in _POWERS_BEFORE or name == "raiseto":
            power = _POWERS_BEFORE.get(name) or argument or ""
        elif (name in _POWERS_AFTER or name == "tothe") and after:
            after[-1] += raised(_POWERS_AFTER.get(name) or argument or "")
        elif name == "of" and after:
            after[-1] += f" ({argument})" if argument else ""
        elif name not in {"highlight", "cancel", "!", "text", "mathrm"}:
            symbol = _symbol(name, own, depth)
            side.append(prefix + symbol + raised(power))
            prefix, power, after, side = "", "", side, above
        elif argument:
            side.append(argument)
    if below and not above:
        return " ".join(_inverse(one) for one in below)
    under = " ".join(below)
    return " ".join(above) + (f"/({under})" if len(below) > 1 else f"/{under}" if under else "")


def _symbol(name: str, own: Mapping[str, str], depth: int) -> str:
    if name in own:
        return unit(own[name], own, depth + 1) if "\\" in own[name] and depth < 4 else own[name]
    if name in _UNITS:
        return _UNITS[name]
    short = _SHORT_FORM.fullmatch(name)
    return name.replace("u", "µ", 1).replace("ohm", "Ω") if short and short[1] else name


def _inverse(symbol: str) -> str:
    power = re.search("[²³⁴⁵⁶⁷⁸⁹]+$", symbol)
    return symbol[: power.start()] + "⁻" + power[0] if power else symbol + "⁻¹"


def _raised_signs(text: str) -> str:
    """Return text with what `^` and `_` mark written so that it keeps its meaning."""

    def shifted(found: re.Match[str]) -> str:
        shift = raised if found[1] == "^" else lowered
        return shift(found[2] if found[2] is not None else found[3])

    return _EXPONENT.sub(shifted, text)


def chemical(written: str) -> str:
    """Return a formula of mhchem: `2H2O`, `2H₂O`; `SO4^2-`, `SO₄²⁻`."""
    text = re.sub(r"\^(\d*[-+])", r"^{\1}", written)
    pieces = re.split(r"([\^_]\{[^{}]*\})", text)
    plain = [
        piece if at % 2 else _CHEMICAL.sub(lambda digits: lowered(digits[1]), piece)
        for at, piece in enumerate(pieces)
    ]
    joined = re.sub(r"(?<=[A-Za-z\d₀-₉)\]])([-+])(?=\s|\Z)", lambda s: raised(s[1]), "".join(plain))
    for sign, arrow in _ARROWS:
        joined = joined.replace(sign, arrow)
    return " ".join(_raised_signs(joined).split())
