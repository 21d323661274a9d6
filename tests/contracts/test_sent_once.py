"""What is sent at most once is settled first; the inbox says whether the platform took it."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.base import Nearest, PostKeeper
from core.answering.agent import Placed, as_asked
from core.answering.context import AgentEvent
from core.domain import AgentRequest
from core.domain.errors import DeliveryError, EmptyQuestion, Unclear
from core.storage.access import Tenant
from core.storage.database import reading
from core.storage.inbox.base import Job, State
from core.storage.inbox.rows import InboxRow
from core.storage.sessions import SessionStore
from tests.inbox import ScriptedAgent, event, inbox_of, worker_of
from tests.platform import Platform, PlatformAdapter

LATER = DeliveryError("too many", retry_after=0.01)


class Whispering(PlatformAdapter):
    """Shows a sentence to its asker alone, after the failures it was given."""

    def __init__(self, *failures: DeliveryError) -> None:
        super().__init__(Platform().call)
        self.told: list[str] = []
        self.tries = 0
        self._failures = [*failures]

    async def tell(
        self,
        job: Job,
        keeper: PostKeeper,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        async def whisper() -> None:
            self.tries += 1
            if self._failures:
                raise self._failures.pop(0)
            self.told.append(sentence)

        await keeper.send_once(whisper)


class Refusing(ScriptedAgent):
    """Refuses every question."""

    async def stream(
        self, asked: AgentRequest, placed: Placed = as_asked
    ) -> AsyncGenerator[AgentEvent, None]:
        raise EmptyQuestion
        yield


class Hesitating(PlatformAdapter):
    """Shows a sentence, and takes its time to say so."""

    def __init__(self) -> None:
        super().__init__(Platform().call)
        self.told: list[str] = []
        self.has_told = asyncio.Event()
        self.may_go_on = asyncio.Event()

    async def tell(
        self,
        job: Job,
        keeper: PostKeeper,
        sentence: str,
        link: str | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        self.told.append(sentence)
        self.has_told.set()
        await self.may_go_on.wait()


async def _state_after(
    engine: AsyncEngine, adapter: Whispering, *, is_drained: bool = False
) -> str:
    """Return the state of an event whose sentence was tried; the process may end right then."""
    inbox = inbox_of(engine)
    worker = worker_of(inbox, ScriptedAgent(SessionStore(engine)), adapter)
    running = asyncio.create_task(worker.run())
    await inbox.accept(event(1, request=None, refusal="Please wait."))
    worker.wake()
    async with asyncio.timeout(20):
        while True:
            if adapter.tries and (is_drained or not worker.in_flight):
                break
            await asyncio.sleep(0.02)
    await worker.drain(0.2)
    await running
    async with reading(engine) as db:
        return (await db.get_one(InboxRow, "test:1")).state


async def test_a_sentence_refused_for_now_is_shown_once(engine: AsyncEngine) -> None:
    adapter = Whispering(LATER, LATER)
    assert await _state_after(engine, adapter) == State.DONE.value
    assert adapter.told == ["Please wait."]


@pytest.mark.costly
async def test_a_sentence_that_may_be_shown_is_not_sent_again(engine: AsyncEngine) -> None:
    adapter = Whispering(Unclear("connection lost"))
    assert await _state_after(engine, adapter) == State.DONE.value
    assert (adapter.tries, adapter.told) == (1, [])


@pytest.mark.parametrize("is_drained", [False, True], ids=["for good", "until the process ends"])
async def test_a_sentence_refused_to_the_end_is_noted_as_undeliverable(
    engine: AsyncEngine, is_drained: bool
) -> None:
    for_good, later = DeliveryError("closed", permanent=True), DeliveryError(retry_after=60.0)
    adapter = Whispering(later if is_drained else for_good)
    state = await _state_after(engine, adapter, is_drained=is_drained)
    assert (state, adapter.tries) == (State.UNDELIVERABLE.value, 1)


async def test_who_stops_what_is_being_refused_is_told_once(engine: AsyncEngine) -> None:
    inbox, adapter = inbox_of(engine), Hesitating()
    worker = worker_of(inbox, Refusing(SessionStore(engine)), adapter)
    running = asyncio.create_task(worker.run())
    await inbox.accept(event(1))
    worker.wake()
    async with asyncio.timeout(20):
        await adapter.has_told.wait()
    await worker.stop("test:1", [Tenant("test", "w")])
    adapter.may_go_on.set()
    await worker.drain(5)
    await running
    assert adapter.told == [EmptyQuestion.user_message]
