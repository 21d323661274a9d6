"""What Google's SDK raises, as the operator may read it: without its secrets."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from core.providers.failures import (
    TRANSIENT,
    ProviderFailure,
    SettingNames,
    name_in,
    seconds_to_wait,
    transport_errors,
)

if TYPE_CHECKING:
    from google.genai.errors import APIError

logger = logging.getLogger(__name__)

NAMES = SettingNames(
    "GLOSSATOR_MODELS__GEMINI__API_KEY",
    "models.gemini.model and models.gemini.api_version",
    "models.gemini.base_url",
)
"""Of the model that a key alone sets up."""
_KEY_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_KEY_INVALID = "API_KEY_INVALID"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
_KEY = re.compile(r"AIza[\w-]+|(?<=api_key:)[\w.-]+")
"""How Google's keys are written, and how its errors name them."""
_GOOGLE = ".googleapis.com"
_DETAIL = 300


@contextmanager
def gemini_errors(model: str, names: SettingNames = NAMES) -> Iterator[None]:
    """Turn all that the SDK lets through into ProviderFailure.

    Its own exceptions are left out of the chain: they hold whole answers, and Google's words
    at times name the key.

    Args:
        model: Whom the request goes to.
        names: What the operator may mend.
    """
    from google.auth.exceptions import GoogleAuthError, TransportError
    from google.genai.errors import APIError

    with transport_errors(model, names, _GOOGLE):
        try:
            yield
        except APIError as error:
            raise _refused(error, model, names) from None
        except GoogleAuthError as error:
            detail = f"{model} is not reached: check {names.key}"
            raise ProviderFailure(detail, transient=isinstance(error, TransportError)) from None


def _refused(error: "APIError", model: str, names: SettingNames) -> ProviderFailure:
    reasons = [name_in(detail.get("reason")) for detail in _details(error)]
    answer = " ".join(filter(None, [str(error.code), name_in(error.status), *reasons]))
    detail = f"{model} answered {answer}"
    if error.code in _KEY_REFUSED or _KEY_INVALID in reasons:
        return ProviderFailure(f"{detail}: check {names.key} and what it may use")
    if error.code == HTTPStatus.NOT_FOUND:
        return ProviderFailure(f"{detail}: there is no such model; check {names.model}")
    if error.code in TRANSIENT:
        return ProviderFailure(detail, transient=True, retry_after=_retry_after(error))
    said = _KEY.sub("(a key)", str(error.message))
    logger.debug("%s said: %.*r", detail, _DETAIL, said)
    fields = tuple(_fields(error))
    text = f"{detail}: it does not accept {', '.join(fields) or 'the request'}"
    return ProviderFailure(text, outage=False, rejected=True, fields=fields)


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
    waits = [seconds_to_wait(headers.get("retry-after"))]
    for detail in _details(error):
        delay = _DURATION.fullmatch(str(detail.get("retryDelay")))
        waits.append(float(delay[1]) if delay else None)
    return max((wait for wait in waits if wait is not None), default=None)
