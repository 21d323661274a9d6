"""What the local Gemini answers: scripted replies and the JSON they travel in."""

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.wire.gemini_calls import GeminiCall, Json

_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class ToolCall:
    """A function call that the model makes."""

    name: str
    args: Any = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """What the model says to one call, and how fast."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = "STOP"
    thoughts: str = ""
    """Sent in parts marked as thought, before the text."""
    thought_tokens: int = 0
    first_after: float = 0.0
    """Seconds before the first piece."""
    every: float = 0.0
    """Seconds between two pieces."""
    piece_size: int = 24
    """Characters of a piece of a stream."""


Piece = str | ToolCall
Answer = Reply | str | Iterable[Piece] | AsyncIterable[Piece]
"""Pieces given one by one travel one by one, and the iterator sets the pace."""
Model = Callable[[GeminiCall], Answer]


def count_tokens(text: str) -> int:
    """Return about how many tokens a text has."""
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def prompt_tokens(call: GeminiCall) -> int:
    """Return how many tokens the service counts for all that was sent."""
    sent = {key: call.body.get(key) for key in ("systemInstruction", "contents", "tools")}
    return count_tokens(json.dumps(sent, ensure_ascii=False))


class Responses:
    """Turns answers into GenerateContentResponse objects, and signs function calls."""

    def __init__(self) -> None:
        self.signatures: dict[str, str] = {}
        """The thought signature of each function call ever made, by its id."""

    async def chunks(self, call: GeminiCall, answer: Answer) -> AsyncIterator[Json]:
        """Yield the objects of a stream; the last one has the finish reason."""
        reply = answer if isinstance(answer, Reply) else Reply()
        usage = _Usage(call, reply.thought_tokens)
        async for parts, last in self._parts(answer):
            fitting = usage.add(parts)
            reason = reply.finish_reason if last else None
            if usage.spent:
                reason = "MAX_TOKENS"
            yield response(call, fitting, reason, usage.counts())
            if usage.spent:
                return

    async def _parts(self, answer: Answer) -> AsyncIterator[tuple[list[Json], bool]]:
        if isinstance(answer, str):
            answer = Reply(answer)
        if isinstance(answer, Reply):
            async for parts in self._paced(answer):
                yield parts
            return
        if isinstance(answer, AsyncIterable):
            async for piece in answer:
                yield [self._part(piece)], False
        else:
            for piece in answer:
                yield [self._part(piece)], False
        yield [{"text": ""}], True

    async def _paced(self, reply: Reply) -> AsyncIterator[tuple[list[Json], bool]]:
        size = reply.piece_size
        pieces: list[list[Json]] = [
            [{"text": reply.text[start : start + size]}]
            for start in range(0, len(reply.text), size)
        ]
        if reply.thoughts:
            pieces.insert(0, [{"text": reply.thoughts, "thought": True}])
        if reply.tool_calls or not pieces:
            pieces.append([self._part(call) for call in reply.tool_calls])
        for number, parts in enumerate(pieces):
            await asyncio.sleep(reply.every if number else reply.first_after)
            yield parts, number == len(pieces) - 1

    def _part(self, piece: Piece) -> Json:
        if isinstance(piece, str):
            return {"text": piece}
        number = len(self.signatures) + 1
        identifier = f"call-{number}"
        self.signatures[identifier] = f"c2lnbmF0dXJl{number:04d}"
        call = {"id": identifier, "name": piece.name, "args": piece.args}
        return {"functionCall": call, "thoughtSignature": self.signatures[identifier]}


class _Usage:
    """Counts the tokens of one call, and says when its limit is reached."""

    def __init__(self, call: GeminiCall, thoughts: int) -> None:
        self._prompt = prompt_tokens(call)
        self._thoughts = thoughts
        limit = call.config.get("maxOutputTokens")
        self._limit = None if limit is None else max(0, limit - thoughts) * _CHARACTERS_PER_TOKEN
        self._characters = 0
        self.spent = False

    def add(self, parts: list[Json]) -> list[Json]:
        """Return what fits of the parts."""
        fitting = []
        for part in parts:
            size = _length(part)
            room = size if self._limit is None else self._limit - self._characters
            self._characters += min(size, room)
            if size <= room:
                fitting.append(part)
                continue
            self.spent = True
            if part.get("text") and room:
                fitting.append({"text": part["text"][:room]})
            break
        return fitting

    def counts(self) -> Json:
        candidates = -(-self._characters // _CHARACTERS_PER_TOKEN)
        counts = {"promptTokenCount": self._prompt, "candidatesTokenCount": candidates}
        if self._thoughts:
            counts["thoughtsTokenCount"] = self._thoughts
        return counts | {"totalTokenCount": self._prompt + candidates + self._thoughts}


def _length(part: Json) -> int:
    """Return the characters of a part that count as the answer's."""
    if part.get("thought"):
        return 0
    return len(json.dumps(part["functionCall"])) if "functionCall" in part else len(part["text"])


def response(call: GeminiCall, parts: list[Json], reason: str | None, usage: Json) -> Json:
    """Return one GenerateContentResponse."""
    candidate: Json = {"index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    if reason is not None:
        candidate["finishReason"] = reason
    return envelope(call, [candidate], usage)


def envelope(call: GeminiCall, candidates: list[Json], usage: Json) -> Json:
    """Return a GenerateContentResponse around any candidates."""
    return {
        "candidates": candidates,
        "usageMetadata": usage,
        "modelVersion": call.model,
        "responseId": "response",
    }


def merged(chunks: list[Json]) -> Json:
    """Return the one object that a call without a stream gets instead of `chunks`."""
    parts: list[Json] = []
    for chunk in chunks:
        for candidate in chunk["candidates"]:
            for part in candidate.get("content", {}).get("parts", []):
                if parts and part.keys() == parts[-1].keys() and "text" in part:
                    parts[-1] = part | {"text": parts[-1]["text"] + part["text"]}
                else:
                    parts.append(part)
    whole: Json = json.loads(json.dumps(chunks[-1]))
    whole["candidates"][0].pop("content", None)
    if parts:
        whole["candidates"][0]["content"] = {"role": "model", "parts": parts}
    return whole
