"""One request on its way through the house, and the clock that runs with it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from core.budgets.pricing import Prices
from core.budgets.reservations import Reservation
from core.generation.base import ModelCall
from core.models import (
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    AgentToolCall,
    ContextMode,
    ConversationTurn,
)


@dataclass
class Clock:
    """Milliseconds since the request was taken up, split by stage."""

    started: float = field(default_factory=time.monotonic)
    retrieval: float = 0.0
    first_token: float | None = None

    def elapsed(self) -> float:
        """Return the milliseconds so far."""
        return (time.monotonic() - self.started) * 1_000

    def note_first_token(self) -> bool:
        """Remember when the first text came; always true."""
        if self.first_token is None:
            self.first_token = self.elapsed()
        return True

    def times(self) -> dict[str, float]:
        """Return the fields of an AgentResponse that tell them."""
        total = self.elapsed()
        return {
            "response_time_ms": total,
            "retrieval_time_ms": self.retrieval,
            "first_token_ms": total if self.first_token is None else self.first_token,
            "generation_time_ms": total - self.retrieval,
        }


@dataclass
class Turn:
    """One request on its way: what it asks, what was found, what it has cost so far."""

    request: AgentRequest
    configuration: AgentConfiguration
    pending: AgentResponse
    clock: Clock
    turns: Sequence[ConversationTurn] = ()
    calls: list[ModelCall] = field(default_factory=list)
    tool_calls: list[AgentToolCall] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    reservation: Reservation | None = None
    """What its budgets hold for it; None: no model may be asked."""

    @property
    def quote(self) -> str | None:
        """The passage that is asked about, if any."""
        quoted = self.request.context_mode is ContextMode.SELECTED_TEXT
        return self.request.selected_text if quoted else None

    @property
    def said_here(self) -> Sequence[ConversationTurn]:
        """The turns since this section alone is searched; all of them for the whole book."""
        section = self.request.section_filter
        if section is None:
            return self.turns
        latest = takewhile(lambda turn: turn.section_filter == section, reversed(self.turns))
        return tuple(latest)[::-1]

    def spent(self, prices: Prices) -> dict[str, Any]:
        """Return the fields of an AgentResponse that tell what the model used."""
        query = sum(call.query_tokens for call in self.calls)
        response = sum(call.response_tokens for call in self.calls)
        return {
            "query_tokens": query,
            "response_tokens": response,
            "tokens_used": query + response,
            "estimated_cost": self._cost(prices),
            "tool_calls": tuple(self.tool_calls),
        }

    def _cost(self, prices: Prices) -> float | None:
        """Return what all calls cost, each at its model's price; None: not all are known."""
        costs = [prices.cost(c.model, c.query_tokens, c.response_tokens) for c in self.calls]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known and len(known) == len(costs) else None
