"""One child process that parses: how it is started, asked, and always reaped."""

import asyncio
import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from core.errors import ServiceError, UnsupportedDocument
from core.ingestion.formats.pdf.scans import PagePicture
from core.ingestion.sandbox.messages import (
    LENGTH_BYTES,
    MAX_FRAME_BYTES,
    Answer,
    Drawing,
    Finished,
    InvalidMessage,
    ParseJob,
    PictureHead,
    ToConvert,
    job_parts,
    text_parts,
    tree_parts,
)

_START_SECONDS = 30.0
_FAREWELL_SECONDS = 2.0
_ENVIRONMENT = ("PATH", "SYSTEMROOT", "LANG", "LD_LIBRARY_PATH")
_STDERR_BYTES = 4_000
Stream = TypeVar("Stream")
Recognise = Callable[[PagePicture], Awaitable[bytes]]
Convert = Callable[[str, bytes], Awaitable[bytes]]
_COMMAND = (sys.executable, "-P", "-m", "core.ingestion.sandbox.child")


class ParserProcess:
    """A running child. It serves one job at a time; after any error only `stop` is left."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._stdin, self._stdout = _piped(process.stdin), _piped(process.stdout)
        self.last_words = b""
        """The end of what the child wrote to standard error."""
        self.is_drawing = False
        """Whether it has begun to draw pages of the document that it parses."""
        self._listening = asyncio.create_task(self._listen(_piped(process.stderr)))

    @classmethod
    async def start(cls) -> "ParserProcess":
        """Return a child that waits for its first job.

        Raises:
            ServiceError: when no child can be started.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                *_COMMAND,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise ServiceError("the parsing process cannot be started") from error
        child = cls(process)
        ready = False
        try:
            async with asyncio.timeout(_START_SECONDS):
                await child._frame()
            ready = True
        except (TimeoutError, asyncio.IncompleteReadError, InvalidMessage) as error:
            raise ServiceError("the parsing process does not come up") from error
        finally:
            if not ready:
                await child.stop()
        return child

    @property
    def is_alive(self) -> bool:
        """Whether the child has not ended, as far as is known here."""
        return self._process.returncode is None and not self._stdout.at_eof()

    async def parse(
        self, job: ParseJob, seconds: float, recognise: Recognise, convert: Convert
    ) -> Finished:
        """Return the child's answer.

        Args:
            seconds: before the answer, and for each page that is drawn on the way; what
                `recognise` and `convert` take is not counted.
            recognise: returns the lines of text on the picture of a page.
            convert: returns what pandoc makes of a text, once.

        Raises:
            TimeoutError: when it takes longer than `seconds`.
            InvalidMessage: when the child says what no intact child says.
            EOFError, ConnectionError: when the child has died.
        """
        clock = asyncio.get_running_loop().time
        self.is_drawing, pictures, answer, is_converted = False, 0, Answer(), False
        async with asyncio.timeout(seconds) as limit:
            await self._write(job_parts(job, seconds))
            while not isinstance(said := answer.take(await self._frame()), Finished):
                if isinstance(said, Drawing):
                    self.is_drawing = True
                elif isinstance(said, PictureHead):
                    pictures += 1
                    if pictures > job.most_scans:
                        raise InvalidMessage("more pages are drawn than may be")
                    picture = said.picture(await self._frame())
                    limit.reschedule(None)
                    text = await recognise(picture)
                    limit.reschedule(clock() + seconds)
                    await self._write(text_parts(text))
                elif isinstance(said, ToConvert):
                    if is_converted:
                        raise InvalidMessage("a text is converted twice")
                    is_converted = True
                    text = b"".join([await self._frame() for _ in range(said.frames)])
                    limit.reschedule(None)
                    tree = await _converted(convert, said.name, text)
                    limit.reschedule(clock() + seconds)
                    await self._write(tree_parts(tree))
            return said

    async def _write(self, parts: Iterable[bytes | memoryview]) -> None:
        for part in parts:
            self._stdin.write(part)
            await self._stdin.drain()

    async def end(self) -> int:
        """Let a child that closed its output end by itself, and return its exit code."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self._process.wait()
        return await self.stop()

    async def stop(self) -> int:
        """Kill the child unless it is dead, and return its exit code (minus a signal)."""
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        while await self._stdout.read(1 << 16):
            pass
        await self._listening
        code = await self._process.wait()
        self._stdin.close()
        with contextlib.suppress(ConnectionError):
            await self._stdin.wait_closed()
        return code

    async def _frame(self) -> bytes:
        length = int.from_bytes(await self._stdout.readexactly(LENGTH_BYTES), "big")
        if length > MAX_FRAME_BYTES:
            raise InvalidMessage("a frame is too long")
        return await self._stdout.readexactly(length)

    async def _listen(self, stderr: asyncio.StreamReader) -> None:
        while words := await stderr.read(_STDERR_BYTES):
            self.last_words = (self.last_words + words)[-_STDERR_BYTES:]


async def _converted(convert: Convert, name: str, text: bytes) -> bytes | UnsupportedDocument:
    try:
        return await convert(name, text)
    except UnsupportedDocument as error:
        return error


def _piped(stream: Stream | None) -> Stream:
    assert stream is not None
    return stream


def _environment() -> dict[str, str]:
    """Return what Python needs to start and to import what this process can, no more."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return {**kept, "PYTHONPATH": path, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
