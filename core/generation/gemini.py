"""The generator that lets a Gemini model write, and search once or twice more."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from core.errors import GenerationError, TokenLimitReached
from core.gemini.answer import Answer
from core.gemini.client import GeminiClient
from core.gemini.exchange import Timeouts, ask
from core.gemini.failures import GeminiFailure
from core.gemini.request import ModelRequest, ThinkingLevel, written_by
from core.gemini.retries import Patience, with_retries
from core.generation.allowance import Allowance
from core.generation.base import (
    Claim,
    CutShort,
    DraftPart,
    GenerationTask,
    ModelCall,
    NotCovered,
    Rejected,
    ignore,
)
from core.generation.breaker import CircuitBreaker
from core.generation.draft import DraftParser
from core.generation.history import reckon_tokens
from core.generation.prompt import Prompt, render_found, render_prompt, render_repair
from core.generation.tools import answer_calls, declare_retrieve
from core.pauses import Pauses
from core.text.tokens import count_tokens

_TIMEOUTS = Timeouts()
_AGAIN = Patience(retries=1, backoff=0.3)
_ONCE = Patience(retries=0)
_MOST_PARTS = 200
"""Sentences of an answer; five are usual, and each is checked by itself."""
_SLICE = 2_000
"""Characters that are read at once, so that the event loop gets its turn."""
_CHARACTERS_A_TOKEN = 16
"""Three or four are usual."""


class GeminiGenerator:
    """Writes with a Gemini model, which cites what it says and may search for more."""

    def __init__(
        self,
        client: GeminiClient,
        *,
        model: str = "gemini-3.8-flash",
        repair_model: str | None = None,
        stream: bool = True,
        thinking_level: ThinkingLevel | None = None,
        timeouts: Timeouts = _TIMEOUTS,
        answer_timeout: float = 40.0,
        patience: Patience = _AGAIN,
        new_breaker: Callable[[str], CircuitBreaker] = CircuitBreaker,
    ) -> None:
        """Ask through a client, which its owner closes.

        Args:
            model: Writes when the task names none.
            repair_model: Writes rejected claims again; None: the model that wrote them.
            stream: Whether claims come while the model is still writing.
            thinking_level: How much the model thinks; None: its own choice.
            timeouts: How long the model may keep silent.
            answer_timeout: Seconds for a whole answer, searches included.
            patience: With a request that fails before its first words.
            new_breaker: Makes a model's breaker, by the model's name.
        """
        self._client = client
        self._model = model
        self._repair_model = repair_model
        self._stream = stream
        self._thinking_level = thinking_level
        self._timeouts = timeouts
        self._answer_timeout = answer_timeout
        self._patience = patience
        self._new_breaker = new_breaker
        self._breakers: dict[str, CircuitBreaker] = {}

    @property
    def name(self) -> str:
        """The model that writes when a task names none."""
        return self._model

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        """Yield each claim once it is complete, and after each call what it used.

        Raises:
            GenerationError: when there is no answer or not all of it; the text tells the
                operator why.
        """
        allowance = Allowance(task, time.monotonic() + self._answer_timeout)
        prompt = _render(allowance)
        request = self._request(allowance, prompt)
        allowance.context = prompt.context
        while True:
            answer = _answer_to(request)
            async with aclosing(self._write(allowance, request, answer, self._patience)) as parts:
                async for part in parts:
                    allowance.has_parts = True
                    yield part
            following = await self._continue(allowance, request, answer, prompt.delimiter)
            if following is None:
                break
            request = following
        if not allowance.has_parts:
            raise GenerationError(f"{request.model} wrote nothing that can be used")
        if answer.is_cut_short or answer.calls:
            yield CutShort()

    async def repair(
        self, task: GenerationTask, rejected: Sequence[Rejected]
    ) -> AsyncGenerator[DraftPart, None]:
        """Yield better versions of rejected claims, from one short call.

        `task.token_limit` is what this call may use.

        Raises:
            GenerationError: when the call fails; there is no second try.
        """
        task = replace(task, model=self._repair_model or task.model, deadline=None, search=None)
        allowance = Allowance(task, time.monotonic() + self._timeouts.first_piece)
        request = self._request(allowance, render_repair(task, rejected))
        request = replace(request, streams=False)
        async with aclosing(self._write(allowance, request, _answer_to(request), _ONCE)) as parts:
            async for part in parts:
                yield part

    def _request(self, allowance: Allowance, prompt: Prompt) -> ModelRequest:
        """Return the first request of an answer, unless it costs too much."""
        task = allowance.task
        if not allowance.covers(prompt.tokens):
            raise TokenLimitReached(
                f"a prompt of about {prompt.tokens} tokens and an answer of {task.max_tokens} "
                f"exceed the {task.token_limit} tokens of one question"
            )
        return ModelRequest(
            model=task.model or self._model,
            system=prompt.system,
            contents=[written_by(message.role, message.text) for message in prompt.messages],
            temperature=task.temperature,
            max_tokens=task.max_tokens,
            tokens=prompt.tokens,
            thinking_level=self._thinking_level,
            tools=() if task.search is None else (declare_retrieve(),),
            streams=self._stream,
        )

    async def _continue(
        self, allowance: Allowance, request: ModelRequest, answer: Answer, delimiter: str
    ) -> ModelRequest | None:
        """Do the searches that an answer asks for; return the request that tells of them.

        None: it asks for none, or another call cannot be paid.
        """
        search, call = allowance.task.search, _used(request, answer)
        tokens = call.query_tokens + call.response_tokens
        if not (search and request.tools and answer.calls and allowance.covers(tokens)):
            return None
        render = partial(render_found, delimiter=delimiter)
        room = allowance.task.context_window - tokens
        try:
            async with asyncio.timeout(allowance.time_left()):
                results = await answer_calls(answer.calls, search, render, room)
        except TimeoutError as error:
            raise GenerationError("the search for more passages took too long") from error
        tokens += sum(reckon_tokens(text) for result in results for text in result.values())
        if not allowance.covers(tokens):
            return None
        allowance.searches -= 1
        allowance.context = "\n\n".join(r["output"] for r in results if "output" in r)
        tools = request.tools if allowance.searches else ()
        return request.continued(answer, results, tokens=tokens, tools=tools)

    async def _write(
        self, allowance: Allowance, request: ModelRequest, answer: Answer, patience: Patience
    ) -> AsyncGenerator[DraftPart, None]:
        """Yield what one call drafts, and what it used."""
        parser = DraftParser(allowance.task.foresee if request.streams else ignore)
        is_refused, count, pauses = False, 0, Pauses()
        try:
            words = self._words(allowance, request, answer, patience)
            async with aclosing(words):
                async for text in words:
                    for start in range(0, len(text), _SLICE):
                        for part in parser.feed(text[start : start + _SLICE]):
                            count += 1
                            if isinstance(part, NotCovered):
                                is_refused = True
                            else:
                                yield part
                        if count > _MOST_PARTS:
                            raise GeminiFailure(f"{request.model} said too many things")
                        await pauses.take_one_if_due()
        except GeminiFailure as failure:
            raise GenerationError(str(failure)) from failure
        finally:
            if answer.began:  # what was written is paid for, whether or not anybody read it
                call = _used(request, answer)
                allowance.used += call.query_tokens + call.response_tokens
                allowance.task.report(replace(call, context=allowance.context))
        if answer.complaint is not None:
            raise GenerationError(f"{request.model} {answer.complaint}")
        for ending in _ending(parser, answer, is_refused):
            yield ending

    async def _words(
        self, allowance: Allowance, request: ModelRequest, answer: Answer, patience: Patience
    ) -> AsyncGenerator[str, None]:
        """Yield the words of one call as they come; up to the first it may be made again.

        To the model's breaker that is one call, however often it is made.
        """
        breaker = self._breaker(request.model)
        if not breaker.admits():
            raise GeminiFailure(f"{request.model} failed too often and is left alone for a while")
        is_down = False

        async def begin() -> tuple[str, AsyncGenerator[str, None]]:
            nonlocal is_down
            words = self._attempt(allowance, request, answer)
            try:
                return await anext(words), words
            except GeminiFailure as failure:
                is_down = is_down or failure.outage
                raise

        try:
            first, words = await with_retries(begin, patience, allowance.limit)
            async with aclosing(words):
                yield first
                async for text in words:
                    yield text
        except GeminiFailure as failure:
            if is_down or failure.outage:
                breaker.failed()
            raise
        breaker.succeeded()

    async def _attempt(
        self, allowance: Allowance, request: ModelRequest, answer: Answer
    ) -> AsyncGenerator[str, None]:
        """Yield the words of one try as they come."""
        pieces = ask(self._client, request, self._timeouts, allowance.time_left)
        async with aclosing(pieces):
            async for piece in pieces:
                words = answer.add(piece)
                if answer.excess is not None:
                    raise GeminiFailure(f"{request.model} sent {answer.excess}")
                yield words
        if not answer.is_finished:
            raise GeminiFailure(f"{request.model} broke off its answer")

    @property
    def breakers(self) -> Mapping[str, CircuitBreaker]:
        """The circuit breakers of the models asked so far, by model."""
        return self._breakers

    def _breaker(self, model: str) -> CircuitBreaker:
        """Return the breaker of one model: another model's failures are not its own."""
        if model not in self._breakers:
            self._breakers[model] = self._new_breaker(model)
        return self._breakers[model]


