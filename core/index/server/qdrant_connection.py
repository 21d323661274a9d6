"""How a Qdrant server is reached, and what its failures are called."""

import logging
import ssl
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from core.errors import ConfigurationError, VectorIndexError
from core.runtime.hosts import check_url

logger = logging.getLogger(__name__)

CA_FILE = "GLOSSATOR_QDRANT__CA_FILE"
_DETAIL = 300


def connect(
    url: str, *, api_key: str | None = None, ca_file: Path | None = None, timeout: int = 6
) -> AsyncQdrantClient:
    """Return a client for a server.

    Args:
        url: `http` or `https`, with the port; without one, it is 6333 for both.
        ca_file: Certificates in PEM of the only authorities that are trusted; None: those that
            `SSL_CERT_FILE` or `SSL_CERT_DIR` name, else those that come with Python's certifi.
        timeout: Seconds that a request may take.

    Raises:
        ConfigurationError: when `url` is none, or `ca_file` cannot be used for it.
    """
    try:
        is_encrypted = urlsplit(url).scheme != "http"
        verified = True if ca_file is None else _trusting(ca_file, is_encrypted)
        if api_key is not None and not is_encrypted:
            logger.warning("the Qdrant API key is sent without encryption: use https")
        _check(url)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Api key is used with an insecure connection")
            # The client's own check of the server's version would ask at once, in a thread.
            return AsyncQdrantClient(
                url=url,
                api_key=api_key,
                timeout=timeout,
                check_compatibility=False,
                verify=verified,
            )
    except ValueError as error:
        raise ConfigurationError(
            "The Qdrant URL must look like http://host:6333 or https://host:6333; "
            "its key is GLOSSATOR_QDRANT__API_KEY."
        ) from error


def _check(url: str) -> None:
    """Raise ValueError for what the client would take a scheme or a host of its own for.

    It would leave out a user and a password without a word.
    """
    parts = urlsplit(check_url(url))
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username is not None:
        raise ValueError("no scheme, no host, or a user")


def _trusting(ca_file: Path, is_encrypted: bool) -> ssl.SSLContext:
    if not is_encrypted:
        raise ConfigurationError(f"{CA_FILE} is of no use for a Qdrant URL that is not https.")
    try:
        return ssl.create_default_context(cafile=ca_file)
    except ssl.SSLError as error:
        raise ConfigurationError(f"{CA_FILE}: {ca_file} holds no certificate in PEM.") from error
    except OSError as error:
        raise ConfigurationError(
            f"{CA_FILE}: {ca_file} cannot be read ({error.strerror})."
        ) from error


@contextmanager
def qdrant_errors() -> Iterator[None]:
    """Turn the client's failures into VectorIndexError; the API key is in none of them."""
    try:
        yield
    except ResourceExhaustedResponse as error:
        raise VectorIndexError(
            f"Qdrant has too many requests; it asks to wait {error.retry_after_s} s."
        ) from error
    except UnexpectedResponse as error:
        raise VectorIndexError(f"Qdrant answered {_answer(error)}") from error
    except ApiException as error:
        raise VectorIndexError(_unreached(getattr(error, "source", error))) from error
    except (QdrantException, httpx.HTTPError, ValueError) as error:
        # Local mode, and the client's own checks, refuse with ValueError.
        raise VectorIndexError(f"Qdrant refused: {error}") from error


def _answer(error: UnexpectedResponse) -> str:
    if error.status_code in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"{error.status_code}: the API key is missing, wrong or lacks the right."
    body = error.content[:_DETAIL].decode(errors="replace")
    return f"{error.status_code} {error.reason_phrase}: {body}"


def _unreached(error: Any) -> str:
    """Return why no answer came, or none that was understood."""
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = cause.verify_message.rstrip(".")
            return f"Qdrant's certificate is refused ({why}): check the URL and {CA_FILE}."
        if isinstance(cause, ssl.SSLError):
            why = (cause.reason or str(cause)).lower().replace("_", " ")
            return f"Qdrant could not be reached by TLS ({why}): is its URL really https?"
    return f"Qdrant could not be reached, or was not understood: {type(error).__name__} {error}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
