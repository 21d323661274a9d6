"""Estimates by their words how likely one answer serves two questions."""

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from core.answering.verified import ScopeKind, VerifiedAnswer, VerifiedScope, fold
from core.domain.errors import EmbeddingError
from core.domain.sentences import Span
from core.domain.text_features import Logistic, probability, shipped
from core.index.terms import TermStatistics
from core.providers.embeddings.base import SentenceEmbedder, Vectors

logger = logging.getLogger(__name__)


FILE = Path(__file__).with_name("likeness.json")
"""Fitted by `python -m tests.bench.verified --fit`."""
_WORD = re.compile(r"\w+(?:['’]\w+)?|[^\w\s?.,!;:]+")
ALONE = "alone:"
"""Begins the name of a figure that is a word."""
_MOST_WORDS = 25
_MOST_TERMS = 8


@dataclass(frozen=True, slots=True)
class Wording:
    """A question, read word by word."""

    text: str
    vector: Vectors
    """(dimensions,) of the whole."""
    words: tuple[str, ...]
    terms: tuple[frozenset[int], ...]
    """Of each word; none for those that say nothing by themselves."""
    in_context: Vectors
    """(n_words, dimensions) what each word means where it stands."""

    @property
    def all_terms(self) -> list[int]:
        """Its terms, each once."""
        return sorted(frozenset[int]().union(*self.terms))


async def read_wordings(
    texts: Sequence[str],
    embedder: SentenceEmbedder,
    encode: Callable[[str], Sequence[int]],
) -> list[Wording]:
    """Return questions as they are compared, in order.

    Raises:
        EmbeddingError: when the model gives no usable vectors.
    """
    found = [list(_WORD.finditer(text)) for text in texts]
    spans = [[Span(*match.span()) for match in own] for own in found]
    vectors, words = await embedder.embed_with_sentences(texts, spans)
    return [
        Wording(
            text,
            vector,
            tuple(match.group().casefold() for match in own),
            tuple(frozenset(encode(match.group())) for match in own),
            of_words,
        )
        for text, vector, own, of_words in zip(texts, vectors, found, words, strict=True)
    ]


def likeness(asked: Wording, other: Wording, statistics: TermStatistics) -> float:
    """Return the probability, 0 to 1, that one answer would serve both questions."""
    known = dict.fromkeys(head().names, 0.0)
    return probability(head().log_odds(known | figures(asked, other, statistics)))


def head() -> Logistic:
    """Return the fitted regression."""
    return shipped(FILE)


def figures(asked: Wording, other: Wording, statistics: TermStatistics) -> dict[str, float]:
    """Return what is known of two questions.

    Neither order of words nor meaning tells by itself: those that differ in one word that counts
    are more alike than most that mean the same. The names of some figures are words: each that
    says little by itself, such as `not` or `why`, and stands in one of the questions alone.
    """
    ours, theirs = asked.all_terms, other.all_terms
    added, missing = set(ours) - set(theirs), set(theirs) - set(ours)
    cosine = float(asked.vector @ other.vector)
    matcher = SequenceMatcher(None, asked.words, other.words, autojunk=False)
    order = matcher.ratio()
    covered = statistics.coverage(ours, theirs)
    covers = statistics.coverage(theirs, ours)
    changes = [one for one in matcher.get_opcodes() if one[0] != "equal"]
    swaps = [one for one in changes if one[0] == "replace"]
    plain = {w for w, t in zip(asked.words, asked.terms, strict=True) if not t}
    their_plain = {w for w, t in zip(other.words, other.terms, strict=True) if not t}
    frame = len(plain & their_plain) / (len(plain | their_plain) or 1)
    longest = max(len(asked.words), len(other.words), 1)
    told = {
        "cosine": cosine,
        "order": order,
        "covered": covered,
        "covers": covers,
        "frame": frame,
        "fewer": float(min(len(added), len(missing), 4)),
        "more": float(min(max(len(added), len(missing)), _MOST_TERMS)),
        "nothing_added": float(not added),
        "nothing_missing": float(not missing),
        "rarest_added": _rarest(added, statistics),
        "rarest_missing": _rarest(missing, statistics),
        "numbers": float(_numbers(asked) != _numbers(other)),
        "length": min(len(asked.words), _MOST_WORDS) / _MOST_WORDS,
        "other_length": abs(len(asked.words) - len(other.words)) / longest,
        "changes": float(min(len(changes), 6)),
        "one_swap": float(len(changes) == len(swaps) == 1),
        "swapped": min((_swapped(asked, other, swap) for swap in swaps), default=1.0),
        **_aligned(asked, other, statistics),
    }
    alone = {f"{ALONE}{word}": 1.0 for word in plain ^ their_plain}
    return told | _products(told) | alone


