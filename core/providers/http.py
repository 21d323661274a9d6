"""Connections to model services, and what may come back over them: bytes, objects, depth.

Who imports this loads httpx2, so clients do it when they connect.
"""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from ssl import SSLContext
from typing import cast

import httpx2

from core.domain.telemetry import Pauses

_MARKS = re.compile(rb'\\[^\n]?|["{}\[\],]|\n(?=(\n|data: )?)')
"""What tells how JSON nests, and what each line of a stream begins with; a backslash hides the
byte after it."""
_UNCLEAR = re.compile(rb"\\\Z|(?:\r\n?|\n)(?:d(?:a(?:t(?:a(?:: ?)?)?)?)?)?\Z")
"""What means something only with what follows."""
_EVENT_END = re.compile(rb"\n[\n\r]|\r\n\r\n|\r\r")
_LONGEST_UNCLEAR = 8
"""Bytes."""
_SLICE = 16_384
"""Bytes that are handed on at once, if no event ends among them: looking at them takes 2 ms."""


@dataclass(frozen=True, slots=True)
class ReplyLimits:
    """The most that one reply may hold.

    What is decoded at once, without a pause, is an event of a stream, or else the whole reply.
    """

    length: int
    """Bytes of the whole reply."""
    objects: int | None = None
    """Objects, arrays and line feeds of the whole reply."""
    objects_at_once: int | None = None
    """Objects and arrays that are decoded at once: each takes the SDK about 0.1 ms."""
    values_at_once: int | None = None
    """Commas that are decoded at once: a value of a wrong type takes the SDK about 1 us."""
    length_at_once: int | None = None
    """Bytes that are decoded at once."""
    depth: int = 64
    """Objects and arrays in one another. Real replies stay below 20; some hundred exhaust the
    stack of who decodes them."""


ANSWER = ReplyLimits(
    4_000_000,
    objects=50_000,
    objects_at_once=1_200,
    values_at_once=10_000,
    length_at_once=500_000,
)
"""Of a call that writes: an answer of 2,048 tokens has about 10,000 bytes, and each event of a
stream some 500 more. The verdicts on 8 claims, with 10 likely words for each of 48 tokens, have
1,104 objects and arrays."""
_VECTOR = 100_000
"""Bytes that one vector may take: 3,072 numbers of some 20 characters fit."""
_NUMBERS = 4_000
"""Numbers that one vector may have; 3,072 are the most of today's models."""
_AROUND = ReplyLimits(20_000, objects_at_once=50, values_at_once=500)
"""What may stand around the vectors, and be the reply to a small request."""


class ReplyOutOfBounds(httpx2.DecodingError):
    """A reply is larger or deeper than any true one; the text names the limit."""


Measure = Callable[[httpx2.Response], "ReplyMeter"]
"""Gives what measures the body of a response while it arrives."""


