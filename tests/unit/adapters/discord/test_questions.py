"""Who sees the answer to a command whose rules come late."""

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import discord
import pytest

from adapters.chat.access import Location
from adapters.chat.front_desk import Received
from adapters.chat.incoming_message import IncomingMessage
from adapters.discord import commands as module
from adapters.discord.commands import Questions
from adapters.discord.notices import TRIES
from adapters.discord.surroundings import Address
from core.domain import now
from core.domain.errors import StoreError
from core.storage.channels import DEFAULTS, Rules
from core.storage.inbox.base import Acceptance, Accepted, Arrival, Job


@dataclass
class SlowDesk:
    """A front desk whose database takes its time to tell the rules."""

    rules_of_channel: Rules
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    def keeps_private(self, _: Location) -> bool:
        return False

    async def rules(self, incoming: IncomingMessage) -> Rules:
        await self.opened.wait()
        return self.rules_of_channel

    async def receive(self, incoming: IncomingMessage, rules: Rules) -> Received:
        self.arrival = Arrival(
            key=incoming.key,
            platform=incoming.platform,
            workspace=incoming.workspace,
            channel=incoming.channel,
            lane=incoming.lane,
            position=incoming.position,
            user_id="user",
            address=incoming.address,
            token="token",
            token_expires_at=now().replace(year=now().year + 1),
        )
        return Received(self.arrival, Accepted(Acceptance.NEW))


class Response:
    """What an interaction is responded with first."""

    def __init__(self, told: asyncio.Event) -> None:
        self.ephemeral: bool | None = None
        self._told = told
        self._lost = 0

    async def send_message(self, text: str, *, ephemeral: bool) -> None:
        self.ephemeral = ephemeral
        self._told.set()

    async def defer(self, *, thinking: bool = False, ephemeral: bool = False) -> None:
        if self.ephemeral is not None:
            raise discord.InteractionResponded(cast("Any", SimpleNamespace()))
        self.ephemeral = ephemeral
        self._told.set()


@pytest.mark.parametrize(
    ("asked", "by_rule", "stands_apart"),
    [(None, False, True), (None, True, False), (False, True, False), (True, False, False)],
    ids=["public by rule", "private by rule", "asked publicly", "asked privately"],
)
async def test_an_answer_is_as_public_as_it_was_asked_however_slow_the_database(
    monkeypatch: pytest.MonkeyPatch,
    asked: bool | None,
    by_rule: bool,
    stands_apart: bool,
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    desk = SlowDesk(DEFAULTS.model_copy(update={"private": by_rule}))
    response = Response(desk.opened)
    interaction: Any = SimpleNamespace(response=response)
    taking = Questions(cast("Any", desk), lambda: None)
    await taking.take(interaction, incoming(), asked)
    assert response.ephemeral is (asked is not False), "a notice is for the asker alone"
    address = Address.of(Job(desk.arrival, 1, now(), now()))
    assert address.ephemeral is (by_rule if asked is None else asked)
    assert address.apart is stands_apart


class LostResponse(Response):
    """An interaction that the network keeps from its first response."""

    async def send_message(self, text: str, *, ephemeral: bool) -> None:
        if not self._told.is_set():
            self._lost += 1
            if self._lost == TRIES:
                self._told.set()
            raise aiohttp.ClientConnectionError
        await super().send_message(text, ephemeral=ephemeral)


async def test_nothing_public_is_deferred_for_an_answer_that_stands_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    desk = SlowDesk(DEFAULTS)
    response = LostResponse(desk.opened)
    interaction: Any = SimpleNamespace(response=response)
    taking = Questions(cast("Any", desk), lambda: None)
    await taking.take(interaction, incoming(), None)
    assert Address.of(Job(desk.arrival, 1, now(), now())).apart
    assert response.ephemeral, "nothing would take the place of what all see"


class FailingDesk(SlowDesk):
    """A front desk whose database takes a question, though the connection breaks as it does."""

    failures = 1

    async def receive(self, incoming: IncomingMessage, rules: Rules) -> Received:
        received = await super().receive(incoming, rules)
        if self.failures:
            self.failures -= 1
            raise StoreError("the connection is lost")
        return received


async def test_no_asker_reads_of_a_failure_while_the_question_may_be_stored() -> None:
    desk = FailingDesk(DEFAULTS)
    desk.opened.set()
    response = Response(asyncio.Event())
    interaction: Any = SimpleNamespace(response=response)
    woken: list[bool] = []
    taking = Questions(cast("Any", desk), lambda: woken.append(True))
    await taking.take(interaction, incoming(), None)
    assert (desk.failures, response.ephemeral, woken) == (0, False, [True])


def incoming() -> IncomingMessage:
    return IncomingMessage(
        key="discord:i:1",
        platform="discord",
        workspace="g",
        channel="c",
        places=("c", "g"),
        position=1,
        user="u",
        text="What is a heap?",
        address={
            "route": "interaction",
            "application": 1,
            "interaction": 1,
            "channel": 2,
            "asker": 3,
            "ephemeral": False,
            "open_thread": True,
        },
        token="token",
        addressed=True,
    )
