"""The seam to every language model: what is asked, what comes back, and its Protocol."""

import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol, Self

_WEIGHT = 0.3
"""Of the latest measurement, in a mean of them all."""
_LEAST_READ = 128
"""Tokens that tell how fast a prompt is read; fewer take no longer than none."""
_LEAST_WRITTEN = 8
_LEAST_WAITED = 1.0
"""Seconds in vain that tell something of a model of which nothing is known."""
_REMEMBERED = 16
"""Calls."""
_PROMPTS = 3
"""The latest that tell how much is kept from call to call."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a model is, by what its latest calls took."""

    read_rate: float
    """Tokens of a prompt that it reads in a second, as they are reckoned before a call."""
    write_rate: float | None = None
    """Tokens that it writes in a second, thinking included; None: not measured."""
    latency: float = 0.0
    """Seconds that even the smallest prompt takes."""
    cached: int = 0
    """Tokens at the beginning of a prompt that its service keeps from call to call."""

    def tokens_within(self, seconds: float) -> int:
        """Return how long a prompt may be for its first words to come in that time."""
        return self.cached + round(max(0.0, seconds - self.latency) * self.read_rate)

    def seconds(self, read: int, written: int = 0) -> float:
        """Return what a call takes: up to its first words, and for `written` tokens of reply."""
        waited = self.latency + max(0, read - self.cached) / self.read_rate
        return waited + (written / self.write_rate if self.write_rate else 0.0)


class Speedometer:
    """Measures calls, each with more weight than all before it."""

    def __init__(self) -> None:
        self._read_rate: float | None = None
        self._write_rate: float | None = None
        self._first: deque[float] = deque(maxlen=_REMEMBERED)
        self._cached: deque[int] = deque(maxlen=_PROMPTS)

    @property
    def speed(self) -> Speed | None:
        """The speed so far; None: no call has told how fast prompts are read."""
        if self._read_rate is None:
            return None
        cached = min(self._cached, default=0)
        return Speed(self._read_rate, self._write_rate, min(self._first), cached)

    def note_reading(self, tokens: int, cached: int, seconds: float) -> None:
        """Take up how long a prompt took, of which `cached` tokens did not have to be read."""
        self._first.append(seconds)
        if tokens - cached < _LEAST_READ:
            return
        # With calls of one length alone, the latency cannot be told from the reading.
        taken = max(seconds - min(self._first), seconds / 2, 1e-3)
        self._read_rate = _mean(self._read_rate, (tokens - cached) / taken)

    def note_waiting(self, tokens: int, seconds: float) -> None:
        """Take up that a prompt was not read in that time, which tells only if it is long."""
        usual = self.speed
        if seconds > (_LEAST_WAITED if usual is None else usual.seconds(tokens)):
            self.note_reading(tokens, usual.cached if usual else 0, seconds)

    def note_kept(self, cached: int) -> None:
        """Take up how much of a prompt a service had kept."""
        self._cached.append(cached)

    def forget_kept(self) -> None:
        """Begin anew with what is kept: the prompts so far were not like those to come."""
        self._cached.clear()

    def note_writing(self, tokens: int, seconds: float) -> None:
        """Take up how long a reply took from its first words to its last."""
        if tokens >= _LEAST_WRITTEN and seconds > 0:
            self._write_rate = _mean(self._write_rate, tokens / seconds)


def _mean(before: float | None, now: float) -> float:
    return now if before is None else before + _WEIGHT * (now - before)


Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may ask to have called."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of its arguments, which refers to nothing outside of itself."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to use, in its own words: nothing of it is checked."""

    id: str | None
    name: str | None
    arguments: Mapping[str, Any] | None
    """None: what the model wrote is no JSON object."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave: an `output` or an `error`."""

    call: ToolCall
    content: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """What one side of the conversation said: text, wishes for tools, or their results."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    """Of the calls in the message before, in order; such a message has no text."""
    original: object = field(default=None, compare=False, repr=False)
    """The provider's own form, where it has to be shown to the model again unchanged."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The form that an answer has to have."""

    name: str
    """Letters, digits and `_`."""
    json: Mapping[str, Any]
    """A JSON schema; every object in it lists `required` and forbids further properties."""
    in_lines: str = ""
    """Instructs a model without JSON to write the same in plain lines."""


