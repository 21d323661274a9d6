"""Compares a claim with its quotes where English word rules do not apply."""

import re
from collections.abc import Mapping

from core.grounding.numbers import Quantity, quantities

_NEGATORS = {
    "en": "not no never neither nor none without cannot n't hardly unable fails fail",
    "de": "nicht kein keine keinen keinem keiner keines keins keinerlei keineswegs keinesfalls nie "
    "niemals ohne weder noch nichts kaum",
    "fr": "ne n pas jamais aucun aucune sans ni rien guère",
    "es": "no nunca jamás ni sin ningún ninguna ninguno nada nadie tampoco",
    "it": "non mai senza nessun nessuna nessuno né niente nulla",
    "pt": "não nunca jamais sem nem nenhum nenhuma nada ninguém",
    "nl": "niet geen nooit zonder noch niets nauwelijks",
    "pl": "nie bez nigdy ani żaden żadna nic brak",
    "sv": "inte ej aldrig utan ingen inget inga knappast",
    "da": "ikke aldrig uden ingen intet inga næppe ikkje",
    "cs": "ne není nejsou bez nikdy ani žádný žádná nic nelze",
    "ro": "nu n fără niciodată nici niciun nicio nimic",
    "tr": "değil yok asla hiç olmadan olmayan",
    "id": "tidak bukan tanpa belum jangan tak",
    "CYRILLIC": "не нет без никогда ни нельзя ничего никто",
    "ARABIC": "لا ليس ليست لم لن بدون دون غير",
    "HEBREW": "לא אין בלי ללא מעולם",
    "GREEK": "δεν μην χωρίς ποτέ ούτε όχι",
    "DEVANAGARI": "नहीं न बिना कभी मत",
}
_NEGATING_PARTS = {
    "CJK": ("不", "没", "沒", "无", "無", "未", "ない", "ません", "なく", "ずに"),
    "HANGUL": ("않", "없", "못", "아니", "안 "),
}
_NUMBERS = {
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici",
    "pt": "dois três quatro cinco seis sete oito nove dez onze doze",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf",
}
"""The words for 2 to 12."""
_TIMES = {"de": "mal", "nl": "maal"}
"""What makes `zweimal` of `zwei`."""
_WORD = re.compile(r"[^\W\d_]+")
_MOST_OF = 0.6


def denies_otherwise(claim: str, quotes: str, claimed: str, quoted: str) -> bool:
    """Return whether one text, in language `claimed` or `quoted`, denies and the other not.

    A claim much shorter than its quotes may leave a denial of theirs out. Of a language
    without a list nothing is said.
    """
    ours, theirs = _denies(claim, claimed), _denies(quotes, quoted)
    if ours is None or theirs is None or ours == theirs:
        return False
    return ours or len(claim) >= _MOST_OF * len(quotes)


def quantities_in(text: str, language: str) -> list[Quantity]:
    """Return the numbers that are written in digits, or in a language's own words up to 12.

    The words of other languages are not numbers here: `ten` is no 10 in Dutch.
    """
    in_figures = _replaced(text, _values(language))
    return [found for found in quantities(in_figures) if not found.spelled]


def in_digits(text: str, language: str) -> str:
    """Return the text with a language's own words for 2 to 12, and so many times, in digits."""
    values = _values(language)
    times = _TIMES.get(language)
    return _replaced(text, values | {f"{word}{times}": n for word, n in values.items() if times})


def _values(language: str) -> dict[str, str]:
    return {word: str(number) for number, word in enumerate(_NUMBERS.get(language, "").split(), 2)}


def _replaced(text: str, values: Mapping[str, str]) -> str:
    return _WORD.sub(lambda match: values.get(match.group().lower(), match.group()), text)


def _denies(text: str, language: str) -> bool | None:
    lower = text.casefold()
    if language in _NEGATING_PARTS:
        return any(part in lower for part in _NEGATING_PARTS[language])
    negators = _NEGATORS.get(language)
    if negators is None:
        return None
    known = set(negators.split())
    return any(word in known for word in _WORD.findall(lower)) or ("n't" in lower.replace("’", "'"))
