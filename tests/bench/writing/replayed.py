"""A model behind a real server that says what a file holds, and keeps the prompts it cannot answer.

The files hold the book's text, and so stay outside of the repository.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from core.answering.writers.base import RETRIEVE
from tests.wire.openai_calls import Json, OpenAICall
from tests.wire.openai_server import ChatReply
from tests.wire.scripted_models import NOT_COVERED

_MARK = re.compile(r"\b[0-9a-f]{16}\b")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the product sent in one call of one answer."""

    id: str
    """The question's."""
    call: int
    """From 0."""
    digest: str
    messages: list[Json]


@dataclass(frozen=True, slots=True)
class Reply:
    """What was written to one prompt."""

    id: str
    call: int
    prompt: str
    """The digest of the prompt that it was written to."""
    answer: Mapping[str, Any] | None = None
    """An answer in the form that the product asks for."""
    search: str | None = None
    """What is looked up instead of an answer."""

    def said(self) -> ChatReply:
        """Return it as the server sends it."""
        if self.search is not None:
            return ChatReply(calls=((RETRIEVE, json.dumps({"query_text": self.search})),))
        return ChatReply(json.dumps(self.answer, ensure_ascii=False))


@dataclass
class ReplayedModel:
    """Says what was written to each prompt; what it has no reply to is refused, and kept."""

    replies: Mapping[tuple[str, int], Reply]
    lacking: list[Prompt] = field(default_factory=list)
    """The prompts without a reply: none was written, or to another prompt than this."""
    _asked: str = ""
    _calls: int = 0

    def begin(self, question: str) -> None:
        """Take the next calls for those of one question, by its id."""
        self._asked, self._calls = question, 0

    def __call__(self, call: OpenAICall) -> ChatReply:
        """Return the reply to a call."""
        prompt = Prompt(self._asked, self._calls, digest_of(call), call.messages)
        self._calls += 1
        reply = self.replies.get((prompt.id, prompt.call))
        if reply is None or reply.prompt != prompt.digest:
            self.lacking.append(prompt)
            return ChatReply(NOT_COVERED)
        return reply.said()


def digest_of(call: OpenAICall) -> str:
    """Return what tells a prompt from another, the random marks of its blocks aside."""
    return hashlib.sha256(_MARK.sub("", call.text).encode()).hexdigest()[:16]


def read_replies(path: Path) -> dict[tuple[str, int], Reply]:
    """Return the replies by question and call; none where there is no file yet."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    replies = [Reply(**json.loads(line)) for line in lines]
    return {(one.id, one.call): one for one in replies}


def write_prompts(prompts: Sequence[Prompt], path: Path) -> None:
    """Write the prompts that wait for a reply, a line each."""
    lines = [json.dumps(asdict(prompt), ensure_ascii=False) for prompt in prompts]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
