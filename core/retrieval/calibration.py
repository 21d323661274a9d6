"""Fits the scale of `similarity_score` for an embedding model, from the course's own text.

The same weights and marks are fitted as for the built-in model, whose questions people asked; here
questions are made of the book, and others of texts on something else.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from core.domain import MAX_QUESTION
from core.domain.sentences import sentences
from core.index.base import SearchQuery, VectorIndex
from core.index.terms import TermStatistics
from core.retrieval.editions import OpenEdition
from core.retrieval.ranking import BY_WORDS, ScoreScale, term_weights, weighted
from core.retrieval.searching import CANDIDATES, Judging, Ranking, find

Floats = npt.NDArray[np.float64]

STEPS = 20
"""The weights are multiples of 1 / STEPS and sum to 1."""
RELEVANT_KEPT = 0.98
ANSWERABLE_KEPT = 0.95
_PLACES = 10
"""How deep in the ranking a relevant chunk counts for the mark 0.3."""
_NARROWEST = 0.02
"""Least distance of the two marks: the scale runs straight between them."""
_BATCH = 64
_FEWEST_WORDS, _MOST_WORDS = 8, 40
_RAREST, _OTHERS = 2, 2
"""Words of a sentence that a question made of it keeps."""
_SHORTEST_HEADING = 5
"""Letters; a shorter one, such as "Note", asks nothing."""


class Text(NamedTuple):
    """What questions are made of."""

    content: str
    heading: str
    """Of its section; empty: it has none."""
    source_file: str


@dataclass(frozen=True, slots=True)
class QuestionWithFiles:
    """A question, and the files that answer it."""

    text: str
    relevant: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """What one question found, in the ranking's order."""

    evidence: Floats
    """(n_chunks, 3) cosine, normalised BM25 and coverage; at least one row."""
    relevant: npt.NDArray[np.bool_]
    """(n_chunks,) whether the chunk lies in a document that answers the question."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One choice of weights, with the marks that follow from it."""

    scale: ScoreScale
    refused: float
    """What `mean_refused` gives."""


def made_questions(
    texts: Sequence[Text],
    statistics: TermStatistics,
    encode_terms: Callable[[str], Sequence[int]],
    number: int,
) -> list[QuestionWithFiles]:
    """Return questions that texts answer, drawn evenly from them, the same in each run.

    Every other one is a heading; the rest are the rarest and some other words of a sentence, in
    its order, as people type who do not know a book's words. Of a short book there are fewer.
    """
    chance = random.Random(0)
    drawn = list(texts)
    chance.shuffle(drawn)
    made: dict[str, QuestionWithFiles] = {}
    for place, one in enumerate(drawn):
        if len(made) == number:
            break
        is_heading = place % 2 and sum(map(str.isalpha, one.heading)) >= _SHORTEST_HEADING
        words = one.heading if is_heading else _few(one.content, statistics, encode_terms, chance)
        if words:
            made.setdefault(words, QuestionWithFiles(words[:MAX_QUESTION], (one.source_file,)))
    return list(made.values())


def _few(
    content: str,
    statistics: TermStatistics,
    encode_terms: Callable[[str], Sequence[int]],
    chance: random.Random,
) -> str:
    """Return a few words of one of the sentences; empty where none is long enough."""
    cut = [sentence.split() for sentence in sentences(content)]
    fit = [words for words in cut if _FEWEST_WORDS <= len(words) <= _MOST_WORDS]
    if not fit:
        return ""
    words = chance.choice(fit)
    rarity = [float(statistics.rarity(list(encode_terms(word))).sum()) for word in words]
    by_rarity = sorted(range(len(words)), key=lambda place: -rarity[place])
    kept = {*by_rarity[:_RAREST], *chance.sample(by_rarity[_RAREST:], _OTHERS)}
    return " ".join(words[place] for place in sorted(kept))


async def look_up(
    index: VectorIndex, opened: OpenEdition, questions: Sequence[QuestionWithFiles]
) -> list[QuestionEvidence]:
    """Return what an edition holds about each question, in order, before any mark.

    Raises:
        EmbeddingError, VectorIndexError: when a service fails.
    """
    found = []
    for start in range(0, len(questions), _BATCH):
        batch = questions[start : start + _BATCH]
        vectors = await opened.embedder.embed_queries([one.text for one in batch])
        for question, dense in zip(batch, vectors, strict=True):
            sparse = opened.encoder.query(question.text)
            words = weighted(opened.terms, sparse)
            query = SearchQuery(dense, words, limit=CANDIDATES)
            judging = Judging(BY_WORDS, term_weights(words), 0.0, CANDIDATES, 2 * CANDIDATES)
            ranking = await find(index, opened, query, judging)
            if ranking.scored:
                found.append(_found(ranking, question))
    return found


