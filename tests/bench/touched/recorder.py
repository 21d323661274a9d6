"""The bot's command line, which writes down what it runs of the product between two signals."""

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from bot.cli import main

MODULE = "tests.bench.touched.recorder"
"""To be run in place of `bot`."""
BEGIN, END = signal.SIGUSR1, signal.SIGUSR2
RECORD = "touched.json"
"""In the current folder, after END: pairs of file and function, in the order of first calls."""

_ROOT = f"{Path(__file__).resolve().parents[3]}{os.sep}"
_PRODUCT = tuple(f"{_ROOT}{package}{os.sep}" for package in ("adapters", "bot", "core"))
_IMPORTING = "<frozen importlib._bootstrap>"


class Recorder:
    """Notes each function of the product that any thread calls, once."""

    def __init__(self) -> None:
        self._is_on = False
        self._seen: dict[int, CodeType] = {}

    def install(self) -> None:
        """Wait for BEGIN, from which the main thread is watched, and each other thread."""
        signal.signal(BEGIN, self._begin)
        signal.signal(END, self._end)
        threading.setprofile(self._profile)

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if (
            self._is_on
            and event == "call"
            and id(code) not in self._seen
            and code.co_filename.startswith(_PRODUCT)
            and not _is_import(frame)
        ):
            self._seen[id(code)] = code

    def _begin(self, *_: object) -> None:
        self._seen.clear()
        self._is_on = True
        sys.setprofile(self._profile)

    def _end(self, *_: object) -> None:
        self._is_on = False
        sys.setprofile(None)
        touched = [
            (code.co_filename.removeprefix(_ROOT).replace(os.sep, "/"), code.co_qualname)
            for code in self._seen.values()
        ]
        unfinished = Path(f"{RECORD}.unfinished")
        unfinished.write_text(json.dumps(touched), encoding="utf-8")
        unfinished.replace(RECORD)


def read_record(folder: Path) -> Sequence[tuple[str, str]] | None:
    """Return what a recorder wrote in its current folder; None: it has not written yet."""
    record = folder / RECORD
    if not record.exists():
        return None
    return [(file, function) for file, function in json.loads(record.read_text("utf-8"))]


def _is_import(frame: FrameType | None) -> bool:
    """Return whether a call belongs to a module that is being imported."""
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            return True
        frame = frame.f_back
    return False


if __name__ == "__main__":
    Recorder().install()
    sys.exit(main())
