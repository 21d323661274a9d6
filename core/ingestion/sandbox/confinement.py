"""What the parsing child denies itself: memory, processor time, files, network, processes.

Two fences. The kernel's limits (`resource`, not on Windows; address space on Linux only) hold
against everything, native code included. The audit hook refuses what Python code does through
Python: it stops a parser that follows a link or opens a path it found in a document. It is no
wall against machine code that a memory bug in a C library lets run: against that, the child
has no secrets in its environment and the parent checks every word it says.
"""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import core

ADDRESS_SPACE_BYTES = 1 << 30
RETIRE_BYTES = 300_000_000
_STATISTICS = "/proc/self/statm"
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
    """Refuses network, processes, writing, and reading outside the allowed folders."""

    def __init__(self) -> None:
        """Allow reading where Python finds its modules; `include_root` is allowed as well."""
        self.include_root: Path | None = None
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
        if path != _STATISTICS and not self._may_read(os.fsdecode(path)):
            raise PermissionError("a file outside the course is not read")

    def _may_read(self, path: str) -> bool:
        real = Path(os.path.realpath(path))
        roots = (*self._import_roots, *filter(None, [self.include_root]))
        return any(is_below(real, root) for root in roots)


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
    try:
        statistics = Path(_STATISTICS).read_text().split()
    except OSError:
        return 0
    return int(statistics[field]) * os.sysconf("SC_PAGE_SIZE")
