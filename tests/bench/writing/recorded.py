"""A writer that keeps what a model drafted, as it was before anything of it was checked."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from core.answering.writers.base import (
    Claim,
    ClaimKind,
    DraftPart,
    GenerationTask,
    Generator,
    ModelCall,
    NotCovered,
)
from core.domain.errors import GenerationError


@dataclass
class Draft:
    """What a model wrote of one answer."""

    task: GenerationTask
    calls: list[ModelCall] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    is_refused: bool = False
    """Whether it said that the passages do not answer the question, or a part of it."""
    failure: str = ""
    """Why there is no answer, or not all of it; empty: it is whole."""

    @property
    def is_valid(self) -> bool:
        """Whether it has claims, and each but the model's own example names sentences there are."""
        cited = [claim for claim in self.claims if claim.kind is ClaimKind.FACT]
        return bool(cited) and all(is_cited(claim) for claim in cited)

    @property
    def has_nothing(self) -> bool:
        """Whether it refuses, and claims nothing."""
        return self.is_refused and not self.claims

    @property
    def files(self) -> set[str]:
        """The files of the book that it was written from, further searches included."""
        return {chunk.source_file for chunk in self.task.evidence}


def is_cited(claim: Claim) -> bool:
    """Return whether a claim names sentences, and none that there is not."""
    return bool(claim.quotes) and not claim.cites_unknown


class RecordedGenerator:
    """Writes as another generator does, and keeps the drafts, oldest first."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator
        self.drafts: list[Draft] = []

    @property
    def name(self) -> str:
        """The model's name."""
        return self._generator.name

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield what the other generator yields.

        Raises:
            GenerationError: as it does.
        """
        draft = Draft(task)
        self.drafts.append(draft)

        def report(call: ModelCall) -> None:
            draft.calls.append(call)
            task.report(call)

        try:
            async with aclosing(self._generator.generate(replace(task, report=report))) as parts:
                async for part in parts:
                    match part:
                        case Claim():
                            draft.claims.append(part)
                        case NotCovered():
                            draft.is_refused = True
                    yield part
        except GenerationError as error:
            draft.failure = str(error)
            raise
