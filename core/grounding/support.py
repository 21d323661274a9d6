"""Decides in code whether a sentence is carried by the words it quotes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice

from core.embeddings.base import Embedder
from core.embeddings.remembering import RememberingEmbedder
from core.grounding.antonyms import GENERAL, sides_by_form
from core.grounding.bounds import bound_differs
from core.grounding.copied import (
    adds_link,
    adds_operation,
    adds_quotation,
    has_all_code,
    stands_in,
    without_false_code,
)
from core.grounding.directions import direction_differs
from core.grounding.exchanges import is_exchanged
from core.grounding.flaws import Flaw
from core.grounding.foreign import denies_otherwise, has_unknown_name, quantities_in
from core.grounding.languages import ENGLISH, language_of
from core.grounding.names import unproved_names
from core.grounding.numbers import Quantity, is_of_quantity, quantities, unproved
from core.grounding.ordering import order_differs
from core.grounding.pairing import Clauses, is_mispaired, is_turned
from core.grounding.parts import parts_of, place_of
from core.grounding.places import Alignments
from core.grounding.planted import PlantedTextFinder, Setting
from core.grounding.polarity import polarity_differs
from core.grounding.quoting import QuotedPassage
from core.grounding.replacements import replacements
from core.grounding.roles import roles_differ
from core.grounding.strength import strength_differs
from core.grounding.units import rates_differ
from core.grounding.words import alike, read
from core.text.planted import NOTHING_PLANTED
from core.text.sentences import sentences

_NAMED = re.compile(r"(?<=[a-z,] )[A-Z][\w'’-]+")
_LOWER_CASE = re.compile(r"\b[^\W\d_A-Z][^\W\d_]*")

__all__ = ["Flaw", "QuotedPassage", "Scale", "Support", "SupportChecker"]


_PREPARED_AT_ONCE = 4
"""Sentences; they take about 15 ms on two old cores."""
_MOST_PREPARED = 64
"""Sentences: a quarter of a second, which a model keeps silent before it writes."""
_MOST_REPLACED = 8
"""Words of a claim whose meaning is compared one by one."""
_LONGEST_CLAIM = 800
"""Characters; no sentence is longer, and what is would take long to compare."""


@dataclass(frozen=True, slots=True)
class Support:
    """What was found about one sentence."""

    flaw: Flaw | None = None
    """None: its quotes carry it."""
    cross_language: bool = False
    """Whether it is in another language than its quotes, so that only numbers, names, code
    and negation could be compared."""
    poisoned: tuple[int, ...] = ()
    """Positions of those quotes whose passages surely hold planted text."""


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
        self._embedder = RememberingEmbedder(embedder)
        self._scale = scale or Scale()
        self._sides = sides_by_form()
        self._more_or_less = {
            form for form, sides in self._sides.items() if any(axis == GENERAL for axis, _ in sides)
        }
        self.finder = PlantedTextFinder(self._embedder)

    async def prepare(self, passages: Iterable[QuotedPassage], *questions: str) -> None:
        """Embed what claims will be compared with, ahead of them: the first passages' sentences.

        A few at a time: whoever else needs the model waits for those at most.

        Args:
            passages: What may be quoted, likeliest first.
            questions: As `judge` is told them.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        await self.finder.warm_up()
        texts = list(questions)
        for passage in passages:
            parts = parts_of(passage.content)
            texts += [
                place_of(passage.content, passage.headings),
                *(passage.content[start:end] for start, end in parts),
            ]
            if len(texts) >= _MOST_PREPARED:
                break
        for start in range(0, min(len(texts), _MOST_PREPARED), _PREPARED_AT_ONCE):
            await self._embedder.embed_passages(texts[start : start + _PREPARED_AT_ONCE])

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
        if len(sentence) > _LONGEST_CLAIM and not stands_in(
            sentence, [quote.text for quote in quotes]
        ):
            return Support(Flaw.MEANING)
        pair = _Pair(sentence, quotes, questions)
        flaw = self._flaw_in_words(pair)
        if flaw is None and not pair.is_verbatim and pair.is_english:
            flaw = await self._flaw_in_meaning(pair)
            if flaw is None and await self._replaces_words(pair):
                flaw = Flaw.WORD
        if flaw is not None:
            return Support(flaw, pair.is_cross_language)
        setting = Setting(tuple(questions), pair.place, not pair.is_cross_language)
        planted = [
            NOTHING_PLANTED if q.is_trusted else await self.finder.planted_in(q.content, setting)
            for q in quotes
        ]
        found = zip(quotes, planted, strict=True)
        if any(there.touches(quote.start, quote.end) for quote, there in found):
            flaw = Flaw.OUT_OF_PLACE
        poisoned = tuple(number for number, there in enumerate(planted) if there.sure)
        return Support(flaw, pair.is_cross_language, poisoned)

    def _flaw_in_words(self, pair: "_Pair") -> Flaw | None:
        if not has_all_code(pair.code, pair.quoted):
            return Flaw.CODE
        if adds_link(pair.sentence, pair.quoted):
            return Flaw.LINK
        if pair.is_verbatim:
            return None
        if pair.is_in_another_language:
            return Flaw.LANGUAGE
        if pair.has_unproved_number or adds_operation(pair.claim.prose, pair.proof.prose):
            return Flaw.NUMBER
        return self._flaw_in_english(pair) if pair.is_english else self._flaw_in_foreign(pair)

    def _flaw_in_english(self, pair: "_Pair") -> Flaw | None:
        texts = (pair.claim.prose, pair.proof.prose)
        if pair.has_unproved_name or adds_quotation(pair.sentence, pair.quoted):
            return Flaw.NAME
        if is_mispaired(pair.clauses):
            return Flaw.NUMBER
        if bound_differs(*texts) or order_differs(*texts):
            return Flaw.NUMBER
        if rates_differ(*([word.lower for word in r.words] for r in (pair.claim, pair.proof))):
            return Flaw.NUMBER
        if polarity_differs(pair.claim, pair.proof):
            return Flaw.NEGATION
        if direction_differs(pair.claim, pair.proof, self._sides):
            return Flaw.DIRECTION
        if is_turned(pair.clauses, self._sides):
            return Flaw.DIRECTION
        if strength_differs(pair.claim, pair.proof):
            return Flaw.STRENGTH
        if roles_differ(pair.claim, pair.proof) or is_exchanged(
            pair.alignments, self._more_or_less
        ):
            return Flaw.ROLES
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
        if not pair.claim.words:
            return None  # it is code alone, which stands in the quotes
        scale = self._scale
        coverage = pair.coverage
        cosine_needed = (scale.bar - scale.of_coverage * coverage) / scale.of_cosine
        if coverage < scale.whole_coverage and len(pair.claim.content) < scale.few_words:
            cosine_needed = max(cosine_needed, scale.cosine_of_few)
        if cosine_needed <= 0:
            return None
        cosine = await self._cosine(pair.claim.prose, [pair.proof.prose])
        if cosine < cosine_needed and len(pair.sentences) > 1:
            cosine = await self._cosine(pair.claim.prose, pair.sentences)
        return None if cosine >= cosine_needed else Flaw.MEANING

    async def _cosine(self, claim: str, texts: Sequence[str]) -> float:
        """Return the cosine with the likest of the texts."""
        own, *theirs = await self._embedder.embed_passages([claim, *texts])
        return max(float(own @ vector) for vector in theirs)

    async def _replaces_words(self, pair: "_Pair") -> bool:
        """Return whether a word stands in the place of another one that says something else."""
        found = list(islice(replacements(pair.claim, pair.alignments), _MOST_REPLACED))
        if not found:
            return False
        await self._embedder.embed_passages([text for one in found for text in one.restored])
        return any(
            [await self._cosine(pair.claim.prose, one.restored) < one.least_cosine for one in found]
        )


