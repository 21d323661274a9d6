"""From what happened to the app that hears of it: attempts, retries, and faults on the way."""

import asyncio
import secrets
from dataclasses import dataclass, replace
from typing import Any

from tests.wire.slack.callbacks import Callbacks
from tests.wire.slack.clock import pause
from tests.wire.slack.faults import Behind, Duplicate, Echo, Faults, Lose
from tests.wire.slack.history import Delivery
from tests.wire.slack.sockets import Sockets
from tests.wire.slack.state import Dispatch
from tests.wire.slack.undelivered import Undelivered
from tests.wire.slack.world import World


@dataclass(eq=False)
class _Held:
    until: str
    dispatch: Dispatch


class Deliveries:
    """Sends what the world emits, by socket or by HTTP."""

    def __init__(
        self, world: World, faults: Faults, sockets: Sockets, callbacks: Callbacks
    ) -> None:
        self._world = world
        self._faults = faults
        self._sockets = sockets
        self._callbacks = callbacks
        self._tasks: set[asyncio.Task[None]] = set()
        self._held: list[_Held] = []
        world.listen(self.receive)

    def receive(self, dispatch: Dispatch) -> None:
        """Begin to deliver, or do what a fault says."""
        match self._faults.next_delivery(dispatch.name):
            case Lose():
                self._give_up(dispatch)
            case Behind(event, seconds):
                self._hold(dispatch, event, seconds)
                return
            case Duplicate(times):
                envelope_id = secrets.token_hex(16)
                for _ in range(times):
                    self._begin(dispatch, envelope_id)
            case Echo(times):
                for _ in range(times):
                    self._begin(_under_another_id(dispatch))
            case _:
                self._begin(dispatch)
        self._release(dispatch.name)

    async def stop(self) -> None:
        """Give up what is still to be delivered."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, dispatch: Dispatch, envelope_id: str | None = None) -> None:
        self._spawn(self._deliver(dispatch, envelope_id))

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._world.mistakes.append(f"an answer was not understood: {error!r}")

    async def _deliver(self, dispatch: Dispatch, envelope_id: str | None) -> None:
        """Try until it is acknowledged; commands and interactions are tried once."""
        delays = self._world.limits.retry_delays if dispatch.kind == "events_api" else ()
        failure: Undelivered | None = None
        for attempt, delay in enumerate((0.0, *delays)):
            await pause(self._world.clock, delay)
            delivery = self._recorded(dispatch, attempt, None if attempt else envelope_id)
            failure = await self._attempt(dispatch, delivery, failure)
            if failure is None:
                return
            if failure.final:
                break
        self._give_up(dispatch)

    async def _attempt(
        self, dispatch: Dispatch, delivery: Delivery, before: Undelivered | None
    ) -> Undelivered | None:
        reason = before.reason if before else None
        transport = self._callbacks if dispatch.app.request_url else self._sockets
        try:
            response = await transport.send(dispatch.app, delivery, dispatch.kind, reason)
            if self._faults.loses_ack(dispatch.name):
                raise Undelivered("timeout" if transport is self._sockets else "http_timeout")
        except Undelivered as failure:
            delivery.failure = failure.reason
            return failure
        delivery.acked_at, delivery.response = self._world.clock.now(), response
        if dispatch.interaction is not None:
            self._world.interactions.answered(dispatch.interaction, response)
        return None

    def _recorded(self, dispatch: Dispatch, attempt: int, envelope_id: str | None) -> Delivery:
        delivery = Delivery(
            dispatch.app.id,
            dispatch.name,
            dispatch.payload,
            "http" if dispatch.app.request_url else "socket",
            self._world.clock.now(),
            attempt,
            envelope_id,
        )
        self._world.history.deliveries.append(delivery)
        return delivery

    def _give_up(self, dispatch: Dispatch) -> None:
        self._world.history.lost.append(dispatch.payload)
        if dispatch.interaction is not None:
            dispatch.interaction.settle(None, "operation_timeout")

    def _hold(self, dispatch: Dispatch, event: str, seconds: float) -> None:
        held = _Held(event, dispatch)
        self._held.append(held)
        self._spawn(self._release_later(held, seconds))

    async def _release_later(self, held: _Held, seconds: float) -> None:
        await pause(self._world.clock, seconds)
        if held in self._held:
            self._held.remove(held)
            self._begin(held.dispatch)

    def _release(self, name: str) -> None:
        due = [held for held in self._held if held.until == name]
        self._held = [held for held in self._held if held not in due]
        for held in due:
            self._begin(held.dispatch)


def _under_another_id(dispatch: Dispatch) -> Dispatch:
    event_id = f"Ev{secrets.token_hex(5).upper()}"
    return replace(dispatch, payload={**dispatch.payload, "event_id": event_id})