def _products(told: Mapping[str, float]) -> dict[str, float]:
    pairs = (
        ("cosine", "cosine"), ("order", "order"), ("cosine", "order"), ("covered", "covers"),
        ("covered", "order"), ("covers", "order"), ("all", "all_theirs"), ("least", "least_theirs"),
        ("least", "order"), ("least_theirs", "order"), ("cosine", "least"), ("swapped", "order"),
        ("frame", "order"), ("frame", "covers"), ("frame", "covered"),
    )  # fmt: skip
    return {f"{one}*{other}": told[one] * told[other] for one, other in pairs}


def _aligned(asked: Wording, other: Wording, statistics: TermStatistics) -> dict[str, float]:
    """Return how near the words that count come to those of the other question, in context.

    Source: Zhang et al., BERTScore (2020), weighed by rarity.
    """
    ours = [n for n, terms in enumerate(asked.terms) if terms]
    theirs = [n for n, terms in enumerate(other.terms) if terms]
    if not ours or not theirs:
        return dict.fromkeys(("all", "all_theirs", "least", "least_theirs"), 0.0)
    near = asked.in_context[ours] @ other.in_context[theirs].T
    found = {}
    for name, best, words, numbers in (
        ("", near.max(1), asked, ours),
        ("_theirs", near.max(0), other, theirs),
    ):
        rare = np.array([statistics.rarity(sorted(words.terms[n])).sum() for n in numbers])
        found[f"all{name}"] = float(best @ rare / rare.sum())
        found[f"least{name}"] = float(best.min())
    return found


def _swapped(asked: Wording, other: Wording, swap: tuple[str, int, int, int, int]) -> float:
    _, begin, end, other_begin, other_end = swap
    near = asked.in_context[begin:end] @ other.in_context[other_begin:other_end].T
    return float(near.max())


def _numbers(wording: Wording) -> set[str]:
    return {word for word in wording.words if any(sign.isdigit() for sign in word)}


def _rarest(terms: set[int], statistics: TermStatistics) -> float:
    return float(max(statistics.rarity(sorted(terms)), default=0.0)) / 10 if terms else 0.0


OFFERED_FROM = 0.274
"""Likeness from which an answer is offered, or a model is asked; fitted with its weights."""
SHOWN_FROM = 0.9
"""What a model's yes has to be worth, of 1, for an answer to be shown without being asked for."""
REFUSED_BELOW = 0.1
"""A model's yes below which an answer is not even offered."""
_MOST_JUDGED = 3
_MOST_OFFERED = 1
_REMEMBERED = 4_096
"""Wordings that stay read in memory, about 20 kB each."""

ServesBoth = Callable[[str, VerifiedAnswer], Awaitable[float | None]]
"""Asks a model whether one answer would serve a question and the one that it was given to; None:
it does not say."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The verified answers to a question: one that is shown, and others that are offered."""

    shown: VerifiedAnswer | None = None
    """It answers the question."""
    offered: tuple[VerifiedAnswer, ...] = ()
    """They may; likeliest first."""


