"""What a model says in one call, collected piece by piece."""

import math
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.domain.sentences import count_tokens, reckon_tokens
from core.providers.base import ChatEnd, ChatMessage, ChatRequest, Finish, ToolCall
from core.providers.capabilities import Capabilities


@dataclass(frozen=True, slots=True)
class Delta:
    """One piece of a reply, in every provider's words at once."""

    text: str = ""
    thoughts: str = ""
    """What the model thinks, where its service tells that apart; never shown."""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish | None = None
    detail: str | None = None
    """Why the reply was refused, for the operator."""
    query_tokens: int | None = None
    """Of the reply so far, as the service counts; None: it has not said."""
    cached_tokens: int | None = None
    response_tokens: int | None = None
    logprobs: Sequence[Mapping[str, float]] = ()
    original: object = None
    """All that the model said so far, where it has to be shown to it again unchanged."""
    parts: int = 1
    """How many parts it came in."""
    is_alive: bool = True
    """Whether it brings the reply on: empty pieces may come for ever."""


class Wire(Protocol):
    """Speaks to one model of one service. Every failure is a ProviderFailure.

    A class that derives from it has defaults for all but `model` and `deltas`.
    """

    @property
    def model(self) -> str:
        """The model, as it is named to the service."""
        ...

    @property
    def tells_thoughts(self) -> bool:
        """Whether the service keeps what the model thinks out of its text."""
        return True

    @property
    def has_logprobs(self) -> bool:
        """Whether the service may tell how likely its words were."""
        return False

    def deltas(
        self, request: ChatRequest, capabilities: Capabilities
    ) -> AsyncGenerator[Delta, None]:
        """Yield the pieces of one reply; closing it closes the connection."""
        ...

    async def probe(self) -> bool:
        """Make a call that costs nothing and tells whether key and model are accepted.

        False: there is none; only a short reply tells.
        """
        return False

    async def ask_context(self) -> int | None:
        """Return how many tokens the server says that a call may have; None: it does not say."""
        return None

    async def open(self) -> None:
        """Load what the first call would wait for."""
        return

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        return


def true_count(*counts: int | None) -> int | None:
    """Return the sum of what was counted; None: nothing was, or what cannot be true."""
    given = [count for count in counts if count is not None]
    if not given or not all(type(n) is int and 0 <= n <= _MOST_TOKENS for n in given):
        return None
    return sum(given)


def true_odds(likeliest: Iterable[tuple[object, object]]) -> dict[str, float]:
    """Return words with their log-probabilities, at most 0; those that can be none are left out."""
    return {
        word: min(float(odds), 0.0)
        for word, odds in likeliest
        if isinstance(word, str) and isinstance(odds, int | float) and math.isfinite(odds)
    }


_MOST_TOKENS = 10_000_000
"""Tokens of one call that can be true; no model reads or writes as many."""


_MOST_CALLS = 16
_MOST_PARTS = 10_000
_MOST_LOGPROBS = 64
"""Tokens whose likelihood is kept; who asks looks at the first few."""


