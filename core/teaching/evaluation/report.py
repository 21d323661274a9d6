"""Puts the measurements of single questions together into one report."""

import json
import math
import re
import string
import unicodedata
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field, Strict, ValidationError

from core.domain import (
    CITATION_MARKER,
    MAX_QUESTION,
    MIN_QUESTION,
    AgentResponse,
    Chunk,
    Model,
    Outcome,
    RetrievedChunk,
)
from core.domain.errors import InvalidQuestions
from core.domain.i18n import text
from core.domain.markdown import outside_code

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + "“”„‘’‚«»‹›–—‐‑…·", " "))
_BOOTSTRAPS = 1_000
_BINS = 10


def hit_at(ranking: Sequence[str], relevant: Collection[str], k: int) -> float:
    """Return 1.0 when a relevant document is among the first `k` distinct ones, else 0.0."""
    return float(any(name in relevant for name in ranking[:k]))


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], k: int = 10) -> float:
    """Return 1 / rank of the first relevant document, 0.0 beyond `k`."""
    for rank, name in enumerate(ranking[:k], 1):
        if name in relevant:
            return 1.0 / rank
    return 0.0


def ndcg(ranking: Sequence[str], relevant: Collection[str], k: int = 10) -> float:
    """Return the normalised discounted cumulative gain with gains of 0 and 1.

    Source: Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002).
    """
    gain = sum(1 / math.log2(r + 1) for r, name in enumerate(ranking[:k], 1) if name in relevant)
    ideal = sum(1 / math.log2(r + 1) for r in range(1, min(len(relevant), k) + 1))
    return gain / ideal if ideal else 0.0


def contains_answer(text: str, answers: Collection[str]) -> bool:
    """Return whether a reference answer stands in `text` as whole words.

    Case, articles, punctuation and compatibility forms make no difference.
    """
    folded = f" {_fold(text)} "
    wanted = (_fold(answer) for answer in answers)
    return any(f" {answer} " in folded for answer in wanted if answer)


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", plain).split())


def calibration_error(confidences: Sequence[float], right: Sequence[bool]) -> float:
    """Return the expected calibration error over ten bins of equal mass, NaN for no rows.

    Rows of equal confidence share their outcome, so that their order makes no difference.
    Source: Naeini et al., Obtaining Well Calibrated Probabilities Using Bayesian Binning (2015).
    """
    if not confidences:
        return math.nan
    values = np.asarray(confidences, np.float64)
    distinct, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    shares = np.bincount(places, weights=np.asarray(right, np.float64)) / counts
    sure, true = np.repeat(distinct, counts), np.repeat(shares, counts)
    parts = zip(np.array_split(sure, _BINS), np.array_split(true, _BINS), strict=True)
    gaps = sum(len(s) * abs(float(s.mean() - t.mean())) for s, t in parts if len(s))
    return gaps / len(sure)


def auroc(scores: Sequence[float], positive: Sequence[bool]) -> float:
    """Return the chance that a positive scores above a negative; ties count half.

    NaN where one of the two classes is missing. Source: the Mann-Whitney U statistic.
    """
    values = np.asarray(scores, np.float64)
    mask = np.asarray(positive, bool)
    if mask.all() or not mask.any():
        return math.nan
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    n_positive, n_negative = int(mask.sum()), int((~mask).sum())
    u = float(ranks[mask].sum()) - n_positive * (n_positive + 1) / 2
    return u / (n_positive * n_negative)