def _found(ranking: Ranking, question: QuestionWithFiles) -> QuestionEvidence:
    parts = [(s.evidence.cosine, s.evidence.bm25, s.evidence.coverage) for s in ranking.scored]
    relevant = [one.chunk.source_file in question.relevant for one in ranking.read]
    return QuestionEvidence(np.array(parts), np.array(relevant))


Asked = Mapping[str, Sequence[QuestionEvidence]]
"""Sets of questions by name: those that a book answers, or those of a book on something else."""


def fitted_scale(known: Sequence[QuestionEvidence], foreign: Sequence[QuestionEvidence]) -> Trial:
    """Return the weights that refuse most foreign questions, with marks that known ones reach.

    People word their questions otherwise. So the mark 0.5 leaves them room: it lies halfway
    between what 95 % of the known and 95 % of the foreign questions come to, where that is lower.

    Args:
        known: At least one question with a relevant chunk.
        foreign: At least one.
    """
    (best,) = best_trials({"known": known}, {"foreign": foreign}, 1)
    weights = _weights(best.scale)
    usual = float(np.quantile(_best(weights, foreign), ANSWERABLE_KEPT))
    mark = best.scale.answerable_at
    answerable = min(mark, (mark + usual) / 2)
    usable = min(best.scale.usable_at, answerable - _NARROWEST)
    scale = replace(best.scale, usable_at=usable, answerable_at=answerable)
    return Trial(scale, mean_refused(scale, {"foreign": foreign}))


def best_trials(answerable: Asked, off_topic: Asked, count: int) -> list[Trial]:
    """Return the weights that refuse most off-topic questions, best first.

    The marks are such that every set of answerable questions keeps its share.
    """
    trials = [_trial(weights, answerable, off_topic) for weights in _grid()]
    return sorted(trials, key=lambda trial: -trial.refused)[:count]


def below_answerable(scale: ScoreScale, found: Sequence[QuestionEvidence]) -> float:
    """Return the share of the questions whose best chunk is below the mark 0.5."""
    return float(np.mean(_best(_weights(scale), found) < scale.answerable_at))


def mean_refused(scale: ScoreScale, off_topic: Asked) -> float:
    """Return the share of off-topic questions below the mark 0.5, averaged over their sets."""
    return float(np.mean([below_answerable(scale, found) for found in off_topic.values()]))


def relevant_below_usable(scale: ScoreScale, found: Sequence[QuestionEvidence]) -> float:
    """Return the share of the relevant chunks found that are below the mark 0.3."""
    return float(np.mean(_relevant(_weights(scale), found) < scale.usable_at))


def _grid() -> Iterator[Floats]:
    for bm25 in range(STEPS // 2 + 1):
        for coverage in range(STEPS // 2 + 1 - bm25):
            yield np.array([STEPS - bm25 - coverage, bm25, coverage]) / STEPS


def _trial(weights: Floats, answerable: Asked, off_topic: Asked) -> Trial:
    usable = min(
        np.quantile(_relevant(weights, found), 1 - RELEVANT_KEPT) for found in answerable.values()
    )
    mark = min(
        np.quantile(_best(weights, found), 1 - ANSWERABLE_KEPT) for found in answerable.values()
    )
    cosine, bm25, coverage = (float(weight) for weight in weights)
    scale = ScoreScale(cosine, bm25, coverage, float(usable), float(mark))
    return Trial(scale, mean_refused(scale, off_topic))


def _weights(scale: ScoreScale) -> Floats:
    return np.array([scale.cosine, scale.bm25, scale.coverage])


def _best(weights: Floats, found: Sequence[QuestionEvidence]) -> Floats:
    return np.array([(f.evidence @ weights).max() for f in found])


def _relevant(weights: Floats, found: Sequence[QuestionEvidence]) -> Floats:
    rows = [f.evidence[:_PLACES][f.relevant[:_PLACES]] for f in found]
    return np.concatenate(rows) @ weights
