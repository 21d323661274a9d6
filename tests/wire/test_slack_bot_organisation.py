"""An app that a whole organisation let in: its people have their data from all workspaces."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain.i18n import text
from tests.books import COVERED
from tests.wire.slack import Channel, User
from tests.wire.slack_bot import Trial, a_trial
from tests.wire.slack_installs import install
from tests.wire.stored import rows_of

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_organisation"),
]

ORGANISATION = "E0000000001"
IN_STORE = "1 question with its answer"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    folder = tmp_path_factory.mktemp("organisation")
    async with a_trial(one_course, folder, by_oauth=True) as trial:
        await trial.bot.says("listening for Slack on port")
        trial.world.app.org_wide = True
        trial.world.workspace.enterprise_id = ORGANISATION
        await install(trial, trial.world.workspace)
        yield trial


async def moved(trial: Trial) -> tuple[User, Channel]:
    """Return somebody who asked in one workspace, and a channel in another where they are now."""
    ann = trial.user()
    await trial.ask(ann, trial.channel(ann), COVERED)
    other = trial.world.add_workspace(f"Other {trial.people}", enterprise_id=ORGANISATION)
    trial.world.install(trial.world.app, other)
    ann.workspace = other
    return ann, trial.world.add_channel(other, "elsewhere", members=(ann,))


async def test_the_organisation_let_the_app_in_and_not_its_workspaces(trial: Trial) -> None:
    places = rows_of(trial.bot.folder / "data", "SELECT place FROM installations")
    assert places == [(ORGANISATION,)]


async def test_data_shows_and_deletes_what_was_asked_in_another_workspace(
    trial: Trial,
) -> None:
    ann, elsewhere = await moved(trial)
    stored = await trial.result_of(await trial.world.slash(ann, elsewhere, "/glossator", "data"))
    assert IN_STORE in stored.shown
    await (await trial.world.click(ann, stored, "gl:g")).ack()
    await trial.until(lambda: "All of it is deleted" in stored.shown or None)
    again = await trial.result_of(await trial.world.slash(ann, elsewhere, "/glossator", "data"))
    assert "Nothing is stored about you" in again.shown
    assert not rows_of(trial.bot.folder / "data", "SELECT content FROM turns WHERE content <> ''")


async def test_the_file_of_ones_data_holds_what_was_asked_in_another_workspace(
    trial: Trial,
) -> None:
    ann, elsewhere = await moved(trial)
    stored = await trial.result_of(await trial.world.slash(ann, elsewhere, "/glossator", "data"))
    pressed = await trial.world.click(ann, stored, "gl:j")
    exported = await trial.result_of(pressed)
    assert text("slack-export-in-direct-messages") in exported.shown
    (file,) = [
        file for m in trial.world.messages for file in m.files if ann.id in m.channel.members
    ]
    assert file.content is not None
    turns = json.loads(file.content)["stored"]["turns"]
    assert [turn["content"]["user_input"] for turn in turns] == [COVERED]


async def test_the_home_tells_of_what_was_asked_in_another_workspace(trial: Trial) -> None:
    ann, _ = await moved(trial)
    await trial.world.open_home(ann)
    home = await trial.until(lambda: trial.world.homes.get((trial.world.app.id, ann.id)))
    assert IN_STORE in str(home.body)
