"""Answers without a language model: the evidence's own sentences, word for word."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import replace

from core.embeddings.base import Embedder
from core.errors import EmbeddingError, GenerationError
from core.generation.base import (
    Claim,
    DraftPart,
    FindPlanted,
    GenerationTask,
    LeftOut,
    Quoted,
    Rejected,
    StepsLeftOut,
    trust,
)
from core.generation.excerpts import Excerpt, ExcerptKind, cut_excerpts
from core.generation.inquiry import Inquiry, read_inquiry, says_again
from core.generation.passages import MOST_WORDS, beginning, choose
from core.generation.ranking import rank
from core.generation.step_choice import answering, in_section
from core.generation.step_claims import StepWriter
from core.generation.steps import Procedure, read_procedures, with_lists
from core.models import AnswerLength
from core.text.planted import NOTHING_PLANTED, Planted
from core.text.sentences import Span
from core.text.step_questions import StepsAsked

_GAP = 4
"""Characters between two sentences that stand together: blanks, or the end of a paragraph."""


class ExtractiveGenerator:
    """Quotes the few sentences of the evidence that answer the question best."""

    name = "extractive"

    def __init__(
        self,
        *,
        embedder: Embedder,
        most_words: Mapping[AnswerLength, int] = MOST_WORDS,
        find_planted: FindPlanted = trust,
    ) -> None:
        """Choose by `embedder`'s cosines.

        Args:
            embedder: The model that sentences and questions are compared with.
            most_words: Limits an answer by its length.
            find_planted: What it finds is not quoted.
        """
        self._embedder = embedder
        self._find_planted = find_planted
        self._most_words = most_words

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield where something planted is left out, then each quote as a claim, in reading order.

        Raises:
            GenerationError: when the sentences cannot be embedded.
        """
        inquiry = read_inquiry(task, task.encode_terms)
        try:
            parts = await self._write(task, inquiry)
        except EmbeddingError as error:
            raise GenerationError("the evidence's sentences could not be embedded") from error
        for part in parts:
            yield part

    async def _write(self, task: GenerationTask, inquiry: Inquiry) -> Sequence[DraftPart]:
        """Return the steps of a list where these are asked for, else the best few excerpts."""
        excerpts = _readable(task)
        procedures = read_procedures(task) if inquiry.steps else []
        if inquiry.steps and procedures:
            if told := await self._tell_steps(excerpts, procedures, task, inquiry, inquiry.steps):
                return told
            excerpts = _without_steps(excerpts, procedures, inquiry.steps)
        if task.in_order:
            excerpts = _as_it_stands(task, excerpts)
        else:
            excerpts = _without_given(task, excerpts, inquiry)
        chosen, poisoned = await self._choose(excerpts, task, inquiry)
        return [*map(LeftOut, poisoned), *_claims(chosen, task)]

    async def _tell_steps(
        self,
        excerpts: Sequence[Excerpt],
        procedures: Sequence[Procedure],
        task: GenerationTask,
        inquiry: Inquiry,
        asked: StepsAsked,
    ) -> Sequence[DraftPart]:
        """Return what is told of the list that answers best; nothing where prose does."""
        if task.in_order:
            found = in_section(procedures)
        else:
            whole = with_lists(excerpts, procedures, task, inquiry)
            ranked = await rank(whole, task, inquiry, task.encode_terms, self._embedder)
            found = answering(ranked, procedures, task, inquiry)
        if not found:
            return []
        procedure, *others = sorted(found, key=lambda one: not one.steps.is_clear)
        if not procedure.steps.is_clear:
            return await self._tell_unclear(excerpts, procedure, task, inquiry, asked)
        planted = {number: await self._planted_in(number, task) for number in procedure.touched}
        told = StepWriter(procedure, task, planted, others).write(asked)
        poisoned = sorted(number for number, found in planted.items() if found.sure)
        return [*map(LeftOut, poisoned), *told] if told else []

    async def _tell_unclear(
        self,
        excerpts: Sequence[Excerpt],
        procedure: Procedure,
        task: GenerationTask,
        inquiry: Inquiry,
        asked: StepsAsked,
    ) -> Sequence[DraftPart]:
        """Return the best few steps of a list that is not clear, and where the others stand."""
        if not asked.plainly:
            return []
        steps = [
            replace(excerpt, citable=excerpt.citable and _is_held(excerpt, [procedure]))
            for excerpt in excerpts
        ]
        chosen, poisoned = await self._choose(steps, task, inquiry)
        if not chosen:
            return []
        number, _ = next(procedure.spans(procedure.steps.parts))
        section = task.evidence[number].section_heading or task.evidence[number].page_title
        return [
            *map(LeftOut, poisoned),
            *_claims(chosen, task),
            StepsLeftOut(first=1, shown_to=1, last=1, section=section, is_clear=False),
        ]

    async def _planted_in(self, number: int, task: GenerationTask) -> Planted:
        chunk = task.evidence[number]
        if chunk.is_trusted:
            return NOTHING_PLANTED
        titles = (chunk.page_title, *chunk.headings)
        return await self._find_planted(chunk.content_text, titles, task.asked)

    async def _choose(
        self, excerpts: Sequence[Excerpt], task: GenerationTask, inquiry: Inquiry
    ) -> tuple[list[Excerpt], list[int]]:
        """Return what answers best, chosen again for as long as some of it was planted.

        With it come the numbers of the chunks that lost what answers best by that, or that surely
        hold planted text: what else these say may be by the same hand.
        """
        planted: dict[int, Planted] = {}
        poisoned: set[int] = set()
        while True:
            best, chosen = await self._pick(excerpts, task, inquiry)
            for number in {excerpt.chunk_number for excerpt in chosen} - planted.keys():
                planted[number] = await self._planted_in(number, task)
                poisoned |= {number} if planted[number].sure else set()
            if not any(_touches(excerpt, planted) for excerpt in chosen):
                return chosen, sorted(poisoned)
            poisoned |= {excerpt.chunk_number for excerpt in best if _touches(excerpt, planted)}
            excerpts = [
                replace(excerpt, citable=False) if _touches(excerpt, planted) else excerpt
                for excerpt in excerpts
            ]

    async def _pick(
        self, excerpts: Sequence[Excerpt], task: GenerationTask, inquiry: Inquiry
    ) -> tuple[list[Excerpt], list[Excerpt]]:
        """Return the likeliest answer, and all that is to be quoted.

        Of a section that was asked for, that is its beginning.
        """
        most = self._most_words[task.length]
        if task.in_order:
            opening = beginning(excerpts, most)
            return opening, opening
        ranked = await rank(excerpts, task, inquiry, task.encode_terms, self._embedder)
        best = [max(ranked, key=lambda scored: scored.score).excerpt] if ranked else []
        return best, choose(excerpts, ranked, most)

    async def repair(
        self, task: GenerationTask, rejected: Sequence[Rejected]
    ) -> AsyncGenerator[DraftPart, None]:
        """Yield nothing: what the book says word for word needs no second try."""
        return
        yield


