"""Names the words by which a reader's quote differs from the book, by an alignment of both.

No rule knows what a word means: every other word is a difference, unless only letters or an
ending differ. What is left for the reader to judge is shown with the book's words in its place.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from rapidfuzz.distance import OSA, Levenshtein, MatchingBlock, Prefix

from core.answering.grounding.certain import is_same_amount
from core.domain.sentences import Span, sentence_spans


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """Whole sentences of a chunk that a claim rests on."""

    content: str
    """All of the chunk's text."""
    start: int
    end: int
    headings: tuple[str, ...] = ()
    """The path of titles above the chunk."""

    @property
    def text(self) -> str:
        """The quoted sentences."""
        return self.content[self.start : self.end]


def sentences_around(passage: QuotedPassage) -> QuotedPassage:
    """Return the whole sentences that a passage touches; of a table, its rows."""
    start, end = found = Span(passage.start, passage.end)
    for sentence in sentence_spans(passage.content):
        if sentence.end > found.start and sentence.start < found.end:
            if passage.content.startswith("|", sentence.start):
                sentence = _rows(passage.content, sentence, found)
            start, end = min(start, sentence.start), max(end, sentence.end)
    return QuotedPassage(passage.content, start, end, passage.headings)


def _rows(content: str, table: Span, found: Span) -> Span:
    """Return the span of those rows of a table that `found` touches."""
    start = max(content.rfind("\n", table.start, max(found.start, table.start)) + 1, table.start)
    end = content.find("\n", min(found.end, table.end), table.end)
    return Span(start, end if end >= 0 else table.end)


