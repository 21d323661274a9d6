"""What a question may spend on models, and what it spent."""

import logging
from collections.abc import Sequence
from typing import Any

from core.answering.context import AnswerContext
from core.errors import StoreError
from core.generation.base import ModelCall
from core.i18n import text
from core.storage.budgets.pricing import Prices
from core.storage.budgets.reservations import Reservation
from core.storage.budgets.store import TokenBudgets, Tokens

logger = logging.getLogger(__name__)


class Spending:
    """Keeps the budgets of users, courses and days, and reckons costs."""

    def __init__(self, budgets: TokenBudgets, prices: Prices) -> None:
        self._budgets = budgets
        self._prices = prices

    async def allows(self, context: AnswerContext, *, quietly: bool = False) -> bool:
        """Return whether a model may be asked; room for it is reserved, and a notice says if not.

        Args:
            quietly: Without any notice: what is written does not depend on it.
        """
        if context.reservation is not None:
            return True
        request = context.request
        notices = [] if quietly else context.notices
        try:
            room = await self._budgets.reserve(request.user_id, request.course_id)
        except StoreError:
            logger.exception("the budgets could not be read")
            notices.append(text("notice-not-counted"))
            return False  # nothing is spent that cannot be counted
        if isinstance(room, Reservation):
            context.reservation = room
            return True
        logger.info("the %s budget of course %s is spent", room, request.course_id)
        notices.append(text("notice-budget-spent"))
        return False

    async def count(self, context: AnswerContext) -> None:
        """Put what was used on the account of the user, the course and the day."""
        used = sum(call.query_tokens + call.response_tokens for call in context.calls)
        try:
            if context.calls:
                await self._add(context)
        finally:
            if context.reservation is not None:
                self._budgets.settle(context.reservation, used)

    async def _add(self, context: AnswerContext) -> None:
        calls = context.calls
        try:
            await self._budgets.add(
                context.request.user_id,
                context.request.course_id,
                query_tokens=sum(call.query_tokens for call in calls),
                response_tokens=sum(call.response_tokens for call in calls),
                cached_tokens=sum(call.cached_tokens for call in calls),
                calls=len(calls),
                judging=_judging(calls),
            )
        except StoreError:
            logger.exception("the tokens used could not be counted")

    def fields(self, context: AnswerContext) -> dict[str, Any]:
        """Return the fields of an AgentResponse that tell what the models used."""
        query = sum(call.query_tokens for call in context.calls)
        response = sum(call.response_tokens for call in context.calls)
        return {
            "query_tokens": query,
            "response_tokens": response,
            "cached_tokens": sum(call.cached_tokens for call in context.calls),
            "tokens_used": query + response,
            "estimated_cost": self._cost(context),
            "tool_calls": tuple(context.tool_calls),
        }

    def _cost(self, context: AnswerContext) -> float | None:
        """Return what all calls cost, each at its model's price; None: not all are known."""
        costs = [
            self._prices.cost(c.model, c.query_tokens, c.response_tokens, c.service)
            for c in context.calls
        ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known and len(known) == len(costs) else None


def _judging(calls: Sequence[ModelCall]) -> Tokens:
    """Return what of some calls went into judging what others wrote."""
    judging = [call for call in calls if call.is_judging]
    return Tokens(
        sum(call.query_tokens for call in judging),
        sum(call.response_tokens for call in judging),
        len(judging),
    )
