"""Runs the system's git so that nothing but the fetch itself happens, and not for ever."""

import asyncio
import contextlib
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core.domain.errors import ServiceError, SourceUnavailable, UnsupportedDocument
from core.ingestion.sandbox.kernel import Confinement, launcher, of_program
from core.ingestion.system_packages import how_to_install_git

_MOST_ERRORS = 1 << 16


def limited(
    command: Sequence[str], allowed: Confinement | None = None, **limits: int
) -> Sequence[str]:
    """Return the command that runs `command` confined and under limits; Windows has neither.

    Args:
        allowed: what the program may do; None: as little as `of_program` says.
        limits: by the names that `setrlimit` has for them: `AS` in bytes, `FSIZE` in bytes of a
            file that is written, `CPU` in seconds. No core is ever dumped.
    """
    if sys.platform == "win32":
        return command
    held = allowed or of_program(command[0])
    return (*launcher(held, [*limits.items(), ("CORE", 0)]), *command)


def end(process: asyncio.subprocess.Process) -> None:
    """Kill a program that leads a session, with what it started, unless it has ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """What a program said, and how it ended."""

    code: int | None
    """Its exit code, minus a signal; None where it was ended for its time, or did not start."""
    output: bytes
    errors: bytes
    """The end of its standard error."""
    is_whole: bool = True
    """Whether the output is all that it said; else it said too much, and was ended."""


async def run_program(
    command: Sequence[str],
    given: Iterable[bytes | memoryview],
    *,
    seconds: float,
    most_bytes: int,
    environment: Mapping[str, str],
) -> ProgramOutput:
    """Return what a program says when it is given its input; at the end it has ended."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        return ProgramOutput(None, b"", str(error).encode())
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    errors = asyncio.create_task(_last_words(process.stderr))
    code, output = None, bytearray()
    try:
        async with asyncio.timeout(seconds):
            writing = asyncio.create_task(_give(process.stdin, given))
            try:
                while len(output) <= most_bytes and (part := await process.stdout.read(1 << 16)):
                    output += part
                if len(output) <= most_bytes:
                    code = await process.wait()
            finally:
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
    except TimeoutError:
        pass
    finally:
        end(process)
        while await process.stdout.read(1 << 16):  # else a full pipe is never seen to end
            pass
        await process.wait()
    return ProgramOutput(code, bytes(output), await errors, len(output) <= most_bytes)


async def _give(stdin: asyncio.StreamWriter, given: Iterable[bytes | memoryview]) -> None:
    with contextlib.suppress(ConnectionError):  # it has read enough
        for part in given:
            stdin.write(part)
            await stdin.drain()
        stdin.close()
        await stdin.wait_closed()


async def _last_words(stderr: asyncio.StreamReader) -> bytes:
    words = b""
    while part := await stderr.read(1 << 16):
        words = (words + part)[-_MOST_ERRORS:]
    return words


LEAST_VERSION = (2, 37)
"""Older ones cannot be bound to an address that was checked."""
_ASKED_OF_GIT = ("--version", "--exec-path")
_KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR")
_CERTIFICATES_IN = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_CERTIFICATES = ("/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/crypto-policies")
_MEMORY_BYTES = 2 << 30
_LOOKED_EVERY = 0.2
"""Seconds between two looks at what a fetch has brought."""
_SETTINGS = {
    "core.askPass": "",
    "core.bigFileThreshold": "16m",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.packedGitLimit": "256m",
    "core.packedGitWindowSize": "16m",
    "core.symlinks": "false",
    "credential.helper": "",
    "fetch.fsckObjects": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
    "http.proxy": "",
    "http.sslVerify": "true",
    "maintenance.auto": "false",
    "pack.threads": "1",
    "protocol.version": "2",
    "submodule.recurse": "false",
    "transfer.bundleURI": "false",
}


