"""While the database is locked, Slack gets its acknowledgements in time all the same."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.i18n import text
from tests.books import COVERED
from tests.wire.slack import Interaction
from tests.wire.slack_bot import Trial, a_trial, elements

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_slow_database"),
]

_IN_TIME = 3.0
_LOCKED_FOR = 4.5


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("slow_database")) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


@contextmanager
def locked(trial: Trial) -> Iterator[None]:
    """Let nothing be written to the bot's database."""
    database = trial.bot.folder / "data" / "glossator.db"
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def acknowledged(*interactions: Interaction) -> None:
    """Fail unless all were acknowledged in time; the lock outlasts that."""
    for interaction in interactions:
        await interaction.ack()
        assert interaction.acked_at is not None
        assert interaction.acked_at - interaction.started < _IN_TIME
    await asyncio.sleep(_LOCKED_FOR - _IN_TIME)


async def test_clicks_and_commands_are_acknowledged_and_answered_when_it_is_free_again(
    trial: Trial,
) -> None:
    world, ann, ben, eve = trial.world, trial.user(), trial.user(), trial.user()
    answer = await trial.ask(ann, trial.channel(ann, ben), COVERED)
    await trial.ask(eve, trial.channel(eve), COVERED)
    stored = await trial.result_of(await world.slash(eve, trial.channel(eve), "/glossator", "data"))
    [votes] = [e for e in elements(answer) if e["action_id"] == "gl:vote"]
    good, bad = (str(votes[f"{side}_button"]["value"]) for side in ("positive", "negative"))
    with locked(trial):
        helpful = await world.click(ann, answer, "gl:vote", good)
        not_helpful = await world.click(ben, answer, "gl:vote", bad)
        bound = await world.slash(world.owner, trial.channel(), "/course", "set length: short")
        forgotten = await world.click(eve, stored, "gl:g")
        await acknowledged(helpful, not_helpful, bound, forgotten)
    assert (await trial.result_of(helpful)).shown == text("vote-noted")
    assert (await trial.result_of(not_helpful)).shown.startswith(text("vote-noted-not-helpful"))
    assert "Done, for this channel" in (await trial.result_of(bound)).shown
    await trial.until(lambda: text("privacy-deleted") in stored.shown or None)


async def test_a_reason_is_acknowledged_and_its_modal_says_later_that_it_is_kept(
    trial: Trial,
) -> None:
    world, ann = trial.world, trial.user()
    answer = await trial.ask(ann, trial.channel(ann), COVERED)
    [votes] = [e for e in elements(answer) if e["action_id"] == "gl:vote"]
    click = await world.click(ann, answer, "gl:vote", str(votes["negative_button"]["value"]))
    await click.ack()
    [view] = click.opened
    with locked(trial):
        await acknowledged(await world.submit_view(ann, view, reason="It is another lamp."))
        assert text("vote-reason-kept") not in str(view.body)
    await trial.until(lambda: text("vote-reason-kept") in str(view.body) or None)
