"""Runs a program of the system under the kernel's limits, and ends it with all it started."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_MOST_ERRORS = 1 << 16
_LIMITED = """
import os, resource, sys
for kind, value in (limit.split("=") for limit in sys.argv[1].split(",")):
    most = resource.getrlimit(getattr(resource, "RLIMIT_" + kind))[1]
    value = int(value) if most < 0 else min(int(value), most)
    if kind != "AS" or sys.platform == "linux":
        resource.setrlimit(getattr(resource, "RLIMIT_" + kind), (value, value))
os.execv(sys.argv[2], sys.argv[2:])
"""


def limited(command: Sequence[str], **limits: int) -> Sequence[str]:
    """Return the command that runs `command` under limits; Windows has none.

    Args:
        limits: by the names that `setrlimit` has for them: `AS` in bytes, `FSIZE` in bytes of a
            file that is written, `CPU` in seconds. No core is ever dumped.
    """
    if sys.platform == "win32":
        return command
    named = ",".join(f"{kind}={value}" for kind, value in {**limits, "CORE": 0}.items())
    return (sys.executable, "-I", "-S", "-c", _LIMITED, named, *command)


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


async def said_by(
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
