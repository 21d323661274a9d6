"""People of other organisations are answered in shared channels where staff allow it, only."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from core.domain import i18n
from tests.books import COVERED, COVERED_FACT, VERBATIM
from tests.wire.slack import Channel, Message, User
from tests.wire.slack_bot import Trial, a_trial, elements

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_guests"),
]

EVIDENCE, WITHOUT_QUOTE, DELETE = "gl:e", "gl:q", "gl:d"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    one_course: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(one_course, tmp_path_factory.mktemp("guests")) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


def shared(trial: Trial, *members: User) -> tuple[User, Channel]:
    """Return an admin of another workspace, and a channel that both workspaces share."""
    elsewhere = trial.world.add_workspace("Elsewhere")
    trial.people += 1
    guest = trial.world.add_user(f"guest{trial.people}", elsewhere, admin=True)
    return guest, trial.channel(guest, *members, shared_with=(elsewhere,))


async def told(trial: Trial, user: User, channel: Channel, command: str, text: str) -> str:
    """Give a command, and return what its user alone is told."""
    return (await trial.result_of(await trial.world.slash(user, channel, command, text))).shown


async def about_a_quote(trial: Trial, asker: User, channel: Channel) -> Message:
    """Return an answer under which its question can be asked again without the quote."""
    quoted = f"How heavy is the fog bell of Arden?\n&gt; {VERBATIM}"
    return await trial.ask(asker, channel, quoted)


async def test_a_guest_gets_no_answer_by_a_button_unless_staff_allow_it(trial: Trial) -> None:
    ann, owner = trial.user(), trial.world.owner
    guest, channel = shared(trial, ann)
    answer = await about_a_quote(trial, ann, channel)
    [vote] = [e for e in elements(answer) if e["action_id"] == "gl:vote"]
    good = str(vote["positive_button"]["value"])
    for action, choice in ((WITHOUT_QUOTE, None), (EVIDENCE, None), ("gl:vote", good)):
        refused = await trial.world.click(guest, answer, action, choice)
        assert (await trial.result_of(refused)).shown == i18n.text("asking-not-for-guests")
        assert not refused.opened
    await trial.quiet()
    assert trial.from_bot(channel) == [answer]
    assert "Done" in await told(trial, owner, channel, "/course", "set outsiders: yes")
    await (await trial.world.click(guest, answer, WITHOUT_QUOTE)).ack()
    await trial.until(lambda: any("half a ton" in m.shown for m in trial.from_bot(channel)) or None)


async def test_the_admin_of_another_workspace_is_no_staff_of_ours(trial: Trial) -> None:
    ann = trial.user()
    guest, channel = shared(trial, ann)
    answer = await trial.ask(ann, channel, COVERED)
    click = await trial.world.click(guest, answer, DELETE)
    assert (await trial.result_of(click)).shown == i18n.text("answer-not-yours")


async def test_a_guest_who_was_answered_may_delete_the_answer(trial: Trial) -> None:
    owner = trial.world.owner
    guest, channel = shared(trial)
    assert "Done" in await told(trial, owner, channel, "/course", "set outsiders: yes")
    answer = await trial.ask(guest, channel, COVERED)
    assert "Done" in await told(trial, owner, channel, "/course", "set outsiders: no")
    await (await trial.world.click(guest, answer, DELETE)).ack()
    await trial.until(lambda: not trial.from_bot(channel) or None, "nothing of the answer")


async def test_other_apps_and_guests_are_not_answered_unless_staff_allow_it(trial: Trial) -> None:
    elsewhere = trial.world.add_workspace("Elsewhere")
    guest = trial.world.add_user("guest", elsewhere)
    channel = trial.channel(guest, shared_with=(elsewhere,))
    await trial.world.say(guest, channel, f"{trial.mention} {COVERED}")
    await trial.quiet()
    assert not trial.from_bot(channel)
    owner = trial.world.owner
    assert "Done" in await told(trial, owner, channel, "/course", "set outsiders: yes")
    question = await trial.world.say(guest, channel, f"{trial.mention} {COVERED}")
    assert COVERED_FACT in (await trial.answer_to(question)).shown
