"""How a service wants to be asked: learned from what it rejects, once for each model."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from core.providers.base import ChatRequest, OutputForm
from core.providers.failures import ProviderFailure

_IN_JSON = "Answer with one JSON object and nothing else. It follows this JSON schema:\n{schema}"
_SELDOM_KNOWN = ("response_format", "logprobs")
_MOST_IGNORED = 3
"""Replies in a row without the form that was asked for, before it is asked for in other words."""
_FORGOTTEN_AFTER = 600.0
"""Seconds after which a service is trusted with everything again: it may be another one by then."""
_LESSER = {OutputForm.SCHEMA: OutputForm.JSON, OutputForm.JSON: OutputForm.LINES}


@dataclass(frozen=True, slots=True)
class Manner:
    """What a service takes, as far as it is known; at first it is trusted with everything."""

    form: OutputForm = OutputForm.SCHEMA
    temperature: bool = True
    logprobs: bool = True
    tools: bool = True
    usage_in_streams: bool = True
    """Whether a stream can be asked to count tokens."""
    max_tokens: str = "max_tokens"
    """Which of two names the limit of a reply has with services like OpenAI's."""

    def request(self, request: ChatRequest) -> ChatRequest:
        """Return what is asked in this manner: what the service does not take is in words."""
        if not self.temperature:
            request = replace(request, temperature=None)
        if not self.logprobs:
            request = replace(request, top_logprobs=0)
        if not self.tools:
            request = replace(request, tools=())
        if request.schema is None or self.form is OutputForm.SCHEMA:
            return request
        words = request.schema.in_lines
        if self.form is OutputForm.JSON:
            words = _IN_JSON.format(schema=json.dumps(request.schema.json))
        return replace(request, system=f"{request.system}\n\n{words}")

    def after(self, failure: ProviderFailure, request: ChatRequest) -> Self | None:
        """Return another manner worth a try when one was rejected; None: it is not about that.

        A service that does not say what it rejects is suspected of form and log-probabilities.
        """
        if not failure.rejected:
            return None
        suspected: Self | None = None
        for names, manner in self._lesser(request):
            if any(name in field for field in failure.fields for name in names):
                return manner
            if suspected is None and names[0] in _SELDOM_KNOWN:
                suspected = manner
        return None if failure.fields else suspected

    def in_other_form(self) -> Self:
        """Return the manner that asks for the next lesser form, if there is any."""
        return replace(self, form=_LESSER.get(self.form, self.form))

    def _lesser(self, request: ChatRequest) -> Iterator[tuple[tuple[str, ...], Self]]:
        """Yield every manner that asks for one thing less, and how services name that thing."""
        if request.schema is not None and self.form in _LESSER:
            yield (
                ("response_format", "json_schema", "response_schema", "response_mime"),
                self.in_other_form(),
            )
        if request.top_logprobs and self.logprobs:
            yield ("logprobs",), replace(self, logprobs=False)
        if request.temperature is not None and self.temperature:
            yield ("temperature",), replace(self, temperature=False)
        if request.tools and self.tools:
            yield ("tool",), replace(self, tools=False)
        other = "max_tokens" if self.max_tokens != "max_tokens" else "max_completion_tokens"
        yield (self.max_tokens,), replace(self, max_tokens=other)
        if request.stream and self.usage_in_streams:
            yield ("stream_options",), replace(self, usage_in_streams=False)


class LearnedManner:
    """How a service is asked now: without what it refused a short while ago."""

    def __init__(self, first: Manner, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with `first`, and come back to it 10 minutes after the last lesson."""
        self._first = first
        self._clock = clock
        self._now = first
        self._forgotten_at = 0.0
        self._ignored = 0

    @property
    def now(self) -> Manner:
        """The manner of the next call."""
        if self._now != self._first and self._clock() >= self._forgotten_at:
            self._now = self._first
        return self._now

    def learn(self, manner: Manner) -> None:
        """Ask in this manner from now on: the service took it."""
        if manner != self._now:
            self._now = manner
            self._forgotten_at = self._clock() + _FORGOTTEN_AFTER

    def note_reply(self, *, has_form: bool) -> None:
        """Take note whether a reply has the form asked for; one alone may be odd."""
        self._ignored = 0 if has_form else self._ignored + 1
        if self._ignored >= _MOST_IGNORED:
            self._ignored = 0
            self.learn(self.now.in_other_form())