def limit_replies(measure: Measure) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Return a client's response hook that lets a response be read up to its limits.

    The hook raises ReplyOutOfBounds at once when the reply is compressed, though nothing was to
    be: its length would not be known before it is unpacked.
    """

    async def limit(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise ReplyOutOfBounds("the reply is compressed", request=response.request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Limited(response.stream, measure(response), response.request)

    return limit


def of_vectors(texts: int) -> ReplyLimits:
    """Return the limits of a reply that holds a vector for each text."""
    return ReplyLimits(
        _AROUND.length + _VECTOR * texts,
        objects_at_once=(_AROUND.objects_at_once or 0) + 8 * texts,
        values_at_once=(_AROUND.values_at_once or 0) + _NUMBERS * texts,
    )


class _Limited(httpx2.AsyncByteStream):
    """The bytes of a reply, up to its limits."""

    def __init__(
        self, stream: httpx2.AsyncByteStream, meter: "ReplyMeter", request: httpx2.Request
    ) -> None:
        self._stream = stream
        self._meter = meter
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pauses = Pauses()
        # The client's own stream is a generator; giving up in a pause would leave it open.
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
        ending = _EVENT_END.search(chunk, start, start + _SLICE)
        end = ending.end() if ending else start + _SLICE
        yield chunk[start:end]
        start = end


class ReplyMeter:
    """Measures a reply while it arrives, in pieces of any size."""

    def __init__(self, limits: ReplyLimits, *, streams: bool = False, events: bool = False) -> None:
        """Measure one piece of JSON, or a stream of them.

        Args:
            limits: The most that the reply may hold.
            streams: The reply is a stream as Google's, each piece on lines that begin with
                `data: `. From its first other line on, which is Google's way to send an error, it
                counts as one piece of JSON: the SDK joins such lines, whatever stands between
                them. A string may then go on in a later line, so that all brackets are counted,
                inside of strings or not.
            events: The reply is a stream of server-sent events, each up to an empty line.
        """
        self._limits = limits
        self._is_stream = streams or events
        self._has_events = events
        self._has_strings = True
        self._length = self._length_at_once = self._depth = 0
        self._objects = self._objects_at_once = self._values_at_once = 0
        self._in_string = False
        self._held = b"\n" if self._is_stream else b""
        """The end of the last piece that means something only with what follows."""

    def exceeded_by(self, piece: bytes) -> str | None:
        """Return which limit this piece exceeds, in words; None: none so far."""
        self._length += len(piece)
        self._length_at_once += len(piece)
        if self._length > self._limits.length:
            return "in one reply"
        data, self._held = self._held + piece, b""
        if unclear := _UNCLEAR.search(data, max(0, len(data) - _LONGEST_UNCLEAR)):
            data, self._held = data[: unclear.start()], unclear.group()
        clear = _with_line_feeds(data)
        # What is held back still tells what the last clear line feed is followed by.
        for mark in _MARKS.finditer(clear + _with_line_feeds(self._held)):
            if mark.start() >= len(clear):
                break
            if exceeded := self._take(mark):
                return exceeded
        if _exceeds(self._length_at_once, self._limits.length_at_once):
            return "at once"
        return "in one reply" if _exceeds(self._objects, self._limits.objects) else None

    def _take(self, mark: re.Match[bytes]) -> str | None:
        kind = mark.group()[:1]
        if kind == b"\n":
            self._objects += 1
            if self._is_stream:
                self._begin_line(mark[1])
        elif kind == b'"':
            self._in_string = self._has_strings and not self._in_string
        elif self._in_string or kind == b"\\":
            return None
        elif kind == b",":
            self._values_at_once += 1
        elif kind in b"{[":
            self._depth += 1
            self._objects += 1
            self._objects_at_once += 1
        else:
            self._depth = max(self._depth - 1, 0)
        return self._exceeded()

    def _begin_line(self, beginning: bytes | None) -> None:
        """Take up how the next line begins; JSON has no line feed inside of a string."""
        self._in_string = False
        if self._has_events:
            if beginning == b"\n":
                self._begin_piece()
            return
        if beginning != b"data: ":
            self._begin_piece()
        self._is_stream = self._has_strings = beginning is not None

    def _begin_piece(self) -> None:
        self._length_at_once = self._objects_at_once = self._values_at_once = self._depth = 0

    def _exceeded(self) -> str | None:
        if self._depth > self._limits.depth:
            return "in one another"
        if _exceeds(self._objects_at_once, self._limits.objects_at_once):
            return "at once"
        return "at once" if _exceeds(self._values_at_once, self._limits.values_at_once) else None


def _with_line_feeds(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _exceeds(number: int, limit: int | None) -> bool:
    return limit is not None and number > limit


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


_GEMINI_STREAMS = ":streamGenerateContent"
"""Ends the paths of calls that are answered by a stream."""


def measure_gemini(response: httpx2.Response) -> ReplyMeter:
    """Return what measures a response while it arrives."""
    asked = response.request
    limits = of_vectors(_texts_for_gemini(asked)) if "mbedContent" in asked.url.path else ANSWER
    streams = asked.url.path.endswith(_GEMINI_STREAMS) and response.is_success
    return ReplyMeter(limits, streams=streams)


def _texts_for_gemini(request: httpx2.Request) -> int:
    """Return how many texts a request has embedded; a text that is quoted cannot name a key."""
    return request.content.count(b'"parts"')


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


def _is_json(text: bytes | str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def measure_completions(response: httpx2.Response) -> ReplyMeter:
    """Return what measures a response while it arrives."""
    path = response.request.url.path
    if path.endswith("/embeddings"):
        return ReplyMeter(of_vectors(_texts_for_completions(response.request)))
    kind = response.headers.get("content-type", "").lower()
    events = path.endswith("/chat/completions") and kind.startswith("text/event-stream")
    return ReplyMeter(ANSWER, events=events and response.is_success)


def _texts_for_completions(request: httpx2.Request) -> int:
    """Return at most how many texts a request has embedded: each stands in quotation marks."""
    return request.content.count(b'"') // 2
