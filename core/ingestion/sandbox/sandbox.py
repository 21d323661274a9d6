"""Parses untrusted documents in a process that can be lost without harm."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from core.errors import ProgramMissing, UnsupportedDocument
from core.ingestion.document import ParsedDocument
from core.ingestion.formats.pandoc.program import Pandoc, find_pandoc, readers
from core.ingestion.recognition.recognition import Recognition
from core.ingestion.sandbox.messages import Finished, InvalidMessage, ParseJob
from core.ingestion.sandbox.parser_process import ParserProcess

__all__ = ["ParseJob", "Sandbox"]

logger = logging.getLogger(__name__)

_SECONDS = 20.0
_BYTES_A_CHILD = 64_000_000
_CRASHED = "crashes its parser"


class Sandbox:
    """Parses one document at a time in a long-lived child, replaced when it fails or grows.

    The child has at most 1 GiB of memory beyond its start, as much processor and wall-clock
    time as `seconds` for each document, may write nothing, reach no network, start no process
    and read only Python's modules and the course's own folder (see `confinement`). Windows
    has the wall clock and the audit hook alone.

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
        self._bytes_left -= size
        return self._child

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
