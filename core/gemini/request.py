"""What a Gemini model is asked in one call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from core.gemini.answer import Answer

if TYPE_CHECKING:
    from google.genai.types import (
        ContentDict,
        ContentUnionDict,
        GenerateContentConfigDict,
        PartDict,
    )

ThinkingLevel = Literal["minimal", "low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of generateContent."""

    model: str
    system: str
    contents: "Sequence[ContentUnionDict]"
    """Oldest first, user and model by turns."""
    temperature: float
    max_tokens: int
    """Of the answer, thinking included."""
    tokens: int
    """About how many are asked."""
    thinking_level: ThinkingLevel | None = None
    """None: the model's own."""
    tools: Sequence[Mapping[str, Any]] = ()
    """Declarations of functions."""
    streams: bool = True

    @property
    def config(self) -> "GenerateContentConfigDict":
        """All beside model and contents, in the SDK's words."""
        from google.genai.types import ThinkingLevel as Level

        config: GenerateContentConfigDict = {
            "system_instruction": self.system,
            "temperature": self.temperature,
            "max_output_tokens": self.max_tokens,
            # The SDK would make calls of its own, which nobody counts.
            "automatic_continuation": False,
            "automatic_function_calling": {"disable": True},
        }
        if self.thinking_level is not None:
            level = Level(self.thinking_level.upper())
            config["thinking_config"] = {"thinking_level": level}
        if self.tools:
            config["tools"] = [{"function_declarations": list(self.tools)}]
        return config

    def continued(
        self, answer: Answer, results: Sequence[Mapping[str, str]], **changes: Any
    ) -> Self:
        """Return the request that shows the model the results of the calls in its answer.

        Args:
            answer: What it answered to this request.
            results: One for each of its calls, in order.
            changes: Other fields.
        """
        parts: list[PartDict] = [
            {"function_response": {"id": call.id, "name": call.name, "response": {**result}}}
            for call, result in zip(answer.calls, results, strict=True)
        ]
        told: ContentDict = {"role": "user", "parts": parts}
        return replace(self, contents=(*self.contents, answer.content, told), **changes)


def written_by(role: Literal["user", "model"], text: str) -> "ContentUnionDict":
    """Return what one side of the conversation wrote."""
    return {"role": role, "parts": [{"text": text}]}
