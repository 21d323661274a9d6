"""What a Gemini model says in one call, collected piece by piece."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.gemini.failures import name_in

if TYPE_CHECKING:
    from google.genai.types import Content, GenerateContentResponse, Part

_STOP = "STOP"
_MAX_TOKENS = "MAX_TOKENS"
_MOST_TOKENS = 10_000_000
"""Tokens of one call that can be true; no model reads or writes as many."""
_MOST_CALLS = 16
_MOST_PARTS = 10_000


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants to use, in its own words."""

    id: str | None
    name: str | None
    arguments: Mapping[str, Any] | None


class Answer:
    """What a model has said so far, and how it ended."""

    def __init__(self, longest: float = math.inf) -> None:
        """Expect at most `longest` characters of text."""
        self.began = False
        self._longest = longest
        self.text = ""
        """All words, thoughts left out."""
        self.query_tokens: int | None = None
        """None: the service has not told."""
        self.response_tokens: int | None = None
        """Thinking included; None: the service has not told."""
        self._finish_reason: str | None = None
        self._block_reason: str | None = None
        self._content: Content | None = None
        self._parts: list[Part] = []

    @property
    def is_finished(self) -> bool:
        """Whether the model said that this is all."""
        return self._finish_reason is not None or self._block_reason is not None

    @property
    def is_whole(self) -> bool:
        """Whether this is an answer up to its end, without any wish for a tool."""
        return self._finish_reason == _STOP and not self.calls

    @property
    def is_cut_short(self) -> bool:
        """Whether the limit of tokens ended the answer."""
        return self._finish_reason == _MAX_TOKENS

    @property
    def complaint(self) -> str | None:
        """What the model did instead of answering, for the operator."""
        if self._block_reason is not None:
            return f"refused the prompt ({name_in(self._block_reason) or 'for no known reason'})"
        if self._finish_reason not in {_STOP, _MAX_TOKENS}:
            return f"stopped ({name_in(self._finish_reason) or 'for no known reason'})"
        return None

    @property
    def excess(self) -> str | None:
        """What there is more of than an answer may hold, for the operator; None: nothing."""
        if len(self.text) > self._longest:
            return f"more than {self._longest:,.0f} characters"
        if sum(part.function_call is not None for part in self._parts) > _MOST_CALLS:
            return f"more than {_MOST_CALLS} calls of a tool"
        if len(self._parts) > _MOST_PARTS:
            return f"more than {_MOST_PARTS:,} pieces"
        return None

    @property
    def calls(self) -> Sequence[ToolCall]:
        """The tools that the model wants to use, in order; none when it was interrupted."""
        if self._finish_reason != _STOP:
            return ()
        calls = (part.function_call for part in self._parts)
        return [ToolCall(call.id, call.name, call.args) for call in calls if call is not None]

    @property
    def content(self) -> "Content":
        """All that the model said, unchanged, to be shown to it again."""
        assert self._content is not None, "only an answer with calls is shown to the model again"
        return self._content.model_copy(update={"parts": self._parts})

    def add(self, piece: "GenerateContentResponse") -> str:
        """Take up the next piece, and return the words in it."""
        self.began = True
        self._count(piece)
        if piece.prompt_feedback is not None and piece.prompt_feedback.block_reason is not None:
            self._block_reason = piece.prompt_feedback.block_reason.value
        if not piece.candidates:
            return ""
        candidate = piece.candidates[0]
        if candidate.finish_reason is not None:
            self._finish_reason = candidate.finish_reason.value
        if candidate.content is None:
            return ""
        self._content = self._content or candidate.content
        parts = candidate.content.parts or []
        self._parts += [part for part in parts if _says_something(part)]
        words = "".join(part.text or "" for part in parts if not part.thought)
        self.text += words
        return words

    def _count(self, piece: "GenerateContentResponse") -> None:
        """Take up the usage, which is given for the whole answer so far."""
        usage = piece.usage_metadata
        if usage is None:
            return
        read = _sum(usage.prompt_token_count, usage.tool_use_prompt_token_count)
        if usage.prompt_token_count is not None and read is not None:
            self.query_tokens = read
        written = _sum(usage.candidates_token_count, usage.thoughts_token_count)
        if written is not None:
            self.response_tokens = written


def _sum(*counts: int | None) -> int | None:
    """Return the sum of what was counted; None: nothing was, or what cannot be true."""
    given = [count for count in counts if count is not None]
    if not given or not all(0 <= count <= _MOST_TOKENS for count in given):
        return None
    return sum(given)


def _says_something(part: "Part") -> bool:
    """Return whether the service takes a part back: it refuses text that is empty."""
    return part.text != "" or part.thought_signature is not None
