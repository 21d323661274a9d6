"""Who is staff in a Slack workspace, as its admins name them, and what staff may do."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from adapters.slack.people import GROUPS_SCOPE
from core.domain import i18n
from tests.books import COVERED, COVERED_FACT
from tests.wire.slack import Channel, Message, User
from tests.wire.slack_bot import Trial, a_trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_staff"),
]

NOT_STAFF = "Staff of the course that answers here, and the admins of this workspace, can do that."
NOT_TO_NAME = "Who is staff is for the admins of this workspace to say."
STAFF_ONLY = "staff only"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(two_courses, tmp_path_factory.mktemp("staff")) as trial:
        yield trial


@pytest.fixture
def trial(running: Trial) -> Iterator[Trial]:
    yield running
    running.check_manners()


async def told(trial: Trial, user: User, channel: Channel, text: str) -> str:
    """Give the command `/course`, and return what its user alone is told."""
    channel.members[user.id] = user
    shown = await trial.result_of(await trial.world.slash(user, channel, "/course", text))
    assert shown.ephemeral
    return shown.shown


async def bound(trial: Trial, *members: User, course: str = "arden") -> Channel:
    """Return a new channel that is bound to a course."""
    channel = trial.channel(*members)
    assert "Done" in await told(trial, trial.world.owner, channel, f"bind {course}")
    return channel


async def test_a_channel_without_a_course_lists_those_that_there_are_to_staff_alone(
    trial: Trial,
) -> None:
    student = trial.user()
    channel = trial.channel(student)
    asked = await trial.mentioned(student, channel, COVERED)
    assert (await trial.refusal_of(asked)).shown == i18n.text("course-unset-tell")
    by_command = await trial.world.slash(student, channel, "/ask", COVERED)
    assert (await trial.result_of(by_command)).shown == i18n.text("course-unset-tell")
    of_staff = await trial.mentioned(trial.world.owner, channel, COVERED)
    assert "/course: arden, handbook, vault." in (await trial.refusal_of(of_staff)).shown


async def test_a_lecturer_who_is_no_admin_is_staff_by_name_or_by_group(trial: Trial) -> None:
    world, owner = trial.world, trial.world.owner
    lecturer, tutor = trial.user(), trial.user()
    channel = await bound(trial, lecturer, tutor)
    handle = f"tutors{trial.people}"
    group = world.add_subteam(world.workspace, handle, tutor)
    for user in (lecturer, tutor):
        assert (await told(trial, user, channel, "show")).startswith(NOT_STAFF)
    named = await told(trial, owner, channel, f"staff add @{lecturer.name}")
    assert named == f"{lecturer.name} (`{lecturer.id}`) is now staff."
    assert "is now staff" in await told(trial, owner, channel, f"staff add @{handle}")
    for user in (lecturer, tutor):
        assert "**course**: arden" in await told(trial, user, channel, "show")
        assert "Done" in await told(trial, user, channel, "set length: short")
    listed = await told(trial, lecturer, channel, "staff list")
    assert f"- {lecturer.name} (`{lecturer.id}`)" in listed
    assert f"- the group {handle} (`{group.id}`)" in listed
    assert "The admins of this workspace are staff, too." in listed
    for whom in (f"@{lecturer.name}", group.id):
        assert "no longer staff" in await told(trial, owner, channel, f"staff remove {whom}")
    for user in (lecturer, tutor):
        assert (await told(trial, user, channel, "show")).startswith(NOT_STAFF)


async def test_a_lecturer_who_chooses_a_course_in_a_direct_message_is_staff(trial: Trial) -> None:
    world, lecturer = trial.world, trial.user()
    channel = await bound(trial)
    await told(trial, world.owner, channel, f"staff add @{lecturer.name}")
    await told(trial, world.owner, channel, "set askers: staff workspace")
    try:
        direct = world.dm(lecturer)
        await world.say(lecturer, direct, COVERED)
        menu = await trial.until(
            lambda: next(
                (
                    m
                    for m in trial.from_bot(direct, lecturer)
                    if i18n.text("course-which") in m.shown
                ),
                None,
            )
        )
        await world.click(lecturer, menu, "gl:course", "arden")
        shown = await trial.until(
            lambda: next(
                (m for m in world.transcript(direct, lecturer) if is_answer(m, menu.ts)), None
            )
        )
        assert COVERED_FACT in shown.shown
    finally:
        await told(trial, world.owner, channel, "set askers: everyone workspace")


def is_answer(message: Message, after: str) -> bool:
    return message.ts > after and (COVERED_FACT in message.shown or STAFF_ONLY in message.shown)


async def test_who_creates_a_channel_is_nobody_by_that(trial: Trial) -> None:
    world, student = trial.world, trial.user()
    channel = world.add_channel(world.workspace, "mine", members=(student, world.bot))
    assert channel.creator is student
    assert (await told(trial, student, channel, "bind vault")).startswith(NOT_STAFF)
    assert (await told(trial, student, channel, "")).startswith(NOT_STAFF)


async def test_staff_name_nobody_and_set_nothing_for_the_whole_workspace(trial: Trial) -> None:
    lecturer, friend = trial.user(), trial.user()
    channel = await bound(trial, lecturer, friend)
    await told(trial, trial.world.owner, channel, f"staff add @{lecturer.name}")
    for what in (f"add @{friend.name}", f"remove @{lecturer.name}"):
        assert await told(trial, lecturer, channel, f"staff {what}") == NOT_TO_NAME
    everywhere = await told(trial, lecturer, channel, "switch off workspace")
    assert everywhere == "What holds in the whole workspace is for its admins to set."


async def test_staff_of_one_course_count_only_where_it_answers(trial: Trial) -> None:
    owner, tutor = trial.world.owner, trial.user()
    arden = await bound(trial, tutor)
    vault, unbound = await bound(trial, tutor, course="vault"), trial.channel(tutor)
    named = await told(trial, owner, unbound, f"staff add @{tutor.name} arden")
    assert named.endswith("is now staff for arden only.")
    assert "**course**: arden" in await told(trial, tutor, arden, "show")
    for channel in (vault, unbound):
        assert (await told(trial, tutor, channel, "show")).startswith(NOT_STAFF)
    for channel in (arden, vault):
        await told(trial, owner, channel, "set askers: staff")
    assert COVERED_FACT in (await trial.ask(tutor, arden, COVERED)).shown
    assert STAFF_ONLY in (await trial.refused(tutor, vault, COVERED)).shown
    assert STAFF_ONLY in (await trial.refused(trial.user(), arden, COVERED)).shown
    refused = await told(trial, owner, arden, f"staff add @{tutor.name} cooking")
    assert "no such course" in refused


async def test_an_edited_question_is_a_tutors_too(trial: Trial) -> None:
    tutor = trial.user()
    channel = await bound(trial, tutor)
    await told(trial, trial.world.owner, channel, f"staff add @{tutor.name}")
    await told(trial, trial.world.owner, channel, "set askers: staff")
    question = await trial.world.say(tutor, channel, f"{trial.mention} How heavy is the fog bell?")
    answer = await trial.answer_to(question)
    assert STAFF_ONLY not in answer.shown
    await trial.world.edit(question, f"{trial.mention} {COVERED}")
    await trial.until(lambda: COVERED_FACT in answer.shown or None, "the new answer")


async def test_guests_apps_and_people_of_elsewhere_are_not_named(trial: Trial) -> None:
    world, owner = trial.world, trial.world.owner
    elsewhere = world.add_workspace("Elsewhere")
    foreign = world.add_user(f"foreign{trial.people}", elsewhere, admin=True)
    guest = trial.user(guest=True)
    channel = trial.channel(foreign, guest, shared_with=(elsewhere,))
    for whom in (foreign, guest, world.bot):
        assert await told(trial, owner, channel, f"staff add @{whom.name}") == i18n.text(
            "slack-staff-no-member"
        )
    empty = world.add_subteam(world.workspace, f"empty{trial.people}")
    assert await told(trial, owner, channel, f"staff add @{empty.handle}") == i18n.text(
        "slack-staff-no-group"
    )
    for word in ("@nobody-of-that-name", "anna", "everybody"):
        assert await told(trial, owner, channel, f"staff add {word}") == i18n.text(
            "slack-staff-no-mention"
        )
    for what in ("", "add", "list all", "promote @anna", "add @a b c"):
        assert i18n.text("slack-how-to-name")[:40] in await told(
            trial, owner, channel, f"staff {what}"
        )


async def test_without_the_scope_it_is_said_that_groups_do_not_count(
    two_courses: Path, tmp_path: Path
) -> None:
    async with a_trial(two_courses, tmp_path, start=False) as trial:
        world, owner, tutor = trial.world, trial.world.owner, trial.user()
        world.installation.scopes -= {GROUPS_SCOPE}
        await trial.bot.start()
        channel = await bound(trial, tutor)
        group = world.add_subteam(world.workspace, "tutors", tutor)
        told_so = await told(trial, owner, channel, "staff add @tutors")
        without = i18n.text("slack-staff-no-groups-scope", scope=GROUPS_SCOPE)
        assert told_so == f"`{group.id}` is now staff.\n{without}"
        assert (await told(trial, tutor, channel, "show")).startswith(NOT_STAFF)
        assert i18n.text("slack-staff-no-groups-scope", scope=GROUPS_SCOPE) in await told(
            trial, owner, channel, "staff list"
        )
