"""The generator that lets a language model write, and search once or twice more."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

from core.answering.writers.base import (
    DEFAULT_TIMES,
    AnswerTimes,
    Claim,
    CutShort,
    DraftPart,
    GenerationTask,
    NotCovered,
    answer_calls,
    call_of,
    declare_retrieve,
)
from core.answering.writers.prompt import (
    ANSWER,
    SPARE_SHARE,
    Prompt,
    render_found,
    render_prompt,
    smallest_context,
)
from core.answering.writers.reader import AnswerReader
from core.domain.errors import GenerationError, TokenLimitReached
from core.domain.sentences import reckon_tokens
from core.domain.telemetry import Pauses
from core.providers.base import ChatEnd, ChatMessage, ChatModel, ChatRequest, Finish, ToolResult
from core.providers.capabilities import ProviderFailure

_MOST_PARTS = 200
"""Sentences of an answer; five are usual, and each is checked by itself."""
_MOST_SEARCHES = 2
_READING_SHARE = 0.6
"""Of the time up to the first claim that a slow model may spend on reading."""
_MARGIN = 0.1
"""Seconds before a limit at which we give up: the caller keeps the same limits, and
is called first with what was used."""


@dataclass(eq=False)
class ModelGenerator:
    """Writes with a language model, which cites sentences by number and may search for more."""

    open_model: Callable[[str | None], ChatModel]
    """Gives the model that a task names, and one that writes when it names none; its owner
    closes it."""
    times: AnswerTimes = field(default=DEFAULT_TIMES, kw_only=True)
    """How long an answer may take."""

    @property
    def name(self) -> str:
        """The model that writes when a task names none."""
        return self.open_model(None).name

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield each claim once it is complete, and after each call what it used.

        Raises:
            GenerationError: when there is no answer or not all of it; the text tells the
                operator why.
        """
        answer = _Answer(self.open_model(task.model), task, time.monotonic() + self.times.whole)
        request: ChatRequest | None = answer.first_request()
        while request is not None:
            async with aclosing(answer.write(request)) as parts:
                async for part in parts:
                    answer.has_parts = True
                    yield part
            request = await answer.next_request(request)
        if not answer.has_parts and not answer.end.message.text.strip():
            raise GenerationError(f"{answer.model.name} wrote nothing that can be used")
        if answer.end.finish in (Finish.LENGTH, Finish.TOOL_CALLS):
            yield CutShort()


