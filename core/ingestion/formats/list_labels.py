"""Writes the numbers of lists, headings and notes as a document shows them: `(b)`, `iv`, `三`."""

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_FOOTNOTE_SIGNS = "*†‡§"
_CHINESE = "〇一二三四五六七八九"
_COUNTED_IN_CHINESE = frozenset(
    {
        *("chineseCounting", "chineseCountingThousand", "japaneseCounting"),
        *("taiwaneseCounting", "taiwaneseCountingThousand"),
    }
)
_ENCLOSED = {
    "decimalEnclosedCircle": "①",
    "decimalEnclosedCircleChinese": "①",
    "decimalEnclosedParen": "⑴",
    "decimalEnclosedFullstop": "⒈",
}
_ENCLOSED_UP_TO = 20


def counted(number: int, shape: str) -> str:
    """Return a number as a number format of Word writes it; one that is unknown is decimal."""
    match shape:
        case "none":
            return ""
        case "decimalZero":
            return f"{number:02}"
        case "lowerLetter" | "upperLetter":
            return _cased(_lettered(number, _LATIN), shape)
        case "russianLower" | "russianUpper":
            return _cased(_lettered(number, _RUSSIAN), shape)
        case "lowerRoman" | "upperRoman":
            return _cased(_roman(number), shape)
        case "ordinal":
            return f"{number}{_ending(number)}"
        case "numberInDash":
            return f"- {number} -"
        case "chicago":
            return _lettered(number, _FOOTNOTE_SIGNS)
        case _ if shape in _ENCLOSED and 0 < number <= _ENCLOSED_UP_TO:
            return chr(ord(_ENCLOSED[shape]) + number - 1)
        case _ if shape in _COUNTED_IN_CHINESE and 0 < number < 100:
            return _in_chinese(number)
    return str(number)


def is_known(shape: str) -> bool:
    """Return whether numbers are written in a format as it asks for, not as decimal ones."""
    return shape == "decimal" or counted(1, shape) != "1"


def _cased(text: str, shape: str) -> str:
    return text.upper() if shape.startswith("upper") or shape.endswith("Upper") else text


def _lettered(number: int, letters: str) -> str:
    """Return a, b ... z, aa, bb ... as Word counts with letters."""
    if number < 1:
        return ""
    rounds, place = divmod(number - 1, len(letters))
    return letters[place] * (min(rounds, 30) + 1)


def _roman(number: int) -> str:
    text = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        text += sign * min(times, 30)
    return text


def _ending(number: int) -> str:
    if number % 100 in {11, 12, 13}:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _in_chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    text = ("" if tens == 1 else _CHINESE[tens]) + "十" if tens else ""
    return text + (_CHINESE[ones] if ones else "")