_WORD = re.compile(r"\d+(?:[.,]\d+)*(?:\^[-+]?\d+)?|[^\W_]+(?:['’][^\W_]+)*|[%$€£¥°]")
_MARKS = re.compile(r"\[\d{1,3}\]|\\[a-zA-Z]+")
"""Of footnotes, and commands of TeX, which a page shows as a sign."""
_ITEM_NUMBER = re.compile(r"^[ \t]*(?:\d{1,3}[.)]|[a-z]\))(?=[ \t])", re.MULTILINE)
"""The number of a list's item, which a page may set without its being copied."""
_GROUPS = re.compile(r"(?<=\d)[ \u00a0\u2009\u202f](?=\d{3}(?!\d))")
_RAISED = re.compile(r"(?<=\d)[⁺⁻]?[⁰¹²³⁴-⁹]+")
"""An exponent of a number: a power, and not more digits of it."""
_POWER = re.compile(r"(?<=\d) ?(?:\^|\*\*) ?\{?([-+−]?\d+)\}?")
"""One as people type it."""
_INDEX = re.compile(r"(?<=[^\W\d_])(?:\^|_)\{?([-+−]?\d+)\}?")
"""A raised or lowered number of a letter, as in m^2 and H_2O."""
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_LOOKS_LIKE = str.maketrans("015", "ols")
"""Digits that a scanner reads for letters; no two of them become one letter."""
_ARTICLES = frozenset("a an the der die das den dem des ein eine einen einem einer eines".split())
_EDGE_WORDS = 2
"""Words next to the found passage that a quote's first or last words may stand in place of."""
_SHORTEST_MISSPELT = 5
_LEAST_STEM = 4
_LONGEST_ENDING = 3
_FEWEST_MISSPELT = 2
"""Words of a quote that are damaged when every short word may be, too."""
_OPENING = 2
"""Words with a denial that a quote may not leave out at the beginning of a sentence."""
_DENIALS = frozenset(
    "not no never neither nor none without cannot unable hardly isn't aren't wasn't doesn't don't "
    "didn't can't won't nicht kein keine keinen keinem keiner keines nie niemals ohne weder noch "
    "nichts".split()
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Words of a quote, and the book's in their place; either may be empty."""

    quoted: str
    written: str


def differences(quote: str, passages: Sequence[QuotedPassage]) -> list[Difference]:
    """Return the words that differ, in the order of the book.

    A quote may end anywhere, but not leave out a denial at the beginning of its sentence, or one
    in front of what it makes look like a sentence by a capital letter. Lines before and after it
    that share no word with the book, as a link and a title, are not part of it.

    Args:
        quote: What the reader believes to be the book's words.
        passages: Where it was found: its stretch of each chunk that it touches.
    """
    quote = _own_lines(quote, passages)
    ours = _words(quote)
    theirs = min(
        (_all_words_found(passages, ours, numbered=numbered) for numbered in (True, False)),
        key=lambda words: _distance(ours, words),
    )
    steps = list(_unequal(ours, theirs))
    misspelt = [one for one in steps if _is_misspelt(one) and one.quoted[-1] == one.written[-1]]
    anyhow = len(misspelt) >= _FEWEST_MISSPELT
    told = [one for one in steps if _differs(one) and not _is_misspelt(one, anyhow=anyhow)]
    opening = list(_left_out(quote, passages[0])) if passages else []
    if told and opening and told[0].written and told[0].written in opening[0].written:
        return told  # something else stands in its place
    return [*opening, *told]


def _words(text: str) -> list[str]:
    raised = _RAISED.sub(lambda found: f"^{found[0]}", _MARKS.sub(" ", text))
    plain = unicodedata.normalize("NFKC", raised).replace("\u00ad", "").replace("−", "-")
    plain = _INDEX.sub(r"\1", _POWER.sub(r"^\1", plain))
    return _WORD.findall(_ORDINAL.sub("", _GROUPS.sub("", plain)))


def _own_lines(quote: str, passages: Sequence[QuotedPassage]) -> str:
    """Return the quote from the first to the last line that shares a word with the book."""
    lines = quote.splitlines()
    placed = [(word, number) for number, line in enumerate(lines) for word in _words(line)]
    ours = [word for word, _ in placed]
    equal = _equal(ours, _all_words_found(passages, ours))[:-1]
    if not equal:
        return quote
    (_, first), (_, last) = placed[equal[0].a], placed[equal[-1].a + equal[-1].size - 1]
    return "\n".join(lines[first : last + 1])


def _all_words_found(
    passages: Sequence[QuotedPassage], ours: Sequence[str], *, numbered: bool = True
) -> list[str]:
    contents = (p.content if numbered else _without_numbers(p.content) for p in passages)
    found = (replace(p, content=c) for p, c in zip(passages, contents, strict=True))
    return list(chain.from_iterable(_words_found(passage, ours) for passage in found))


def _without_numbers(content: str) -> str:
    """Return a text with blanks for the numbers of a list's items, so that no place moves."""
    return _ITEM_NUMBER.sub(lambda number: " " * len(number[0]), content)


def _words_found(passage: QuotedPassage, ours: Sequence[str]) -> list[str]:
    """Return the passage's words, whole, and the next ones of its own sentences.

    Those are left out where the quote has the passage's own word at that edge.
    """
    around = sentences_around(passage)
    places = [m.span() for m in _WORD.finditer(passage.content, around.start, around.end)]
    inside = [n for n, p in enumerate(places) if p[0] < passage.end and passage.start < p[1]]
    if not inside or not ours:
        return []
    first, last = inside[0], inside[-1]
    own = _words(passage.content[places[first][0] : places[last][1]])
    if own and _folded(own[0]) != _folded(ours[0]):
        first = max(first - _EDGE_WORDS, 0)
    if own and _folded(own[-1]) != _folded(ours[-1]):
        last = min(last + _EDGE_WORDS, len(places) - 1)
    return _words(passage.content[places[first][0] : places[last][1]])


def _unequal(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Difference]:
    """Yield what stands between equal words; at the edges only what stands for one another."""
    for before, after in pairwise([MatchingBlock(0, 0, 0), *_equal(ours, theirs)]):
        first, begin = before.a + before.size, before.b + before.size
        last, end = after.a, after.b
        quoted, written = ours[first:last], theirs[begin:end]
        same = min(len(quoted), len(written))
        if 0 in (first, begin):
            quoted, written = quoted[len(quoted) - same :], written[len(written) - same :]
        elif last == len(ours) or end == len(theirs):
            quoted, written = quoted[:same], written[:same]
        if _letters("".join(quoted)) == _letters("".join(written)) and not all(
            map(_is_number, quoted)
        ):
            continue  # `light house`
        if len(quoted) == len(written):
            yield from map(Difference, quoted, written)
        else:
            yield Difference(" ".join(quoted), " ".join(written))


def _distance(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return how many words have to be changed, left out or put in between."""
    return Levenshtein.distance(list(map(_folded, ours)), list(map(_folded, theirs)))


def _equal(ours: Sequence[str], theirs: Sequence[str]) -> list[MatchingBlock]:
    """Return the runs of equal words in order, and last an empty one at the ends of both."""
    steps = Levenshtein.opcodes(list(map(_folded, ours)), list(map(_folded, theirs)))
    return steps.as_matching_blocks()


def _differs(one: Difference) -> bool:
    own, other = one.quoted.casefold(), one.written.casefold()
    if is_same_amount(own, other) or _ARTICLES.issuperset([*own.split(), *other.split()]):
        return False
    own, other = _folded(own), _folded(other)
    same = Prefix.similarity(own, other)
    is_inflected = same >= _LEAST_STEM and max(len(own), len(other)) - same <= _LONGEST_ENDING
    return _is_number(own) or _is_number(other) or not is_inflected


def _is_misspelt(one: Difference, *, anyhow: bool = False) -> bool:
    """Return whether one letter is wrong, is missing or is too many, and not the first one.

    Of short words that is likelier another word, unless the quote is damaged `anyhow`.
    """
    own, other = _letters(one.quoted), _letters(one.written)
    if not own or not other or _is_number(one.quoted) or _is_number(one.written):
        return False
    is_long = min(len(own), len(other)) >= _SHORTEST_MISSPELT
    return (is_long or anyhow) and own[0] == other[0] and OSA.distance(own, other) == 1


def _is_number(words: str) -> bool:
    return words[:1].isdigit()


def _left_out(quote: str, passage: QuotedPassage) -> Iterator[Difference]:
    """Yield the beginning of a sentence that was cut off, where it denies what was quoted."""
    around = sentences_around(passage)
    before = passage.content[around.start : passage.start]
    capital = next(filter(str.isalnum, quote), "").isupper()
    continues = next(filter(str.isalnum, passage.text), "").islower()
    words = _words(before)
    denies = not _DENIALS.isdisjoint(word.casefold() for word in words)
    if denies and (len(words) <= _OPENING or (capital and continues)):
        yield Difference("", " ".join(words))


def _folded(word: str) -> str:
    """Return a word in small letters, without accents."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _letters(text: str) -> str:
    """Return letters and digits alone, with a digit that looks like a letter as that letter."""
    folded = "".join(letter for letter in _folded(text) if letter.isalnum())
    return folded.translate(_LOOKS_LIKE)