class _Pair:
    """A sentence beside its quotes."""

    def __init__(
        self, sentence: str, quotes: Sequence[QuotedPassage], questions: Sequence[str]
    ) -> None:
        texts = [quote.text for quote in quotes]
        self.quotes = quotes
        self.sentence = sentence
        self.quoted = texts
        self.place = place_of(quotes[0].content, quotes[0].headings)
        self.proof = read("\n\n".join(texts))
        self.code = read(sentence).code
        self.claim = read(without_false_code(sentence, self.proof.code))
        self._titles = read("\n\n".join(title for q in quotes for title in q.headings))
        self.is_verbatim = stands_in(sentence, texts)
        own = language_of(self.claim.prose)
        asked = language_of(*questions)
        self.quoted_language = language_of(self.proof.prose, quotes[0].content) or asked or ENGLISH
        # Where in doubt it is the book's language, which is compared more closely.
        self.language = asked if asked and own == asked else self.quoted_language
        self.is_in_another_language = own not in {None, asked, self.quoted_language} and bool(asked)

    @cached_property
    def sentences(self) -> list[str]:
        """The quotes' sentences, one by one."""
        return [part for text in self.quoted for part in sentences(text)]

    @property
    def is_cross_language(self) -> bool:
        """Whether the sentence and its quotes are in different languages."""
        return self.language != self.quoted_language

    @property
    def is_english(self) -> bool:
        """Whether both are in English."""
        return self.language == self.quoted_language == ENGLISH

    @cached_property
    def alignments(self) -> Alignments:
        """Both as lines of words that can be compared place by place."""
        return Alignments(self.claim, self.proof)

    @cached_property
    def clauses(self) -> Clauses:
        """Both as clauses with their numbers and names."""
        return Clauses(self.claim, self.proof)

    @property
    def has_unproved_number(self) -> bool:
        """Whether a number of the sentence is not in the quotes."""
        claimed = self._quantities_in(self.claim.prose, self.language)
        proof = self._quantities_in(self.proof.prose, self.quoted_language)
        if self.is_cross_language:
            # Units and spelled numbers are written in the words of each language.
            claimed = [replace(q, unit=None, per=None) for q in claimed if not q.spelled]
            proof = [replace(q, unit=None) for q in proof]
        return bool(unproved(claimed, proof, self.proof.prose.casefold()))

    @staticmethod
    def _quantities_in(text: str, language: str) -> Sequence[Quantity]:
        return quantities(text) if language == ENGLISH else quantities_in(text, language)

    @property
    def has_unproved_name(self) -> bool:
        """Whether a name of the sentence is neither in the quotes nor in their headings."""
        found = [_capitals_in(quote.content) for quote in self.quotes]
        common = frozenset().union(*(lower for lower, _ in found))
        named = frozenset().union(*(names for _, names in found)) - common
        return bool(unproved_names(self.claim, self.proof, self._titles, common, named))

    @property
    def coverage(self) -> float:
        """The share of the content words that the quotes have: 0 to 1; numbers aside."""
        own = [word.stem for word in self.claim.content if not is_of_quantity(word.lower)]
        if not own:
            return 1.0
        theirs = self.proof.stems | self._titles.stems
        return sum(any(alike(root, other) for other in theirs) for root in own) / len(own)


@lru_cache(maxsize=128)
def _capitals_in(content: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that a chunk writes in lower case, and those it also has with a capital."""
    named = frozenset(word.lower() for word in _NAMED.findall(content))
    return frozenset(_LOWER_CASE.findall(content)), named
