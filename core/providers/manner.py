"""How a service wants to be asked: learned from what it rejects, once for each model."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from core.providers.base import ChatRequest, OutputForm
from core.providers.failures import ProviderFailure

_IN_JSON = "Answer with one JSON object and nothing else. It follows this JSON schema:\n{schema}"
_SELDOM_KNOWN = ("response_format", "logprobs")
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
