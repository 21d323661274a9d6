"""The bytes of a reply, put into the form that OpenAI's SDK reads: events with data alone."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any, cast

import httpx2

_LINE_END = re.compile(rb"\r\n|\n|\r(?!\Z)")
_DATA = re.compile(rb"data\s*:\s*(.*)\Z", re.DOTALL)
_FIELD_OF_JSON = re.compile(rb"(?:error\s*:\s*)?([{\[].*)\Z", re.DOTALL)
"""An object without its field: of a server that sends lines of JSON, or an error in its own way."""
_PAGE = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"
_DONE = b"[DONE]"


class NotAReply(httpx2.DecodingError):
    """What came is nothing that a model says; the text tells the operator what it is."""


async def put_into_events(response: httpx2.Response) -> None:
    """Let the SDK read what it asked to be streamed, whatever a server makes of that.

    A hook of a client.

    Raises:
        NotAReply: when a web page came, as from a proxy.
    """
    kind = response.headers.get("content-type", "").lower()
    if not response.is_success or not response.request.url.path.endswith("/chat/completions"):
        return
    if kind.startswith("text/html"):
        raise NotAReply(
            "it is a web page, as a proxy sends or a wrong base_url gives", request=response.request
        )
    if b'"stream":true' in response.request.content.replace(b" ", b""):
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        is_whole = kind.startswith("application/json")
        response.stream = EventStream(response.stream, response.request, is_whole=is_whole)


class EventStream(httpx2.AsyncByteStream):
    """The events of a reply that have data, each as it came."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, request: httpx2.Request, *, is_whole: bool
    ) -> None:
        """Read a stream; `is_whole`: it is one object of JSON, though events were asked for."""
        self.is_done = False
        """Whether the service said that nothing follows."""
        self._stream = stream
        self._request = request
        self._is_whole = is_whole
        self._begun = b""
        """A line that has not ended."""
        self._is_first = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async with aclosing(cast("AsyncGenerator[bytes, None]", aiter(self._stream))) as chunks:
            async for chunk in chunks:
                *lines, self._begun = _LINE_END.split(self._begun + chunk)
                if told := b"".join(map(self._told, lines)):
                    yield told
        yield self._told(self._begun.removesuffix(b"\r")) + b"\n\n"

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def _told(self, line: bytes) -> bytes:
        """Return what the SDK is to read of a line."""
        line = line.removeprefix(_BOM) if self._is_first else line
        self._is_first = self._is_first and not line.strip()
        if not line.strip():
            return b"" if self._is_whole else b"\n"
        if _PAGE.match(line):
            raise NotAReply("there is a web page in it, as a proxy sends", request=self._request)
        line = line.decode("utf-8", "replace").encode()
        if self._is_whole:
            return b"data: " + line + b"\n"
        if (field := _DATA.match(line)) is not None:
            data = field[1].strip()
            self.is_done = self.is_done or data.startswith(_DONE)
            return b"data: " + data + b"\n" if data else b""
        if (bare := _FIELD_OF_JSON.match(line)) is not None:
            self._is_whole = not _is_json(bare[1])  # else it goes on in the lines below
            return b"data: " + bare[1] + (b"\n" if self._is_whole else b"\n\n")
        return b""


def objects_in(events: str) -> Iterator[dict[str, Any]]:
    """Yield what the events of a stream hold that is read at once."""
    for line in events.splitlines():
        data = line.removeprefix("data:").strip()
        if data != line and _is_json(data) and isinstance(value := json.loads(data), dict):
            yield value


def _is_json(text: bytes | str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