class Collected:
    """What a model has said so far, and how it ended."""

    def __init__(self, longest: float = math.inf) -> None:
        """Expect at most `longest` characters of text."""
        self.began = False
        self._longest = longest
        self._texts: list[str] = []
        self._raw: list[str] = []
        """With what the reader took away: it was written, too."""
        self._has_thoughts = False
        self._length = self._parts = 0
        self._calls: list[ToolCall] = []
        self._logprobs: list[Mapping[str, float]] = []
        self._finish: Finish | None = None
        self._detail: str | None = None
        self._original: object = None
        self._query_tokens: int | None = None
        self._cached_tokens: int | None = None
        self._response_tokens: int | None = None
        self._counted = (0, 0)
        """How many characters were counted, and the tokens in them."""

    @property
    def is_finished(self) -> bool:
        """Whether the model said that this is all."""
        return self._finish is not None

    @property
    def is_counted(self) -> bool:
        """Whether the service said how many tokens there are."""
        return self._query_tokens is not None

    @property
    def is_whole(self) -> bool:
        """Whether the model said all that it had to say."""
        return self._finish is Finish.STOP

    @property
    def has_text(self) -> bool:
        """Whether there are words of an answer."""
        return any(map(str.strip, self._texts))

    @property
    def has_thoughts(self) -> bool:
        """Whether the service told what the model thinks."""
        return self._has_thoughts

    @property
    def is_without_answer(self) -> bool:
        """Whether the reply ended, and not since it was refused, without words and calls."""
        ended = self._finish in (Finish.STOP, Finish.LENGTH, Finish.TOOL_CALLS)
        return ended and not self.has_text and not self._calls

    @property
    def excess(self) -> str | None:
        """What there is more of than a reply may hold, for the operator; None: nothing."""
        if self._length > self._longest:
            return f"more than {self._longest:,.0f} characters"
        if len(self._calls) > _MOST_CALLS:
            return f"more than {_MOST_CALLS} calls of a tool"
        if self._parts > _MOST_PARTS:
            return f"more than {_MOST_PARTS:,} pieces"
        return None

    def add(self, delta: Delta) -> None:
        """Take up the next piece, but for what of its text is the answer."""
        self.began = True
        self._raw.append(delta.thoughts + delta.text)
        self._has_thoughts = self._has_thoughts or bool(delta.thoughts.strip())
        self._length += len(delta.text) + len(delta.thoughts)
        self._parts += delta.parts
        self._calls += delta.calls
        self._logprobs += delta.logprobs[: _MOST_LOGPROBS - len(self._logprobs)]
        if delta.finish is not None and self._finish is not Finish.REFUSED:
            self._finish, self._detail = delta.finish, delta.detail
        self._original = delta.original or self._original
        self._count(delta)

    def say(self, text: str) -> None:
        """Take up words of the answer."""
        self._texts.append(text)

    def call(self, calls: Sequence[ToolCall]) -> None:
        """Take up calls of tools that stood in the text."""
        self._calls += calls

    def complete(self) -> None:
        """Take the reply for whole, whatever the service says of its end."""
        if self._finish is not Finish.REFUSED:
            self._finish = Finish.STOP

    def end(
        self, model: str, request: ChatRequest, *, service: str = "", is_over: bool = True
    ) -> ChatEnd:
        """Return how the reply ended; `is_over` False: it was not read to its end."""
        finish = self._finish if is_over and self._finish else Finish.BROKEN
        calls = tuple(self._calls) if finish in (Finish.STOP, Finish.TOOL_CALLS) else ()
        if finish in (Finish.STOP, Finish.TOOL_CALLS):
            finish = Finish.TOOL_CALLS if calls else Finish.STOP
        text = "".join(self._texts)
        query, response = self._query_tokens, self._response_tokens
        return ChatEnd(
            model,
            finish,
            ChatMessage("assistant", text, calls, original=self._original),
            query_tokens=reckoned(request) if query is None else query,
            response_tokens=self._tokens_written() if response is None else response,
            cached_tokens=self._cached_tokens or 0,
            detail=self._detail,
            logprobs=tuple(self._logprobs),
            service=service,
        )

    def _tokens_written(self) -> int:
        """Return about how many tokens the reply so far has, counted once."""
        text = "".join(self._raw)
        if self._counted[0] != len(text):
            self._counted = len(text), count_tokens(text)
        return self._counted[1]

    def _count(self, delta: Delta) -> None:
        """Take up the usage, which is given for the whole reply so far."""
        if delta.query_tokens is not None:
            self._query_tokens = delta.query_tokens
        if delta.cached_tokens is not None:
            self._cached_tokens = delta.cached_tokens
        if delta.response_tokens is not None:
            self._response_tokens = delta.response_tokens


def reckoned(request: ChatRequest) -> int:
    """Return about how many tokens a request has, for a service that does not count them."""
    if request.tokens is not None:
        return request.tokens
    return sum(map(reckon_tokens, _texts(request)))


def _texts(request: ChatRequest) -> Sequence[str]:
    said = [message.text for message in request.messages]
    results = [text for m in request.messages for r in m.results for text in r.content.values()]
    return [request.system, *said, *results]
