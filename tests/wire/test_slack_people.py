"""Who is staff in Slack: all kinds of people in all places, as Slack itself tells of them."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.adapter import Roles
from adapters.slack.client import ClosedMethods, SlackClient
from adapters.slack.inbound import Spot
from adapters.slack.installations import InstalledClients, OneInstallation
from adapters.slack.outbound import Address
from adapters.slack.people import GROUPS_SCOPE, People
from bot.database import upgrade
from core.domain import AgentRequest
from core.storage.access import NamedStaff, StaffKind, Tenant
from core.storage.access_store import Roster
from core.storage.channels import Place, Rules
from core.storage.database import create_engine
from core.storage.leases import RateLimitWindows
from tests.contracts.test_front_desk import Reception
from tests.wire.slack import Channel, Limits, RateLimited, ServerError, SlackServer, Slow, User

pytestmark = pytest.mark.costly

COURSE, OTHER = "biology", "algebra"
ADMINS = ("owner", "admin")
NAMED = ("tutor", "person")
OTHERS = ("nobody", "creator", "guest", "foreign", "robot", "gone")
LIMITS = (None, COURSE, OTHER)
PLACES = ("channel", "thread", "direct", "shared")
GROUP_CALL = "usergroups.users.list"


@dataclass
class Ground:
    """A workspace with all kinds of people, and who asks Slack about them."""

    server: SlackServer
    people: People
    reception: Reception
    who: dict[str, User]
    channels: dict[str, Channel]
    group: str

    @property
    def tenant(self) -> Tenant:
        return Tenant("slack", self.server.world.workspace.id)

    async def name(self, limit: str | None) -> None:
        """Name the group and everybody who can be no staff, for a course or for all."""
        store = self.reception.staff
        for named in await store.of(self.tenant):
            await store.remove(self.tenant, named.id)
        await store.add(self.tenant, NamedStaff(StaffKind.GROUP, self.group, limit))
        for name in ("person", "guest", "foreign", "robot", "gone"):
            await store.add(self.tenant, NamedStaff(StaffKind.PERSON, self.who[name].id, limit))

    async def is_staff(self, who: str, place: str = "channel", *, outsider: bool = False) -> bool:
        """Return whether somebody is staff at a place, as of a command given there."""
        user, channel = self.who[who], self.channels[place]
        thread = "1700000000.000100" if place == "thread" else None
        direct = place == "direct"
        spot = Spot(self.tenant.workspace, None, channel.id, user.id, thread, direct, outsider)
        return await self.reception.desk.is_staff(self.people.presence_of(spot))


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    engine = create_engine(f"sqlite:///{tmp_path / 'bot.db'}", synchronous="NORMAL")
    await upgrade(engine)
    async with SlackServer(Limits.relaxed()) as server:
        world = server.world
        world.installation.scopes |= {GROUPS_SCOPE}
        closed = ClosedMethods(RateLimitWindows(engine))
        one = OneInstallation(SlackClient(server.api_url, world.installation.token, closed=closed))
        clients = InstalledClients(one, server.api_url, closed)
        elsewhere, here = world.add_workspace("Elsewhere"), world.workspace
        more: dict[str, dict[str, Any]] = {
            "admin": {"admin": True},
            "guest": {"guest": True, "admin": True},
            "robot": {"bot": True, "admin": True},
            "gone": {"deleted": True, "admin": True},
        }
        names = ("admin", *NAMED, "nobody", "creator", "guest", "robot", "gone")
        who = {name: world.add_user(name, here, **more.get(name, {})) for name in names}
        who |= {"owner": world.owner, "foreign": world.add_user("guru", elsewhere, admin=True)}
        in_group = [who[name] for name in ("tutor", "guest", "robot", "gone", "foreign")]
        group = world.add_subteam(here, "tutors", *in_group)
        everybody = (who["creator"], *who.values(), world.bot)
        channel = world.add_channel(here, "made", members=everybody)
        shared = world.add_channel(here, "both", members=everybody, shared_with=(elsewhere,))
        channels = {"channel": channel, "thread": channel, "shared": shared}
        channels["direct"] = world.dm(who["nobody"])
        reception = Reception(engine, COURSE, OTHER)
        await reception.access.meet(Tenant("slack", here.id))
        await reception.rules.set(Place("slack", here.id, here.id), Rules(course_id=COURSE))
        ground = Ground(server, People(clients, one), reception, who, channels, group.id)
        yield ground
        await clients.close()
        assert not world.mistakes
    await engine.dispose()


async def test_staff_are_admins_and_who_is_named_for_the_course_that_answers(
    ground: Ground,
) -> None:
    cells = 0
    for limit in LIMITS:
        await ground.name(limit)
        for place, who in product(PLACES, (*ADMINS, *NAMED, *OTHERS)):
            meant = who in ADMINS or (who in NAMED and limit in (None, COURSE))
            assert await ground.is_staff(who, place) is meant, (limit, place, who)
            assert not await ground.is_staff(who, place, outsider=True)
            cells += 2
    assert cells == 240
    calls = ground.server.world.history.of(GROUP_CALL)
    assert len(calls) == 1, "who is in a group is asked once in a while"


async def test_a_request_says_who_asked_when_it_is_answered(ground: Ground) -> None:
    await ground.name(COURSE)
    roles = Roles(Roster(ground.reception.staff, {}), ground.people)
    found = dict[str, str | None]()
    for who in ("tutor", "person", "admin", "nobody", "guest", "foreign"):
        asker, team = ground.who[who].id, ground.tenant.workspace
        address = Address(team, None, "C1", None, None, None, asker, False, False, None)
        asked = AgentRequest(course_id=COURSE, query_text="What is a cell?", user_id=who)
        found[who] = (await roles.complete(address, asked)).user_context.role
    staff = ("tutor", "person", "admin")
    assert found == {who: "staff" if who in staff else "student" for who in found}
    elsewhere = AgentRequest(course_id=OTHER, query_text="What is a cell?", user_id="tutor")
    address = replace(address, asker=ground.who["tutor"].id)
    assert (await roles.complete(address, elsewhere)).user_context.role == "student"


async def test_a_group_that_is_switched_off_or_unknown_makes_nobody_staff(ground: Ground) -> None:
    await ground.name(None)
    ground.server.world.workspace.subteams[ground.group].disabled = True
    assert not await ground.is_staff("tutor")
    assert await ground.is_staff("person")
    store, unknown = ground.reception.staff, NamedStaff(StaffKind.GROUP, "S0UNKNOWN")
    await store.add(ground.tenant, unknown)
    assert not await ground.is_staff("nobody")


async def test_without_the_scope_groups_do_not_count_and_people_do(ground: Ground) -> None:
    ground.server.world.installation.scopes -= {GROUPS_SCOPE}
    await ground.name(None)
    assert not await ground.is_staff("tutor")
    assert await ground.is_staff("person")
    assert await ground.is_staff("admin")
    assert not await ground.people.may_read_groups(ground.tenant.workspace, None)


@pytest.mark.costly
@pytest.mark.parametrize("fault", [ServerError(503), RateLimited(30), Slow(60.0, applied=False)])
async def test_what_slack_does_not_say_soon_makes_nobody_staff(
    ground: Ground, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ground.name(None)
    for known in ("tutor", "person"):
        await ground.people.member(ground.tenant.workspace, None, ground.who[known].id)
    monkeypatch.setattr("adapters.slack.people._PATIENCE", 0.2)
    ground.server.faults.api(fault, GROUP_CALL, times=None)
    assert not await asyncio.wait_for(ground.is_staff("tutor"), 30)
    assert await ground.is_staff("person")
    ground.server.faults.api(fault, "users.info", times=None)
    assert not await asyncio.wait_for(ground.is_staff("admin"), 30)
