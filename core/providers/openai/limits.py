"""Which limits the replies of a service like OpenAI's have."""

import httpx2

from core.providers.reply_limits import ANSWER, ReplyMeter, of_vectors


def measure(response: httpx2.Response) -> ReplyMeter:
    """Return what measures a response while it arrives."""
    path = response.request.url.path
    if path.endswith("/embeddings"):
        return ReplyMeter(of_vectors(_texts(response.request)))
    kind = response.headers.get("content-type", "").lower()
    events = path.endswith("/chat/completions") and kind.startswith("text/event-stream")
    return ReplyMeter(ANSWER, events=events and response.is_success)


def _texts(request: httpx2.Request) -> int:
    """Return at most how many texts a request has embedded: each stands in quotation marks."""
    return request.content.count(b'"') // 2
