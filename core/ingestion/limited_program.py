"""Runs a program of the system under the kernel's limits, and ends it with all it started."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence

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