def _answer_to(request: ModelRequest) -> Answer:
    """Return an empty answer that may grow as long as the request allows, and a good deal more."""
    return Answer(_CHARACTERS_A_TOKEN * request.max_tokens)


def _render(allowance: Allowance) -> Prompt:
    """Return what the model is told: no tool when a second call cannot be paid."""
    prompt = render_prompt(allowance.task)
    if allowance.task.search is not None and not allowance.covers(prompt.tokens, calls=2):
        allowance.task = replace(allowance.task, search=None)
        prompt = render_prompt(allowance.task)
    return prompt


def _used(request: ModelRequest, answer: Answer) -> ModelCall:
    """Return what a call used: as the service told, else as we reckon."""
    query, response = answer.query_tokens, answer.response_tokens
    return ModelCall(
        request.model,
        request.tokens if query is None else query,
        count_tokens(answer.text) if response is None else response,
    )


def _ending(parser: DraftParser, answer: Answer, is_refused: bool) -> Iterator[DraftPart]:
    """Yield what is clear only when a call is over.

    An answer that was cut, or gave way to a search, ends in words that nobody is to read,
    unless they are cited; and while the model searches nothing counts as not covered.
    """
    for part in parser.close():
        if isinstance(part, NotCovered):
            is_refused = True
        elif answer.is_whole or (isinstance(part, Claim) and part.quotes):
            yield part
    if is_refused and not answer.calls:
        yield NotCovered()
