"""The sandbox survives what it parses: bombs, endless work, crashes, escapes, cancellation."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.errors import ServiceError, UnsupportedDocument
from core.ingestion.document import Block, BlockKind, ParsedDocument
from core.ingestion.sandbox import sandbox
from core.ingestion.sandbox import sandbox as parser_process
from core.ingestion.sandbox.messages import ParseJob, job_parts
from core.ingestion.sandbox.sandbox import Sandbox

linux_only = pytest.mark.skipif(
    sys.platform != "linux", reason="looks into /proc, or needs a limit that Linux alone keeps"
)
GOOD = ParseJob(b"Demand falls.\n\nSupply rises.", "good.txt")
SLOW = ParseJob(b"<div>" * 60_000 + b"x", "slow.html")
"""Ten seconds of work: the HTML parser's time grows with the square of the depth."""


async def assert_still_works(sandbox: Sandbox) -> None:
    document = await sandbox.parse(GOOD)
    assert [block.text for block in document.blocks] == ["Demand falls.", "Supply rises."]


@pytest.fixture(autouse=True)
def _started_by_others() -> Iterator[None]:
    """Leave out of `children` what earlier tests of this process have started."""
    _EARLIER.clear()
    _EARLIER.update(children())
    yield
    _EARLIER.clear()


_EARLIER = set[int]()


def children() -> list[int]:
    """Return the ids of the children that this test has started, zombies included."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.append(int(status.parent.name))
    return [child for child in found if child not in _EARLIER]


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


async def child_of(sandbox: Sandbox) -> int:
    await assert_still_works(sandbox)
    (child,) = children()
    return child


async def test_a_document_comes_back_as_it_was_parsed() -> None:
    async with Sandbox() as box:
        document = await box.parse(GOOD)
    assert document == ParsedDocument(
        None,
        (
            Block(BlockKind.PARAGRAPH, "Demand falls.", locator={"line_start": 1, "line_end": 1}),
            Block(BlockKind.PARAGRAPH, "Supply rises.", locator={"line_start": 3, "line_end": 3}),
        ),
        format="plain",
    )


async def test_a_refusal_has_its_reason_and_keeps_the_child() -> None:
    async with Sandbox() as box:
        await assert_still_works(box)
        before = box._child
        with pytest.raises(UnsupportedDocument, match=r"^is empty$"):
            await box.parse(ParseJob(b"", "empty.md"))
        await assert_still_works(box)
        assert box._child is before


async def test_many_documents_at_once_each_get_their_own_answer() -> None:
    jobs = [ParseJob(f"Text {number}.".encode(), "a.txt") for number in range(8)]
    async with Sandbox() as box:
        documents = await asyncio.gather(*map(box.parse, jobs))
    assert [d.blocks[0].text for d in documents] == [f"Text {n}." for n in range(8)]


@pytest.mark.costly
@linux_only
async def test_a_memory_bomb_ends_at_one_gibibyte() -> None:
    bomb = ParseJob(b"<br>" * 6_000_000 + b"x", "bomb.html")
    async with Sandbox() as box:
        with pytest.raises(UnsupportedDocument, match="memory"):
            await box.parse(bomb)
        await assert_still_works(box)


@pytest.mark.costly
async def test_a_document_that_takes_too_long_is_given_up() -> None:
    async with Sandbox(seconds=1) as box:
        with pytest.raises(UnsupportedDocument, match=r"^takes longer than 1 s to read$"):
            await box.parse(SLOW)
        await assert_still_works(box)


@pytest.mark.costly
@linux_only
def test_the_kernel_ends_a_child_that_uses_its_processor_time() -> None:
    asked = b"".join(bytes(part) for part in job_parts(SLOW, 1))
    ended = subprocess.run(
        parser_process._COMMAND, input=asked, capture_output=True, env=parser_process._environment()
    )
    assert ended.returncode == -signal.SIGXCPU


@pytest.mark.costly
@linux_only
@pytest.mark.parametrize(
    ("blow", "reason"),
    [(signal.SIGSEGV, "crashes its parser"), (signal.SIGKILL, "needs more memory than there is")],
)
async def test_a_child_that_dies_costs_only_its_document(blow: signal.Signals, reason: str) -> None:
    async with Sandbox() as box:
        child = await child_of(box)
        parsing = asyncio.create_task(box.parse(SLOW))
        await asyncio.sleep(0.3)
        os.kill(child, blow)
        with pytest.raises(UnsupportedDocument, match=reason):
            await parsing
        await assert_still_works(box)


@pytest.mark.costly
@linux_only
async def test_a_child_that_died_between_two_documents_is_replaced() -> None:
    async with Sandbox() as box:
        os.kill(await child_of(box), signal.SIGKILL)
        await asyncio.sleep(0.2)
        await assert_still_works(box)


@pytest.mark.costly
@linux_only
async def test_a_cancelled_call_leaves_no_process_behind() -> None:
    async with Sandbox() as box:
        child = await child_of(box)
        parsing = asyncio.create_task(box.parse(SLOW))
        await asyncio.sleep(0.3)
        parsing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await parsing
        assert child not in children()
        await assert_still_works(box)
    assert children() == []


@pytest.mark.costly
@linux_only
async def test_the_child_is_replaced_after_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_BYTES_A_CHILD", 2 * len(GOOD.data))
    async with Sandbox() as box:
        first = await child_of(box)
        assert await child_of(box) == first
        assert await child_of(box) != first


async def test_the_child_is_replaced_when_it_asks_to_retire(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weary = (
        "import sys; out = sys.stdout.buffer\n"
        "out.write(bytes([0, 0, 0, 2]) + b'{}'); out.flush(); sys.stdin.buffer.read(10)\n"
        'said = b\'{"reason": "is odd", "retire": true}\'\n'
        "out.write(bytes([0, 0, 0, len(said)]) + said); out.flush(); sys.stdin.read()\n"
    )
    monkeypatch.setattr(parser_process, "_COMMAND", (sys.executable, "-c", weary))
    async with Sandbox() as box:
        for _ in range(2):
            with pytest.raises(UnsupportedDocument, match=r"^is odd$"):
                await box.parse(GOOD)
            assert box._child is None


@linux_only
async def test_the_child_sees_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLOSSATOR_TOKEN", "s3cret")
    async with Sandbox() as box:
        environment = environment_of(await child_of(box))
    assert b"s3cret" not in environment
    assert b"PYTHONPATH" in environment


async def test_a_child_that_cannot_start_is_no_fault_of_the_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parser_process, "_COMMAND", (sys.executable, "-c", "raise SystemExit(3)"))
    async with Sandbox() as box:
        with pytest.raises(ServiceError, match="does not come up"):
            await box.parse(GOOD)


async def test_a_child_that_talks_nonsense_is_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    liar = (
        "import sys; out = sys.stdout.buffer\n"
        "out.write(bytes([0, 0, 0, 2]) + b'{}'); out.flush(); sys.stdin.buffer.read(10)\n"
        "out.write(bytes([255, 255, 255, 255]) + b'x' * 99); out.flush(); sys.stdin.read()\n"
    )
    monkeypatch.setattr(parser_process, "_COMMAND", (sys.executable, "-c", liar))
    async with Sandbox() as box:
        with pytest.raises(UnsupportedDocument, match=r"^crashes its parser$"):
            await box.parse(GOOD)


async def test_modules_beside_the_documents_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a foreign module ran')")
    monkeypatch.chdir(tmp_path)
    async with Sandbox() as box:
        await assert_still_works(box)
