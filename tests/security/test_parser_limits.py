"""What the kernel grants the process that parses documents nobody vouches for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.ingestion.sandbox import sandbox as parser_process
from core.ingestion.sandbox.child import ADDRESS_SPACE_BYTES
from core.ingestion.sandbox.messages import ParseJob
from core.ingestion.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.costly

_LIMIT = re.compile(r"^(Max [a-z ]+?)\s{2,}(\d+|unlimited)\s", re.MULTILINE)


@pytest.mark.skipif(sys.platform != "linux", reason="reads limits from /proc")
async def test_the_kernel_bounds_the_child() -> None:
    async with Sandbox() as box:
        await box.parse(ParseJob(b"Demand falls.", "good.txt"))
        limits = _limits(_child())
    assert int(limits["Max address space"]) < 8 * ADDRESS_SPACE_BYTES
    assert limits["Max file size"] == limits["Max core file size"] == limits["Max processes"] == "0"
    assert int(limits["Max open files"]) <= 64
    assert limits["Max cpu time"] != "unlimited"


@pytest.mark.parametrize("deed", ["socket.socket()", "open('/etc/passwd')", "os.fork()"])
def test_the_child_keeps_its_hook_to_the_end(deed: str) -> None:
    code = f"import os, socket; from core.ingestion.sandbox import child; child.main(); {deed}"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=parser_process._environment(),
    )
    assert done.returncode == 1
    assert b"PermissionError" in done.stderr


def _limits(process: int) -> dict[str, str]:
    return dict(_LIMIT.findall(Path(f"/proc/{process}/limits").read_text()))


def _child() -> int:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    [child] = [pid for pid in children if _parses(pid)]
    return int(child)


def _parses(pid: str) -> bool:
    return b"core.ingestion.sandbox.child" in Path(f"/proc/{pid}/cmdline").read_bytes()
