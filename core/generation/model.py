"""The generator that lets a language model write, and search once or twice more."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial

from core.errors import GenerationError, TokenLimitReached
from core.generation.allowance import Allowance
from core.generation.base import (
    Claim,
    CutShort,
    DraftPart,
    GenerationTask,
    NotCovered,
    call_of,
)
from core.generation.claims.prompt import SPARE_SHARE, Prompt, render_found, render_prompt
from core.generation.claims.reader import AnswerReader
from core.generation.claims.schema import ANSWER
from core.generation.times import DEFAULT_TIMES, AnswerTimes
from core.generation.tools import answer_calls, declare_retrieve
from core.providers.base import (
    ChatEnd,
    ChatMessage,
    ChatModel,
    ChatRequest,
    Finish,
    ToolResult,
)
from core.providers.failures import ProviderFailure
from core.runtime.pauses import Pauses
from core.text.tokens import reckon_tokens

_MOST_PARTS = 200
"""Sentences of an answer; five are usual, and each is checked by itself."""
_SLICE = 2_000
"""Characters that are read at once, so that the event loop gets its turn."""


class ModelGenerator:
    """Writes with a language model, which cites sentences by number and may search for more."""

    def __init__(
        self,
        open_model: Callable[[str | None], ChatModel],
        *,
        times: AnswerTimes = DEFAULT_TIMES,
    ) -> None:
        """Write with models that their owner opens and closes.

        Args:
            open_model: Gives the model that a task names, and one that writes when it names none.
            times: How long an answer may take.
        """
        self._open_model = open_model
        self._times = times

    @property
    def name(self) -> str:
        """The model that writes when a task names none."""
        return self._open_model(None).name

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield each claim once it is complete, and after each call what it used.

        Raises:
            GenerationError: when there is no answer or not all of it; the text tells the
                operator why.
        """
        model = self._open_model(task.model)
        task = _fitted(task, model)
        allowance = Allowance(task, time.monotonic() + self._times.whole, window=model.context)
        prompt = _render(allowance)
        request = self._request(allowance, prompt)
        allowance.context = prompt.context
        call = _Call(model, request, AnswerReader(prompt.numbering))
        while True:
            async with aclosing(self._write(allowance, call)) as parts:
                async for part in parts:
                    allowance.has_parts = True
                    yield part
            following = await self._continue(allowance, call, prompt)
            if following is None:
                break
            call = following
        if not allowance.has_parts and not call.end.message.text.strip():
            raise GenerationError(f"{call.model.name} wrote nothing that can be used")
        if call.end.finish in (Finish.LENGTH, Finish.TOOL_CALLS):
            yield CutShort()

    def _request(self, allowance: Allowance, prompt: Prompt) -> ChatRequest:
        """Return the first request of an answer, unless it is too long or costs too much."""
        task = allowance.task
        if not allowance.holds(prompt.tokens):
            raise TokenLimitReached(
                f"a prompt of about {prompt.tokens} tokens and an answer of {task.max_tokens} "
                f"exceed the {allowance.window} tokens that the model reads and writes: set a "
                "greater context of its table"
            )
        if not allowance.covers(prompt.tokens):
            raise TokenLimitReached(
                f"a prompt of about {prompt.tokens} tokens and an answer of {task.max_tokens} "
                f"exceed the {task.token_limit} tokens of one question"
            )
        return ChatRequest(
            system=prompt.system,
            messages=prompt.messages,
            temperature=task.temperature,
            max_tokens=task.max_tokens,
            tokens=prompt.tokens,
            tools=() if task.search is None else (declare_retrieve(),),
            schema=ANSWER,
        )

    async def _continue(
        self, allowance: Allowance, call: "_Call", prompt: Prompt
    ) -> "_Call | None":
        """Do the searches that an answer asks for; return the call that tells of them.

        None: it asks for none, or another call cannot be paid.
        """
        search, end, request = allowance.task.search, call.end, call.request
        tokens = end.query_tokens + end.response_tokens
        if not (search and request.tools and end.calls and allowance.covers(tokens)):
            return None
        numbering = prompt.numbering
        render = partial(render_found, numbering=numbering, delimiter=prompt.delimiter)
        room = allowance.task.context_window - tokens
        try:
            async with asyncio.timeout(allowance.time_left()):
                results = await answer_calls(end.calls, search, render, room)
        except TimeoutError as error:
            raise GenerationError("the search for more passages took too long") from error
        tokens += sum(reckon_tokens(text) for result in results for text in result.values())
        if not allowance.covers(tokens):
            return None
        allowance.searches -= 1
        allowance.context = "\n\n".join(r["output"] for r in results if "output" in r)
        told = tuple(map(ToolResult, end.calls, results))
        request = replace(
            request,
            messages=(*request.messages, end.message, ChatMessage("user", results=told)),
            tokens=tokens,
            tools=request.tools if allowance.searches else (),
        )
        return _Call(call.model, request, AnswerReader(numbering))

    async def _write(self, allowance: Allowance, call: "_Call") -> AsyncGenerator[DraftPart, None]:
        """Yield what one call drafts; the allowance is charged with what it used."""
        count, pauses = 0, Pauses()
        model = call.model.name

        def report(end: ChatEnd) -> None:
            allowance.used += end.query_tokens + end.response_tokens
            allowance.task.report(replace(call_of(end), context=allowance.context))

        try:
            reply = call.model.reply(call.request, allowance, report)
            async with aclosing(reply):
                async for piece in reply:
                    if isinstance(piece, ChatEnd):
                        call.end = piece
                        break
                    for start in range(0, len(piece), _SLICE):
                        for part in call.reader.feed(piece[start : start + _SLICE]):
                            count += 1
                            if count > _MOST_PARTS:
                                raise GenerationError(f"{model} said too many things")
                            yield part
                            await pauses.take_one_if_due()
                        await pauses.take_one_if_due()
        except ProviderFailure as failure:
            raise GenerationError(str(failure)) from failure
        if call.end.finish is Finish.REFUSED:
            raise GenerationError(f"{model} {call.end.detail}")
        await asyncio.sleep(0)  # what a reply leaves to its end may be all of it
        for ending in call.reader.close():
            if _counts(ending, call.end):
                yield ending
            await pauses.take_one_if_due()


@dataclass
class _Call:
    """One call of an answer, and how it ended."""

    model: ChatModel
    request: ChatRequest
    reader: AnswerReader
    end: ChatEnd = field(init=False)


def _fitted(task: GenerationTask, model: ChatModel) -> GenerationTask:
    """Return a task whose calls fit into what the model reads and writes at most."""
    if model.context is None:
        return task
    most = min(task.max_tokens, model.context // SPARE_SHARE)
    window = min(task.context_window, model.context - most)
    return replace(task, max_tokens=most, context_window=window)


def _render(allowance: Allowance) -> Prompt:
    """Return what the model is sent: no tool when a second call cannot be paid."""
    prompt = render_prompt(allowance.task)
    if allowance.task.search is not None and not allowance.covers(prompt.tokens, calls=2):
        allowance.task = replace(allowance.task, search=None)
        prompt = render_prompt(allowance.task)
    return prompt


def _counts(part: DraftPart, end: ChatEnd) -> bool:
    """Return whether a part counts that is clear only when a call is over.

    An answer that was cut, or gave way to a search, ends in words that no one is to read,
    unless they are cited; and while the model searches nothing counts as not covered.
    """
    if isinstance(part, NotCovered):
        return not end.calls
    return end.finish is Finish.STOP or (isinstance(part, Claim) and bool(part.quotes))
