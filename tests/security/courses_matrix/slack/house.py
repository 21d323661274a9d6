"""A local Slack with several workspaces, their people, and the unmodified bot in front of it."""

import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from adapters.slack.notices import QUESTION_PART
from adapters.slack.oauth import EVENTS, SCOPES
from tests.security.courses_matrix import granting
from tests.security.courses_matrix.cells import Cell
from tests.security.courses_matrix.matrix import Lane, Silent
from tests.security.courses_matrix.relations import (
    BONDS,
    FIRST,
    HOME,
    LOCKS,
    SETTINGS,
    TENANTS,
    Place,
    Relation,
    Role,
    course_file,
)
from tests.security.courses_matrix.witness import HOLDER, Witness
from tests.wire.bot_process import PATIENCE, copied
from tests.wire.slack import (
    Change,
    Channel,
    Installation,
    Limits,
    Message,
    SlackServer,
    User,
    View,
    Workspace,
)
from tests.wire.slack.payloads import message_payload
from tests.wire.slack.state import Dispatch
from tests.wire.slack_bot import COMMANDS, SIGNS, BotProcess, Trial, is_finished
from tests.wire.slack_installs import install

T = TypeVar("T")


class SlackHouse:
    """Workspaces, lanes, and all that they are shown."""

    def __init__(self, server: SlackServer, bot: BotProcess) -> None:
        self.server, self.bot, self.world = server, bot, server.world
        self.witness = Witness()
        self.workspaces: dict[str, Workspace] = {HOME: self.world.workspace}
        for tenant in TENANTS[1:]:
            self.workspaces[tenant] = self.world.add_workspace(f"Workspace {tenant}")
        self.owners = {t: self.world.owner_of(w) for t, w in self.workspaces.items()}
        self.installed: dict[str, Installation] = {
            t: self.world.install(self.world.app, w) for t, w in self.workspaces.items()
        }
        self.tenants = {tenant: f"slack:{w.id}" for tenant, w in self.workspaces.items()}
        self.lanes: list[Lane] = []
        self.tutors: dict[str, list[User]] = {}
        self._people = 0
        self.aside = HOME
        """The tenant in which a question is asked to see that the bot has come so far."""
        self.sent: list[tuple[str, Any]] = []
        """What the bot was told that people did: their ids, each with what can be told again."""
        self.world.watch(self._hear)
        self.world.listen(self._note_sent)

    def person(self, tenant: str, role: Role = Role.STUDENT) -> User:
        """Return a new member of a workspace."""
        self._people += 1
        is_admin = role is Role.ADMIN
        user = self.world.add_user(f"person{self._people}", self.workspaces[tenant], admin=is_admin)
        if role is Role.STAFF:
            self.tutors.setdefault(tenant, []).append(user)
        return user

    def room(self, tenant: str, *members: User) -> Channel:
        """Return a new channel with the bot."""
        self._people += 1
        everybody = (*members, self.owners[tenant], self.installed[tenant].bot)
        name = f"room-{self._people}"
        return self.world.add_channel(self.workspaces[tenant], name, members=everybody)

    async def make_lanes(self, cells: Iterable[Cell]) -> None:
        """Make a place and a person for each kind of cell."""
        for relation, role, place in dict.fromkeys((c.relation, c.role, c.place) for c in cells):
            tenant = BONDS[relation].tenant
            user = self.person(tenant, role)
            channel, direct = self.room(tenant, user), self.world.dm(user)
            lane = Lane(relation, role, place, user, channel, channel)
            lane.places = frozenset({channel.id, direct.id, f"user {user.id}"})
            if place is Place.THREAD:
                lane.thread = await self.world.say(self.owners[tenant], channel, "Lunch?")
            if place is Place.DIRECT:
                lane.where = direct
            self.lanes.append(lane)

    def course_file(self) -> str:
        """Return glossator.toml, with the locks of the lanes that have some."""
        tables = [course_file()]
        for lane in self.lanes:
            if lane.relation in LOCKS and lane.relation is not Relation.SWITCHED_OFF:
                tables.append(_table(lane.channel.id, granting.locked(lane.relation)))
        shut = self.workspaces[BONDS[Relation.SWITCHED_OFF].tenant]
        tables.append(_table(shut.id, granting.locked(Relation.SWITCHED_OFF)))
        named = {self.tenants[t]: [user.id for user in users] for t, users in self.tutors.items()}
        return "\n".join([*tables, granting.staff_tables("people", named)])

    async def move_in(self) -> None:
        """Let the bot into all workspaces, into the first one at first."""
        await self.bot.says("listening for Slack on port")
        for tenant in TENANTS:
            await install(Trial(self.server, self.bot), self.workspaces[tenant])
            person = self.person(tenant)
            room = self.room(tenant, person)
            asked = await self.world.slash(person, room, "/glossator", "about")
            await asked.ack(PATIENCE)

    async def until(self, condition: Callable[[], T | None], seconds: float = PATIENCE) -> T:
        """Wait until a condition is true and return its value."""
        try:
            value = await self.world.until(condition, seconds)
        except TimeoutError:
            raise Silent(self.bot.log[-600:]) from None
        assert value is not None
        return value

    async def incoming(self, lane: Lane, mark: int, *, quiet: bool = False) -> Message | None:
        """Wait for a finished message of the bot; None where it keeps silent, as it may."""

        def finished() -> Message | None:
            new = self.witness.new_since(mark, lane.places)
            return next((m for m in new if isinstance(m, Message) and is_answer(m)), None)

        if not quiet:
            return await self.until(finished)
        await self.barrier()
        return finished()

    async def barrier(self) -> None:
        """Wait until a question that is asked now, elsewhere, is answered."""
        person = self.person(self.aside)
        room, mark = self.room(self.aside, person), self.witness.mark()
        bot = self.installed[self.aside].bot
        await self.world.say(person, room, f"<@{bot.id}> {FIRST}")
        await self.until(
            lambda: any(
                isinstance(seen.subject, Message) and is_answer(seen.subject)
                for seen in self.witness.since(mark, frozenset({room.id}))
            )
        )

    def tenant_of(self) -> dict[str, str]:
        """Return the tenant of each channel and of each person, by what entries call them."""
        by_workspace = {workspace.id: tenant for tenant, workspace in self.workspaces.items()}
        found = {c.id: by_workspace[c.workspaces[0].id] for c in self.world.channels.values()}
        users = self.world.users.values()
        return found | {f"user {user.id}": by_workspace[user.workspace.id] for user in users}

    async def deliver_again(self, user: User, since: int) -> None:
        """Tell the bot once more what a person did since, and wait until it has come so far."""
        for author, dispatch in self.sent[since:]:
            if author == user.id:
                self.world.emit(dispatch)
        await self.barrier()

    def _note_sent(self, dispatch: Dispatch) -> None:
        event = dispatch.payload.get("event") or {}
        author = dispatch.interaction.user.id if dispatch.interaction else event.get("user")
        self.sent.append((str(author), dispatch))

    def _hear(self, change: Change) -> None:
        subject = change.subject
        if isinstance(subject, Message) and (subject.text == HOLDER or change.name == "deleted"):
            return
        if isinstance(subject, View):
            text = json.dumps(subject.body)
            self.witness.note([f"user {subject.user.id}"], text, public=False, subject=subject)
        elif change.name == "prompts" and subject is None:
            shown = self.world.prompts[change.text]
            text = json.dumps([shown.title, shown.prompts])
            self.witness.note([change.text], text, public=False, subject=shown)
        elif isinstance(subject, Message) and subject.installation is not None:
            self.witness.note([subject.channel.id], _shown(subject), public=not subject.ephemeral,
                              subject=subject)  # fmt: skip


