"""Answers with a list of steps as the book has it: from the first one, in order, with numbers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from core.generation.base import Claim, GenerationTask, NotCovered, Quoted, StepsLeftOut
from core.generation.steps import Procedure
from core.markdown.writing import one_line
from core.models import AnswerLength
from core.text.planted import Planted
from core.text.sentences import Span
from core.text.step_lists import Item, Part, Step, begins_block
from core.text.step_questions import LAST, StepsAsked

LONGEST_STEPS: Mapping[AnswerLength, int] = MappingProxyType(
    {AnswerLength.SHORT: 700, AnswerLength.NORMAL: 1_800, AnswerLength.LONG: 3_600}
)
"""Characters of the steps of one answer; of a longer list the first steps are shown, of a longer
step its beginning."""

_INDENT = "   "


@dataclass(frozen=True, slots=True)
class StepWriter:
    """Writes an answer from one list of steps."""

    procedure: Procedure
    task: GenerationTask
    planted: Mapping[int, Planted]
    """For each chunk of the list what may not be quoted of it."""
    others: Sequence[Procedure] = ()
    """Lists that may be meant as well, which are named."""

    def write(self, asked: StepsAsked) -> list[Claim | StepsLeftOut | NotCovered]:
        """Return the claims of the steps asked for, and what is to be said of those left out.

        All steps are told where the one asked for is not among them; nothing when none of those
        that are to be told may be shown.
        """
        wanted = self._wanted(asked)
        steps = range(len(self._steps)) if wanted is None else wanted
        allowed = [n for n in steps if self._is_clean(self._steps[n].parts)]
        shown = self._fitting(allowed) if wanted is None else allowed
        if not shown:
            return []
        claims = [claim for n in shown for claim in self._claims(self._told(n))]
        if wanted is None:
            own = self.procedure.steps
            claims = [*self._prose(own.lead_in), *claims, *self._prose(own.warnings)]
        dropped = [n for n in steps if n not in allowed]
        parts: list[Claim | StepsLeftOut | NotCovered] = [*claims]
        parts += self._left_out(shown, dropped, of_all=wanted is None)
        if wanted is None and asked.is_one:
            parts.append(NotCovered())
        return parts

    @property
    def _steps(self) -> Sequence[Step]:
        return self.procedure.steps.steps

    def _wanted(self, asked: StepsAsked) -> list[int] | None:
        """Return the positions of the steps that alone are asked for; None: of all.

        A step that the question calls by its words is told along with the one beside it, so that
        it is seen which one was taken.
        """
        if not asked.is_one:
            return None
        by_words = bool(self._encoded(asked.words))
        position = self._named(asked.words) if by_words else self._one(asked)
        if position is None or not 0 <= position + asked.beside < len(self._steps):
            return None
        wanted = position + asked.beside
        return sorted((position, wanted)) if by_words else [wanted]

    def _one(self, asked: StepsAsked) -> int | None:
        """Return the position of the step with the place or number asked for, or just shown."""
        first, last = self.procedure.steps.first_number, len(self._steps) - 1
        if asked.place == LAST:
            return None if self.procedure.goes_on else last
        if asked.place is not None:
            position = asked.place - max(first, 1)  # a list read from its middle lacks its first
        elif asked.number is not None:
            position = asked.number - first
        else:
            return self._last_shown()
        return position if 0 <= position <= last else None

    def _last_shown(self) -> int | None:
        """Return the position of the step that the turn before cited last."""
        if not self.task.history:
            return None
        cited = [
            (number, Span(citation.char_start, citation.char_end))
            for citation in self.task.history[-1].agent_response.citations
            for number, chunk in enumerate(self.task.evidence)
            if chunk.chunk_id == citation.chunk_id
        ]
        touched = (
            position
            for position, step in enumerate(self._steps)
            for number, span in self.procedure.spans(step.parts)
            if any(number == n and span.start < s.end and s.start < span.end for n, s in cited)
        )
        return max(touched, default=None)

    def _named(self, words: str) -> int | None:
        """Return the position of the step that has more of these words than any other.

        None where the heading has them all: no one step is called what all of them are.
        """
        terms = self._encoded(words)
        if set(terms) <= {*self._encoded(self._heading(self.procedure))}:
            return None
        rarity = self.task.statistics.rarity(terms)
        had = [
            sum(
                rare
                for term, rare in zip(terms, rarity, strict=True)
                if term in self._encoded(self._words(step.parts))
            )
            for step in self._steps
        ]
        most = max(had)
        return had.index(most) if most and had.count(most) == 1 else None

    def _encoded(self, words: str) -> Sequence[int]:
        return self.task.encode_terms(words) if words else ()

    def _fitting(self, positions: Sequence[int]) -> list[int]:
        """Return as many steps from the first on as an answer may have; at least one."""
        fitting: list[int] = []
        room = LONGEST_STEPS[self.task.length]
        for position in positions:
            told = self._told(position)
            room -= self._length(told)
            if room < 0 and fitting:
                break
            fitting.append(position)
            if len(told.items) < len(self._steps[position].items):
                break
        return fitting

    def _told(self, position: int) -> Step:
        """Return a step; of one too long for an answer, what its items begin with, where it fits.

        That is their own words: what stands behind them may be the text around the list.
        """
        step = self._steps[position]
        longest = LONGEST_STEPS[self.task.length]
        if self._length(step) <= longest:
            return step
        beginning: list[Item] = []
        for item in step.items:
            own = Item(item.mark, item.depth, item.parts[:1])
            if beginning and self._length(Step([*beginning, own])) > longest:
                break
            beginning.append(own)
        return Step(beginning)

    def _length(self, step: Step) -> int:
        return len(self._words(step.parts))

    def _left_out(
        self, shown: Sequence[int], dropped: Sequence[int], *, of_all: bool
    ) -> Iterator[StepsLeftOut]:
        own = self.procedure
        start, steps = own.steps.first_number, len(self._steps)
        is_cut = of_all and shown[-1] < max(n for n in range(steps) if n not in dropped)
        missing = tuple(start + n for n in dropped if not is_cut or n < shown[-1])
        shortened = tuple(start + n for n in shown if self._told(n) != self._steps[n])
        goes_on = of_all and own.goes_on
        begins = start if of_all else min(start, 1)
        others = tuple(dict.fromkeys(map(self._heading, self.others)))
        if missing or shortened or others or is_cut or goes_on or begins > 1:
            yield StepsLeftOut(
                first=begins,
                shown_to=start + (shown[-1] if is_cut else steps - 1),
                last=None if goes_on else start + steps - 1,
                section=self._heading(own),
                dropped=missing,
                shortened=shortened,
                others=others,
            )

    def _heading(self, procedure: Procedure) -> str:
        """Return the heading below which a list stands."""
        number, _ = next(procedure.spans(procedure.steps.parts))
        chunk = self.task.evidence[number]
        return chunk.section_heading or chunk.page_title

    def _claims(self, step: Step) -> Iterator[Claim]:
        for item in step.items:
            for place, (number, span) in enumerate(self.procedure.spans(item.parts)):
                quote = self._quoted(number, span)
                lead = "\n\n"
                text = quote
                if not place and item.mark:
                    lead = f"\n{_INDENT * item.depth}{item.mark} "
                    text = quote.removeprefix(item.mark).lstrip()
                quoted = Quoted(number, quote, span.start)
                yield Claim(_shown(text), (quoted,), lead, is_step=True)

    def _prose(self, parts: Sequence[Part]) -> Iterator[Claim]:
        for part in parts:
            for number, span in self.procedure.spans([part]):
                if self._is_clean([part]):
                    quote = self._quoted(number, span)
                    quoted = Quoted(number, quote, span.start)
                    yield Claim(_shown(quote), (quoted,), "\n\n")

    def _is_clean(self, parts: Sequence[Part]) -> bool:
        return not any(
            self.planted[number].touches(span.start, span.end)
            for number, span in self.procedure.spans(parts)
        )

    def _words(self, parts: Sequence[Part]) -> str:
        return " ".join(self._quoted(*place) for place in self.procedure.spans(parts))

    def _quoted(self, number: int, span: Span) -> str:
        return self.task.evidence[number].content_text[span.start : span.end]


def _shown(quote: str) -> str:
    """Return the words on one line, unless code or a table stands among them."""
    lines = quote.splitlines()
    has_block = any(begins_block(line) for line in lines)
    return quote if has_block else one_line(quote)
