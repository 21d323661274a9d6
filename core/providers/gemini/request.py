"""What a Gemini model is asked in one call, in the SDK's words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from core.providers.base import ChatMessage, ChatRequest, OutputForm, Role
from core.providers.manner import Manner

if TYPE_CHECKING:
    from google.genai.types import GenerateContentConfigDict

ThinkingLevel = Literal["minimal", "low", "medium", "high"]
_ROLES: dict[Role, str] = {"user": "user", "assistant": "model"}


def config_of(
    request: ChatRequest, manner: Manner, thinking_level: ThinkingLevel | None
) -> "GenerateContentConfigDict":
    """Return all but model and messages."""
    from google.genai.types import ThinkingLevel as Level

    config: GenerateContentConfigDict = {
        "system_instruction": request.system,
        "max_output_tokens": request.max_tokens,
        # The SDK would make calls of its own, which nothing counts.
        "automatic_continuation": False,
        "automatic_function_calling": {"disable": True},
    }
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if thinking_level is not None:
        config["thinking_config"] = {"thinking_level": Level(thinking_level.upper())}
    if request.tools:
        config["tools"] = [{"function_declarations": _declarations(request)}]
    if request.schema is not None and manner.form is not OutputForm.LINES:
        config["response_mime_type"] = "application/json"
        if manner.form is OutputForm.SCHEMA:
            config["response_json_schema"] = dict(request.schema.json)
    if request.top_logprobs:
        config["response_logprobs"] = True
        config["logprobs"] = request.top_logprobs
    return config


def contents_of(request: ChatRequest) -> list[Any]:
    """Return the conversation, oldest first."""
    return [_content(message) for message in request.messages]


def _content(message: ChatMessage) -> Any:
    if message.original is not None:
        return message.original
    return {"role": _ROLES[message.role], "parts": _parts(message)}


def _parts(message: ChatMessage) -> Sequence[dict[str, Any]]:
    text = [{"text": message.text}] if message.text or not message.results else []
    results = [
        {
            "function_response": {
                "id": result.call.id,
                "name": result.call.name,
                "response": {**result.content},
            }
        }
        for result in message.results
    ]
    return [*text, *results]


def _declarations(request: ChatRequest) -> list[Any]:
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters_json_schema": dict(tool.parameters),
        }
        for tool in request.tools
    ]
