"""Parses untrusted documents in a process that can be lost without harm."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Self, TypeVar

from core.domain.errors import ProgramMissing, ServiceError, UnsupportedDocument
from core.ingestion.document import ParsedDocument
from core.ingestion.formats.pandoc_program import Pandoc, find_pandoc, readers
from core.ingestion.formats.scans import PagePicture, Recognition
from core.ingestion.sandbox.kernel import Held
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
    ToInclude,
    included_parts,
    job_parts,
    read_ready,
    text_parts,
    tree_parts,
)

logger = logging.getLogger(__name__)


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
        self.held = Held()
        """What the kernel refuses it, as it tried at its start."""
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
                child.held = read_ready(await child._frame())
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
                elif isinstance(said, ToInclude):
                    read = job.read_include
                    found = None if read is None else await asyncio.to_thread(read, said.path)
                    await self._write(included_parts(found))
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


async def held_here() -> Held:
    """Return what the kernel of this machine refuses a process that reads documents, by a try.

    Raises:
        ServiceError: when no such process can be started.
    """
    child = await ParserProcess.start()
    await child.stop()
    return child.held


def _piped(stream: Stream | None) -> Stream:
    assert stream is not None
    return stream


def _environment() -> dict[str, str]:
    """Return what Python needs to start and to import what this process can, no more."""
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return {**kept, "PYTHONPATH": path, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}


__all__ = ["ParseJob", "Sandbox"]

_SECONDS = 20.0
_BYTES_A_CHILD = 64_000_000
_CRASHED = "crashes its parser"


class Sandbox:
    """Parses one document at a time in a long-lived child, replaced when it fails or grows.

    The child has at most 1 GiB of memory beyond its start, as much processor and wall-clock
    time as `seconds` for each document, may write nothing, reach no network, start no process
    and read only Python's modules: the kernel holds it where it can (see `kernel`), and Python's
    audit hook before. The text of a file that a page includes is given to it from here. macOS has
    no such kernel, and Windows the wall clock and the audit hook alone.

        async with Sandbox() as sandbox:
            document = await sandbox.parse(ParseJob(data, "chapter.pdf"))
    """

    def __init__(
        self,
        *,
        seconds: float = _SECONDS,
        recognition: Recognition | None = None,
        finding: Callable[[], Awaitable[Pandoc | None]] = find_pandoc,
    ) -> None:
        """`seconds` is the longest that one document may take, and each page that is drawn.

        Args:
            recognition: how pages of a PDF without text are read; None: they are not.
            finding: returns the pandoc of this machine; called when a document first needs it.
        """
        self._seconds = seconds
        self.recognition = recognition or Recognition()
        self._finding = finding
        self._pandoc: Pandoc | None = None
        self._has_looked = False
        self._has_told = False
        self._turn = asyncio.Lock()
        self._child: ParserProcess | None = None
        self._bytes_left = 0

    async def __aenter__(self) -> Self:
        """Return the sandbox; its child starts with the first document."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the child."""
        async with self._turn:
            await self._stop()

    async def parse(self, job: ParseJob) -> ParsedDocument:
        """Return the document; a cancelled call leaves no process running.

        Raises:
            UnsupportedDocument: with a reason that follows the document's name: "is empty",
                "needs more than 1 GiB of memory", "takes longer than 20 s to read" ...;
                ProgramMissing where only a program is not there.
            ServiceError: when no child can be started.
        """
        recognition = self.recognition
        job = replace(job, most_scans=recognition.most_pages, missing=recognition.missing)
        async with self._turn:
            finished = await self._answer(job)
        if finished.document is None:
            kind = ProgramMissing if finished.lacks_program else UnsupportedDocument
            raise kind(finished.reason)
        return finished.document

    async def _answer(self, job: ParseJob) -> Finished:
        """Return a child's answer, where it dies over its pictures without what they show."""
        child = await self._ready_child(len(job.data))
        finished: Finished | None = None
        try:
            pages = self.recognition.pages()
            finished = await child.parse(job, self._seconds, pages.read, self._convert)
            return finished
        except (TimeoutError, InvalidMessage, EOFError, ConnectionError) as error:
            cause = await self._cause(child, error)
            if not child.is_drawing:
                raise UnsupportedDocument(cause) from error
        finally:
            if finished is None or finished.retire:
                await self._stop()
        without = replace(job, most_scans=0, missing=f"while its pages are drawn, it {cause}")
        return await self._answer(without)

    async def _convert(self, name: str, text: bytes) -> bytes:
        if not self._has_looked:
            self._pandoc, self._has_looked = await self._finding(), True
        return await readers(self._pandoc, name).tree(name, text, self._seconds)

    async def _ready_child(self, size: int) -> ParserProcess:
        """Return a child for `size` more bytes; one that died or served many is replaced."""
        if self._child and (size > self._bytes_left or not self._child.is_alive):
            await self._stop()
        if self._child is None:
            self._child = await ParserProcess.start()
            self._bytes_left = _BYTES_A_CHILD
            self._tell_what_is_not_held(self._child.held)
        self._bytes_left -= size
        return self._child

    def _tell_what_is_not_held(self, held: Held) -> None:
        """Log once what Python alone holds, where the kernel does not."""
        if not self._has_told and not all(held):
            lacking = ", ".join(name for name, holds in held._asdict().items() if not holds)
            logger.warning(
                "the kernel does not hold the process that reads documents (%s): "
                "Python's own checks do; glossator doctor says what to do",
                lacking,
            )
        self._has_told = True

    async def _stop(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            await child.stop()
            if child.last_words:
                logger.debug("the parsing process said: %r", child.last_words)

    async def _cause(self, child: ParserProcess, error: Exception) -> str:
        """Return why there is no answer, as words that follow the document's name."""
        if isinstance(error, TimeoutError):
            return self._too_slow()
        if isinstance(error, InvalidMessage):
            return _CRASHED
        code = await child.end()
        if code == -getattr(signal, "SIGXCPU", 0):
            return self._too_slow()
        if code == -getattr(signal, "SIGKILL", 0):
            return "needs more memory than there is"
        return _CRASHED

    def _too_slow(self) -> str:
        return f"takes longer than {self._seconds:g} s to read"
