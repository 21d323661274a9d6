"""Decides in code whether a sentence is carried by the words it quotes."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.embeddings.base import Embedder
from core.grounding.antonyms import sides_by_form
from core.grounding.directions import direction_differs
from core.grounding.foreign import denies_otherwise, has_unknown_name
from core.grounding.languages import ENGLISH, language_of
from core.grounding.names import unproved_names
from core.grounding.numbers import is_of_quantity, quantities, unproved
from core.grounding.pairing import is_mispaired
from core.grounding.polarity import polarity_differs
from core.grounding.quoting import QuotedPassage
from core.grounding.relevance import RelevanceGauge, Setting
from core.grounding.words import Reading, alike

_INLINE_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_WORDS_ALONE = re.compile(r"[\w %.,$€£-]+")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)|[\u00ad\u200b-\u200d\u2060\ufeff]")
_ONE_MARK = str.maketrans("“”„‟«»‘’‚‛–—−‑", '""""""\'\'\'\'----')
_QUOTATION = re.compile(r"[\"“„«](.{3,}?)[\"”“»]")
_MISTAKEN = re.compile(
    r"\b(?:myths?|wrong(?:ly)?|false(?:ly)?|mistaken(?:ly)?|untrue|incorrect(?:ly)?|misconceptions?"
    r"|fallac(?:y|ies)|in theory|supposedly|allegedly)\b"
)
_SURE = re.compile(r"\b(?:always|never|only|exactly|unless|except|every|none|fewer than)\b")
_LOWER_CASE = re.compile(r"\b[^\W\d_A-Z][^\W\d_]*")

__all__ = ["Flaw", "QuotedPassage", "Scale", "Support", "SupportChecker"]


_LEADS_AWAY = re.compile(
    r"(?i)[a-z][a-z0-9+.-]*://\S+|\b(?:javascript|data|vbscript|mailto|tel|file):\S+"
    r"|\b[a-z0-9-]{2,}(?:\.[a-z0-9-]+)*\.[a-z]{2,24}\b(?:/\S*)?|//\S+"
    r"|<[@!#&][^>\s]*>?|(?<![\w.])@\w+|[\w.+-]+@[\w-]+\.\w+"
)
"""Addresses, names of hosts, and the ways to call people in chats."""
_OPERATION = re.compile(
    r"(?P<left>[\w)\]%.,$€£]*)\s*(?P<sign>[=<>≠≤≥±×÷^→←↑↓∝≈+*/−]|(?<=\s)[-–](?=\s))\s*"
    r"(?P<right>[($€£]*\w*)"
)
_LONGEST_CLAIM = 800
"""Characters; no sentence is longer, and what is would take long to compare."""


class Flaw(StrEnum):
    """Why a sentence does not pass."""

    UNCITED = "uncited"
    INVENTED_QUOTE = "invented quote"
    NUMBER = "number"
    NAME = "name"
    CODE = "code"
    LINK = "link"
    LANGUAGE = "language"
    NEGATION = "negation"
    DIRECTION = "direction"
    MEANING = "meaning"
    OUT_OF_PLACE = "out of place"

    @property
    def reason(self) -> str:
        """One sentence that tells the writer what to change."""
        return _REASONS[self]


_REASONS = {
    Flaw.UNCITED: "The sentence cites no passage: quote the words that it rests on.",
    Flaw.INVENTED_QUOTE: (
        "The quoted words do not stand in the cited passage: copy whole sentences from it, "
        "word for word, and give that passage's number."
    ),
    Flaw.NUMBER: (
        "The sentence has a number or a unit that the quoted words do not have: use only theirs, "
        "or quote the words that have it."
    ),
    Flaw.NAME: (
        "The sentence has a name that the quoted words do not have: use only theirs, or quote "
        "the words that have it."
    ),
    Flaw.CODE: "The sentence has code that the quoted words do not have: copy it unchanged.",
    Flaw.LANGUAGE: "The sentence is neither in the language of the question nor in the book's.",
    Flaw.LINK: (
        "The sentence has a link, an address or a mention that the quoted words do not have: "
        "leave it out."
    ),
    Flaw.NEGATION: (
        "The sentence denies what the quoted words say, or says what they deny: keep every "
        "`not`, `never` and `without` of theirs and add none."
    ),
    Flaw.DIRECTION: (
        "The sentence turns a direction of the quoted words round, such as rise and fall or "
        "supply and demand: keep theirs."
    ),
    Flaw.MEANING: (
        "The quoted words do not say what the sentence says: stay closer to them, or quote the "
        "words that say it."
    ),
    Flaw.OUT_OF_PLACE: (
        "The sentence has to do neither with the question nor with the section that it is taken "
        "from: leave it out."
    ),
}


@dataclass(frozen=True, slots=True)
class Support:
    """What was found about one sentence."""

    flaw: Flaw | None = None
    """None: its quotes carry it."""
    cross_language: bool = False
    """Whether it is in another language than its quotes, so that only numbers, names, code
    and negation could be compared."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How likeness of meaning adds up; set on one half of scripted claims of a book."""

    of_coverage: float = 6.0
    """Weight of the share of the sentence's words that the quotes have."""
    of_cosine: float = 6.0
    """Weight of the cosine of the sentence and its quotes."""
    bar: float = 7.0
    """What both have to add up to."""
    few_words: int = 6
    """Content words; in a claim with fewer ..."""
    whole_coverage: float = 0.85
    """... that has others than its quotes, one other word may be the whole point, so that ..."""
    cosine_of_few: float = 0.78
    """... both have to mean nearly the same."""
    foreign_coverage: float = 0.5
    """Least share of common words in a language that the embedder does not know."""


