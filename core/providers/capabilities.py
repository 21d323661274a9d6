"""How a service wants to be asked: learned from what it rejects, once for each model."""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Self

from core.providers.base import ChatRequest, OutputForm

if TYPE_CHECKING:
    from httpx2 import TransportError


TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, *range(520, 525), 529})
"""HTTP answers after which the same request may succeed: 409, 425 and 529 are what some services
say when they are overloaded, and 520 to 524 a proxy whose service does not answer it."""
_NAME = re.compile(r"[A-Za-z][\w .-]{0,60}")
_MISREAD = (ValueError, TypeError, AttributeError, LookupError, RecursionError, OverflowError)
"""What an SDK raises on JSON of another shape than it expects, and on no JSON at all."""


class ProviderFailure(Exception):
    """A request came to nothing; the text is for the operator and holds no secret.

    Attributes:
        transient: Whether the same request may succeed in a moment.
        outage: Whether other requests would fail as well.
        retry_after: Seconds that the service asks to wait, when it said so.
        rejected: Whether the service understands the request and will not do it that way.
        fields: What it does not accept of it, as far as it says so.
    """

    def __init__(
        self,
        detail: str,
        *,
        transient: bool = False,
        outage: bool = True,
        retry_after: float | None = None,
        rejected: bool = False,
        fields: tuple[str, ...] = (),
    ) -> None:
        super().__init__(detail)
        self.transient = transient
        self.outage = outage
        self.retry_after = retry_after
        self.rejected = rejected
        self.fields = fields


class TooMuch(ProviderFailure):
    """The model wrote far more than it was asked for."""


class OnlyThoughts(ProviderFailure):
    """The model thought, and came to no answer."""


@dataclass(frozen=True, slots=True)
class SettingNames:
    """How the settings of a model are called, for the operator."""

    key: str
    model: str
    """And what else may name a wrong model."""
    base_url: str


@contextmanager
def transport_errors(model: str, names: SettingNames, own_hosts: str) -> Iterator[None]:
    """Turn what the connection and the reading of a reply may raise into ProviderFailure.

    The errors themselves are left out of the chain: they may hold whole answers.

    Args:
        model: Whom the request goes to.
        names: What the operator may mend.
        own_hosts: How the hosts of the maker's service end: there the address is not doubted.
    """
    import httpx2

    try:
        yield
    except (httpx2.TimeoutException, TimeoutError):
        raise ProviderFailure(f"{model} did not answer in time", transient=True) from None
    except httpx2.ConnectError as error:
        where = _where_to_look(error, names, own_hosts)
        detail = f"{model} cannot be reached: {error}; {where}"
        raise ProviderFailure(detail, transient=True) from None
    except httpx2.DecodingError as error:
        raise ProviderFailure(f"the answer of {model} cannot be read: {error}") from None
    except httpx2.TransportError as error:
        detail = f"the connection to {model} broke: {type(error).__name__}"
        raise ProviderFailure(detail, transient=True) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, *_MISREAD) as error:
        detail = f"the answer of {model} cannot be read: {type(error).__name__}"
        raise ProviderFailure(detail) from None


def name_in(value: Any) -> str | None:
    """Return a name out of an answer, or none for what may hold anything."""
    return str(value) if isinstance(value, str) and _NAME.fullmatch(value) else None


def seconds_to_wait(retry_after: str | None) -> float | None:
    """Return what a Retry-After header asks for: seconds, or a date."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        moment = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _where_to_look(error: "TransportError", names: SettingNames, own_hosts: str) -> str:
    """Return what to check when the service is not reached."""
    try:
        host = error.request.url.host
    except RuntimeError:  # the request is not known
        host = ""
    if host.endswith(own_hosts):
        return "is this machine online?"
    return f"does its server run, and is {names.base_url} its address?"


_IN_JSON = "Answer with one JSON object and nothing else. It follows this JSON schema:\n{schema}"
_SELDOM_KNOWN = ("response_format", "logprobs")
_MOST_IGNORED = 3
"""Replies in a row without the form that was asked for, before it is asked for in other words."""
_FORGOTTEN_AFTER = 600.0
"""Seconds after which a service is trusted with everything again: it may be another one by then."""
_LESSER = {OutputForm.SCHEMA: OutputForm.JSON, OutputForm.JSON: OutputForm.LINES}


@dataclass(frozen=True, slots=True)
class Capabilities:
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
        for names, capabilities in self._lesser(request):
            if any(name in field for field in failure.fields for name in names):
                return capabilities
            if suspected is None and names[0] in _SELDOM_KNOWN:
                suspected = capabilities
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


class LearnedCapabilities:
    """How a service is asked now: without what it refused a short while ago."""

    def __init__(self, first: Capabilities, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with `first`, and come back to it 10 minutes after the last lesson."""
        self._first = first
        self._clock = clock
        self._now = first
        self._forgotten_at = 0.0
        self._ignored = 0

    @property
    def now(self) -> Capabilities:
        """The manner of the next call."""
        if self._now != self._first and self._clock() >= self._forgotten_at:
            self._now = self._first
        return self._now

    def learn(self, capabilities: Capabilities) -> None:
        """Ask in this manner from now on: the service took it."""
        if capabilities != self._now:
            self._now = capabilities
            self._forgotten_at = self._clock() + _FORGOTTEN_AFTER

    def note_reply(self, *, has_form: bool) -> None:
        """Take note whether a reply has the form asked for; one alone may be odd."""
        self._ignored = 0 if has_form else self._ignored + 1
        if self._ignored >= _MOST_IGNORED:
            self._ignored = 0
            self.learn(self.now.in_other_form())