class Matcher:
    """Compares questions with those that staff answered."""

    def __init__(self, embedder: SentenceEmbedder) -> None:
        """Compare by the words' meaning.

        Args:
            embedder: The offline model: it is the same for every course, and always there.
        """
        self._embedder = embedder
        self._read: OrderedDict[tuple[str, str], Wording] = OrderedDict()

    def exact(
        self, question: str, scope: VerifiedScope, answers: Sequence[VerifiedAnswer]
    ) -> VerifiedAnswer | None:
        """Return the answer to the very same question, of whichever wording; None: there is none.

        The latest, where several are.
        """
        folded = fold(question)
        same = (
            answer
            for answer in reversed(of_scope(answers, scope))
            if folded and any(fold(wording) == folded for wording in answer.wordings)
        )
        return next(same, None)

    async def like(
        self,
        question: str,
        scope: VerifiedScope,
        answers: Sequence[VerifiedAnswer],
        statistics: TermStatistics,
        encode: Callable[[str], Sequence[int]],
    ) -> list[tuple[float, VerifiedAnswer]]:
        """Return the answers that may serve a question, with their likeness, likeliest first.

        Without an answer of the embedding model there are none.
        """
        near = of_scope(answers, scope)
        if not near:
            return []
        course_id = near[0].course_id
        try:
            asked, *_ = await self._wordings([question], course_id, encode)
            texts = [(answer, wording) for answer in near for wording in answer.wordings]
            read = await self._wordings([text for _, text in texts], course_id, encode)
        except EmbeddingError as error:
            logger.warning("no answer of the staff is looked for: %s", error)
            return []

        def ranked() -> list[tuple[float, VerifiedAnswer]]:
            by_id = {answer.answer_id: answer for answer in near}
            scores = dict.fromkeys(by_id, 0.0)
            for (answer, _), wording in zip(texts, read, strict=True):
                score = likeness(asked, wording, statistics)
                scores[answer.answer_id] = max(scores[answer.answer_id], score)
            found = [(score, by_id[name]) for name, score in scores.items()]
            likely = [one for one in found if one[0] >= OFFERED_FROM]
            return sorted(likely, key=lambda one: -one[0])

        return await asyncio.to_thread(ranked)

    async def decide(
        self,
        question: str,
        likely: Sequence[tuple[float, VerifiedAnswer]],
        serves_both: ServesBoth | None,
    ) -> Matched:
        """Return what is shown or offered of the answers that may serve a question.

        Likeness offers and never shows: that is a model's to say.
        """
        if serves_both is None:
            return Matched(offered=tuple(answer for _, answer in likely[:_MOST_OFFERED]))
        candidates = [answer for _, answer in likely[:_MOST_JUDGED]]
        said = await asyncio.gather(*(serves_both(question, one) for one in candidates))
        sure = [
            (chance, one)
            for chance, one in zip(said, candidates, strict=True)
            if chance is not None and chance >= SHOWN_FROM
        ]
        if sure:
            return Matched(shown=max(sure, key=lambda entry: entry[0])[1])
        left = [
            one
            for chance, one in zip(said, candidates, strict=True)
            if chance is None or chance >= REFUSED_BELOW
        ]
        return Matched(offered=tuple(left[:_MOST_OFFERED]))

    async def _wordings(
        self, texts: Sequence[str], course_id: str, encode: Callable[[str], Sequence[int]]
    ) -> list[Wording]:
        known = {text: self._read.get((course_id, text)) for text in texts}
        new = [text for text, wording in known.items() if wording is None]
        if new:
            read = await read_wordings(new, self._embedder, encode)
            known |= dict(zip(new, read, strict=True))
        for text, wording in known.items():
            assert wording is not None
            self._read[course_id, text] = wording
            self._read.move_to_end((course_id, text))
        while len(self._read) > _REMEMBERED:
            self._read.popitem(last=False)
        return [self._read[course_id, text] for text in texts]


def of_scope(answers: Sequence[VerifiedAnswer], scope: VerifiedScope) -> list[VerifiedAnswer]:
    """Return the answers to questions of one scope; a conversation that is not known has none."""
    if scope.kind is not ScopeKind.COURSE and not scope.value:
        return []
    return [answer for answer in answers if answer.scope == scope]
