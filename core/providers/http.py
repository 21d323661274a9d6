"""The connections to a provider: one kind of client, one set of limits for every SDK."""

from collections.abc import Awaitable, Callable
from ssl import SSLContext

import httpx2

from core.providers.reply_limits import Measure, limit_replies

_MAX_CONNECTIONS = 50
_KEEP_ALIVE = 60.0

ResponseHook = Callable[[httpx2.Response], Awaitable[None]]


def open_http(
    measure: Measure, context: SSLContext, timeout: float, *more: ResponseHook
) -> httpx2.AsyncClient:
    """Return a client for an SDK whose replies are measured while they arrive.

    Args:
        measure: Gives the limits of a response.
        context: The certificates that are trusted.
        timeout: Seconds between two reads at most.
        more: Hooks that see a response after it is measured.
    """
    return httpx2.AsyncClient(
        verify=context,
        timeout=timeout,
        limits=httpx2.Limits(max_connections=_MAX_CONNECTIONS, keepalive_expiry=_KEEP_ALIVE),
        headers={"accept-encoding": "identity"},  # the length of a reply is its length
        event_hooks={"response": [limit_replies(measure), *more]},
    )