class SupportChecker:
    """Compares sentences with the passages they quote.

    It reads English closely, other languages by numbers, names, code, negation and the
    share of common words. Safe to share by concurrent answers.
    """

    def __init__(self, embedder: Embedder, scale: Scale | None = None) -> None:
        """Judge with `embedder`, the local English model, on whose cosines `scale` was set."""
        self._embedder = embedder
        self._scale = scale or Scale()
        self._sides = sides_by_form()
        self._gauge = RelevanceGauge(embedder)

    async def flaw_of(
        self, sentence: str, quotes: Sequence[QuotedPassage], *questions: str
    ) -> Flaw | None:
        """Return what is wrong with a sentence; none when its quotes carry it together."""
        return (await self.judge(sentence, quotes, *questions)).flaw

    async def judge(
        self, sentence: str, quotes: Sequence[QuotedPassage], *questions: str
    ) -> Support:
        """Return what `flaw_of` does, and whether the languages allowed a close look.

        Args:
            sentence: One sentence of an answer.
            quotes: What it rests on.
            questions: What it has to do with: the question first, then a quote or an earlier
                question that it rests on.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        if not quotes:
            return Support(Flaw.UNCITED)
        if len(sentence) > _LONGEST_CLAIM and not _stands_in(sentence, quotes):
            return Support(Flaw.MEANING)
        pair = _Pair(sentence, quotes, questions)
        flaw = self._flaw_in_words(pair)
        if flaw is None and not pair.is_verbatim and pair.is_english:
            flaw = await self._flaw_in_meaning(pair)
        if flaw is None and await self._is_out_of_place(pair, questions):
            flaw = Flaw.OUT_OF_PLACE
        return Support(flaw, pair.is_cross_language)

    async def _is_out_of_place(self, pair: "_Pair", questions: Sequence[str]) -> bool:
        """Compare in the book's language; a translated claim is judged by its quote."""
        setting = Setting(tuple(questions), pair.place, not pair.is_cross_language)
        said = " ".join(pair.quoted) if pair.is_cross_language else pair.sentence
        return await self._gauge.is_out_of_place(said, pair.quotes, setting)

    def _flaw_in_words(self, pair: "_Pair") -> Flaw | None:
        if not pair.has_all_code:
            return Flaw.CODE
        if pair.has_unproved_link:
            return Flaw.LINK
        if pair.is_verbatim:
            return None
        if pair.is_in_another_language:
            return Flaw.LANGUAGE
        if pair.has_unproved_number or pair.has_unproved_operation:
            return Flaw.NUMBER
        return self._flaw_in_english(pair) if pair.is_english else self._flaw_in_foreign(pair)

    def _flaw_in_english(self, pair: "_Pair") -> Flaw | None:
        if pair.has_unproved_name or pair.has_unproved_quotation:
            return Flaw.NAME
        if is_mispaired(pair.claim.prose, pair.proof.prose):
            return Flaw.NUMBER
        if polarity_differs(pair.claim, pair.proof) or pair.doubts_otherwise:
            return Flaw.NEGATION
        if direction_differs(pair.claim, pair.proof, self._sides):
            return Flaw.DIRECTION
        return None

    def _flaw_in_foreign(self, pair: "_Pair") -> Flaw | None:
        if has_unknown_name(pair.claim, pair.proof, {pair.language, pair.quoted_language}):
            return Flaw.NAME
        texts = (pair.claim.prose, pair.proof.prose)
        if denies_otherwise(*texts, pair.language, pair.quoted_language):
            return Flaw.NEGATION
        if not pair.is_cross_language and pair.coverage < self._scale.foreign_coverage:
            return Flaw.MEANING
        return None

    async def _flaw_in_meaning(self, pair: "_Pair") -> Flaw | None:
        scale = self._scale
        coverage = pair.coverage
        cosine_needed = (scale.bar - scale.of_coverage * coverage) / scale.of_cosine
        if coverage < scale.whole_coverage and len(pair.claim.content) < scale.few_words:
            cosine_needed = max(cosine_needed, scale.cosine_of_few)
        if cosine_needed <= 0:
            return None
        own, theirs = await self._embedder.embed_passages([pair.claim.prose, pair.proof.prose])
        return None if float(own @ theirs) >= cosine_needed else Flaw.MEANING


