"""Which limits the replies of Google's API have."""

import httpx2

from core.providers.reply_limits import ANSWER, ReplyMeter, of_vectors

_STREAMS = ":streamGenerateContent"
"""Ends the paths of calls that are answered by a stream."""


def measure(response: httpx2.Response) -> ReplyMeter:
    """Return what measures a response while it arrives."""
    asked = response.request
    limits = of_vectors(_texts(asked)) if "mbedContent" in asked.url.path else ANSWER
    streams = asked.url.path.endswith(_STREAMS) and response.is_success
    return ReplyMeter(limits, streams=streams)


def _texts(request: httpx2.Request) -> int:
    """Return how many texts a request has embedded; a text that is quoted cannot name a key."""
    return request.content.count(b'"parts"')
