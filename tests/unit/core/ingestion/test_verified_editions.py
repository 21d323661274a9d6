"""A new edition sets aside what the staff verified, before its first question is answered."""

from pathlib import Path
from uuid import uuid4

import pytest

from core.answering.verified import (
    Draft,
    StaleBecause,
    VerifiedCitation,
    VerifiedScope,
    VerifiedState,
)
from core.retrieval.retrieval import retrieved
from core.storage.access import Tenant
from core.teaching.staff_answers import CitedPassages
from core.teaching.verified_store import VerifiedAnswers
from tests.books import LIGHTHOUSE
from tests.library import COURSE, Library, open_library

pytestmark = pytest.mark.costly

QUOTE = "The keeper trims the wick of the lamp every four hours."


async def verified(library: Library) -> tuple[VerifiedAnswers, VerifiedCitation]:
    """Verify an answer that cites how often the wick is trimmed."""
    (chunk,) = [one for one in await library.chunks() if QUOTE in one.content_text]
    passage = VerifiedCitation(1, QUOTE, retrieved(chunk, 0.9))
    draft = Draft(
        course_id=COURSE.course_id,
        question="How often is the wick trimmed?",
        answer_text="Every four hours [1].",
        citations=(passage,),
        scope=VerifiedScope(),
        verified_by="tutor",
        tenant=Tenant("test", "w"),
        generation=None,
    )
    passages = CitedPassages(library.catalogue, library.index)
    checked, changed = await passages.checked(draft)
    assert not changed
    assert checked.generation == (await library.edition()).generation
    answers = VerifiedAnswers(library.engine)
    await answers.save(uuid4(), checked)
    return answers, checked.citations[0]


@pytest.mark.parametrize(
    ("old", "new", "because"),
    [
        ("every four hours", "every five hours", StaleBecause.QUOTE_GONE),
        ("An untrimmed wick smokes", "An old wick smokes", StaleBecause.SECTION_CHANGED),
        ("burns colza oil", "burns whale oil", None),
    ],
)
async def test_an_answer_is_set_aside_when_what_it_cites_changes(
    tmp_path: Path, old: str, new: str, because: StaleBecause | None
) -> None:
    async with open_library(tmp_path) as library:
        library.write(LIGHTHOUSE)
        await library.ingest("book")
        answers, _ = await verified(library)
        library.write({"lamp.md": LIGHTHOUSE["lamp.md"].replace(old, new)})
        await library.ingest("book")
        (answer,) = await answers.all(COURSE.course_id)
        assert answer.because is because
        assert answer.state is (VerifiedState.STALE if because else VerifiedState.CURRENT)
        if because:
            (changed,) = answer.changed
            assert old in changed.before
            assert new in changed.after


async def test_what_is_said_of_an_older_edition_is_compared_with_the_live_one(
    tmp_path: Path,
) -> None:
    async with open_library(tmp_path) as library:
        library.write(LIGHTHOUSE)
        await library.ingest("book")
        _, passage = await verified(library)
        library.write({"lamp.md": LIGHTHOUSE["lamp.md"].replace("every four", "every nine")})
        await library.ingest("book")
        draft = Draft(
            COURSE.course_id, "How often?", "Every four hours [1].", (passage,),
            VerifiedScope(), "tutor", Tenant("test", "w"), None,
        )  # fmt: skip
        _, changed = await CitedPassages(library.catalogue, library.index).checked(draft)
        assert [one.because for one in changed] == [StaleBecause.QUOTE_GONE]
