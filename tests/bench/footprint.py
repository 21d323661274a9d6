"""Answers one question and prints how much memory that took, as JSON."""

import asyncio
import json
import sys
from pathlib import Path

import psutil

from tests.bench.books import Book, opened, request


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    return int(psutil.Process().memory_info().rss)


def peak() -> int:
    """Return the most that it ever was, where the system tells; else what it is."""
    try:
        status = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return resident()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return int(lines["VmHWM"].split()[0]) * 1024


async def main(data_dir: Path, course: str, question: str) -> None:
    """Answer the question and print the figures in bytes."""
    imported = resident()
    async with opened(data_dir) as services:
        await services.agent().rehearse(request(Book(course, data_dir), question))
        print(json.dumps({"imported": imported, "resident": resident(), "peak": peak()}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
