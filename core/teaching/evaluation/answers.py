"""Puts together what `eval --answers` finds out about the answers themselves."""

import re
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from core.domain import CITATION_MARKER, AgentResponse, Outcome, QuoteStatus
from core.domain.links import without_layout, without_links
from core.domain.markdown import masked
from core.domain.sentences import sentences
from core.index.terms import TermStatistics
from core.providers.embeddings.base import Embedder
from core.teaching.evaluation.report import Measured, hit_at, mean, percentile, rounded

_BULLET = re.compile(r"\A\s*(?:[-*•+]|\d{1,3}[.)])\s+")
_TOKEN = re.compile(r"(?<![\w-])-(?=\d)|[^\W_]+|[+/=<>%$€£&|^~]")
_MARKERS = re.compile(rf"{CITATION_MARKER.pattern}(?:\s*{CITATION_MARKER.pattern})*")


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """What a marker stands for."""

    quote: str
    chunk: str
    """The text around the quote, its headings in front."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer, without its bullet and markers."""

    text: str
    passages: tuple[CitedPassage, ...] = ()
    """What it cites, in order; empty: it has no citation."""


def statements_of(response: AgentResponse) -> list[Statement]:
    """Return what an answer says, in order.

    A citation belongs to the sentence that it ends, and to those right before as far as they
    stand in its quote word for word. Our own sentences are left out: an abstention, and where
    the reader's passage stands. So are lines such as `For example:` in front of what is cited.
    """
    if response.outcome not in {Outcome.ANSWERED, Outcome.PARTIAL}:
        return []
    parts = list(_parts(without_layout(response.response_text), _passages(response)))
    location = response.quote_location
    tells_a_place = location is not None and location.status is not QuoteStatus.NOT_FOUND
    said = parts[1:] if tells_a_place else parts
    return [one for text, cited in said for one in _cut(text, cited, response.query_text)]


def _passages(response: AgentResponse) -> dict[int, CitedPassage]:
    """Return what each marker stands for."""
    chunks = {
        chunk.chunk_id: "\n\n".join((*chunk.headings, chunk.content_text))
        for chunk in response.grounding_chunks
    }
    return {
        citation.marker: CitedPassage(citation.quote, chunks[citation.chunk_id])
        for citation in response.citations
    }


def _parts(
    text: str, passages: Mapping[int, CitedPassage]
) -> Iterator[tuple[str, tuple[CitedPassage, ...]]]:
    """Yield the text up to each run of markers, with what they stand for."""
    prose = masked(text)  # `x[7]` is no marker
    position = 0
    for run in _MARKERS.finditer(prose):
        markers = dict.fromkeys(int(n) for n in CITATION_MARKER.findall(run.group()))
        cited = tuple(passages[marker] for marker in markers if marker in passages)
        yield text[position : run.start()], cited
        position = run.end()
    yield text[position:], ()


def _cut(text: str, passages: tuple[CitedPassage, ...], question: str) -> Iterator[Statement]:
    said = [without_bullet(sentence) for sentence in sentences(text)]
    said = [sentence for sentence in said if any(map(str.isalnum, sentence))]
    for sentence in said[:-1]:
        quoting = tuple(passage for passage in passages if stands_in(sentence, passage.quote))
        if quoting or not passages or not _leads_in(sentence):
            yield Statement(sentence, quoting)
    if said:
        yield Statement(said[-1], passages)


def _leads_in(sentence: str) -> bool:
    """Return whether a line announces what comes after it."""
    return sentence.rstrip("*_ ").endswith((":", "："))


def without_bullet(sentence: str) -> str:
    """Return the item of a list without the sign or number in front of it."""
    return _BULLET.sub("", sentence)


def stands_in(sentence: str, text: str) -> bool:
    """Return whether the sentence stands in the text word for word, as whole sentences of it.

    Layout makes no difference. A part of a sentence is not enough: what was left out may turn
    its meaning round.
    """
    wanted = _folded(sentence)
    parts = [_folded(part) for part in sentences(text)]
    runs = (parts[start:] for start in range(len(parts)))
    return any(wanted in accumulate(run, "{} {}".format) for run in runs)