def interval(values: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean; NaN for no values."""
    if not values:
        return math.nan, math.nan
    data: npt.NDArray[np.float64] = np.asarray(values, np.float64)
    draws = np.random.default_rng(seed).integers(0, len(data), (_BOOTSTRAPS, len(data)))
    low, high = np.percentile(data[draws].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def percentile(values: Sequence[float], q: float) -> float:
    """Return the q-th percentile (0 to 100); NaN for no values."""
    return float(np.percentile(np.asarray(values), q)) if values else math.nan


def _long_enough(question: str) -> str:
    if len(question.strip()) < MIN_QUESTION:
        raise ValueError("too short")
    return question


class EarlierTurn(Model, extra="ignore"):
    """One message before the question."""

    role: str
    text: str


class GoldQuestion(Model, coerce_numbers_to_str=True):
    """A question with what is known about its answer."""

    id: str
    question: Annotated[str, Strict(), AfterValidator(_long_enough)]
    history: tuple[EarlierTurn, ...] = ()
    """Oldest first; only the turns of the role `user` (or `human`) are asked."""
    relevant: tuple[str, ...] = ()
    """Source files that hold the answer."""
    answers: tuple[str, ...] = ()
    """Reference answers; for kind `span` they stand in the text word for word."""
    answerable: bool = True
    kind: str = Field(default="")

    @property
    def earlier_questions(self) -> list[str]:
        """What the user said before, oldest first."""
        return [turn.text for turn in self.history if turn.role in {"user", "human"}]


def read_questions(path: Path) -> list[GoldQuestion]:
    """Return the rows of a JSONL file in order; blank lines are skipped.

    Raises:
        InvalidQuestions: naming the file or line and what is wrong.
    """
    try:
        # Not splitlines: JSON texts may hold the other separators that it knows.
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InvalidQuestions(f"The file {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidQuestions(f"The file {path} is not UTF-8 text.") from error
    rows = [_row(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not rows:
        raise InvalidQuestions(f"The file {path} has no questions.")
    return rows


def _row(path: Path, number: int, line: str) -> GoldQuestion:
    try:
        fields = dict(_known(json.loads(line)))
        fields.setdefault("id", str(number))
        return GoldQuestion.model_validate(fields)
    except (json.JSONDecodeError, TypeError, AttributeError) as error:
        raise InvalidQuestions(f"{path}, line {number} is not a JSON object.") from error
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        if problem["loc"] == ("question",):
            text = f"{path}, line {number}: question must be a text of {MIN_QUESTION} characters"
            raise InvalidQuestions(f"{text} at least.") from error
        place = ".".join(str(part) for part in problem["loc"])
        raise InvalidQuestions(f"{path}, line {number}: {place}: {problem['msg']}.") from error


def _known(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Keep the fields we read: rows may carry more."""
    for name, value in row.items():
        if name in GoldQuestion.model_fields and value is not None:
            yield name, value


@dataclass(frozen=True, slots=True)
class Measured:
    """What one question gave."""

    question: GoldQuestion
    ranking: tuple[str, ...]
    """Distinct source files, best first."""
    cited: tuple[tuple[str, str], ...]
    """(source file, quote) of each citation, in order of the answer."""
    evidence: tuple[str, ...]
    """Source files of the chunks given to the generator."""
    evidence_tokens: int
    refused: bool
    located: float
    retrieval_ms: float
    """Embedding and search."""

    @property
    def is_right(self) -> bool:
        """Whether a cited chunk lies in a gold document."""
        return any(source in self.question.relevant for source, _ in self.cited)

    def answered_within(self, sentences: int) -> float:
        """Return 1.0 when a reference answer stands in the first cited sentences."""
        text = " ".join(quote for _, quote in self.cited[:sentences])
        return float(contains_answer(text, self.question.answers))


_RANKING: dict[str, Callable[[Measured], float]] = {
    "hit@1": lambda m: hit_at(m.ranking, m.question.relevant, 1),
    "hit@5": lambda m: hit_at(m.ranking, m.question.relevant, 5),
    "hit@20": lambda m: hit_at(m.ranking, m.question.relevant, 20),
    "ndcg@10": lambda m: ndcg(m.ranking, m.question.relevant),
    "mrr@10": lambda m: reciprocal_rank(m.ranking, m.question.relevant),
}
_ANSWERS: dict[str, Callable[[Measured], float]] = {
    "answer@1": lambda m: m.answered_within(1),
    "answer@3": lambda m: m.answered_within(3),
}


def summarise(rows: Sequence[Measured]) -> dict[str, Any]:
    """Return the report that `eval --json` prints; figures that cannot be had are null.

    Rankings are judged by source document over the answerable rows that name relevant files,
    answers over those with reference answers, refusals over all, confidence over the
    answerable rows with relevant files (a refusal there counts as not right).
    """
    report: dict[str, Any] = {"n": len(rows), **_figures(rows)}
    by_kind: dict[str, list[Measured]] = {}
    for row in rows:
        by_kind.setdefault(row.question.kind or "none", []).append(row)
    report["by_kind"] = {
        kind: {"n": len(by_kind[kind]), **_figures(by_kind[kind])} for kind in sorted(by_kind)
    }
    report["ci95"] = _intervals(rows)
    return report


def _located(rows: Sequence[Measured]) -> list[Measured]:
    return [row for row in rows if row.question.answerable and row.question.relevant]


def _with_answers(rows: Sequence[Measured]) -> list[Measured]:
    return [row for row in rows if row.question.answerable and row.question.answers]


def _figures(rows: Sequence[Measured]) -> dict[str, float | None]:
    located, answered = _located(rows), _with_answers(rows)
    figures = {name: mean([measure(m) for m in located]) for name, measure in _RANKING.items()}
    figures |= {name: mean([measure(m) for m in answered]) for name, measure in _ANSWERS.items()}
    figures["refused_unanswerable"] = _refused([m for m in rows if not m.question.answerable])
    figures["refused_answerable"] = _refused([m for m in rows if m.question.answerable])
    claimed = [m.located for m in located]
    right = [m.is_right for m in located]
    figures["calibration_error"] = rounded(calibration_error(claimed, right))
    figures["confidence_auroc"] = rounded(auroc(claimed, right))
    figures["right"] = mean([float(value) for value in right])
    figures["evidence_tokens"] = mean([float(m.evidence_tokens) for m in rows])
    in_evidence = [float(any(s in m.question.relevant for s in m.evidence)) for m in located]
    figures["evidence_hit"] = mean(in_evidence)
    figures["p50_ms"] = rounded(percentile([m.retrieval_ms for m in rows], 50))
    figures["p95_ms"] = rounded(percentile([m.retrieval_ms for m in rows], 95))
    return figures


def _intervals(rows: Sequence[Measured]) -> dict[str, tuple[float, float] | None]:
    located, answered = _located(rows), _with_answers(rows)
    samples = {name: [measure(m) for m in located] for name, measure in _RANKING.items()}
    samples |= {name: [measure(m) for m in answered] for name, measure in _ANSWERS.items()}
    for name, wanted in (("refused_unanswerable", False), ("refused_answerable", True)):
        samples[name] = [float(m.refused) for m in rows if m.question.answerable is wanted]
    return {
        name: _rounded(interval(values)) if values else None for name, values in samples.items()
    }


def _refused(rows: Sequence[Measured]) -> float | None:
    return mean([float(row.refused) for row in rows])


def mean(values: Iterable[float]) -> float | None:
    """Return the mean as a figure of a report, null for no values."""
    known = list(values)
    return rounded(fmean(known)) if known else None


def rounded(value: float, *, places: int = 4) -> float | None:
    """Return the value as a figure of a report, null for NaN."""
    return None if math.isnan(value) else round(value, places)


def _rounded(bounds: tuple[float, float]) -> tuple[float, float]:
    return round(bounds[0], 4), round(bounds[1], 4)


_SPAN = "span"
"""The kind of question whose reference answers stand in the text word for word."""
_SHOWN_SENTENCES = 3


class FailureKind(StrEnum):
    """What went wrong with a question."""

    REFUSED = "refused"
    """It was refused, though the book answers it."""
    ELSEWHERE = "elsewhere"
    """None of its citations is of a document that holds the answer."""
    NOT_SHOWN = "not_shown"
    """The document is right; the reference answer is not in the first three sentences."""
    ANSWERED = "answered"
    """It was answered, though the book does not answer it."""


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question, what was expected, and what came instead."""

    kind: FailureKind
    measured: Measured
    not_read: str = ""
    """Where the text of the documents that hold the answer lacks its words: what of them was not
    read, for people."""

    @property
    def place(self) -> int | None:
        """The rank of the first document that holds the answer, from 1; none: it was not found."""
        relevant = self.measured.question.relevant
        ranks = (n for n, source in enumerate(self.measured.ranking, 1) if source in relevant)
        return next(ranks, None)

    @property
    def cited(self) -> tuple[str, ...]:
        """The documents that were cited instead, each once, in order."""
        return tuple(dict.fromkeys(source for source, _ in self.measured.cited))


def failed_questions(rows: Sequence[Measured]) -> Iterator[FailedQuestion]:
    """Yield the questions that failed, in order; one of unknown places cannot be elsewhere."""
    for row in rows:
        if (kind := _failure(row)) is not None:
            yield FailedQuestion(kind, row)


def _failure(row: Measured) -> FailureKind | None:
    question = row.question
    if not question.answerable:
        return None if row.refused else FailureKind.ANSWERED
    if row.refused:
        return FailureKind.REFUSED
    if question.relevant and not row.is_right:
        return FailureKind.ELSEWHERE
    is_span = question.kind == _SPAN and question.answers
    if is_span and not row.answered_within(_SHOWN_SENTENCES):
        return FailureKind.NOT_SHOWN
    return None


_PASSAGE = 300
_FEWEST_TOKENS = 30
"""A section of less text holds no answer."""


@dataclass(frozen=True, slots=True)
class ProposedQuestion:
    """A question, and where the book holds its answer."""

    question: str
    kind: str
    """`heading`, `term` or `exercise`."""
    source_file: str
    headings: tuple[str, ...]
    passage: str
    """How the text begins that answers it, or what the exercise stands in."""


async def propose(chunks: AsyncIterator[Chunk], number: int) -> list[ProposedQuestion]:
    """Return at most `number` questions, spread over documents and kinds, each once.

    They are worded in the language of the messages. What is proposed is not known to be
    answered by the book: an exercise may ask for what its section only prepares.
    """
    by_document: dict[str, list[ProposedQuestion]] = defaultdict(list)
    seen: set[str] = set()
    headings: set[tuple[str, ...]] = set()
    async for chunk in chunks:
        for proposed in _of_chunk(chunk, is_first=chunk.headings not in headings):
            if (key := proposed.question.casefold()) not in seen:
                seen.add(key)
                by_document[chunk.source_file].append(proposed)
        headings.add(chunk.headings)
    rounds = zip_longest(*map(_by_turns, by_document.values()))
    found = (proposed for one in rounds for proposed in one if proposed is not None)
    return [proposed for proposed, _ in zip(found, range(number), strict=False)]


def _of_chunk(chunk: Chunk, *, is_first: bool) -> Iterator[ProposedQuestion]:
    exercises = [block for block in chunk.blocks if block.kind == "exercise"]
    for block in exercises:
        for line in chunk.content_text[block.start : block.end].splitlines():
            if line.rstrip().endswith("?"):
                yield from _proposal(chunk, line.strip(), "exercise")
    if exercises or not is_first or len(chunk.headings) < 2:
        return
    heading = chunk.headings[-1].strip()
    if chunk.token_count < _FEWEST_TOKENS or not any(map(str.isalpha, heading)):
        return
    if heading.endswith("?"):
        yield from _proposal(chunk, heading, "heading")
    elif _is_defined(heading, chunk.content_text):
        yield from _proposal(chunk, text("proposed-term", term=heading), "term")
    else:
        yield from _proposal(chunk, text("proposed-heading", heading=heading), "heading")


def _is_defined(heading: str, passage: str) -> bool:
    """Return whether a text begins with its heading's word, or with it after an article."""
    name, words = heading.casefold().split(), passage.casefold().split()
    return words[1 : len(name) + 1] == name or (len(name) == 1 and words[:1] == name)


def _proposal(chunk: Chunk, question: str, kind: str) -> Iterator[ProposedQuestion]:
    if MIN_QUESTION <= len(question) <= MAX_QUESTION:
        passage = " ".join(chunk.content_text.split())[:_PASSAGE]
        yield ProposedQuestion(question, kind, chunk.source_file, chunk.headings, passage)


def _by_turns(proposals: Sequence[ProposedQuestion]) -> Iterable[ProposedQuestion]:
    """Return a document's questions, those of each kind in turn."""
    kinds: dict[str, list[ProposedQuestion]] = defaultdict(list)
    for proposed in proposals:
        kinds[proposed.kind].append(proposed)
    rounds = zip_longest(*kinds.values())
    return (proposed for one in rounds for proposed in one if proposed is not None)


SPAN = "span"
"""The kind of rows whose reference answers stand in the book word for word."""
_WORD = re.compile(r"[^\W_]+")
_MARKER = re.compile(rf"\s*{CITATION_MARKER.pattern}")
_WORDS_AROUND_A_PLACE = 6
"""A line that names a section in at most so many words more is ours: `The closest: Scarcity`."""


@dataclass(frozen=True, slots=True)
class Referred:
    """What one answerable question showed."""

    kind: str
    share: float | None
    """Share of the reference's terms, beyond the question's, that are shown; None: it has none."""
    span: bool | None
    """Whether a gold span is shown; None: the row has no spans."""
    words: int | None
    """Number of words shown; None: the question was refused."""


def shown_text(response: AgentResponse) -> str:
    """Return what a reader sees of the book; empty for a refusal or an error.

    Citation markers are left out, and so are the lines that only name a cited section.
    """
    if response.outcome not in {Outcome.ANSWERED, Outcome.PARTIAL}:
        return ""
    names = {_folded(name) for chunk in response.grounding_chunks for name in _names(chunk)}
    lines = response.response_text.split("\n")
    kept = "\n".join(line for line in lines if not _names_a_place(line, names))
    return outside_code(kept, lambda prose: _MARKER.sub("", prose)).strip()


def _names(chunk: RetrievedChunk) -> Iterator[str]:
    yield from (*chunk.headings, chunk.page_title, chunk.module_name or "")


def _names_a_place(line: str, names: Iterable[str]) -> bool:
    """Return whether the line has little more than headings of what is cited, and no marker."""
    if CITATION_MARKER.search(line):
        return False
    left = f" {_folded(line)} "
    for name in sorted(names, key=len, reverse=True):
        if name:
            left = left.replace(f" {name} ", "  ")
    rest = left.split()
    return len(rest) <= _WORDS_AROUND_A_PLACE and len(rest) < len(_folded(line).split())


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def referred(
    row: GoldQuestion, response: AgentResponse, encode_terms: Callable[[str], Sequence[int]]
) -> Referred:
    """Compare what is shown with the row's reference answers.

    Args:
        row: An answerable question; it may have no reference answer.
        response: The finished answer; a refusal shows nothing, so its share is 0.
        encode_terms: Gives the distinct terms of a text in the book's language, without stop
            words. Of several references the one that is shown best counts.
    """
    shown = shown_text(response)
    held, asked = set(encode_terms(shown)), set(encode_terms(row.question))
    wanted = [set(encode_terms(answer)) - asked for answer in row.answers]
    shares = [len(terms & held) / len(terms) for terms in wanted if terms]
    return Referred(
        kind=row.kind or "none",
        share=max(shares) if shares else None,
        span=contains_answer(shown, row.answers) if row.kind == SPAN and row.answers else None,
        words=len(_WORD.findall(shown)) if shown else None,
    )


def summarise_references(rows: Sequence[Referred]) -> dict[str, Any]:
    """Return the block `reference` of the report: all rows together, then each kind."""
    kinds = sorted({row.kind for row in rows})
    by_kind = {
        kind: _reference_figures([row for row in rows if row.kind == kind]) for kind in kinds
    }
    return {**_reference_figures(rows), "by_kind": by_kind}


def _reference_figures(rows: Sequence[Referred]) -> dict[str, Any]:
    shares = [row.share for row in rows if row.share is not None]
    spans = [float(row.span) for row in rows if row.span is not None]
    return {
        "n": len(rows),
        "references": len(shares),
        "reference_share": mean(shares),
        "reference_share_ci95": _bounds(shares),
        "span_shown": mean(spans),
        "span_shown_ci95": _bounds(spans),
        "words_shown": mean(row.words for row in rows if row.words is not None),
    }


def _bounds(values: Sequence[float]) -> tuple[float | None, ...] | None:
    return tuple(rounded(bound) for bound in interval(values)) if values else None
