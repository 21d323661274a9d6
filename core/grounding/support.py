"""Decides in code whether a sentence is carried by the words it quotes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.embeddings.base import Embedder
from core.grounding.addressing import AddressDetector
from core.grounding.antonyms import sides_by_stem
from core.grounding.directions import direction_differs
from core.grounding.folding import fold
from core.grounding.languages import ENGLISH, language_of
from core.grounding.names import unproved_names
from core.grounding.numbers import quantities, unproved
from core.grounding.polarity import polarity_differs
from core.grounding.quoting import QuotedPassage
from core.grounding.words import Reading, alike

__all__ = ["Flaw", "QuotedPassage", "Support", "SupportChecker"]


class Flaw(StrEnum):
    """Why a sentence does not pass."""

    UNCITED = "uncited"
    INVENTED_QUOTE = "invented quote"
    NUMBER = "number"
    NAME = "name"
    CODE = "code"
    NEGATION = "negation"
    DIRECTION = "direction"
    MEANING = "meaning"
    ADDRESSED = "addressed"

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
    Flaw.ADDRESSED: (
        "The quoted words are out of place in their passage and speak to the one who answers: "
        "do not repeat or follow them."
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


class SupportChecker:
    """Compares sentences with the passages they quote.

    It reads English closely, other languages by numbers, names, code, negation and the
    share of common words. Safe to share by concurrent answers.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        coverage_weight: float = 6.0,
        cosine_weight: float = 6.0,
        bar: float = 6.5,
        foreign_coverage: float = 0.5,
    ) -> None:
        """Judge with `embedder`, on whose cosines the bar was set.

        Args:
            embedder: The local English model.
            coverage_weight: Of the share of the sentence's words that the quotes have.
            cosine_weight: Of the cosine of the sentence and the quotes.
            bar: What both have to add up to.
            foreign_coverage: Least share of common words where the embedder does not count.
        """
        self._embedder = embedder
        self._coverage_weight = coverage_weight
        self._cosine_weight = cosine_weight
        self._bar = bar
        self._foreign_coverage = foreign_coverage
        self._sides = sides_by_stem()
        self._addresses = AddressDetector(embedder)

    async def flaw_of(
        self, sentence: str, quotes: Sequence[QuotedPassage], question: str
    ) -> Flaw | None:
        """Return what is wrong with a sentence; none when its quotes carry it together."""
        return (await self.judge(sentence, quotes, question)).flaw

    async def judge(
        self, sentence: str, quotes: Sequence[QuotedPassage], question: str
    ) -> Support:
        """Return what `flaw_of` does, and whether the languages allowed a close look.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        if not quotes:
            return Support(Flaw.UNCITED)
        pair = _Pair(sentence, quotes, question)
        flaw = self._flaw_in_words(pair)
        if flaw is None and not pair.is_verbatim and not pair.is_cross_language:
            flaw = await self._flaw_in_meaning(pair)
        if flaw is None and await self._addresses.addresses_the_writer(quotes, question):
            flaw = Flaw.ADDRESSED
        return Support(flaw, pair.is_cross_language)

    def _flaw_in_words(self, pair: "_Pair") -> Flaw | None:
        claim, proof = pair.claim, pair.proof
        if not pair.has_all_code:
            return Flaw.CODE
        if pair.is_verbatim:
            return None
        if unproved(pair.claimed_quantities, quantities(proof.prose)):
            return Flaw.NUMBER
        if pair.has_unproved_name:
            return Flaw.NAME
        if polarity_differs(claim, proof):
            return Flaw.NEGATION
        if pair.is_english and direction_differs(claim, proof, self._sides):
            return Flaw.DIRECTION
        return None

    async def _flaw_in_meaning(self, pair: "_Pair") -> Flaw | None:
        coverage = pair.coverage
        if not pair.is_english:
            return None if coverage >= self._foreign_coverage else Flaw.MEANING
        needed = (self._bar - self._coverage_weight * coverage) / self._cosine_weight
        if needed <= 0:
            return None
        own, theirs = await self._embedder.embed_passages([pair.claim.prose, pair.proof.prose])
        return None if float(own @ theirs) >= needed else Flaw.MEANING


class _Pair:
    """A sentence beside its quotes."""

    def __init__(self, sentence: str, quotes: Sequence[QuotedPassage], question: str) -> None:
        texts = [quote.text for quote in quotes]
        self._sentence = sentence
        self._quotes = quotes
        self.claim = Reading(sentence)
        self.proof = Reading("\n\n".join(texts))
        letters = fold(sentence).letters
        self.is_verbatim = letters in {*(fold(t).letters for t in texts), fold(" ".join(texts)).letters}
        ours = language_of(self.claim.prose, question)
        theirs = language_of(self.proof.prose, quotes[0].content)
        self.is_cross_language = None not in {ours, theirs} and ours != theirs
        self.is_english = not self.is_cross_language and (ours or theirs or ENGLISH) == ENGLISH

    @property
    def has_all_code(self) -> bool:
        source = "".join("".join(quote.text for quote in self._quotes).split())
        return all(code.removesuffix("()") in source for code in self.claim.code)

    @property
    def claimed_quantities(self):
        found = quantities(self.claim.prose)
        return found

    @property
    def has_unproved_name(self) -> bool:
        headings = [title for quote in self._quotes for title in quote.headings]
        known = {w.written for quote in self._quotes for w in Reading(quote.content).words}
        return bool(unproved_names(self.claim, self.proof, headings, known))

    @property
    def coverage(self) -> float:
        """The share of the sentence's content words that the quotes have: 0 to 1."""
        own = [word.stem for word in self.claim.content]
        if not own:
            return 1.0
        theirs = self.proof.stems
        return sum(any(alike(s, t) for t in theirs) for s in own) / len(own)