def _readable(task: GenerationTask) -> list[Excerpt]:
    """Return all excerpts; what lies outside of the parts to be read is not citable."""
    excerpts = cut_excerpts(task.evidence, task.language)
    if not task.reads:
        return excerpts
    return [
        excerpt
        if _lies_in(excerpt, task.reads[excerpt.chunk_number])
        else replace(excerpt, citable=False)
        for excerpt in excerpts
    ]


def _without_steps(
    excerpts: Sequence[Excerpt], procedures: Sequence[Procedure], asked: StepsAsked
) -> list[Excerpt]:
    """Make single steps not citable where all are asked for: a few of them are no answer."""
    if not asked.plainly:
        return list(excerpts)
    return [
        replace(excerpt, citable=False) if _is_held(excerpt, procedures) else excerpt
        for excerpt in excerpts
    ]


def _is_held(excerpt: Excerpt, procedures: Sequence[Procedure]) -> bool:
    span = Span(excerpt.start, excerpt.end)
    return any(one.holds(excerpt.chunk_number, span) for one in procedures)


def _claims(chosen: Sequence[Excerpt], task: GenerationTask) -> Iterator[Claim]:
    """Yield a claim for what stands together in one chunk; what stands apart begins a paragraph."""
    before: Excerpt | None = None
    for run in _runs(chosen):
        number, first, last = run[0].chunk_number, run[0], run[-1]
        quote = task.evidence[number].content_text[first.start : last.end]
        apart = before is not None and not _stand_together(before, first)
        yield Claim(
            " ".join(excerpt.text for excerpt in run),
            (Quoted(number, quote if len(run) > 1 else first.quote),),
            lead="\n\n" if apart else None,
        )
        before = last


def _runs(chosen: Sequence[Excerpt]) -> Iterator[list[Excerpt]]:
    """Yield sentences that follow one another in a chunk together, and all else alone."""
    run: list[Excerpt] = []
    for excerpt in chosen:
        if run and not (_is_prose(run[-1], excerpt) and _stand_together(run[-1], excerpt)):
            yield run
            run = []
        run.append(excerpt)
    if run:
        yield run


def _is_prose(*excerpts: Excerpt) -> bool:
    return all(excerpt.kind is ExcerptKind.SENTENCE for excerpt in excerpts)


def _stand_together(before: Excerpt, excerpt: Excerpt) -> bool:
    """Return whether nothing lies between two excerpts of one chunk but blanks."""
    gap = excerpt.start - before.end
    return before.chunk_number == excerpt.chunk_number and 0 <= gap <= _GAP


def _as_it_stands(task: GenerationTask, excerpts: list[Excerpt]) -> list[Excerpt]:
    """Let all that is read of a section be quoted where nothing of it stands by itself."""
    if any(excerpt.citable for excerpt in excerpts):
        return excerpts
    return [
        replace(e, citable=not task.reads or _lies_in(e, task.reads[e.chunk_number]))
        for e in excerpts
    ]


def _lies_in(excerpt: Excerpt, part: tuple[int, int]) -> bool:
    return part[0] <= excerpt.start and excerpt.end <= part[1]


def _touches(excerpt: Excerpt, planted: Mapping[int, Planted]) -> bool:
    found = planted.get(excerpt.chunk_number)
    return found is not None and found.touches(excerpt.start, excerpt.end)


def _without_given(
    task: GenerationTask, excerpts: Sequence[Excerpt], inquiry: Inquiry
) -> list[Excerpt]:
    """Make what the reader has before them not citable, unless there is nothing else."""
    if not inquiry.given:
        return list(excerpts)
    terms = [frozenset(task.encode_terms(excerpt.quote)) for excerpt in excerpts]
    again = [says_again(one, inquiry.given) for one in terms]
    named = [inquiry.speaks_of_named(one) for one in terms]
    rows = list(zip(excerpts, again, named, strict=True))
    is_told_elsewhere = any(e.citable and names and not said for e, said, names in rows)
    fresh = [
        replace(excerpt, citable=False, given=True)
        if said and (is_told_elsewhere or not names)
        else excerpt
        for excerpt, said, names in rows
    ]
    return fresh if any(excerpt.citable for excerpt in fresh) else list(excerpts)
