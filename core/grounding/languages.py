"""Decides whether two texts are written in the same language, by script and function words."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

_FUNCTION_WORDS = {
    "en": "the of and to in is that for it as with was are by this be on from or which an have "
    "has not their when can will its they at per what how does if more than were but these also "
    "who why where did should would could me my you your we i",
    "de": "der die das und ist nicht ein eine zu den von mit sich des auf für im dem auch als wird "
    "es an werden aus oder einen einer wie sind bei durch wenn wir nur was dass kann um über "
    "ich du mir mich muss soll kannst wer wo wann warum welche welcher welches wieviel haben hat",
    "fr": "le la les et des est une un du en que qui dans pour pas sur au par plus ne ce il sont "
    "avec aux se cette ou elle comme mais nous leur être quand lorsque ces quel quelle sa d l "
    "je tu pourquoi comment où quels quelles quoi combien",
    "es": "el la los las y de que en un una es por con para del se su al lo como más no son o sus "
    "pero este esta entre cuando también hay muy qué cómo cuál porque ser si está fue "
    "yo dónde cuándo cuánto cuánta cuáles quién",
    "it": "il la di che e è un una per in non del della con i le gli sono si da al nel come più "
    "dei anche alla delle ma questo questa quando ha cosa quale essere perché dell l "
    "io dove quanto quali chi",
    "pt": "o a os as e de que em um uma é por com para do da no na se dos das não mais como ao "
    "são ou seu sua mas quando também pelo pela este esta ser está foi qual "
    "eu onde quanto quais quem porque por",
    "nl": "de het een en van is dat in te niet op zijn voor met die aan er als ook bij door om "
    "naar maar wordt worden dan wat hoe deze dit kan uit heeft over hun of "
    "ik je waarom welke waar wanneer",
    "pl": "i w na z się nie jest to że do jak o co przez dla od po za są przy ale może tym który "
    "która które oraz ich tego tej lub",
    "sv": "och att det som en på är av för med den till inte om ett han de var från när kan eller "
    "man men ska har hur vad sig vid",
    "da": "og at det som en på er af for med den til ikke om et de var fra når kan eller man men "
    "skal har hvordan hvad sig ved",
    "cs": "a je se na v že to s z do o které jako pro při by ale jsou nebo když jeho podle není",
    "ro": "și de la în a că este o un nu cu pe din mai sau pentru care ca sunt se prin dar",
    "tr": "ve bir bu da de için ile olarak daha çok ne gibi olan ya kadar değil mi en ise nasıl",
    "id": "yang dan di ke dari untuk dengan pada adalah ini itu tidak dalam atau juga oleh akan "
    "karena jika apa bagaimana",
}
_WORD = re.compile(r"[^\W\d_]+")
_WORDS_OF = {code: frozenset(words.split()) for code, words in _FUNCTION_WORDS.items()}
_LANGUAGES_OF = {
    word: frozenset(code for code, known in _WORDS_OF.items() if word in known)
    for words in _WORDS_OF.values()
    for word in words
}
_FEWEST_HITS = 1.5
_LEAD = 1.3
_FEWEST_WORDS = 3
"""Words of two letters or more; a question in Latin script that has fewer shows no language."""
_FEWEST_IN_ANSWERED = 2
"""Function words of another language, without which an answered question is not taken to be in
it."""
_FEWEST_DIFFERENT = 4
"""Function words of a language in Latin script, without which texts are not taken to be in it."""
_OWN_SCRIPTS = ("CJK", "HANGUL", "CYRILLIC", "ARABIC", "HEBREW", "GREEK",
                "DEVANAGARI", "THAI", "BENGALI", "TAMIL", "GEORGIAN", "ARMENIAN")  # fmt: skip
_ONE_WRITING = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}
ENGLISH = "en"


def language_of(*texts: str) -> str | None:
    """Return the language of the first of the texts that shows one; None: none does.

    The answer is a code of two letters for languages in Latin script, and the name of the
    script for any other.
    """
    return next((found for text in texts if (found := _language(text)) is not None), None)


def is_in_another_language(question: str, language: str, *, answered: bool = False) -> bool:
    """Return whether a question is surely not in a book's language, a BCP 47 tag.

    Args:
        answered: Whether the book answered it all the same: then a foreign name or title is no
            sign, but two words of another language are, and none of the book's own.
    """
    found = _in_most([question], language)
    if found not in _WORDS_OF:
        return found is not None
    words = {word for word in _WORD.findall(question.casefold()) if len(word) > 1}
    if answered and len(words & _WORDS_OF[found]) < _FEWEST_IN_ANSWERED:
        return False
    own = _WORDS_OF[language.partition("-")[0].casefold()]
    is_mixed = answered and words & own - _WORDS_OF[found]
    return not is_mixed and _count_words(question) >= _FEWEST_WORDS


def foreign_language(texts: Sequence[str], language: str) -> str | None:
    """Return what more than half of some texts are in, where that is not a book's language.

    Args:
        language: The book's, a BCP 47 tag; of one that is not known by its words nothing is said.

    Returns:
        As `language_of`; None: most are in the book's language, or show none, or they have too few
        of the words by which a language is known.
    """
    found = _in_most(texts, language)
    if found not in _WORDS_OF:
        return found
    words = {word for text in texts for word in _WORD.findall(text.casefold())}
    return found if len(words & _WORDS_OF[found]) >= _FEWEST_DIFFERENT else None


def _in_most(texts: Sequence[str], language: str) -> str | None:
    own = language.partition("-")[0].casefold()
    [(most, count)] = Counter(map(language_of, texts)).most_common(1) or [(None, 0)]
    return most if own in _FUNCTION_WORDS and most != own and 2 * count > len(texts) else None


def _count_words(text: str) -> int:
    return sum(len(word) > 1 for word in _WORD.findall(text))


@lru_cache(maxsize=1 << 9)
def _language(text: str) -> str | None:
    words = _WORD.findall(text.casefold())
    return _script("".join(words)) or _by_function_words(words)


def _by_function_words(words: Sequence[str]) -> str | None:
    """Return the language that has clearly more of the words than any other."""
    hits: dict[str, float] = {}
    for known in filter(None, map(_LANGUAGES_OF.get, words)):
        for code in known:
            hits[code] = hits.get(code, 0.0) + 1 / len(known)
    ranked = sorted(hits, key=hits.__getitem__, reverse=True)
    if not ranked or hits[ranked[0]] < min(_FEWEST_HITS, 0.3 * len(words)):
        return None
    is_clear = len(ranked) == 1 or hits[ranked[0]] >= _LEAD * hits[ranked[1]]
    return ranked[0] if is_clear else None


def _script(letters: str) -> str | None:
    """Return the script of most letters, none for the Latin one."""
    if letters.isascii():
        return None
    names = (unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    name, _ = Counter(_ONE_WRITING.get(name, name) for name in names).most_common(1)[0]
    return name if name in _OWN_SCRIPTS else None