@dataclass
class _Answer:
    """One answer while it is written: what it has taken, and what it may take."""

    model: ChatModel
    task: GenerationTask
    until: float
    """The `time.monotonic()` at which the answer has to be complete."""
    prompt: Prompt = field(init=False)
    end: ChatEnd = field(init=False)
    """Of the last call."""
    has_parts: bool = False
    """Whether the first part of the draft is there, which the task's deadline is about."""
    searches: int = 0
    used: int = 0
    """Tokens of all calls that are over."""
    context: str = ""
    """What the next call is sent of the book and the quote, and no call before it was."""

    @property
    def moment(self) -> float:
        """The `time.monotonic()` at which the next piece comes too late."""
        limit = self.until
        if not self.has_parts and self.task.deadline is not None:
            limit = min(limit, self.task.deadline)
        return limit - _MARGIN

    def first_request(self) -> ChatRequest:
        """Return the first call, which has no tool when a second one cannot be paid.

        Raises:
            TokenLimitReached: when it is too long or costs too much.
        """
        window = self.model.context
        if window is not None:
            most = min(self.task.max_tokens, window // SPARE_SHARE)
            room = min(self.task.context_window, window - most)
            self.task = replace(self.task, max_tokens=most, context_window=room)
        if (readable := self._readable_in_time()) is not None:
            room = max(min(self.task.context_window, readable), smallest_context(None))
            self.task = replace(self.task, context_window=room, search=None)
        self.prompt = render_prompt(self.task)
        if self.task.search is not None and not self._covers(self.prompt.tokens, calls=2):
            self.task = replace(self.task, search=None)
            self.prompt = render_prompt(self.task)
        prompt, task = self.prompt, self.task
        needed = f"a prompt of about {prompt.tokens} tokens and an answer of {task.max_tokens} "
        if not self._fits(prompt.tokens):
            raise TokenLimitReached(
                f"{needed}exceed the {window} tokens that the model reads and writes: set a "
                "greater context of its table"
            )
        if not self._covers(prompt.tokens):
            raise TokenLimitReached(f"{needed}exceed the {task.token_limit} tokens of one question")
        self.context = prompt.context
        return ChatRequest(
            system=prompt.system,
            messages=prompt.messages,
            temperature=task.temperature,
            max_tokens=task.max_tokens,
            tokens=prompt.tokens,
            tools=() if task.search is None else (declare_retrieve(),),
            schema=ANSWER,
        )

    def _readable_in_time(self) -> int | None:
        """Return how many tokens a slow model reads in its share of the time; None: all it gets."""
        speed = self.model.speed
        if speed is None or self.task.deadline is None:
            return None
        left = self.task.deadline - time.monotonic() - _MARGIN
        readable = speed.tokens_within(left * _READING_SHARE)
        return readable if readable < self.task.context_window else None

    async def next_request(self, request: ChatRequest) -> ChatRequest | None:
        """Do the searches that an answer asks for; return the call that tells of them.

        None: it asks for none, or another call cannot be paid.
        """
        search, end = self.task.search, self.end
        tokens = end.query_tokens + end.response_tokens
        if not (search and request.tools and end.calls and self._covers(tokens)):
            return None
        numbering, mark = self.prompt.numbering, self.prompt.delimiter
        render = partial(render_found, numbering=numbering, delimiter=mark)
        try:
            async with asyncio.timeout(self.moment - time.monotonic()):
                room = self.task.context_window - tokens
                results = await answer_calls(end.calls, search, render, room)
        except TimeoutError as error:
            raise GenerationError("the search for more passages took too long") from error
        tokens += sum(reckon_tokens(text) for result in results for text in result.values())
        if not self._covers(tokens):
            return None
        self.searches += 1
        self.context = "\n\n".join(r["output"] for r in results if "output" in r)
        told = tuple(map(ToolResult, end.calls, results))
        return replace(
            request,
            messages=(*request.messages, end.message, ChatMessage("user", results=told)),
            tokens=tokens,
            tools=request.tools if self.searches < _MOST_SEARCHES else (),
        )

    async def write(self, request: ChatRequest) -> AsyncGenerator[DraftPart, None]:
        """Yield what one call drafts, and keep its end and what it used."""
        count, pauses = 0, Pauses()
        name, reader = self.model.name, AnswerReader(self.prompt.numbering)
        try:
            async with aclosing(self.model.reply(request, self, self._report)) as reply:
                async for piece in reply:
                    if isinstance(piece, ChatEnd):
                        self.end = piece
                        break
                    for part in reader.feed(piece):
                        count += 1
                        if count > _MOST_PARTS:
                            raise GenerationError(f"{name} said too many things")
                        yield part
                        await pauses.take_one_if_due()
                    await pauses.take_one_if_due()
        except ProviderFailure as failure:
            raise GenerationError(str(failure)) from failure
        if self.end.finish is Finish.REFUSED:
            raise GenerationError(f"{name} {self.end.detail}")
        await asyncio.sleep(0)  # what a reply leaves to its end may be all of it
        for ending in reader.close():
            if _counts(ending, self.end):
                yield ending
            await pauses.take_one_if_due()

    def _report(self, end: ChatEnd) -> None:
        self.used += end.query_tokens + end.response_tokens
        self.task.report(replace(call_of(end), context=self.context))

    def _covers(self, tokens: int, *, calls: int = 1) -> bool:
        """Return whether so many calls may be made, each with a prompt of `tokens`."""
        limit = self.task.token_limit
        each = tokens + self.task.max_tokens
        return self._fits(tokens) and (limit is None or self.used + calls * each <= limit)

    def _fits(self, tokens: int) -> bool:
        """Return whether the model has room for a prompt of `tokens` and an answer."""
        window = self.model.context
        return window is None or tokens + self.task.max_tokens <= window


def _counts(part: DraftPart, end: ChatEnd) -> bool:
    """Return whether a part counts that is clear only when a call is over.

    An answer that was cut, or gave way to a search, ends in words that no one is to read,
    unless they are cited; and while the model searches nothing counts as not covered.
    """
    if isinstance(part, NotCovered):
        return not end.calls
    return end.finish is Finish.STOP or (isinstance(part, Claim) and bool(part.quotes))