class OutputForm(StrEnum):
    """How a model can be held to a form, best first."""

    SCHEMA = "schema"
    """The service lets nothing else pass."""
    JSON = "json"
    """The service lets only JSON pass, and the model gets the schema in words."""
    LINES = "lines"
    """The model is asked in words to write plain lines."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of a model."""

    system: str
    messages: Sequence[ChatMessage]
    """Oldest first, user and assistant by turns. What many questions share stands first."""
    max_tokens: int
    """Of the reply, thinking included."""
    temperature: float | None = None
    """None: not sent."""
    schema: Schema | None = None
    tools: Sequence[Tool] = ()
    stream: bool = True
    retry: bool = True
    """Whether it is tried again when it fails before its first words."""
    top_logprobs: int = 0
    """For each of the first tokens, how many of the likeliest are wanted; 0: none."""
    tokens: int | None = None
    """About how many are asked, for a service that does not count; None: they are reckoned."""


class Finish(StrEnum):
    """How a reply ended."""

    STOP = "stop"
    """The model said all that it had to say."""
    LENGTH = "length"
    """The limit of tokens ended it in mid-sentence."""
    TOOL_CALLS = "tool_calls"
    """The model wants to use tools before it goes on."""
    REFUSED = "refused"
    """The service or the model would not answer; `detail` says why."""
    BROKEN = "broken"
    """It failed or was not read to its end: only ever reported."""


@dataclass(frozen=True, slots=True)
class ChatEnd:
    """The end of a reply, and what it used."""

    model: str
    """As it is named to the service."""
    finish: Finish
    message: ChatMessage
    """All that the model said, to be shown to it again."""
    query_tokens: int
    """Read, with `cached_tokens`; reckoned where the service does not count."""
    response_tokens: int
    """Written, thinking included."""
    cached_tokens: int = 0
    """How many of those read the service had kept from an earlier call."""
    detail: str | None = None
    """Why the reply was refused, for the operator."""
    logprobs: Sequence[Mapping[str, float]] = ()
    """For each of the first tokens the likeliest with their natural log-probabilities; empty:
    none were asked for, or this service has none."""
    service: str = ""
    """The table of models whose service was asked; empty: of none."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that the model wants to use, in order."""
        return self.message.calls


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a reply comes too late, known from the beginning."""

    moment: float
    """By `time.monotonic()`."""

    @classmethod
    def after(cls, seconds: float) -> Self:
        """Return a deadline that many seconds from now."""
        return cls(time.monotonic() + seconds)


class TimeLimit(Protocol):
    """When the next piece of a reply comes too late."""

    @property
    def moment(self) -> float:
        """The `time.monotonic()` that counts now; it is read before each piece."""
        ...


def ignore(report: object) -> None:
    """Take no notice."""


class ChatModel(Protocol):
    """One language model. Retries, time-outs, limits and its breaker are in it.

    Any number of replies may be under way; more than the service takes wait for their turn.
    """

    @property
    def name(self) -> str:
        """The model, as it is named to the service and in answers."""
        ...

    @property
    def context(self) -> int | None:
        """Tokens that it reads and writes at most in one call; None: not known."""
        ...

    @property
    def is_free(self) -> bool:
        """Whether another call would begin at once; else it waits for its turn."""
        ...

    @property
    def speed(self) -> Speed | None:
        """How fast it reads and writes, by its latest calls; None: not measured so far."""
        ...

    @property
    def has_logprobs(self) -> bool:
        """Whether its service may tell how likely its words were."""
        ...

    def form(self) -> OutputForm:
        """Return the form that the service has not refused so far."""
        ...

    def reply(
        self,
        request: ChatRequest,
        deadline: TimeLimit,
        report: Callable[[ChatEnd], None] = ignore,
    ) -> AsyncGenerator[str | ChatEnd, None]:
        """Yield the text as it comes, in pieces of any size, and last its ChatEnd.

        Without `request.stream` the text is one piece. A reply in JSON begins with `{`, after
        blanks or a code fence at most; any other is in plain lines.

        Args:
            request: What to ask.
            deadline: When the next piece comes too late.
            report: Is given the ChatEnd of each call of which anything came, also when that
                failed or its reader stops: it has to be paid for.

        Raises:
            ProviderFailure: when there is no reply or not all of it. Before the first piece a
                failure that may pass was met by another try.
        """
        ...

    async def check(self) -> None:
        """Make sure, by the smallest of calls, that the key and the model are accepted.

        Raises:
            ConfigurationError: when one of them is refused.
            GenerationError: when there is no answer within 5 seconds.
        """
        ...

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        ...