class _Pair:
    """A sentence beside its quotes."""

    def __init__(
        self, sentence: str, quotes: Sequence[QuotedPassage], questions: Sequence[str]
    ) -> None:
        texts = [quote.text for quote in quotes]
        self.quotes = quotes
        self.sentence = sentence
        self.quoted = texts
        self.place = " › ".join(quotes[0].headings) or quotes[0].content
        self.proof = Reading("\n\n".join(texts))
        self._code = Reading(sentence).code
        self.claim = Reading(_without_false_code(sentence, self.proof.code))
        self._titles = Reading("\n\n".join(title for q in quotes for title in q.headings))
        self.is_verbatim = _stands_in(sentence, quotes)
        own = language_of(self.claim.prose)
        asked = language_of(*questions)
        self.quoted_language = language_of(self.proof.prose, quotes[0].content) or asked or ENGLISH
        # Where in doubt it is the book's language, which is compared more closely.
        self.language = asked if asked and own == asked else self.quoted_language
        self.is_in_another_language = own not in {None, asked, self.quoted_language} and bool(asked)

    @property
    def is_cross_language(self) -> bool:
        """Whether the sentence and its quotes are in different languages."""
        return self.language != self.quoted_language

    @property
    def is_english(self) -> bool:
        """Whether both are in English."""
        return self.language == self.quoted_language == ENGLISH

    @property
    def has_all_code(self) -> bool:
        """Whether the quotes hold the sentence's code as whole words, blanks aside."""
        source = "\n".join(self.quoted)
        return all(_is_in(code.removesuffix("()"), source) for code in self._code)

    @property
    def has_unproved_link(self) -> bool:
        """Whether the sentence leads somewhere, or calls somebody, that the quotes do not."""
        known = set(_LEADS_AWAY.findall(" ".join(self.quoted)))
        written = unicodedata.normalize("NFKC", self.sentence)
        return any(link not in known for link in _LEADS_AWAY.findall(written))

    @property
    def has_unproved_operation(self) -> bool:
        """Whether the sentence has a sign of mathematics between other things than the quotes."""
        return not _operations(self.claim.prose) <= _operations(self.proof.prose)

    @property
    def has_unproved_number(self) -> bool:
        """Whether a number of the sentence is not in the quotes."""
        claimed = quantities(self.claim.prose)
        proof = quantities(self.proof.prose)
        if self.is_cross_language:
            # Units and spelled numbers are written in the words of each language.
            claimed = [replace(q, unit=None) for q in claimed if not q.spelled]
            proof = [replace(q, unit=None) for q in proof]
        return bool(unproved(claimed, proof))

    @property
    def has_unproved_name(self) -> bool:
        """Whether a name of the sentence is neither in the quotes nor in their headings."""
        words = (_LOWER_CASE.findall(quote.content) for quote in self.quotes)
        common = frozenset(word for found in words for word in found)
        return bool(unproved_names(self.claim, self.proof, self._titles, common))

    @property
    def has_unproved_quotation(self) -> bool:
        """Whether words in quotation marks are not in the quotes."""
        source = _plain(" ".join(self.quoted))
        return any(_plain(said) not in source for said in _QUOTATION.findall(self.sentence))

    @property
    def doubts_otherwise(self) -> bool:
        """Whether one calls something a mistake, or holds it for sure, and the other does not."""
        ours, theirs = self.claim.prose.casefold(), self.proof.prose.casefold()
        mistaken = bool(_MISTAKEN.search(ours)) != bool(_MISTAKEN.search(theirs))
        surer = {word for word in _SURE.findall(ours) if word not in _SURE.findall(theirs)}
        return mistaken or bool(surer)

    @property
    def coverage(self) -> float:
        """The share of the content words that the quotes have: 0 to 1; numbers aside."""
        own = [word.stem for word in self.claim.content if not is_of_quantity(word.lower)]
        if not own:
            return 1.0
        theirs = self.proof.stems | self._titles.stems
        return sum(any(alike(root, other) for other in theirs) for root in own) / len(own)


