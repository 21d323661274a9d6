"""Whose answer it is to share, to stop and to delete."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adapters.actions.answers import AnswerActions
from adapters.actions.use import Clicker, Declined
from bot.database import upgrade
from core.domain import AgentRequest
from core.domain.i18n import text
from core.storage.access import Tenant
from core.storage.database import create_engine
from core.storage.inbox.base import Posted
from core.storage.inbox.store import Inbox
from core.storage.sessions import Feedback, SessionStore
from tests.contracts.test_front_desk import LEASE, Reception, incoming
from tests.samples import response_to

pytestmark = pytest.mark.costly

MESSAGE = ("discord", "900")
BEN = Clicker(replace(incoming(), user="ben").location, "ben")


class Stage:
    """An answer to Ann with its buttons, still being written until it is `stored`."""

    def __init__(
        self, actions: AnswerActions, sessions: SessionStore, request: AgentRequest
    ) -> None:
        self.actions = actions
        self.request_id = request.request_id
        self.ann = Clicker(incoming().location, request.user_id)
        self._sessions = sessions
        self._request = request

    async def stored(self) -> None:
        session = self._request.session_id
        assert session is not None
        await self._sessions.remember(self._request, response_to(self._request, session))


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    engine = create_engine(f"sqlite:///{tmp_path / 'bot.db'}", synchronous="NORMAL")
    await upgrade(engine)
    reception = Reception(engine, "algorithms")
    received = await reception.desk.receive(replace(incoming(), private=True))
    assert received is not None
    request = received.arrival.request
    assert request is not None
    inbox: Inbox = reception.inbox
    job = await inbox.claim(LEASE, ["discord"])
    assert job is not None
    await inbox.keep(job, Posted((MESSAGE[1],)))

    async def stop(_: str, __: Sequence[Tenant]) -> bool:
        return True

    actions = AnswerActions(
        desk=reception.desk,
        inbox=inbox,
        sessions=reception.sessions,
        feedback=Feedback(engine),
        directory=reception.directory,
        rules=reception.rules,
        wake=lambda: None,
        stop=stop,
    )
    yield Stage(actions, reception.sessions, request)
    await engine.dispose()


async def nobody() -> bool:
    return False


async def staff() -> bool:
    return True


async def declined(action: Any) -> None:
    with pytest.raises(Declined) as caught:
        await action
    assert caught.value.user_message == text("answer-not-yours")


@pytest.mark.costly
async def test_a_private_answer_is_shared_by_its_asker_alone(stage: Stage) -> None:
    await stage.stored()
    await declined(stage.actions.share(stage.request_id, BEN, 5, {"channel": 1}))
    assert await stage.actions.share(stage.request_id, stage.ann, 5, {"channel": 1})


async def test_an_answer_is_stopped_by_its_asker_and_staff_alone(stage: Stage) -> None:
    await declined(stage.actions.stop(stage.request_id, BEN, nobody))
    assert await stage.actions.stop(stage.request_id, stage.ann, nobody) == text("answer-stopping")
    assert await stage.actions.stop(stage.request_id, BEN, staff) == text("answer-stopping")


@pytest.mark.parametrize("by_staff", [False, True])
async def test_an_answer_is_deleted_by_its_asker_and_staff_alone(
    stage: Stage, by_staff: bool
) -> None:
    await stage.stored()
    await declined(stage.actions.delete(MESSAGE, BEN, 5, nobody))
    clicker, role = (BEN, staff) if by_staff else (stage.ann, nobody)
    assert await stage.actions.delete(MESSAGE, clicker, 5, role)
