"""What a model is asked in one call of chat completions."""

import json
from collections.abc import Iterator
from typing import Any

from core.providers.base import ChatMessage, ChatRequest, OutputForm, ToolCall
from core.providers.manner import Manner


def body_of(request: ChatRequest, manner: Manner) -> dict[str, Any]:
    """Return the fields of a request, without the model."""
    body: dict[str, Any] = {
        "messages": list(_messages(request)),
        manner.max_tokens: request.max_tokens,
        "stream": request.stream,
    }
    if request.stream and manner.usage_in_streams:
        body["stream_options"] = {"include_usage": True}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema is not None and manner.form is OutputForm.JSON:
        body["response_format"] = {"type": "json_object"}
    elif request.schema is not None and manner.form is OutputForm.SCHEMA:
        schema = {"name": request.schema.name, "schema": dict(request.schema.json), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _messages(request: ChatRequest) -> Iterator[dict[str, Any]]:
    """Yield the conversation, oldest first; each result of a tool is a message of its own."""
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        for number, result in enumerate(message.results):
            yield {
                "role": "tool",
                "tool_call_id": _id(result.call, number),
                "content": json.dumps(dict(result.content), ensure_ascii=False),
            }
        if not message.results:
            yield _said(message)


def _said(message: ChatMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        said["tool_calls"] = [
            {
                "id": _id(call, number),
                "type": "function",
                "function": {
                    "name": call.name or "",
                    "arguments": json.dumps(dict(call.arguments or {})),
                },
            }
            for number, call in enumerate(message.calls)
        ]
    return said


def _id(call: ToolCall, number: int) -> str:
    """Return what a call is known by; some servers give it no name."""
    return call.id or f"call_{number}"