def is_answer(message: Message) -> bool:
    """Return whether a message is finished, and not the question that a command has posted."""
    if "Yours waits its turn" in message.shown or message.shown.startswith(SIGNS):
        return False
    kept = (message.metadata or {}).get("event_payload", {})
    return is_finished(message) and kept.get("part") != QUESTION_PART


def _shown(message: Message) -> str:
    growing = message.stream.markdown if message.stream is not None else ""
    files = [f"{f.name} {f.title} {(f.content or b'').decode(errors='replace')}"
             for f in message.files]  # fmt: skip
    payload = json.dumps(message_payload(message, metadata=True))
    return "\n".join([message.shown, growing, payload, json.dumps(message.task_cards), *files])


def _table(place: str, rules: dict[str, Any]) -> str:
    lines = [f"{key} = {value}" for key, value in rules.items()]
    return "\n".join([f"[slack.channels.{place}]", *lines, ""])


@asynccontextmanager
async def slack_house(
    template: Path, folder: Path, cells: Iterable[Cell]
) -> AsyncIterator[SlackHouse]:
    """Let the bot run among workspaces whose courses have their owners and grants."""
    copied(template, folder)
    limits = Limits.relaxed()
    limits.ack = limits.trigger_life = 60.0
    async with SlackServer(limits) as server:
        app = server.world.app
        app.commands, app.events, app.scopes = COMMANDS, EVENTS, SCOPES
        server.world.installation.scopes = SCOPES
        app.redirect_urls = ("http://127.0.0.1/slack/oauth_redirect",)
        by_oauth = {
            "SLACK__BOT_TOKEN": "",
            "SLACK__CLIENT_ID": app.client_id,
            "SLACK__CLIENT_SECRET": app.client_secret,
        }
        house = SlackHouse(server, BotProcess(folder, server, {**SETTINGS, **by_oauth}))
        house.bot.module = "tests.wire.slack.unpaced"
        await house.make_lanes(cells)
        (folder / "glossator.toml").write_text(house.course_file(), encoding="utf-8")
        try:
            await house.bot.start()
            await house.move_in()
            yield house
            assert await house.bot.stop() == 0, house.bot.log
            house.bot.check_log()
        finally:
            if house.bot.is_running:
                await house.bot.kill()
