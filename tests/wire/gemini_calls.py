"""What arrives at the local Gemini: snake_case and camelCase are read, unknown fields refused."""

import re
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_OPAQUE = object()
"""Marks what belongs to the caller: a schema, arguments, a tool's result."""
_FUNCTION_CALL = {"id": str, "name": str, "args": _OPAQUE}
_FUNCTION_RESPONSE = {"id": str, "name": str, "response": _OPAQUE}
_PART = {
    "text": str,
    "thought": bool,
    "thoughtSignature": str,
    "functionCall": _FUNCTION_CALL,
    "functionResponse": _FUNCTION_RESPONSE,
}
_CONTENT = {"role": str, "parts": [_PART]}
_FUNCTION = {
    "name": str,
    "description": str,
    "parameters": _OPAQUE,
    "parametersJsonSchema": _OPAQUE,
}
_FUNCTION_CALLING = {"mode": str, "allowedFunctionNames": [str]}
_GENERATION_CONFIG = {
    "temperature": float,
    "topP": float,
    "topK": float,
    "seed": int,
    "candidateCount": int,
    "maxOutputTokens": int,
    "stopSequences": [str],
    "responseMimeType": str,
    "responseSchema": _OPAQUE,
    "responseJsonSchema": _OPAQUE,
    "presencePenalty": float,
    "frequencyPenalty": float,
    "thinkingConfig": {"thinkingLevel": str, "thinkingBudget": int, "includeThoughts": bool},
}
_GENERATE = {
    "contents": [_CONTENT],
    "systemInstruction": _CONTENT,
    "generationConfig": _GENERATION_CONFIG,
    "safetySettings": [{"category": str, "threshold": str}],
    "tools": [{"functionDeclarations": [_FUNCTION]}],
    "toolConfig": {"functionCallingConfig": _FUNCTION_CALLING},
}
_EMBED = {
    "model": str,
    "content": _CONTENT,
    "taskType": str,
    "title": str,
    "outputDimensionality": int,
}
_SHAPES = {
    "generateContent": _GENERATE,
    "streamGenerateContent": _GENERATE,
    "countTokens": {"contents": [_CONTENT]},
    "batchEmbedContents": {"requests": [_EMBED]},
}


class Refusal(Exception):
    """The request is one that Google answers with an error."""

    def __init__(
        self, message: str, code: int = 400, status: str = "INVALID_ARGUMENT", *details: Json
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.details = details


@dataclass(frozen=True)
class GeminiCall:
    """One accepted or refused request."""

    method: str
    """generateContent, streamGenerateContent, batchEmbedContents or countTokens."""
    model: str
    api_version: str
    body: Json
    """As sent, with the names of all fields in camelCase."""

    @property
    def streams(self) -> bool:
        return self.method == "streamGenerateContent"

    @property
    def contents(self) -> list[Json]:
        return list(self.body.get("contents", []))

    @property
    def config(self) -> Json:
        return dict(self.body.get("generationConfig", {}))

    @property
    def system_text(self) -> str:
        """The words of the system instruction."""
        return "\n".join(texts_of(self.body.get("systemInstruction", {})))

    @property
    def user_texts(self) -> list[str]:
        """The texts of the user's contents, in order."""
        return [
            text
            for content in self.contents
            if content.get("role", "user") == "user"
            for text in texts_of(content)
        ]

    @property
    def text(self) -> str:
        """All that the model is told, tools and their results left out."""
        spoken = [text for content in self.contents for text in texts_of(content)]
        return "\n".join([self.system_text, *spoken])

    @property
    def declared_tools(self) -> list[Json]:
        return [
            function
            for tool in self.body.get("tools", [])
            for function in tool.get("functionDeclarations", [])
        ]

    @property
    def tool_results(self) -> list[Json]:
        """The functionResponse objects of all contents, in order."""
        return [
            part["functionResponse"]
            for content in self.contents
            for part in content.get("parts", [])
            if "functionResponse" in part
        ]


def texts_of(content: Json) -> list[str]:
    """Return the texts of a content's parts."""
    return [part["text"] for part in content.get("parts", []) if "text" in part]


def read_body(method: str, body: Any) -> Json:
    """Return the body with camelCase names.

    Raises:
        Refusal: for a field that the service does not know, or a value of the wrong type.
    """
    read = _read(body, _SHAPES[method], "")
    assert isinstance(read, dict)
    return read


def _read(value: Any, shape: Any, path: str) -> Any:
    if shape is _OPAQUE:
        return value
    if isinstance(shape, dict):
        return _read_object(value, shape, path)
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise _wrong_type(value, path)
        return [_read(item, shape[0], f"{path}[{n}]") for n, item in enumerate(value)]
    accepted = (int, float) if shape is float else shape
    if not isinstance(value, accepted) or (isinstance(value, bool) and shape is not bool):
        raise _wrong_type(value, path)
    return value


def _read_object(value: Any, shape: Json, path: str) -> Json:
    if not isinstance(value, dict):
        raise _wrong_type(value, path)
    known: Json = {}
    for key, item in value.items():
        name = _camel_case(key)
        if name not in shape:
            place = f" at '{path}'" if path else ""
            raise Refusal(
                f'Invalid JSON payload received. Unknown name "{key}"{place}: Cannot find field.'
            )
        known[name] = _read(item, shape[name], f"{path}.{name}".lstrip("."))
    return known


def _wrong_type(value: Any, path: str) -> Refusal:
    return Refusal(f"Invalid value at '{path}', {value!r}")


def _camel_case(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), name)
