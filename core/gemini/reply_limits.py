"""Limits of what the service may send: bytes, objects and depth, before anything is decoded."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

import httpx2

from core.pauses import Pauses

_MARKS = re.compile(rb'\\.?|["{}\[\]]|\n\n?', re.DOTALL)
"""What tells how JSON nests; in a string a backslash hides the byte after it."""
_SLICE = 16_384
"""Bytes that are handed on at once, if no event ends among them: looking at them takes 2 ms."""


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """The most that one reply may hold."""

    length: int
    """Bytes of the whole reply."""
    objects: int | None = None
    """Objects, arrays and line feeds of the whole reply."""
    event_objects: int | None = None
    """Objects and arrays between two blank lines, which end an event of a stream: the SDK
    decodes as much without a pause, in about 0.1 ms each."""
    event_length: int | None = None
    """Bytes between two blank lines."""
    depth: int = 64
    """Objects and arrays in one another. Real replies stay below 20; some hundred exhaust the
    stack of who decodes them."""


ANSWER = ReplyLimits(4_000_000, objects=50_000, event_objects=500, event_length=500_000)
"""Of a call that writes: an answer of 2,048 tokens has about 10,000 bytes, and each event of a
stream some 500 more."""
_VECTOR = 100_000
"""Bytes that one vector may take: 3,072 numbers of some 20 characters fit."""
_VECTORS = 1_000_000
"""Bytes for what stands around the vectors, and for small requests."""


class ReplyOutOfBounds(httpx2.DecodingError):
    """A reply is larger or deeper than any true one; the text names the limit."""


async def limit_reply(response: httpx2.Response) -> None:
    """Let a response be read up to its limits; meant as a client's response hook.

    Raises:
        ReplyOutOfBounds: at once, when the reply is compressed, though nothing was to be: its
            length would not be known before it is unpacked.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise ReplyOutOfBounds("the reply is compressed", request=response.request)
    asked = response.request
    is_embedding = "mbedContent" in asked.url.path
    limits = ReplyLimits(_VECTORS + _VECTOR * _texts(asked)) if is_embedding else ANSWER
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Limited(response.stream, limits, asked)


def _texts(request: httpx2.Request) -> int:
    """Return how many texts a request has embedded; a text that is quoted cannot name a key."""
    return request.content.count(b'"parts"')


class _Limited(httpx2.AsyncByteStream):
    """The bytes of a reply, up to its limits."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, limits: ReplyLimits, request: httpx2.Request
    ) -> None:
        self._stream = stream
        self._meter = ReplyMeter(limits)
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pauses = Pauses()
        # The client's own stream is a generator; whoever gives up in a pause would leave it open.
        async with aclosing(cast("AsyncGenerator[bytes, None]", aiter(self._stream))) as chunks:
            async for chunk in chunks:
                for part in _parts(chunk):
                    if exceeded := self._meter.exceeded_by(part):
                        raise ReplyOutOfBounds(f"too much {exceeded}", request=self._request)
                    yield part
                    await pauses.take_one_if_due()

    async def aclose(self) -> None:
        await self._stream.aclose()


def _parts(chunk: bytes) -> Iterator[bytes]:
    """Yield a chunk in parts of at most one event each: one is decoded without a pause."""
    start = 0
    while start < len(chunk):
        ending = chunk.find(b"\n\n", start, start + _SLICE)
        end = start + _SLICE if ending < 0 else ending + 2
        yield chunk[start:end]
        start = end


class ReplyMeter:
    """Measures a reply while it arrives, in pieces of any size."""

    def __init__(self, limits: ReplyLimits) -> None:
        self._limits = limits
        self._length = self._event_length = self._depth = 0
        self._objects = self._event_objects = 0
        self._in_string = False
        self._held = b""
        """The end of the last piece, which means something only with what follows."""

    def exceeded_by(self, piece: bytes) -> str | None:
        """Return which limit this piece exceeds, in words; None: none so far."""
        self._length += len(piece)
        self._event_length += len(piece)
        if self._length > self._limits.length:
            return "in one reply"
        data, self._held = self._held + piece.replace(b"\r", b""), b""
        for mark in _MARKS.finditer(data):
            if mark.end() == len(data) and mark.group() in {b"\\", b"\n"}:
                self._held = mark.group()
                break
            if exceeded := self._take(mark.group()):
                return exceeded
        if _exceeds(self._event_length, self._limits.event_length):
            return "in one event"
        return "in one reply" if _exceeds(self._objects, self._limits.objects) else None

    def _take(self, mark: bytes) -> str | None:
        if mark[:1] == b"\n":
            self._in_string = False  # JSON has no line feed inside of a string
            self._objects += 1
            if len(mark) > 1:
                self._event_length = self._event_objects = self._depth = 0
        elif mark == b'"':
            self._in_string = not self._in_string
        elif self._in_string or mark[:1] == b"\\":
            return None
        elif mark in b"{[":
            self._depth += 1
            self._objects += 1
            self._event_objects += 1
            if self._depth > self._limits.depth:
                return "in one another"
            if _exceeds(self._event_objects, self._limits.event_objects):
                return "in one event"
        else:
            self._depth = max(self._depth - 1, 0)
        return None


def _exceeds(number: int, limit: int | None) -> bool:
    return limit is not None and number > limit
