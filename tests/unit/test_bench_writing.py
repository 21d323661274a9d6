"""The figures of what a model writes, and of what it may read."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, replace

import pytest

from core.answering.writers.base import (
    Claim,
    ClaimKind,
    DraftPart,
    GenerationTask,
    ModelCall,
    NotCovered,
)
from core.domain import Outcome
from core.domain.errors import GenerationError
from core.retrieval.evidence import Excerpt
from core.teaching.evaluation.report import GoldQuestion
from tests.bench.writing.__main__ import Written, report
from tests.bench.writing.evidence import held
from tests.bench.writing.recorded import Draft, RecordedGenerator
from tests.samples import TEXT, chunk, response, resting_on

TASK = GenerationTask(question="What is a heap?", evidence=(chunk(),))
CITED = resting_on("A heap is a tree.", "A heap is a complete binary tree.")
ROW = GoldQuestion(id="q1", question=TASK.question, relevant=("heaps.md",), answers=("A tree.",))


@dataclass
class Scripted:
    """A writer that drafts what it was given, and then fails where it is to."""

    parts: tuple[DraftPart, ...]
    failure: str = ""
    name: str = "scripted"

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        task.report(ModelCall(self.name, 12, 3))
        for part in self.parts:
            yield part
        if self.failure:
            raise GenerationError(self.failure)


async def written_down(writer: Scripted) -> Draft:
    recorded, paid = RecordedGenerator(writer), list[ModelCall]()
    fails = (
        pytest.raises(GenerationError, match=writer.failure) if writer.failure else nullcontext()
    )
    with fails:
        async with aclosing(recorded.generate(replace(TASK, report=paid.append))) as parts:
            assert tuple([part async for part in parts]) == writer.parts
    [draft] = recorded.drafts
    assert draft.calls == paid
    return draft


@pytest.mark.parametrize(
    ("parts", "is_valid"),
    [
        ((CITED,), True),
        ((CITED, Claim("Take a queue.", kind=ClaimKind.EXAMPLE)), True),
        ((CITED, Claim("It is fast.")), False),
        ((CITED, replace(CITED, quotes=(), cites_unknown=True)), False),
        ((Claim("Take a queue.", kind=ClaimKind.EXAMPLE),), False),
        ((), False),
    ],
)
async def test_an_answer_has_valid_ids_where_each_claim_names_sentences_there_are(
    parts: tuple[DraftPart, ...], is_valid: bool
) -> None:
    assert (await written_down(Scripted(parts))).is_valid is is_valid


async def test_what_is_refused_and_what_fails_is_kept() -> None:
    refused = await written_down(Scripted((NotCovered(),)))
    assert refused.has_nothing
    assert (refused.failure, refused.files) == ("", {"heaps.md"})
    partly = await written_down(Scripted((CITED, NotCovered())))
    assert (partly.is_refused, partly.has_nothing) == (True, False)
    assert (await written_down(Scripted((CITED,), "too late"))).failure == "too late"


async def test_a_refusal_counts_as_wrong_where_the_right_document_was_read() -> None:
    refused = await written_down(Scripted((NotCovered(),)))
    elsewhere = ROW.model_copy(update={"relevant": ("trees.md",)})
    shown = response(outcome=Outcome.ANSWERED)
    found = [Written(row, refused, shown) for row in (ROW, elsewhere)]
    counted = [" ".join(one.split()) for one in report(found, near=False)]
    for figure in (
        "right evidence 1 of 2",
        "model refuses, of all 2 of 2",
        "model refuses beside right evidence 1 of 1",
        'shown "not covered" beside right evidence 0 of 1',
        "a second call that writes 0 of 2",
    ):
        assert any(one.startswith(figure) for one in counted), counted


def test_the_words_of_a_reference_are_looked_for_in_text_and_headings() -> None:
    def terms(text: str) -> list[int]:
        return sorted({hash(word.strip(".:?").casefold()) for word in text.split()})

    evidence = [Excerpt(chunk(), 0, len(TEXT), 15)]
    row = ROW.model_copy(
        update={"question": "A heap?", "answers": ("Definition: a largest one.", "No one knows.")}
    )
    found = held(row, evidence, terms)
    assert (found.tokens, found.share, found.whole) == (15, 2 / 3, 3 / 4)
    unknown = held(row.model_copy(update={"answers": ("A heap.",)}), evidence, terms)
    assert (unknown.share, unknown.whole) == (None, 1.0)
