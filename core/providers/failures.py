"""What can go wrong with a model, as the operator may read it: without its secrets."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

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
