"""The bot's command line, with an agent that writes down what it is asked and what it answers."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from unittest.mock import patch

from bot.cli import main
from core.answering import agent
from core.answering.agent import Agent, Placed, as_asked
from core.answering.context import AgentEvent
from core.domain import AgentRequest, AgentResponse

MODULE = "tests.wire.conversation.recording"
"""To be run in place of `bot`."""
RECORD = "record.jsonl"
"""In the current folder: one line for each turn, with `request` and `response`."""


class RecordingAgent(Agent):
    """Answers as every agent does, and keeps each turn that has ended."""

    async def stream(
        self, request: AgentRequest, placed: Placed = as_asked
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the answer as it is written, and last the finished response."""
        async with aclosing(super().stream(request, placed)) as events:
            async for event in events:
                if isinstance(event, AgentResponse):
                    _keep(request, event)
                yield event


def _keep(request: AgentRequest, response: AgentResponse) -> None:
    turn = {
        # A chat's command takes along what its asker asked there before; a terminal has no chat.
        "request": request.model_dump(mode="json", exclude={"thread_messages"}),
        "response": response.model_dump(mode="json"),
        "has_chat": request.session_id is None,
    }
    with Path(RECORD).open("a", encoding="utf-8") as record:
        record.write(json.dumps(turn) + "\n")


if __name__ == "__main__":
    with patch.object(agent, "Agent", RecordingAgent):
        sys.exit(main())