@dataclass(frozen=True, slots=True)
class GitProgram:
    """The git of this machine, its version, and how much one repository may take."""

    path: str
    version: str
    helpers: str
    """The folder of the programs that it starts, one for each of its commands and protocols."""
    max_bytes: int
    """Of a repository, as it is sent and as it lies on the disk."""
    seconds: float = 300.0
    """For one command."""

    async def run(
        self,
        command: str,
        *arguments: str,
        repository: Path,
        protocol: str = "none",
        port: int = 0,
        settings: Mapping[str, str] = _SETTINGS,
    ) -> Path:
        """Run a command on a bare repository and return the file that has its output.

        Args:
            protocol: the only one that may reach another machine.
            port: the only one that may be connected to; 0: none.
            settings: in place of those that hold for every command.

        Raises:
            SourceUnavailable: the command fails or takes too long; the text is for the log.
            UnsupportedDocument: the repository is too large.
        """
        out = repository / "glossator-output"
        with out.open("wb") as stdout, (repository / "glossator-errors").open("wb") as stderr:
            given = [*_as_options(settings), "--git-dir=.", command, *arguments]
            async with self._started(given, repository, protocol, port, stdout, stderr) as process:
                await self._await(process, repository)
        if size_of(repository) > self.max_bytes:
            raise self._too_large()
        if process.returncode:
            said = (repository / "glossator-errors").read_bytes()[-2000:].decode(errors="replace")
            raise SourceUnavailable(
                f"git {command} ended with {process.returncode}: {said.strip()}",
                user_message="The repository cannot be fetched now.",
            )
        return out

    @asynccontextmanager
    async def blobs(self, names: Path, *, repository: Path) -> AsyncIterator[asyncio.StreamReader]:
        """Give the stream of the objects that a file names, one a line, each after its header.

        Raises:
            SourceUnavailable: when it takes longer than a command may.
        """
        with names.open("rb") as stdin:
            arguments = [*_as_options(_SETTINGS), "--git-dir=.", "cat-file", "--batch"]
            async with self._started(
                arguments, repository, "none", 0, asyncio.subprocess.PIPE, stdin=stdin
            ) as process:
                assert process.stdout is not None
                with _in_time():
                    async with asyncio.timeout(self.seconds):
                        yield process.stdout

    @asynccontextmanager
    async def _started(
        self,
        arguments: Sequence[str],
        repository: Path,
        protocol: str,
        port: int,
        stdout: IO[bytes] | int,
        stderr: IO[bytes] | int = asyncio.subprocess.DEVNULL,
        stdin: IO[bytes] | int = asyncio.subprocess.DEVNULL,
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """Start git, and end it with all that it started when the block ends."""
        try:
            process = await asyncio.create_subprocess_exec(
                *limited(
                    [self.path, *arguments],
                    self._confined(repository, port),
                    AS=_MEMORY_BYTES,
                    FSIZE=self.max_bytes,
                ),
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                cwd=repository,
                env=_environment(repository, protocol),
                start_new_session=True,
                limit=1 << 20,
            )
        except OSError as error:
            raise ServiceError("git cannot be started") from error
        try:
            yield process
        finally:
            end(process)
            await process.wait()

    def _confined(self, repository: Path, port: int) -> Confinement:
        """Return what git may do: start its own programs, and read and write its repository."""
        own = of_program(self.path, more=_CERTIFICATES if port else (), port=port)
        named = [os.environ[name] for name in _CERTIFICATES_IN if name in os.environ and port]
        return own._replace(
            read=(*own.read, *named),
            execute=(*own.execute, self.helpers),
            write=(str(repository),),
        )

    async def _await(self, process: asyncio.subprocess.Process, repository: Path) -> None:
        ended = asyncio.ensure_future(process.wait())
        clock = asyncio.get_running_loop().time
        until = clock() + self.seconds
        while not ended.done():
            await asyncio.wait([ended], timeout=_LOOKED_EVERY)
            if await asyncio.to_thread(size_of, repository) > self.max_bytes:
                raise self._too_large()
            if clock() > until:
                raise _too_slow()

    def _too_large(self) -> UnsupportedDocument:
        return UnsupportedDocument(
            user_message=f"The repository is larger than {self.max_bytes / 1e6:,.0f} MB; "
            "GLOSSATOR_INGEST__MAX_REPOSITORY_MEGABYTES changes how large it may be."
        )


async def find_git(max_bytes: int) -> GitProgram:
    """Return the git of this machine.

    Raises:
        ServiceError: there is none, or it is too old.
    """
    path = shutil.which("git")
    if path is None:
        raise _without("there is no git on this machine")
    try:
        said, helpers = [await _said_of_itself(path, asked) for asked in _ASKED_OF_GIT]
    except OSError as error:
        raise _without("git cannot be started") from error
    found = re.search(r"(\d+)\.(\d+)(?:\.\d+)*", said)
    if found is None or (int(found[1]), int(found[2])) < LEAST_VERSION:
        raise _without(f"its version is {found[0] if found else 'unknown'}")
    return GitProgram(path, found[0], helpers.strip(), max_bytes)


async def _said_of_itself(path: str, asked: str) -> str:
    process = await asyncio.create_subprocess_exec(
        path, asked, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    return (await process.communicate())[0].decode(errors="replace")


def size_of(folder: Path) -> int:
    """Return how many bytes the files below a folder take; what vanishes meanwhile is nothing."""
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def pinned(host: str, port: int, addresses: Sequence[str]) -> Mapping[str, str]:
    """Return the settings of a command that finds a host at these addresses and nowhere else."""
    return {**_SETTINGS, "http.curloptResolve": f"{host}:{port}:{','.join(addresses)}"}


def _as_options(settings: Mapping[str, str]) -> list[str]:
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def _environment(home: Path, protocol: str) -> dict[str, str]:
    """Return what git needs to run, and what keeps it from reading or asking anything else."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | {
        "GIT_ALLOW_PROTOCOL": protocol,
        "GIT_ASKPASS": "",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": str(home),
        "LC_ALL": "C",
        "SSH_ASKPASS": "",
    }


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise _too_slow() from error


def _too_slow() -> SourceUnavailable:
    return SourceUnavailable(user_message="The repository did not arrive in time.")


def _without(reason: str) -> ServiceError:
    least = ".".join(map(str, LEAST_VERSION))
    sentence = (
        f"A git source needs git {least} or later, and {reason}: install it "
        f"{how_to_install_git()}, and try again."
    )
    return ServiceError(sentence, user_message=sentence)
