"""A model that can be relied on: tries, times, limits and breaker around any provider's wire."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

from core.errors import ConfigurationError, GenerationError
from core.providers.base import (
    ChatEnd,
    ChatMessage,
    ChatRequest,
    Deadline,
    Finish,
    OutputForm,
    TimeLimit,
    ignore,
)
from core.providers.breaker import CircuitBreaker
from core.providers.collected import Collected
from core.providers.failures import ProviderFailure
from core.providers.manner import LearnedManner, Manner
from core.providers.pacing import Timeouts, paced
from core.providers.retries import RetryPolicy, with_retries
from core.providers.wire import Wire

logger = logging.getLogger(__name__)

_TIMEOUTS = Timeouts()
_AGAIN = RetryPolicy(retries=1, backoff=0.3)
_ONCE = RetryPolicy(retries=0)
_CHECK = 5.0
_CHARACTERS_A_TOKEN = 16
"""Three or four are usual."""
_MANY = 1_000
"""Calls at the same time, where no limit is set."""


class GuardedModel:
    """A ChatModel over the wire of any kind of provider."""

    def __init__(
        self,
        wire: Wire,
        *,
        service: str = "",
        stream: bool = True,
        context: int | None = None,
        timeouts: Timeouts = _TIMEOUTS,
        patience: RetryPolicy = _AGAIN,
        concurrency: int | None = None,
        manner: Manner | None = None,
        new_breaker: Callable[[str], CircuitBreaker] = CircuitBreaker,
    ) -> None:
        """Ask through a wire, which is closed with this model.

        Args:
            wire: Speaks to the model.
            service: The name of the table of models that describes it; empty: of none.
            stream: Whether it may be asked for words as they come.
            context: Tokens that it reads and writes at most; None: not known.
            timeouts: How long it may keep silent.
            patience: With a call that fails before its first words.
            concurrency: Calls that it takes at the same time; None: any number.
            manner: How it wants to be asked, as far as that is known; None: as it comes.
            new_breaker: Makes its breaker, by its name.
        """
        self._wire = wire
        self._service = service
        self._streams = stream
        self._context = context
        self._timeouts = timeouts
        self._patience = patience
        self._turns = asyncio.Semaphore(concurrency or _MANY)
        self._manner = LearnedManner(manner or Manner())
        self.breaker = new_breaker(wire.model)

    @property
    def name(self) -> str:
        """The model, as it is named to the service and in answers."""
        return self._wire.model

    @property
    def context(self) -> int | None:
        """Tokens that it reads and writes at most in one call; None: not known."""
        return self._context

    @property
    def is_free(self) -> bool:
        """Whether another call would begin at once; else it waits for its turn."""
        return not self._turns.locked()

    def form(self) -> OutputForm:
        """Return the form that the service has not refused so far."""
        return self._manner.now.form

    async def reply(
        self,
        request: ChatRequest,
        deadline: TimeLimit,
        report: Callable[[ChatEnd], None] = ignore,
    ) -> AsyncGenerator[str | ChatEnd, None]:
        """Yield the text as it comes, and last its ChatEnd; as ChatModel promises."""
        request = replace(request, stream=request.stream and self._streams)
        collected, is_over = Collected(_CHARACTERS_A_TOKEN * request.max_tokens), False
        try:
            async with (
                self._turn(deadline),
                aclosing(self._texts(request, deadline, collected)) as texts,
            ):
                async for text in texts:
                    if text:
                        yield text
            is_over = True
            self._learn(request, collected)
        finally:
            if collected.began:  # what was written is paid for, whether or not it was read
                report(collected.end(self.name, request, service=self._service, is_over=is_over))
        yield collected.end(self.name, request, service=self._service)

    def _learn(self, request: ChatRequest, collected: Collected) -> None:
        """Take note where a service takes a form and ignores it."""
        end = collected.end(self.name, request)
        if request.schema is not None and end.finish is Finish.STOP:
            self._manner.note_reply(has_form="{" in end.message.text)

    async def check(self) -> None:
        """Make sure, by the smallest of calls, that the key and the model are accepted.

        Raises:
            ConfigurationError: when one of them is refused.
            GenerationError: when there is no answer within 5 seconds, or as long as the model may
                take for its first words.
        """
        deadline = Deadline.after(max(_CHECK, self._timeouts.first_piece))
        try:
            await self._wire.open()
            async with asyncio.timeout(deadline.moment - time.monotonic()):
                if not await self._wire.probe():
                    await self._greet(deadline)
        except TimeoutError:
            raise GenerationError(f"{self.name} did not answer in time") from None
        except ProviderFailure as failure:
            if failure.transient:
                raise GenerationError(str(failure)) from failure
            raise ConfigurationError(f"{failure}.") from failure

    async def ask_context(self) -> int | None:
        """Return how many tokens the server gives the model; None: it does not say."""
        with suppress(ProviderFailure):
            return await self._wire.ask_context()
        return None

    async def open(self) -> None:
        """Load what the first call would wait for; what fails is logged, and tried again then."""
        try:
            await self._wire.open()
        except ProviderFailure as failure:
            logger.warning("%s", failure)

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        await self._wire.aclose()

    async def _greet(self, deadline: TimeLimit) -> None:
        """Have the model say a few words."""
        hello = ChatRequest("", [ChatMessage("user", "Say hello.")], max_tokens=16, stream=False)
        async with aclosing(self.reply(hello, deadline)) as reply:
            async for _ in reply:
                pass

    @asynccontextmanager
    async def _turn(self, deadline: TimeLimit) -> AsyncIterator[None]:
        """Wait until the model takes another call; the wait is part of the time."""
        try:
            async with asyncio.timeout(deadline.moment - time.monotonic()):
                await self._turns.acquire()
        except TimeoutError:
            detail = f"{self.name} was busy with other questions"
            raise ProviderFailure(detail, transient=True, outage=False) from None
        try:
            yield
        finally:
            self._turns.release()

    async def _texts(
        self, request: ChatRequest, deadline: TimeLimit, collected: Collected
    ) -> AsyncGenerator[str, None]:
        """Yield the words of one call as they come; up to the first it may be made again.

        To the breaker that is one call, however often it is made.
        """
        if not self.breaker.admits():
            raise ProviderFailure(f"{self.name} failed too often and is left alone for a while")
        is_down = False

        async def begin(manner: Manner) -> tuple[str, AsyncGenerator[str, None]]:
            nonlocal is_down
            texts = self._attempt(manner.request(request), manner, deadline, collected)
            try:
                return await anext(texts), texts
            except ProviderFailure as failure:
                is_down = is_down or failure.outage
                raise

        try:
            first, texts = await self._begin(begin, request, deadline)
            async with aclosing(texts):
                yield first
                async for text in texts:
                    yield text
        except ProviderFailure as failure:
            if is_down or failure.outage:
                self.breaker.failed()
            raise
        self.breaker.succeeded()

    async def _begin(
        self,
        begin: Callable[[Manner], Awaitable[tuple[str, AsyncGenerator[str, None]]]],
        request: ChatRequest,
        deadline: TimeLimit,
    ) -> tuple[str, AsyncGenerator[str, None]]:
        """Return a reply that has begun, in the first manner that the service takes."""
        manner, patience = self._manner.now, self._patience if request.retry else _ONCE
        tried = {manner}
        while True:
            try:
                begun = await with_retries(partial(begin, manner), patience, deadline.moment)
            except ProviderFailure as failure:
                lesser = manner.after(failure, request)
                if lesser is None or lesser in tried:
                    raise
                tried.add(lesser)
                logger.info("%s; it is asked in another way", failure)
                manner = lesser
                continue
            self._manner.learn(manner)  # what was refused is not asked for again
            return begun

    async def _attempt(
        self, request: ChatRequest, manner: Manner, deadline: TimeLimit, collected: Collected
    ) -> AsyncGenerator[str, None]:
        """Yield the words of one try as they come."""
        await self._wire.open()
        streams = request.stream
        async with (
            aclosing(self._wire.deltas(request, manner)) as deltas,
            aclosing(paced(deltas, self.name, self._timeouts, deadline, streams=streams)) as timed,
        ):
            async for delta in timed:
                text = collected.add(delta)
                if collected.excess is not None:
                    raise ProviderFailure(f"{self.name} sent {collected.excess}")
                yield text
        if not collected.is_finished:
            raise ProviderFailure(f"{self.name} broke off its answer")
