"""What can go wrong with Gemini, told to the operator without its secrets."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.genai.errors import APIError
    from httpx2 import TransportError

logger = logging.getLogger(__name__)

_TRANSIENT = frozenset({429, 500, 502, 503, 504})
_KEY_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_KEY_INVALID = "API_KEY_INVALID"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
_NAME = re.compile(r"[A-Za-z][\w .-]{0,60}")
_KEY = re.compile(r"AIza[\w-]+|(?<=api_key:)[\w.-]+")
"""How Google's keys are written, and how its errors name them."""
_GOOGLE = ".googleapis.com"
_DETAIL = 300
_MISREAD = (ValueError, TypeError, AttributeError, LookupError, RecursionError, OverflowError)
"""What the SDK raises on JSON of another shape than it expects, and on no JSON at all."""


class GeminiFailure(Exception):
    """A request came to nothing; the text is for the operator and holds no secret.

    Attributes:
        transient: Whether the same request may succeed in a moment.
        outage: Whether other requests would fail as well.
        retry_after: Seconds that the service asks to wait, when it said so.
    """

    def __init__(
        self,
        detail: str,
        *,
        transient: bool = False,
        outage: bool = True,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.transient = transient
        self.outage = outage
        self.retry_after = retry_after


@contextmanager
def gemini_errors(model: str, setting: str) -> Iterator[None]:
    """Turn all that the SDK lets through into GeminiFailure.

    Its own exceptions are left out of the chain: they hold whole answers, and Google's words
    at times name the key.

    Args:
        model: Whom the request goes to.
        setting: The variable that names the model.
    """
    import httpx2
    from google.genai.errors import APIError

    try:
        yield
    except APIError as error:
        raise _refused(error, model, setting) from None
    except (httpx2.TimeoutException, TimeoutError):
        raise GeminiFailure(f"{model} did not answer in time", transient=True) from None
    except httpx2.ConnectError as error:
        detail = f"{model} cannot be reached: {error}; {_where_to_look(error)}"
        raise GeminiFailure(detail, transient=True) from None
    except httpx2.DecodingError as error:
        raise GeminiFailure(f"the answer of {model} cannot be read: {error}") from None
    except httpx2.TransportError as error:
        detail = f"the connection to {model} broke: {type(error).__name__}"
        raise GeminiFailure(detail, transient=True) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, *_MISREAD) as error:
        detail = f"the answer of {model} cannot be read: {type(error).__name__}"
        raise GeminiFailure(detail) from None


def name_in(value: Any) -> str | None:
    """Return a name out of an answer, or none for what may hold anything."""
    return str(value) if isinstance(value, str) and _NAME.fullmatch(value) else None


def _where_to_look(error: "TransportError") -> str:
    """Return what to check when nobody is reached: the setting only where it is not Google."""
    try:
        host = error.request.url.host
    except RuntimeError:  # the request is not known
        host = ""
    if host.endswith(_GOOGLE):
        return "is this machine online?"
    return "is GLOSSATOR_GEMINI__BASE_URL right?"


def _refused(error: "APIError", model: str, setting: str) -> GeminiFailure:
    reasons = [name_in(detail.get("reason")) for detail in _details(error)]
    answer = " ".join(filter(None, [str(error.code), name_in(error.status), *reasons]))
    detail = f"{model} answered {answer}"
    if error.code in _KEY_REFUSED or _KEY_INVALID in reasons:
        return GeminiFailure(f"{detail}: check GLOSSATOR_GEMINI__API_KEY and what it may use")
    if error.code == HTTPStatus.NOT_FOUND:
        hint = f"check {setting}, the course's own model and GLOSSATOR_GEMINI__API_VERSION"
        return GeminiFailure(f"{detail}: there is no such model; {hint}")
    if error.code in _TRANSIENT:
        return GeminiFailure(detail, transient=True, retry_after=_retry_after(error))
    said = _KEY.sub("(a key)", str(error.message))
    logger.debug("%s said: %.*r", detail, _DETAIL, said)
    fields = ", ".join(_fields(error)) or "the request"
    return GeminiFailure(f"{detail}: it does not accept {fields}", outage=False)


def _details(error: "APIError") -> list[dict[str, Any]]:
    """Return the objects that Google adds to an error."""
    body: Any = error.details
    inner = body.get("error", body) if isinstance(body, dict) else None
    return _objects(inner.get("details")) if isinstance(inner, dict) else []


def _fields(error: "APIError") -> Iterator[str]:
    """Yield the names of the fields that Google complains of, never their values."""
    for detail in _details(error):
        for violation in _objects(detail.get("fieldViolations")):
            if field := name_in(violation.get("field")):
                yield field


def _objects(values: Any) -> list[dict[str, Any]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def _retry_after(error: "APIError") -> float | None:
    """Return the seconds that the service asks to wait: by header, or by RetryInfo."""
    headers = getattr(error.response, "headers", None) or {}
    waits = [_seconds(headers.get("retry-after"))]
    for detail in _details(error):
        delay = _DURATION.fullmatch(str(detail.get("retryDelay")))
        waits.append(float(delay[1]) if delay else None)
    return max((wait for wait in waits if wait is not None), default=None)


def _seconds(retry_after: str | None) -> float | None:
    """Read a Retry-After header: seconds, or a date."""
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
