"""What the shipped head decides, and that it is the one that the labelled lines give."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from adapters.chat.attention import Deciding, embedded_features, has_form_of_question
from adapters.chat.speaking import INTENTS, WEIGHTS, Band, Before, ChatLine, Intent, shipped_head
from bot.embedders import installed_model
from core.providers.embeddings.local import LocalEmbedder
from tests.bench.shares import interval
from tests.bench.speaking.__main__ import decided_by, fit
from tests.bench.speaking.labelled import HELD_OUT, TRAIN, identity_of, labelled_in
from tests.bench.speaking.table import figures
from tests.embedding import HashingEmbedder

ANSWER = "The keeper trims the wick every four hours, because an untrimmed wick smokes [1]."


@pytest.fixture
async def local(models: Path) -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder(installed_model(), models)
    yield embedder
    embedder.close()


def below(text: str, **changes: object) -> ChatLine:
    """Return a line right below an answer, by the person who asked."""
    known = {"before": Before.BOT, "before_text": ANSWER, "answer": ANSWER, "is_asker": True}
    return ChatLine(text=text, **{**known, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "intent", "band"),
    [
        ("and why does it smoke?", Intent.FOLLOW_UP, Band.SPEAK),
        ("what does colza mean", Intent.FOLLOW_UP, Band.SPEAK),
        ("thank you so much, that makes sense now!", Intent.THANKS, Band.REACT),
        ("where is that?", Intent.WHERE, Band.SPEAK),
        ("are you sure?", Intent.SURE, Band.SPEAK),
        ("auf Deutsch?", Intent.LANGUAGE, Band.SPEAK),
        ("did you bring my book", Intent.PEOPLE, Band.SILENT),
    ],
)
async def test_a_line_below_an_answer_is_taken_for_what_it_is(
    local: LocalEmbedder, text: str, intent: Intent, band: Band
) -> None:
    decision = await Deciding(local).decide(below(text))
    assert (decision.intent, decision.band) == (intent, band)


async def test_thanks_to_the_bot_are_thanks_also_after_others(local: LocalEmbedder) -> None:
    said = "thank you so much, that makes sense now!"
    after = below("thank you!", addressed=True, before=Before.SAME, before_text=said)
    assert (await Deciding(local).decide(after)).intent is Intent.THANKS


@pytest.mark.parametrize(
    "text", ["Can you explain fog?", "What does the book say about how the bell is rung?"]
)
async def test_a_suggested_question_is_one_about_the_book_also_after_an_answer(
    local: LocalEmbedder, text: str
) -> None:
    decision = await Deciding(local).decide(below(text, addressed=True))
    assert decision.intent in (Intent.ASK, Intent.FOLLOW_UP)


@pytest.mark.parametrize("is_asker", [True, False])
async def test_only_who_asked_is_answered_after_others_without_a_doubt(
    local: LocalEmbedder, is_asker: bool
) -> None:
    said = below(
        "What is colza?", before=Before.OTHER, before_text="see you at lunch", is_asker=is_asker
    )
    assert (await Deciding(local).decide(said)).band is not Band.SILENT
    chatter = below("see you there", before=Before.OTHER, before_text="lunch?", is_asker=is_asker)
    assert (await Deciding(local).decide(chatter)).band is Band.SILENT


@pytest.mark.parametrize("text", ["sounds like my old flat", "my cat does that too"])
async def test_a_comment_below_an_answer_is_left_alone(local: LocalEmbedder, text: str) -> None:
    assert (await Deciding(local).decide(below(text))).band is Band.SILENT


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("and where is it", True),
        ("wo steht das", True),
        ("the end?", True),
        ("I know", False),
    ],
)
def test_a_question_has_its_form(text: str, is_one: bool) -> None:
    assert has_form_of_question(text) is is_one


async def test_a_request_for_simpler_words_is_offered_an_answer_at_least(
    local: LocalEmbedder,
) -> None:
    decision = await Deciding(local).decide(below("simpler please"))
    assert decision.intent is Intent.SIMPLER
    assert decision.band is not Band.SILENT


async def test_a_lecturers_statement_is_left_alone(local: LocalEmbedder) -> None:
    said = below("We will cover this on Monday, read section 5.1 first", is_asker=False)
    decision = await Deciding(local).decide(
        ChatLine(said.text, staff=True, before=said.before, before_text=ANSWER, answer=ANSWER)
    )
    assert decision.band is Band.SILENT


@pytest.mark.parametrize("text", ["thanks!", "did you bring my book", "lol", "why", "shorter"])
async def test_what_is_addressed_to_the_bot_always_gets_something(
    local: LocalEmbedder, text: str
) -> None:
    assert (await Deciding(local).decide(below(text, addressed=True))).band is Band.SPEAK


async def test_vectors_of_another_model_count_for_nothing() -> None:
    decision = await Deciding(HashingEmbedder()).decide(below("and why does it smoke?"))
    assert decision.intent in INTENTS


def test_the_head_is_small_and_fitted_on_the_lines_as_they_are() -> None:
    assert shipped_head().fitted_on == identity_of(TRAIN), "python -m tests.bench.speaking --fit"
    assert WEIGHTS.stat().st_size < 16_000


def test_there_are_lines_enough_of_every_kind_and_the_parts_share_none() -> None:
    train, held_out = labelled_in(TRAIN), labelled_in(HELD_OUT)
    assert len(train) + len(held_out) >= 1_500
    assert len(held_out) >= 400
    assert {x.intent for x in train} == {x.intent for x in held_out} == {*INTENTS}
    long = [{x.line.text for x in part if len(x.line.text) > 40} for part in (train, held_out)]
    assert not long[0] & long[1]
    counted = Counter(x.language for x in train)
    assert counted["de"] >= 150


@pytest.mark.parametrize(("hits", "count"), [(0, 10), (5, 10), (10, 10), (0, 0)])
def test_an_interval_holds_its_share(hits: int, count: int) -> None:
    low, high = interval(hits, count)
    assert 0 <= low <= (hits / count if count else 0.5) <= high <= 1


@pytest.mark.slow
async def test_fitting_again_gives_nearly_the_same_decisions(local: LocalEmbedder) -> None:
    """Only the shipped weights are rounded to a byte each."""
    shipped, again = shipped_head(), await fit(local)
    decided = await decided_by(shipped, local)
    pairs = zip(decided, await decided_by(again, local), strict=True)
    differ = [line.line.text for (line, one), (_, other) in pairs if one.band != other.band]
    assert len(differ) <= 0.02 * len(decided)


async def test_a_line_has_the_same_features_after_whatever_was_read_before(
    local: LocalEmbedder, models: Path
) -> None:
    lines = [x.line for x in labelled_in(HELD_OUT)[:6]]
    known = [await embedded_features(local, one) for one in lines]
    fresh = LocalEmbedder(installed_model(), models)
    try:
        again = [await embedded_features(fresh, one) for one in reversed(lines)]
    finally:
        fresh.close()
    assert np.array_equal(np.stack(known), np.stack(again[::-1]))


@pytest.mark.slow
async def test_held_out_lines_of_other_people_are_left_alone(local: LocalEmbedder) -> None:
    decided = await decided_by(shipped_head(), local)
    everybody, askers = figures(decided), figures(decided, "asker")
    assert _share(everybody["answered though no question"]) <= 0.02
    assert _share(everybody["offered though no question"]) <= 0.05
    assert _share(askers["answered at once"]) >= 0.95
    assert _share(askers["thanks that get a reaction"]) >= 0.8
    assert not figures(decided, "staff")["answered though no question"][0]


def _share(counted: tuple[int, int]) -> float:
    hits, count = counted
    return hits / count