def _folded(text: str) -> str:
    plain = (
        unicodedata.normalize("NFKC", without_links(without_bullet(text)))
        .replace("−", "-")
        .casefold()
    )
    return " ".join(_TOKEN.findall(plain))


COVERED = 0.6
"""The share of a sentence's words, by rarity, that its chunks have to hold."""
CLOSE = 0.5
"""The cosine that a sentence and the nearest sentence of its chunks have to reach."""

EncodeTerms = Callable[[str], Sequence[int]]
"""Gives the ids of the words of a text that carry meaning, stemmed."""
Carries = Callable[[str, Sequence[CitedPassage]], Awaitable[bool]]
"""Says whether passages, taken together, carry a sentence."""


class PassageJudge:
    """Compares a sentence with the chunks that it cites, in one book's language."""

    def __init__(
        self, embedder: Embedder, statistics: TermStatistics, encode_terms: EncodeTerms
    ) -> None:
        """`statistics` tells how rare the book's words are, `encode_terms` gives their ids."""
        self._embedder = embedder
        self._statistics = statistics
        self._encode_terms = encode_terms

    async def carries(self, sentence: str, passages: Sequence[CitedPassage]) -> bool:
        """Return whether the passages together speak of what the sentence claims.

        They do when the sentence stands in a quote word for word. Else their chunks have to
        hold its words, and a sentence near to it in meaning.

        Raises:
            EmbeddingError: when the model gives no usable vectors.
        """
        if any(stands_in(sentence, passage.quote) for passage in passages):
            return True
        text = "\n\n".join(passage.chunk for passage in passages)
        return self._coverage(sentence, text) >= COVERED and await self._is_near(sentence, text)

    def _coverage(self, sentence: str, text: str) -> float:
        return self._statistics.coverage(self._encode_terms(sentence), self._encode_terms(text))

    async def _is_near(self, sentence: str, text: str) -> bool:
        vectors = await self._embedder.embed_passages([sentence, *sentences(text)])
        return float(np.max(vectors[1:] @ vectors[0])) >= CLOSE


@dataclass(frozen=True, slots=True)
class JudgedStatement:
    """A sentence of an answer with what is to be thought of its citations."""

    statement: Statement
    carried: bool
    """Whether its passages together carry it; without a citation nothing does."""
    right: tuple[bool, ...]
    """For each of its citations whether it is needed or enough to carry it."""


async def judged(statement: Statement, carries: Carries) -> JudgedStatement:
    """Return the statement with its citations judged.

    A citation is right when its passage alone carries the sentence, or when all do together
    but the others without it do not.

    Source: Gao et al., Enabling Large Language Models to Generate Text with Citations (2023).
    """
    passages = statement.passages
    carried = bool(passages) and await carries(statement.text, passages)
    if len(passages) < 2:
        return JudgedStatement(statement, carried, (carried,) * len(passages))
    right = []
    for number, passage in enumerate(passages):
        others = passages[:number] + passages[number + 1 :]
        enough = await carries(statement.text, [passage])
        needed = carried and not enough and not await carries(statement.text, others)
        right.append(enough or needed)
    return JudgedStatement(statement, carried, tuple(right))


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """What one question gave, with its answer."""

    measured: Measured
    response: AgentResponse
    statements: tuple[JudgedStatement, ...]
    fell_back: bool | None
    """Whether another writer than the one asked for wrote it; None: there is none to fall to."""

    @property
    def answered(self) -> bool:
        """Whether it says anything, be it with doubt."""
        return self.response.outcome in {Outcome.ANSWERED, Outcome.PARTIAL}

    @property
    def answerable(self) -> bool:
        """Whether the book answers the question."""
        return self.measured.question.answerable

    @property
    def relevant(self) -> frozenset[str]:
        """The source files that hold the answer; none: not known."""
        question = self.measured.question
        return frozenset(question.relevant) if question.answerable else frozenset()


