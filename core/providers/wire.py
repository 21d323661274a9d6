"""What each kind of provider has to bring: pieces of a reply, and nothing about patience."""

import math
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.providers.base import ChatRequest, Finish, ToolCall
from core.providers.manner import Manner


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
    """Speaks to one model of one service. Every failure is a ProviderFailure."""

    @property
    def model(self) -> str:
        """The model, as it is named to the service."""
        ...

    @property
    def tells_thoughts(self) -> bool:
        """Whether the service keeps what the model thinks out of its text."""
        ...

    @property
    def has_logprobs(self) -> bool:
        """Whether the service may tell how likely its words were."""
        ...

    def deltas(self, request: ChatRequest, manner: Manner) -> AsyncGenerator[Delta, None]:
        """Yield the pieces of one reply; closing it closes the connection."""
        ...

    async def probe(self) -> bool:
        """Make a call that costs nothing and tells whether key and model are accepted.

        False: there is none; only a short reply tells.
        """
        ...

    async def ask_context(self) -> int | None:
        """Return how many tokens the server says that a call may have; None: it does not say."""
        ...

    async def open(self) -> None:
        """Load what the first call would wait for."""
        ...

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        ...


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
