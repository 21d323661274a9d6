"""The process that parses documents for the sandbox, one after another, until its input ends."""

import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import core
from core.domain.errors import ProgramMissing, UnsupportedDocument
from core.ingestion.formats.scans import PagePicture, Scans
from core.ingestion.sandbox import kernel
from core.ingestion.sandbox.messages import (
    ParseJob,
    conversion_frames,
    document_frames,
    drawing_frame,
    include_frame,
    picture_frames,
    read_included,
    read_job,
    read_text,
    read_tree,
    ready_frame,
    refusal_frame,
)

ADDRESS_SPACE_BYTES = 1 << 30
RETIRE_BYTES = 300_000_000
_OPEN_FILES = 64
_READS_OF_OS = frozenset({"os.listdir", "os.scandir", "os.walk", "os.add_dll_directory"})
_REFUSED_FAMILIES = frozenset(
    {
        *("socket", "subprocess", "ctypes", "shutil", "pty", "sqlite3", "webbrowser", "urllib"),
        *("http", "ftplib", "imaplib", "nntplib", "poplib", "smtplib", "telnetlib", "syslog"),
        *("winreg", "_winapi", "signal", "tempfile"),
    }
)
_LOADS = frozenset({"ctypes.dlopen", "ctypes.dlsym"})
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class AuditHook:
    """Refuses network, processes, writing, and reading but where Python finds its modules.

    It is the first line, with the clearer error; what is written in machine code does not pass it,
    and the kernel holds that.
    """

    def __init__(self) -> None:
        """Allow reading where Python finds its modules."""
        self._may_load = False
        # An editable install finds our own package without its folder standing in sys.path.
        folders = {*sys.path, sys.prefix, sys.base_prefix, sys.exec_prefix, *core.__path__}
        self._import_roots = [Path(os.path.realpath(folder)) for folder in folders if folder]

    def install(self) -> None:
        """Put the hook in place, for the rest of the process's life."""
        sys.addaudithook(self._audit)

    @contextmanager
    def loading_libraries(self) -> Iterator[None]:
        """Allow machine code to be loaded, while a package of ours is imported that has some."""
        self._may_load = True
        try:
            yield
        finally:
            self._may_load = False

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            self._audit_open(*arguments)
            return
        if self._may_load and event in _LOADS:
            return
        family = event.partition(".")[0]
        if family in _REFUSED_FAMILIES or (family == "os" and event not in _READS_OF_OS):
            raise PermissionError(f"{event} is not allowed while a document is parsed")

    def _audit_open(self, path: Any, mode: str | None, flags: int) -> None:
        if isinstance(path, int):
            return
        if flags & _WRITES or set(mode or "") & set("wax+"):
            raise PermissionError("writing is not allowed while a document is parsed")
        if not self._may_read(os.fsdecode(path)):
            raise PermissionError("no file of this machine is read")

    def _may_read(self, path: str) -> bool:
        real = Path(os.path.realpath(path))
        return any(is_below(real, root) for root in self._import_roots)


def is_below(real: Path, root: Path) -> bool:
    """Return whether a resolved path lies below `root` without passing a hidden name."""
    if not real.is_relative_to(root):
        return False
    return not any(part.startswith(".") for part in real.relative_to(root).parts)


def limit_resources() -> None:
    """Bound what the kernel grants this process, where it can; only ever downwards."""
    try:
        import resource
    except ImportError:
        return
    _memory_bytes(0)  # what it is read from is open from now on
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    if sys.platform == "linux":
        _lower(resource.RLIMIT_NPROC, 0)
        _lower(resource.RLIMIT_AS, _memory_bytes(0) + ADDRESS_SPACE_BYTES)


def grant_processor_seconds(seconds: float) -> None:
    """Let this process run for `seconds` more of processor time, then be killed."""
    try:
        import resource
    except ImportError:
        return
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = math.ceil(usage.ru_utime + usage.ru_stime + seconds)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (_at_most(soft, hard), hard))


def holds_too_much() -> bool:
    """Return whether this process keeps so much memory that it should be replaced."""
    return _memory_bytes(1) > RETIRE_BYTES


def _lower(kind: int, value: int) -> None:
    import resource

    limit = _at_most(value, resource.getrlimit(kind)[1])
    resource.setrlimit(kind, (limit, limit))


def _at_most(value: int, hard: int) -> int:
    return value if hard < 0 else min(value, hard)


def _memory_bytes(field: int) -> int:
    """Return the size (field 0) or the resident part (1) of this process; 0 if unknown."""
    statistics = _statistics()
    if statistics is None:
        return 0
    return int(os.pread(statistics, 200, 0).split()[field]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _statistics() -> int | None:
    """Return the open file of this process's sizes; it is opened before that is refused."""
    try:
        return os.open("/proc/self/statm", os.O_RDONLY)
    except OSError:
        return None


def main() -> None:
    """Answer jobs from standard input on standard output."""
    jobs, answers = _private_streams()
    limit_resources()
    held = hold()
    hook = AuditHook()
    hook.install()
    _send(answers, [ready_frame(held)])
    while received := read_job(jobs):
        job, seconds = received
        grant_processor_seconds(seconds)
        scans = _scans(job, seconds, jobs, answers, hook)

        def convert(name: str, text: bytes, seconds: float = seconds) -> bytes:
            _send(answers, conversion_frames(name, text))
            tree = read_tree(jobs)
            grant_processor_seconds(seconds)
            return tree

        def read_include(path: str) -> str | None:
            frame = include_frame(path)
            if frame is None:
                return None
            _send(answers, [frame])
            return read_included(jobs)

        _send(answers, _answer(job, read_include, scans, convert))


def hold() -> kernel.Held:
    """Have the kernel hold this process for good, and return what it does."""
    read = kernel.python_folders(core.__path__)
    kernel.confine(kernel.Confinement(read=read, is_alone=True))
    return kernel.tried()


def _scans(
    job: ParseJob, seconds: float, jobs: BinaryIO, answers: BinaryIO, hook: AuditHook
) -> Scans:
    """Return what has the parent recognise pictures; to draw each one, there are `seconds`."""

    def read(picture: PagePicture) -> bytes:
        _send(answers, picture_frames(picture))
        text = read_text(jobs)
        grant_processor_seconds(seconds)
        return text

    @contextmanager
    def loading() -> Iterator[None]:
        _send(answers, [drawing_frame()])
        with hook.loading_libraries():
            yield

    return Scans(read, job.most_scans, job.missing, loading)


def _answer(
    job: ParseJob,
    read_include: Callable[[str], str | None],
    scans: Scans,
    convert: Callable[[str, bytes], bytes],
) -> Iterator[bytes]:
    from core.ingestion.formats.registry import parse

    try:
        document = parse(
            job.data,
            job.name,
            job.media_type,
            dialect=job.dialect,
            read_include=read_include,
            scans=scans,
            convert=convert,
        )
        yield from document_frames(document, retire=holds_too_much())
    except UnsupportedDocument as error:
        lacks_program = isinstance(error, ProgramMissing)
        yield refusal_frame(str(error), retire=holds_too_much(), lacks_program=lacks_program)
    except MemoryError:
        yield refusal_frame("needs more than 1 GiB of memory", retire=True)


def _private_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output for the sandbox alone: a parser's print goes astray."""
    jobs, answers = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return os.fdopen(jobs, "rb"), os.fdopen(answers, "wb")


def _send(answers: BinaryIO, frames: Iterator[bytes] | list[bytes]) -> None:
    for frame in frames:
        answers.write(frame)
    answers.flush()


if __name__ == "__main__":
    main()
