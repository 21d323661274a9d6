"""What OpenAI's SDK raises, as the operator may read it: without its secrets."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from core.providers.failures import (
    TRANSIENT,
    ProviderFailure,
    name_in,
    seconds_to_wait,
    transport_errors,
)

if TYPE_CHECKING:
    from openai import APIStatusError

    from core.providers.openai.client import OpenAIClient

logger = logging.getLogger(__name__)

_OWN_HOSTS = ".openai.com"
_KEY_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_REJECTED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_SPENT = "insufficient_quota"
_FILTERED = "content_filter"
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
"""OpenAI's code, and llama.cpp's type of error."""
_FIELDS = re.compile(
    r"response_format|json_schema|logprobs|temperature|max_tokens|max_completion_tokens|"
    r"stream_options|tool_choice|tools?\b"
)
"""What we send that a service may not take, as its errors name it."""
_KEY = re.compile(r"\b(?:sk|pk|xai|gsk)[-_][\w*-]{4,}")
"""How keys of such services begin, some of which their errors show in part."""
_DETAIL = 300


@contextmanager
def openai_errors(client: "OpenAIClient", model: str) -> Iterator[None]:
    """Turn all that the SDK lets through into ProviderFailure.

    Its own exceptions are left out of the chain: they hold whole requests and answers.
    """
    from openai import APIConnectionError, APIError, APIStatusError

    with transport_errors(model, client.names, _OWN_HOSTS):
        try:
            yield
        except APIStatusError as error:
            raise _refused(error, client, model) from None
        except APIConnectionError as error:
            # What really happened is known as for every other provider.
            raise (error.__cause__ or TimeoutError()) from None
        except APIError as error:  # in the midst of a stream
            said = client.without_key(str(error.message))
            raise broken(error.body, model, said) from None


def broken(body: Any, model: str, message: str) -> ProviderFailure:
    """Return the failure that an error object stands for, which came instead of a reply.

    `message`: what the service says besides, without the key.
    """
    said = " ".join(_names(body)) or "an error"
    logger.debug("%s said: %.*r", model, _DETAIL, _KEY.sub("(a key)", message))
    return ProviderFailure(f"{model} answered {said} in the midst of its answer", transient=True)


def _refused(error: "APIStatusError", client: "OpenAIClient", model: str) -> ProviderFailure:
    names, status = _names(error.body), error.status_code
    detail = " ".join([f"{model} answered", str(status), *names])
    if status in _KEY_REFUSED:
        return ProviderFailure(f"{detail}: check {client.names.key} and what it may use")
    if _SPENT in names:
        return ProviderFailure(f"{detail}: the account has no credit left")
    if status == HTTPStatus.NOT_FOUND:
        check = f"check {client.names.model}, and that {client.names.base_url} ends in /v1"
        return ProviderFailure(f"{detail}: there is no such model; {check}")
    if status in TRANSIENT:
        wait = seconds_to_wait(error.response.headers.get("retry-after"))
        return ProviderFailure(detail, transient=True, retry_after=wait)
    if _FILTERED in names:
        return ProviderFailure(f"{model} refused the prompt ({_FILTERED})", outage=False)
    if not _TOO_LONG.isdisjoint(names):
        hint = "the prompt is longer than its context; set `context` to what the server has"
        return ProviderFailure(f"{detail}: {hint}", outage=False)
    said = _KEY.sub("(a key)", client.without_key(str(error.message)))
    logger.debug("%s said: %.*r", detail, _DETAIL, said)
    fields = tuple(_fields(error))
    text = f"{detail}: it does not accept {', '.join(fields) or 'the request'}"
    return ProviderFailure(text, outage=False, rejected=status in _REJECTED, fields=fields)


def _names(body: Any) -> list[str]:
    """Return the code and the type of an error, as far as they are names or numbers."""
    body = body if isinstance(body, dict) else {}
    given = [body.get("code"), body.get("status"), body.get("type")]
    named = [str(one) if type(one) is int else name_in(one) for one in given]
    return [name for name in dict.fromkeys(named) if name is not None]


def _fields(error: "APIStatusError") -> Iterator[str]:
    """Yield what the service says it does not take: the field named, else those in its words."""
    body: Any = error.body if isinstance(error.body, dict) else {}
    if (field := name_in(body.get("param"))) is not None:
        yield field
        return
    yield from dict.fromkeys(_FIELDS.findall(str(error.message)[: 10 * _DETAIL]))
