"""The one loop between the agent and any platform."""

from contextlib import aclosing

from adapters.base import Reply
from core.agent import Agent
from core.composition import TextDelta
from core.errors import BotError
from core.models import AgentRequest


async def take_turn(agent: Agent, request: AgentRequest, reply: Reply) -> None:
    """Answer `request` through `reply`; never raise for an expected failure.

    1. Text is passed on as it comes.
    2. The finished answer, an error outcome included, ends the turn.
    3. A request that cannot be served, or a refused delivery, is told by `reply.fail`.
    """
    try:
        async with aclosing(agent.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    await reply.update(event.text)
                else:
                    await reply.finish(event)
    except BotError as error:
        await reply.fail(error)
