"""What is measured of a bot while it runs, and how it is kept between two sittings."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from tests.soak.process import NOTE
from tests.wire.bot_process import BotProcess

_FILE = "samples.jsonl"


@dataclass(frozen=True)
class Sample:
    """A bot at one moment; `life` counts the processes of a run, which may be interrupted."""

    life: int
    questions: int
    """Answered since the beginning of the run."""
    seconds: float
    """Since the beginning of the life."""
    memory: int
    """Bytes of resident memory."""
    descriptors: int
    threads: int
    tasks: int
    connections: int
    wal: int
    """Bytes of the database's write-ahead log."""
    log: int
    """Bytes."""


def taken(bot: BotProcess, life: int, questions: int, seconds: float) -> Sample:
    """Measure a bot that runs."""
    process = psutil.Process(bot.pid)
    note = bot.folder / NOTE
    with process.oneshot():
        return Sample(
            life=life,
            questions=questions,
            seconds=round(seconds, 1),
            memory=process.memory_info().rss,
            descriptors=process.num_fds(),
            threads=process.num_threads(),
            tasks=int((note.read_text(encoding="utf-8") if note.exists() else "") or 0),
            connections=len(process.net_connections()),
            wal=_size(bot.folder / "data" / "glossator.db-wal"),
            log=_size(bot.folder / "bot.log"),
        )


def keep(sample: Sample, folder: Path) -> None:
    """Add a sample to those of a run."""
    with (folder / _FILE).open("a", encoding="utf-8") as kept:
        kept.write(json.dumps(asdict(sample)) + "\n")


def kept_in(folder: Path) -> Iterator[Sample]:
    """Yield the samples of a run, in order."""
    file = folder / _FILE
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            yield Sample(**json.loads(line))


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
