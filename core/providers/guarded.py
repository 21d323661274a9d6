"""A model that can be relied on: tries, times, limits and breaker around any provider's wire."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

from core.domain.errors import ConfigurationError, GenerationError
from core.domain.sentences import reckon_tokens
from core.providers.base import (
    ChatEnd,
    ChatMessage,
    ChatRequest,
    Deadline,
    Finish,
    OutputForm,
    Speed,
    Speedometer,
    TimeLimit,
    ignore,
)
from core.providers.capabilities import (
    Capabilities,
    LearnedCapabilities,
    OnlyThoughts,
    ProviderFailure,
    TooMuch,
)
from core.providers.collected import Collected, Wire, reckoned
from core.providers.pacing import CircuitBreaker, RetryPolicy, Timeouts, paced, with_retries
from core.providers.reply_text import ReplyReader

logger = logging.getLogger(__name__)

_TIMEOUTS = Timeouts()
_AGAIN = RetryPolicy(retries=1, backoff=0.3)
_ONCE = RetryPolicy(retries=0)
_CHECK = 5.0
_CHARACTERS_A_TOKEN = 16
"""Three or four are usual."""
_MANY = 1_000
"""Calls at the same time, where no limit is set."""
_LATE = 1.0
"""Seconds before a reply is late in which words are no longer held back."""
_NO_WRITING = 4
"""Tokens that are written in no time, when a reply comes at once."""
MEASURING = "These numbers are here to be read, and mean nothing:"
"""How the system prompt goes on of a call that measures a server."""
_NUMBERS = 100
_MOST_WORDS = 160
"""Tokens of such a call, thinking included."""
_LONGEST_MEASURING = 90.0
"""Seconds: a server may have to load the model first."""


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
        capabilities: Capabilities | None = None,
        measured_at_start: bool = False,
        thinks_unopened: bool | None = None,
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
            capabilities: What it takes, as far as that is known; None: as it comes.
            measured_at_start: Whether `open` lets it say a few words, which tell how fast it is.
            thinks_unopened: Whether its replies may begin with a thought that only a closing tag
                tells from the answer; None: its first replies tell.
            new_breaker: Makes its breaker, by its name.
        """
        self._wire = wire
        self._service = service
        self._streams = stream
        self._context = context
        self._timeouts = timeouts
        self._patience = patience
        self._turns = asyncio.Semaphore(concurrency or _MANY)
        self._capabilities = LearnedCapabilities(capabilities or Capabilities())
        self._measured_at_start = measured_at_start
        self._measuring: asyncio.Task[None] | None = None
        self._speedometer = Speedometer()
        self._thinks_unopened = False if wire.tells_thoughts else thinks_unopened
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

    @property
    def speed(self) -> Speed | None:
        """How fast it reads and writes, by its latest calls; None: not measured so far."""
        return self._speedometer.speed

    @property
    def has_logprobs(self) -> bool:
        """Whether its service may tell how likely its words were."""
        return self._wire.has_logprobs

    def form(self) -> OutputForm:
        """Return the form that the service has not refused so far."""
        return self._capabilities.now.form

    async def reply(
        self,
        request: ChatRequest,
        deadline: TimeLimit,
        report: Callable[[ChatEnd], None] = ignore,
        *,
        timeouts: Timeouts | None = None,
    ) -> AsyncGenerator[str | ChatEnd, None]:
        """Yield the text as it comes, and last its ChatEnd; as ChatModel promises.

        `timeouts`: how long it may keep silent this time; None: as long as usually.
        """
        request = replace(request, stream=request.stream and self._streams)
        collected, is_over = Collected(_CHARACTERS_A_TOKEN * request.max_tokens), False
        timeouts = timeouts or self._timeouts.for_prompt(reckoned(request), self.speed)
        try:
            async with (
                self._turn(deadline),
                aclosing(self._texts(request, deadline, collected, timeouts)) as texts,
            ):
                async for text in texts:
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
            self._capabilities.note_reply(has_form="{" in end.message.text)

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

    async def open(self, system: str = "") -> None:
        """Load what the first call would wait for; what fails is logged, and tried again then.

        A server of one's own is measured meanwhile: it may have to load its model, and its first
        question gets a prompt of a length that it can read in time.

        Args:
            system: What its calls will begin with, which such a server then has read already.
        """
        if await self.load() and self._measured_at_start and self._measuring is None:
            self._measuring = asyncio.create_task(self._measure(system))

    async def load(self) -> bool:
        """Load what the first call would wait for, and return whether it can be made."""
        try:
            await self._wire.open()
        except ProviderFailure as failure:
            logger.warning("%s", failure)
            return False
        return True

    async def measured(self) -> None:
        """Wait until a server that `open` measures is measured, or cannot be."""
        if self._measuring is not None:
            await asyncio.wait([self._measuring])

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        if self._measuring is not None:
            self._measuring.cancel()
            await asyncio.wait([self._measuring])
            self._measuring = None
        await self._wire.aclose()

    async def _greet(self, deadline: TimeLimit) -> None:
        """Have the model say a few words; who says more than a few can be spoken to as well."""
        hello = ChatRequest("", [ChatMessage("user", "Say hello.")], max_tokens=16, stream=False)
        with suppress(OnlyThoughts, TooMuch):
            async with aclosing(self.reply(hello, deadline)) as reply:
                async for _ in reply:
                    pass

    async def _measure(self, system: str) -> None:
        """Have the model read some hundred tokens that no cache holds, and then `system`."""
        begun = str(random.randrange(10**9))
        numbers = " ".join(str(number * number) for number in range(100, 100 + _NUMBERS))
        told = f"{begun} {MEASURING} {numbers}"
        hello = "Say hello in five languages, in one line."
        try:
            async with asyncio.timeout(_LONGEST_MEASURING):
                await self._hear(MEASURING, "Say hello.", 1)
                self._speedometer = Speedometer()  # so far it may have loaded its model
                await self._hear(MEASURING, "Say hello.", 1)
                await self._hear(told, hello, _MOST_WORDS, stream=True)
                self._speedometer.forget_kept()
                if system:
                    await self._hear(system, "Say hello.", 1)
                    self._speedometer.note_kept(reckon_tokens(system))
        except (ProviderFailure, TimeoutError) as failure:
            logger.info("%s was not measured: %s", self.name, str(failure) or "it took too long")
        if (speed := self.speed) is not None:
            logger.info(
                "%s reads %.0f and writes %.0f tokens a second",
                self.name,
                speed.read_rate,
                speed.write_rate or 0.0,
            )

    async def _hear(self, system: str, said: str, most: int, *, stream: bool = False) -> None:
        """Have a reply that nobody reads, however long it takes to begin."""
        asked = [ChatMessage("user", said)]
        request = ChatRequest(system, asked, max_tokens=most, stream=stream, retry=False)
        patient = Timeouts(_LONGEST_MEASURING, _LONGEST_MEASURING, is_fixed=True)
        deadline = Deadline.after(_LONGEST_MEASURING)
        with suppress(OnlyThoughts):
            async with aclosing(self.reply(request, deadline, timeouts=patient)) as reply:
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
        self,
        request: ChatRequest,
        deadline: TimeLimit,
        collected: Collected,
        timeouts: Timeouts,
    ) -> AsyncGenerator[str, None]:
        """Yield the words of one call as they come; up to the first it may be made again.

        To the breaker that is one call, however often it is made.
        """
        if not self.breaker.admits():
            raise ProviderFailure(f"{self.name} failed too often and is left alone for a while")
        is_down = False

        async def begin(capabilities: Capabilities) -> tuple[str, AsyncGenerator[str, None]]:
            nonlocal is_down
            texts = self._attempt(
                capabilities.request(request), capabilities, deadline, collected, timeouts
            )
            try:
                return await anext(texts, ""), texts
            except ProviderFailure as failure:
                is_down = is_down or failure.outage
                raise

        try:
            first, texts = await self._begin(begin, request, deadline)
            async with aclosing(texts):
                if first:
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
        begin: Callable[[Capabilities], Awaitable[tuple[str, AsyncGenerator[str, None]]]],
        request: ChatRequest,
        deadline: TimeLimit,
    ) -> tuple[str, AsyncGenerator[str, None]]:
        """Return a reply that has begun, in the first manner that the service takes."""
        capabilities, patience = self._capabilities.now, self._patience if request.retry else _ONCE
        tried = {capabilities}
        while True:
            try:
                begun = await with_retries(partial(begin, capabilities), patience, deadline.moment)
            except ProviderFailure as failure:
                lesser = capabilities.after(failure, request)
                if lesser is None or lesser in tried:
                    raise
                tried.add(lesser)
                logger.info("%s; it is asked in another way", failure)
                capabilities = lesser
                continue
            self._capabilities.learn(capabilities)  # what was refused is not asked for again
            return begun

    async def _attempt(
        self,
        request: ChatRequest,
        capabilities: Capabilities,
        deadline: TimeLimit,
        collected: Collected,
        timeouts: Timeouts,
    ) -> AsyncGenerator[str, None]:
        """Yield the words of the answer in one try as they come, none of them empty."""
        await self._wire.open()
        reader = ReplyReader(
            _asked(request),
            request.schema,
            in_json=request.schema is not None and capabilities.form is not OutputForm.LINES,
            thinks_unopened=self._thinks_unopened,
        )
        tokens, streams = reckoned(request), request.stream
        watch = _Watch()
        try:
            async with (
                aclosing(self._wire.deltas(request, capabilities)) as deltas,
                aclosing(
                    paced(
                        deltas,
                        self.name,
                        timeouts,
                        deadline,
                        streams=streams,
                        is_whole=lambda: reader.is_complete,
                        is_over=lambda: reader.is_over,
                    )
                ) as timed,
            ):
                async for delta in timed:
                    is_over = reader.is_over
                    watch.note(is_alive=delta.is_alive)
                    collected.add(delta)
                    if collected.excess is not None:
                        raise TooMuch(
                            f"{self.name} sent {collected.excess}, and was asked for at most "
                            f"{request.max_tokens:,} tokens: its server does not keep to max_tokens"
                        )
                    text = reader.feed(delta.text)
                    if reader.is_holding and time.monotonic() > deadline.moment - _LATE:
                        text += reader.release()
                    if text:
                        collected.say(text)
                        yield text
                    is_all = delta.text.strip() or collected.is_counted
                    if is_over and is_all and not request.tools:  # a call may still come
                        break  # it says more than it was asked for, or all is said
        finally:  # what is late or not read to its end tells it, too
            self._note_speed(collected.end(self.name, request), tokens, watch, streams=streams)
        if rest := reader.close():
            collected.say(rest)
            yield rest
        self._settle(request, reader, collected)

    def _settle(self, request: ChatRequest, reader: ReplyReader, collected: Collected) -> None:
        """Make sure that there is an answer, and learn how the model thinks.

        Raises:
            ProviderFailure: when the reply is none.
        """
        if reader.is_spoilt:
            self._thinks_unopened = True
            text = f"{self.name} thinks before it answers, and marks only the end of its thoughts"
            raise ProviderFailure(f"{text}: from now on its words wait for that", outage=False)
        if reader.is_over or reader.is_complete:
            collected.complete()
        if request.tools:
            collected.call(reader.calls)
        if not collected.is_finished:
            raise ProviderFailure(f"{self.name} broke off its answer")
        if reader.thinks_unopened or collected.is_whole:
            self._thinks_unopened = reader.thinks_unopened
        thinks = reader.has_thought or collected.has_thoughts
        if thinks and collected.is_without_answer and not request.top_logprobs:
            detail = (
                f"{self.name} thought and wrote no answer in its {request.max_tokens} tokens: let "
                "it think less, such as by `thinking` of its table, or raise `max_tokens`"
            )
            raise OnlyThoughts(detail, outage=False)

    def _note_speed(self, end: ChatEnd, tokens: int, watch: "_Watch", *, streams: bool) -> None:
        """Take up how long a reply took, of which not all may have come."""
        if not streams and (watch.until_first is None or end.response_tokens > _NO_WRITING):
            return
        cached = round(tokens * min(1.0, end.cached_tokens / (end.query_tokens or 1)))
        if watch.until_first is None:
            self._speedometer.note_waiting(tokens, watch.elapsed)
            return
        self._speedometer.note_reading(tokens, cached, watch.until_first)
        if streams:
            self._speedometer.note_kept(cached)
            self._speedometer.note_writing(end.response_tokens, watch.since_first)


class _Watch:
    """Tells how long the pieces of a reply took."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._first: float | None = None
        self._last = self._began

    def note(self, *, is_alive: bool) -> None:
        """Take note of a piece."""
        if is_alive:
            self._last = time.monotonic()
            self._first = self._first or self._last

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self._began

    @property
    def until_first(self) -> float | None:
        """Seconds up to the first piece that said something; None: none has come."""
        return None if self._first is None else self._first - self._began

    @property
    def since_first(self) -> float:
        """Seconds from there to the last."""
        return self._last - (self._first or self._last)


def _asked(request: ChatRequest) -> str:
    """Return all that a model reads."""
    results = [text for m in request.messages for r in m.results for text in r.content.values()]
    return "\n".join([request.system, *(m.text for m in request.messages), *results])
