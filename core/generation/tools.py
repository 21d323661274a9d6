"""The one tool that a model has: a second look into the course's book."""

from collections.abc import Callable, Sequence
from functools import cache

from pydantic import ValidationError

from core.errors import RequestError, ServiceError
from core.generation.base import Passage, Search
from core.generation.claims.instructions import SEARCH_DESCRIPTION
from core.models import RetrievalToolInput
from core.providers.base import Tool, ToolCall
from core.text.tokens import reckon_tokens

RETRIEVE = "retrieve"
MOST_CALLS = 3
"""Calls that are answered at a time."""
_LONGEST_NAME = 64
_TOO_MANY = f"At most {MOST_CALLS} searches at a time."
_NO_ROOM = "There is no room for more passages: answer from those that you have."

Render = Callable[[Sequence[Passage]], str]
"""Turns what was found into what the model reads."""


@cache
def declare_retrieve() -> Tool:
    """Return the tool's declaration; its schema refers to nothing outside of itself."""
    return Tool(RETRIEVE, SEARCH_DESCRIPTION, RetrievalToolInput.model_json_schema())


async def answer_calls(
    calls: Sequence[ToolCall], search: Search, render: Render, room: int
) -> list[dict[str, str]]:
    """Return what a model is sent about each call, in no more than `room` tokens."""
    results = [await answer_call(call, search, render) for call in calls[:MOST_CALLS]]
    for number, result in enumerate(results):
        needed = sum(map(reckon_tokens, result.values()))
        if needed > room:
            results[number] = {"error": _NO_ROOM}
        else:
            room -= needed
    return results + [{"error": _TOO_MANY}] * (len(calls) - len(results))


async def answer_call(call: ToolCall, search: Search, render: Render) -> dict[str, str]:
    """Return the `output` of a call, or an `error` in words that the model can act on.

    A model's mistake and a failing search are never an exception.
    """
    if call.name != RETRIEVE:
        name = (call.name or "")[:_LONGEST_NAME]
        return {"error": f"There is no tool {name!r}, only {RETRIEVE!r}."}
    try:
        asked = RetrievalToolInput.model_validate(call.arguments or {})
    except ValidationError as error:
        return {"error": _mistakes(error)}
    except RequestError as error:
        return {"error": f"query_text: {error.user_message}"}
    try:
        return {"output": render(await search(asked))}
    except (RequestError, ServiceError) as error:
        return {"error": error.user_message}


def _mistakes(error: ValidationError) -> str:
    """Return what is wrong with the arguments, without repeating them."""
    return "; ".join(
        f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}"
        for mistake in error.errors(include_url=False, include_input=False)
    )
