"""What arrives at the local chat completions; what OpenAI refuses is refused in its words."""

import json
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_FIELDS = {
    "model": str,
    "messages": list,
    "max_tokens": int,
    "max_completion_tokens": int,
    "stream": bool,
    "stream_options": dict,
    "temperature": (int, float),
    "tools": list,
    "logprobs": bool,
    "top_logprobs": int,
    "response_format": dict,
    "reasoning_effort": str,
}
_ROLES = ("system", "user", "assistant", "tool")
_MOST_LOGPROBS = 20


class OpenAIRefusal(Exception):
    """The request is one that the service answers with an error."""

    def __init__(
        self,
        message: str,
        status: int = 400,
        *,
        code: str | None = None,
        param: str | None = None,
        kind: str = "invalid_request_error",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


@dataclass(frozen=True)
class OpenAICall:
    """One request for a reply."""

    body: Json

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def messages(self) -> list[Json]:
        return list(self.body["messages"])

    @property
    def text(self) -> str:
        """All that the model reads."""
        return "\n".join(str(message.get("content") or "") for message in self.messages)

    @property
    def form(self) -> str:
        """The form that is asked for: json_schema, json_object or text."""
        return str(self.body.get("response_format", {}).get("type", "text"))

    @property
    def limit(self) -> int | None:
        limit = self.body.get("max_completion_tokens", self.body.get("max_tokens"))
        return limit if isinstance(limit, int) else None


def read_call(raw: Any, lacking: frozenset[str]) -> OpenAICall:
    """Return a request that makes sense.

    Args:
        raw: The body as it was sent.
        lacking: Fields, or forms of an answer, that this service does not take.

    Raises:
        OpenAIRefusal: for all that the service answers with an error.
    """
    if not isinstance(raw, dict):
        raise OpenAIRefusal("We could not parse the JSON body of your request.")
    for field, value in raw.items():
        if field not in _FIELDS:
            message = f"Unrecognized request argument supplied: {field}"
            raise OpenAIRefusal(message, param=field)
        kinds: Any = _FIELDS[field]
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise OpenAIRefusal(f"Invalid type for '{field}'.", param=field, code="invalid_type")
        if field in lacking:
            raise OpenAIRefusal(_unsupported(field), param=field, code="unsupported_parameter")
    call = OpenAICall(raw)
    _check_messages(call.messages)
    _check_numbers(raw)
    _check_form(call, lacking)
    return call


def _unsupported(field: str) -> str:
    other = " Use 'max_completion_tokens' instead." if field == "max_tokens" else ""
    return f"Unsupported parameter: '{field}' is not supported with this model.{other}"


def _check_messages(messages: list[Json]) -> None:
    if not messages:
        raise OpenAIRefusal("Invalid 'messages': empty array.", param="messages")
    open_calls: set[str] = set()
    for number, message in enumerate(messages):
        place = f"messages[{number}]"
        if message.get("role") not in _ROLES:
            raise OpenAIRefusal(f"Invalid value: '{message.get('role')}'.", param=f"{place}.role")
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise OpenAIRefusal(
                    "messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    param=f"{place}.role",
                )
            open_calls.discard(message["tool_call_id"])
        elif open_calls:
            raise OpenAIRefusal(
                "An assistant message with 'tool_calls' must be followed by tool messages "
                "responding to each 'tool_call_id'.",
                param=f"{place}.role",
            )
        if not isinstance(message.get("content"), str):
            raise OpenAIRefusal(f"Invalid type for '{place}.content'.", param=f"{place}.content")
        for call in message.get("tool_calls", ()):
            json.loads(call["function"]["arguments"])
            open_calls.add(call["id"])


def _check_numbers(body: Json) -> None:
    if "max_tokens" in body and "max_completion_tokens" in body:
        message = (
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        )
        raise OpenAIRefusal(message, param="max_tokens")
    if min(body.get("max_tokens", 1), body.get("max_completion_tokens", 1)) < 1:
        raise OpenAIRefusal("Invalid 'max_tokens': below the minimum.", param="max_tokens")
    if not 0 <= body.get("temperature", 1) <= 2:
        raise OpenAIRefusal("Invalid 'temperature'.", param="temperature")
    if "top_logprobs" in body and not body.get("logprobs"):
        raise OpenAIRefusal("'logprobs' must be true for 'top_logprobs'.", param="top_logprobs")
    if not 0 <= body.get("top_logprobs", 0) <= _MOST_LOGPROBS:
        raise OpenAIRefusal("Invalid 'top_logprobs'.", param="top_logprobs")
    if "stream_options" in body and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise OpenAIRefusal(message, param="stream_options")


def _check_form(call: OpenAICall, lacking: frozenset[str]) -> None:
    if call.form in lacking:
        raise OpenAIRefusal(
            f"Invalid parameter: 'response_format' of type '{call.form}' is not supported with "
            "this model.",
            param="response_format",
        )
    if call.form == "json_object" and "json" not in call.text.lower():
        message = "'messages' must contain the word 'json' in some form, to use 'json_object'."
        raise OpenAIRefusal(message, param="messages")
    if call.form == "json_schema":
        _check_schema(call.body["response_format"]["json_schema"]["schema"], ())


def _check_schema(schema: Any, path: tuple[str, ...]) -> None:
    """Refuse what a strict schema may not be."""
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        missing = set(schema.get("properties", {})) - set(schema.get("required", ()))
        if missing or schema.get("additionalProperties") is not False:
            raise OpenAIRefusal(
                f"Invalid schema for response_format: In context={path}, 'required' has to list "
                "every key, and 'additionalProperties' has to be false.",
                param="response_format",
            )
    for name, inner in schema.get("properties", {}).items():
        _check_schema(inner, (*path, name))
    _check_schema(schema.get("items"), (*path, "items"))
