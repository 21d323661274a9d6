"""One turn: a request is answered through a reply, and its reader sees whatever goes wrong."""

import logging
from contextlib import aclosing
from typing import TYPE_CHECKING

from core.answering.agent import Agent, Placed, as_asked
from core.answering.context import Answerable, SectionsFound, TextDelta, TextWithdrawn
from core.domain import AgentRequest
from core.domain.errors import BotError, DeliveryError
from core.domain.i18n import current_language, use_locale
from core.storage.inbox.base import LeaseLost

if TYPE_CHECKING:
    from adapters.chat.base import Reply

logger = logging.getLogger(__name__)


async def take_turn(
    agent: Agent, request: AgentRequest, reply: "Reply", placed: Placed = as_asked
) -> None:
    """Answer `request` through `reply`; the reader sees whatever goes wrong.

    1. That there is an answer is passed on, what is read, text as it comes, and the news that
       it no longer holds.
    2. The finished answer, an error outcome included, ends the turn.
    3. A request that cannot be served is answered by `reply.fail`.
    4. So is a failure that was not expected: the log has it, the reader a safe sentence.

    Args:
        placed: As of `Agent.stream`.

    Raises:
        DeliveryError: when the platform does not take the answer; a later try may succeed.
        LeaseLost: when another worker has taken over the delivery.
        OSError: when the reader's end is gone.
    """
    with use_locale(request.user_context.locale or current_language()):
        await _take_turn(agent, request, reply, placed)


async def _take_turn(agent: Agent, request: AgentRequest, reply: "Reply", placed: Placed) -> None:
    try:
        async with aclosing(agent.stream(request, placed)) as events:
            async for event in events:
                match event:
                    case Answerable():
                        await reply.begin()
                    case SectionsFound():
                        await reply.reading(event.headings)
                    case TextDelta():
                        await reply.update(event.text)
                    case TextWithdrawn():
                        await reply.withdraw()
                    case _:
                        await reply.finish(event)
    except (DeliveryError, LeaseLost, OSError):
        raise  # no reader is left, or not now
    except BotError as error:
        await reply.fail(error)
    except Exception as error:
        logger.exception("a turn failed in a way that nobody foresaw")
        await reply.fail(BotError(type(error).__name__))
