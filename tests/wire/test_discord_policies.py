"""Policies and the radar on Discord: what staff set and see, and what students get."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from core.storage.access import Tenant
from core.storage.access_store import AccessStore
from core.storage.database import create_engine, dispose
from tests.books import COVERED, COVERED_FACT
from tests.wire import past_week
from tests.wire.bot_process import PATIENCE
from tests.wire.discord import Channel, ChannelType, Message, User
from tests.wire.discord.interactions import Callback
from tests.wire.discord.permissions import Permission
from tests.wire.discord_bot import Trial, a_trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_policies"),
]

BELL = "How much does the fog bell of Arden weigh?"
BELL_FACT = "half a ton"
WATCH = "How long does each of the three keepers stay awake?"
PNG = b"\x89PNG\r\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(
    two_courses: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Trial]:
    async with a_trial(two_courses, tmp_path_factory.mktemp("policies")) as trial:
        yield trial


async def told(trial: Trial, user: User, channel: Channel, command: str, **options: Any) -> str:
    interaction = await trial.world.slash(user, channel, command, **options)
    await interaction.response(PATIENCE)
    assert interaction.ephemeral
    return (await trial.result_of(interaction)).text


async def bound(trial: Trial) -> Channel:
    channel = trial.channel()
    assert "Done" in await told(trial, trial.world.owner, channel, "course bind", course="arden")
    return channel


async def answered(trial: Trial, channel: Channel, question: str = COVERED) -> str:
    return (await trial.ask(trial.user(), channel, question)).text


async def test_a_channel_with_hints_only_gives_hints_until_they_are_removed(trial: Trial) -> None:
    owner, channel = trial.world.owner, await bound(trial)
    assert COVERED_FACT in await answered(trial, channel)
    done = await told(trial, owner, channel, "course policy set", mode="hints", until="2099-12-01")
    assert "hints, in" in done
    assert "until 1 Dec 2099" in done
    hinted = await answered(trial, channel, BELL)
    assert "Read here first" in hinted
    assert "Hints only until 1 Dec 2099." in hinted
    assert BELL_FACT not in hinted
    key = done.split("`")[1]
    assert "There is no policy" in await told(
        trial, owner, channel, "course policy remove", policy=key
    )
    assert "four hours" in await answered(trial, channel, WATCH)


async def test_what_holds_in_the_whole_server_is_removed_by_an_admin_alone(trial: Trial) -> None:
    owner, channel = trial.world.owner, await bound(trial)
    role = trial.world.add_role(trial.world.guild, "keepers", Permission(0))
    trial.world.show_command(trial.world.guild, "course", role)
    keeper = trial.user(role)
    await told(trial, owner, channel, "course staff add", role=role)
    done = await told(
        trial,
        owner,
        channel,
        "course policy set",
        mode="hints",
        section="Bell",
        where="this server",
    )
    key = done.split("`")[1]
    refused = await told(trial, keeper, channel, "course policy remove", policy=key)
    assert refused == "What holds in the whole server is for its admins to set."
    assert key in await told(trial, keeper, channel, "course policy list")
    own = await told(trial, keeper, channel, "course policy set", mode="hints", section="Lamp")
    mine = next(found for found in own.split("`")[1::2] if found != key)
    await told(trial, keeper, channel, "course policy remove", policy=mine)
    left = await told(trial, owner, channel, "course policy remove", policy=key)
    assert "There is no policy" in left


async def test_students_cannot_set_and_are_not_shown_policies(trial: Trial) -> None:
    channel, student = await bound(trial), trial.user()
    trial.world.guild.commands_shown_to.setdefault("course", set()).add(student.id)
    for command, options in (
        ("course policy list", {}),
        ("course policy set", {"mode": "closed"}),
        ("course policy remove", {"policy": "abc"}),
        ("course hints", {}),
        ("course radar show", {}),
        ("course radar post", {}),
        ("course radar stop", {}),
    ):
        said = await told(trial, student, channel, command, **options)
        assert said.startswith("Staff of the course that answers here"), command


async def test_an_assignment_is_entered_in_a_form_and_its_solution_is_never_seen(
    trial: Trial,
) -> None:
    world, owner, channel = trial.world, trial.world.owner, await bound(trial)
    opened = await world.slash(owner, channel, "course hints")
    await opened.response(PATIENCE)
    assert opened.callback is Callback.MODAL
    sent = await world.submit_modal(
        opened,
        name="Sheet 2",
        text="How often does the keeper trim the wick of the lamp in a day?",
        sections="Trimming the wick",
        until="2099-12-01",
        solution="Six times: the keeper comes every four hours of the day and night.",
    )
    await sent.response(PATIENCE)
    assert sent.ephemeral
    done = (await trial.result_of(sent)).text
    assert "Sheet 2 (with a withheld solution)" in done
    assert "Six times" not in done
    hinted = await answered(trial, channel)
    assert "Hints only until 1 Dec 2099: Sheet 2." in hinted
    assert "four hours" not in hinted
    assert "Six times" not in trial.bot.log
    key = done.split("`")[1]
    await told(trial, owner, channel, "course policy remove", policy=key)


async def test_a_date_that_is_none_is_refused(trial: Trial) -> None:
    channel = await bound(trial)
    said = await told(
        trial, trial.world.owner, channel, "course policy set", mode="closed", until="tomorrow"
    )
    assert said == "“tomorrow” is no date: write it as 2026-12-01, or as 2026-12-01 18:00."


async def test_the_radar_is_shown_to_staff_with_its_picture(
    two_courses: Path, tmp_path: Path
) -> None:
    async with a_trial(two_courses, tmp_path, start=False) as trial:
        guild = str(trial.world.guild.id)
        await past_week.fill(tmp_path, "discord", guild)
        await trial.bot.start()
        channel = await bound(trial)
        interaction = await trial.world.slash(trial.world.owner, channel, "course radar show")
        shown = await trial.result_of(interaction)
        assert interaction.ephemeral
        assert f"The lamp › {past_week.SECTION}: 4 questions (4 answered)." in shown.text
        assert past_week.ASKED in shown.text
        assert past_week.REASON in shown.text
        (picture,) = shown.attachments
        assert picture.content.startswith(PNG)
        said = await told(trial, trial.world.owner, channel, "course radar post")
        assert said == "Every week's radar of Arden is now posted here."
        said = await told(trial, trial.world.owner, channel, "course radar stop")
        assert said == "The weekly radar of Arden is no longer posted."


async def test_a_week_that_is_due_is_posted_once_also_over_a_restart(
    two_courses: Path, tmp_path: Path
) -> None:
    async with a_trial(two_courses, tmp_path, start=False) as trial:
        channel, guild = trial.channel(), str(trial.world.guild.id)
        await past_week.fill(tmp_path, "discord", guild, str(channel.id))
        await trial.bot.start()
        await trial.until(lambda: posts(trial, channel) or None)
        assert await trial.bot.stop() == 0
        await forget_that_it_was_posted(tmp_path)
        await trial.bot.start()
        await trial.until(lambda: settled_again(tmp_path) or None)
        (post,) = posts(trial, channel)
        assert f"{past_week.SECTION}: 4 questions" in post.text
        assert past_week.REASON not in post.text
        assert post.attachments[0].content.startswith(PNG)


async def test_a_week_is_posted_where_the_operator_bound_the_category_alone(
    two_courses: Path, tmp_path: Path
) -> None:
    async with a_trial(two_courses, tmp_path, start=False) as trial:
        world = trial.world
        other = world.add_guild("Another school", world.owner)
        world.install(world.application, other)
        category = world.add_channel(other, "arden", ChannelType.CATEGORY)
        inside = world.add_channel(other, "staff", category=category)
        bound_in_file = f'[discord.channels."{category.id}"]\ncourse = "arden"\n'
        (tmp_path / "glossator.toml").write_text(bound_in_file, encoding="utf-8")
        await past_week.fill(tmp_path, "discord", str(other.id), str(inside.id))
        await make_home(tmp_path, f"discord:{world.guild.id}")
        await trial.bot.start()
        (post,) = await trial.until(lambda: posts(trial, inside) or None)
        assert f"{past_week.SECTION}: 4 questions" in post.text


async def make_home(folder: Path, tenant: str) -> None:
    """Have a server be the one whose courses those are that belong to no other."""
    engine = create_engine(f"sqlite:///{folder / 'data' / 'glossator.db'}")
    await AccessStore(engine).make_home(Tenant.named(tenant))
    await dispose(engine)


def posts(trial: Trial, channel: Channel) -> list[Message]:
    return [one for one in trial.from_bot(channel) if one.attachments]


async def forget_that_it_was_posted(folder: Path) -> None:
    """Leave the database as a process does that dies right after it posted."""
    _execute(folder, "UPDATE radar_channels SET posted = NULL, claimed_until = NULL")


def settled_again(folder: Path) -> bool:
    return bool(_execute(folder, "SELECT 1 FROM radar_channels WHERE posted IS NOT NULL"))


def _execute(folder: Path, statement: str) -> list[Any]:
    import sqlite3

    with sqlite3.connect(folder / "data" / "glossator.db", timeout=30) as db:
        return db.execute(statement).fetchall()