def summarise_answers(answers: Sequence[MeasuredAnswer]) -> dict[str, Any]:
    """Return the figures of `answers` in the report; those that cannot be had are null."""
    return {
        "n": len(answers),
        **_support(answers),
        **_sources(answers),
        **_refusals(answers),
        "follow_ups": _follow_ups([a for a in answers if a.measured.question.earlier_questions]),
        **_costs(answers),
    }


def _support(answers: Sequence[MeasuredAnswer]) -> dict[str, Any]:
    """Judge sentences and citations, each sentence of each answer counting once.

    `citation_precision`: citations that are right, of all. `citation_recall`: sentences that
    their passages carry together, of all; `unsupported_claims` is the rest of them.
    `dropped_claims`: claims that were not let into an answer, of those that were written.
    """
    statements = [statement for answer in answers for statement in answer.statements]
    recall = mean(statement.carried for statement in statements)
    written = sum(answer.response.claims_written for answer in answers)
    dropped = sum(answer.response.claims_dropped for answer in answers)
    return {
        "sentences": len(statements),
        "citation_precision": mean(right for s in statements for right in s.right),
        "citation_recall": recall,
        "unsupported_claims": None if recall is None else rounded(1 - recall),
        "dropped_claims": rounded(dropped / written) if written else None,
    }


def _sources(answers: Iterable[MeasuredAnswer]) -> dict[str, float | None]:
    """Compare what is cited with the relevant files, over the answers where they are known.

    `source_precision`: citations into a relevant file, of all. `source_recall`: answers with
    such a citation, of all.
    """
    located = [answer for answer in answers if answer.answered and answer.relevant]
    return {
        "source_precision": mean(
            source in answer.relevant for answer in located for source, _ in answer.measured.cited
        ),
        "source_recall": mean(answer.measured.is_right for answer in located),
    }


def _refusals(answers: Sequence[MeasuredAnswer]) -> dict[str, float | None]:
    """Count abstentions, and apart from them the answers given with doubt.

    `refusal_precision`: unanswerable questions, of those refused; null when all questions are
    answerable. `refusal_recall`: refused questions, of the unanswerable. `partial_answerable`
    and `partial_unanswerable`: questions of that kind whose answer is marked as `partial`.
    """
    refused = [answer for answer in answers if answer.measured.refused]
    answerable = [answer for answer in answers if answer.answerable]
    unanswerable = [answer for answer in answers if not answer.answerable]
    return {
        "refusal_precision": mean(not a.answerable for a in refused) if unanswerable else None,
        "refusal_recall": mean(answer.measured.refused for answer in unanswerable),
        "partial_answerable": mean(_is_partial(answer) for answer in answerable),
        "partial_unanswerable": mean(_is_partial(answer) for answer in unanswerable),
    }


def _is_partial(answer: MeasuredAnswer) -> bool:
    return answer.response.outcome is Outcome.PARTIAL


def _follow_ups(answers: Sequence[MeasuredAnswer]) -> dict[str, Any]:
    """Return the figures of the questions that continue a conversation."""
    located = [answer for answer in answers if answer.relevant]
    hits = {
        f"hit@{k}": mean(hit_at(answer.measured.ranking, answer.relevant, k) for answer in located)
        for k in (1, 5)
    }
    return {"n": len(answers), **hits, **_sources(answers)}


def _costs(answers: Sequence[MeasuredAnswer]) -> dict[str, float | None]:
    """Sum what the model calls used, and tell how long readers wait.

    `estimated_cost` is in the currency of the configured prices. `fallback_share`: of the
    answers those that another writer than the one asked for wrote. The first words' times are
    over the questions that were not refused.
    """
    costs = [a.response.estimated_cost for a in answers if a.response.estimated_cost is not None]
    answered = [answer for answer in answers if answer.answered]
    waits = [answer.response.first_token_ms for answer in answered]
    return {
        "tokens_used": sum(answer.response.tokens_used for answer in answers),
        "estimated_cost": rounded(sum(costs), places=6) if costs else None,
        "fallback_share": mean(a.fell_back for a in answered if a.fell_back is not None),
        "first_token_p50_ms": rounded(percentile(waits, 50)),
        "first_token_p95_ms": rounded(percentile(waits, 95)),
    }
