"""Tells a quote that says otherwise than the book from one that is only worded otherwise."""

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum

from rapidfuzz.distance import Levenshtein

from core.grounding.bounds import bounds_oppose
from core.grounding.foreign import denies_otherwise, in_digits, quantities_in
from core.grounding.languages import ENGLISH, language_of
from core.grounding.numbers import Quantity, quantities
from core.grounding.polarity import hides_denial, is_contradicted
from core.grounding.quoting import QuotedPassage, whole_sentences
from core.grounding.renumbering import agree, has_other_number
from core.grounding.words import Reading
from core.text.sentences import Span

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DASHES = re.compile(r"[‐‑‒–—−]")
_GROUPED = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}(?!\d))")
_EDGE_WORDS = 2
"""Words at a quote's edge that may replace others without one letter in common: `5 kg`."""
_SHORTEST_DAMAGED = 3
_LONG_WORD = 6
_FEWEST_DAMAGED = 2
"""Words that are damaged in a quote whose every other word may be, too."""
_ONCE = re.compile(r"\b(?:once|einmal)\b", re.IGNORECASE)
_UNDAMAGED = frozenset(
    "ever now one or either note kein keine keinen keinem keiner keines keins "
    "ein eine einen einem einer eines eins die sie wie nie".split()
)
"""Words of their own, one letter from a denial, or a denial one letter from them."""


class Misquote(StrEnum):
    """How a quote says something else than the book's passage that it was found in."""

    HIDDEN = "hidden"
    """A denial of the sentence was cut off."""
    NEGATION = "negation"
    NUMBER = "number"
    WORD = "word"
    """A word is its opposite, or two words have changed places."""


def misquote_of(quote: str, passages: Sequence[QuotedPassage]) -> Misquote | None:
    """Return how a quote's sense differs from the book; none when only letters do.

    Args:
        quote: What the reader believes to be the book's words.
        passages: Where it was found: its stretch of each chunk that it touches.
    """
    part = "\n".join(_in_whole_words(passage).text for passage in passages)
    whole = "\n".join(sentences_around(passage).text for passage in passages)
    edges = "\n".join(with_edges(passage).text for passage in passages)
    language = language_of(whole, *(passage.content for passage in passages)) or ENGLISH
    if _number_differs(quote, edges, language):
        return Misquote.NUMBER
    is_damaged = letters_of(quote) != letters_of(part)
    mended = _mended(quote, edges) if is_damaged else part
    # The book's words at the edges may be cut off, or damaged beyond likeness.
    if is_damaged and all(_negation_differs(mended, text, language) for text in (part, edges)):
        return Misquote.NEGATION
    begins = _looks_like_beginning(quote, part)
    is_hidden = _negation_is_hidden(mended, whole, language, anywhere=begins)
    return Misquote.HIDDEN if is_hidden else None


def sentences_around(passage: QuotedPassage) -> QuotedPassage:
    """Return the whole sentences that the passage touches."""
    span = whole_sentences(passage.content, Span(passage.start, passage.end))
    return QuotedPassage(passage.content, *span, passage.headings)


def _negation_differs(quote: str, part: str, language: str) -> bool:
    if language == ENGLISH:
        return is_contradicted(Reading(quote), Reading(part))
    return denies_otherwise(quote, part, language, language)


def _negation_is_hidden(quote: str, whole: str, language: str, *, anywhere: bool) -> bool:
    if language == ENGLISH:
        return hides_denial(Reading(quote), Reading(whole), anywhere=anywhere)
    return denies_otherwise(quote, whole, language, language)


def _looks_like_beginning(quote: str, part: str) -> bool:
    """Return whether a quote begins with a capital where the book goes on in small letters."""
    ours, theirs = (next(filter(str.isalnum, text), "") for text in (quote, part))
    return ours.isupper() and theirs.islower()


def _number_differs(quote: str, book: str, language: str) -> bool:
    """Return whether the quote has one number where the book has another.

    A number that only one of them has may be a page, a footnote, or cut off.
    """
    texts = _plain(quote, language), _plain(book, language)
    ours, theirs = (_quantities(text, language) for text in texts)
    if _lacks(theirs, ours) and _lacks(ours, theirs):
        return True
    return has_other_number(*texts) or bounds_oppose(*texts)


def _plain(text: str, language: str) -> str:
    """Return the text with its numbers as the English ones are read."""
    plain = _GROUPED.sub("", _DASHES.sub("-", unicodedata.normalize("NFKC", text)))
    return _ONCE.sub("1", in_digits(plain, language))


def _quantities(text: str, language: str) -> Sequence[Quantity]:
    return quantities(text) if language == ENGLISH else quantities_in(text, language)


def _lacks(some: Sequence[Quantity], others: Sequence[Quantity]) -> bool:
    """Return whether a number of `others` is none of `some`."""
    return not all(any(agree(one, other) for one in some) for other in others)


def _in_whole_words(passage: QuotedPassage) -> QuotedPassage:
    words = [m for m in WORD.finditer(passage.content) if _touches(m.span(), passage)]
    start = min([passage.start, *(m.start() for m in words)])
    end = max([passage.end, *(m.end() for m in words)])
    return QuotedPassage(passage.content, start, end)


def _touches(span: tuple[int, int], passage: QuotedPassage) -> bool:
    return span[0] < passage.end and passage.start < span[1]


def with_edges(passage: QuotedPassage) -> QuotedPassage:
    """Return the passage with the next words of its own sentences."""
    around = sentences_around(passage)
    words = [m.span() for m in WORD.finditer(passage.content, around.start, around.end)]
    before = [start for start, end in words if end <= passage.start][-_EDGE_WORDS:]
    after = [end for start, end in words if start >= passage.end][:_EDGE_WORDS]
    inner = _in_whole_words(passage)
    return QuotedPassage(passage.content, min([inner.start, *before]), max([inner.end, *after]))


def letters_of(text: str) -> str:
    """Return a text's letters and digits alone, small and without accents."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(letter for letter in folded if letter.isalnum())


def _mended(quote: str, book: str) -> str:
    """Return the quote with its damaged words as the book writes them: `n0t` is `not`.

    Where words are damaged, every word that stands in the place of another one may be.
    """
    written = list(WORD.finditer(quote))
    ours = [word.group().casefold() for word in written]
    theirs = [word.casefold() for word in WORD.findall(book)]
    replaced = {
        step.src_start + place: theirs[step.dest_start + place]
        for step in Levenshtein.opcodes(ours, theirs)
        if step.tag == "replace"
        for place in range(step.src_end - step.src_start)
    }
    damaged = {at: word for at, word in replaced.items() if is_damaged(ours[at], word)}
    mended = replaced if len(damaged) >= _FEWEST_DAMAGED else damaged
    pieces, position = [], 0
    for at, word in enumerate(written):
        pieces += [quote[position : word.start()], mended.get(at, word.group())]
        position = word.end()
    return "".join([*pieces, quote[position:]])


def is_damaged(own: str, other: str) -> bool:
    """Return whether a word is likely another one with wrong letters."""
    if len(other) < _SHORTEST_DAMAGED or own in _UNDAMAGED:
        return False
    if len(other) >= _LONG_WORD and (own.endswith(other) or other.endswith(own)):
        return False  # `unstable` is no damaged `stable`
    return Levenshtein.distance(own, other) <= 1 + (len(other) >= _LONG_WORD)