def _stands_in(sentence: str, quotes: Sequence[QuotedPassage]) -> bool:
    """Return whether the sentence is all of a quote, or of all quotes together, sign by sign."""
    texts = [_plain(quote.text) for quote in quotes]
    return _plain(sentence) in {*texts, " ".join(texts)}


def _plain(text: str) -> str:
    """Return a text on one line, without case, emphasis and the form of its quotation marks."""
    text = _EMPHASIS.sub("", unicodedata.normalize("NFC", text).translate(_ONE_MARK))
    return " ".join(text.split()).casefold().strip(" .!:;\"'")


def _operations(text: str) -> set[tuple[str, str, str]]:
    """Return the signs of mathematics, each with what stands before and behind it."""
    found = _OPERATION.finditer(text.casefold())
    return {(m["left"].strip("().,"), m["sign"], m["right"].strip("(")) for m in found}


def _without_false_code(sentence: str, proved: Sequence[str]) -> str:
    """Return the sentence with that code as prose which no quote has as code."""

    def marked(match: re.Match[str]) -> str:
        code = match.group(1)
        return match.group() if not _WORDS_ALONE.fullmatch(code) or code in proved else code

    return _INLINE_CODE.sub(marked, sentence)


def _is_in(code: str, source: str) -> bool:
    """Return whether code stands in a source, not inside of longer words, blanks aside."""
    parts = [re.escape(part) for part in code.split()]
    if not parts:
        return True
    first, last = code.strip()[0], code.strip()[-1]
    before = r"(?<![\w.])" if first.isalnum() else ""
    behind = r"(?!\w)" if last.isalnum() else ""
    return re.search(before + r"\s*".join(parts) + behind, source) is not None
