"""Finds the lists of steps in the evidence, and the one that a question is about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.generation.base import GenerationTask
from core.generation.citable import is_exercise
from core.generation.excerpts import Excerpt, ExcerptKind, in_reading_order, is_next
from core.generation.inquiry import Inquiry
from core.models import RetrievedChunk
from core.text.sentences import Span
from core.text.step_lists import MOST_PASSAGES, Part, StepList, find_step_lists

_FLAT_FORMATS = (".pdf", ".txt")
"""Formats that do not tell surely which items stand below others."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A list of steps with the chunks of the evidence that it stands in."""

    steps: StepList
    chunk_numbers: Sequence[int]
    """The numbers of the chunks of its section, which its parts count from 0."""

    @property
    def goes_on(self) -> bool:
        """Whether more of the list may stand behind what was read of it."""
        return len({part.text_number for part in self.steps.parts}) >= MOST_PASSAGES

    @property
    def touched(self) -> set[int]:
        """The numbers of the chunks that hold any of it, lead-in and warnings included."""
        own = self.steps
        parts = (*own.lead_in, *own.parts, *own.warnings)
        return {self.chunk_numbers[part.text_number] for part in parts}

    def spans(self, parts: Sequence[Part]) -> Iterator[tuple[int, Span]]:
        """Yield where parts stand, one span for each run of them in one chunk."""
        for number, run in groupby(parts, key=lambda part: part.text_number):
            own = list(run)
            yield self.chunk_numbers[number], Span(own[0].start, own[-1].end)

    def holds(self, chunk_number: int, span: Span) -> bool:
        """Return whether a span lies among the steps, or touches them."""
        return any(
            number == chunk_number and own.start < span.end and own.end > span.start
            for number, own in self.spans(self.steps.parts)
        )


def read_procedures(task: GenerationTask) -> list[Procedure]:
    """Return the lists of steps in what is read of the evidence, in reading order."""
    runs: list[list[tuple[int, RetrievedChunk]]] = []
    for number, chunk in in_reading_order(task.evidence):
        if runs and is_next(runs[-1][-1][1], chunk):
            runs[-1].append((number, chunk))
        else:
            runs.append([(number, chunk)])
    found = []
    for run in runs:
        if is_exercise(run[0][1].headings):
            continue
        numbers = [number for number, _ in run]
        texts = [chunk.content_text for _, chunk in run]
        keeps_depth = not run[0][1].source_file.lower().endswith(_FLAT_FORMATS)
        lists = find_step_lists(texts, task.language, keeps_depth=keeps_depth)
        procedures = (Procedure(one, numbers) for one in lists)
        found += [one for one in procedures if _is_read(one, task)]
    return found


def with_lists(
    excerpts: Sequence[Excerpt],
    procedures: Sequence[Procedure],
    task: GenerationTask,
    inquiry: Inquiry,
) -> list[Excerpt]:
    """Return the excerpts with one for each list's part of a chunk in the place of its items.

    A list is judged by its lead-in and the one step that has most of the question's words: a
    long list has many words of many a question.
    """
    whole: list[Excerpt] = []
    taken: set[tuple[int, int]] = set()
    for excerpt in excerpts:
        found = _list_around(excerpt, procedures)
        if found is None:
            whole.append(excerpt)
            continue
        procedure, number, span = found
        if (number, span.start) not in taken:
            taken.add((number, span.start))
            chunk = task.evidence[number]
            whole.append(
                Excerpt(
                    chunk_number=number,
                    start=span.start,
                    end=span.end,
                    quote=_gist(procedure, task, inquiry),
                    kind=ExcerptKind.STEPS,
                    place=(chunk.document_id, chunk.char_start + span.start),
                    tells_to_do=procedure.steps.tells_to_do,
                )
            )
    return whole


def _gist(procedure: Procedure, task: GenerationTask, inquiry: Inquiry) -> str:
    def words(parts: Sequence[Part]) -> str:
        places = procedure.spans(parts)
        return " ".join(task.evidence[n].content_text[s.start : s.end] for n, s in places)

    told = [words(step.parts) for step in procedure.steps.steps]
    best = max(told, key=lambda text: inquiry.coverage(frozenset(task.encode_terms(text))))
    return f"{words(procedure.steps.lead_in)} {best}".lstrip()


def _is_read(procedure: Procedure, task: GenerationTask) -> bool:
    return not task.reads or all(
        task.reads[number][0] <= span.start and span.end <= task.reads[number][1]
        for number, span in procedure.spans(procedure.steps.parts)
    )


def _list_around(
    excerpt: Excerpt, procedures: Sequence[Procedure]
) -> tuple[Procedure, int, Span] | None:
    for procedure in procedures:
        for number, span in procedure.spans(procedure.steps.parts):
            touches = span.start < excerpt.end and span.end > excerpt.start
            if number == excerpt.chunk_number and touches:
                return procedure, number, span
    return None
