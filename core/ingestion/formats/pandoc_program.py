"""The pandoc of this machine: whether there is one, what it reads, and what it makes of a text."""

import logging
import math
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from core.domain.errors import ProgramMissing, UnsupportedDocument
from core.ingestion.formats.registry import FORMATS, OLDEST_PANDOC
from core.ingestion.sources.git_program import ProgramOutput, limited, run_program
from core.ingestion.system_packages import how_to_install_pandoc

logger = logging.getLogger(__name__)

_ASKED = ("--version", "--list-input-formats")
_HEAP_MEGABYTES = 512
_ADDRESS_SPACE_BYTES = 3 << 30
"""More than the heap: what the program's runtime reserves it does not use."""
_MOST_BYTES = 64_000_000
"""Of a tree, as JSON."""
_SECONDS_TO_SAY = 20.0
_BUSY = 3
"""How many times longer than its processor time it may take on a machine with other work."""
_NO_MEMORY = 251
"""The exit code of a program in Haskell whose heap is exhausted."""
_KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")


@dataclass(frozen=True, slots=True)
class Pandoc:
    """A pandoc that can be started."""

    path: str
    version: str
    formats: frozenset[str]
    """Those that it reads, as it calls them."""

    async def tree(self, name: str, text: bytes, seconds: float) -> bytes:
        """Return the tree that it makes of a text, as JSON, and what it says meanwhile.

        The text comes and the tree goes through pipes, and the program opens no file that the
        text names. It may use 512 MiB of heap and `seconds` of processor time, and write no file.

        Raises:
            UnsupportedDocument: the reason follows the document's name.
        """
        command = [self.path, "--sandbox", "--verbose", "-f", name, "-t", "json"]
        whole = memoryview(text)
        said = await run_program(
            _held([*command, "+RTS", f"-M{_HEAP_MEGABYTES}M", "-RTS"], seconds),
            (whole[start : start + (1 << 18)] for start in range(0, len(whole), 1 << 18)),
            seconds=_BUSY * seconds,
            most_bytes=_MOST_BYTES,
            environment=_environment(),
        )
        if said.code == 0 and said.is_whole:
            return said.errors.replace(b"\0", b"") + b"\0" + said.output
        if not said.is_whole:
            reason = f"becomes more than {_MOST_BYTES // 1_000_000} MB when pandoc reads it"
        elif said.code is None or said.code < 0:
            reason = f"takes pandoc longer than {seconds:g} s to read"
        elif said.code == _NO_MEMORY:
            reason = f"needs more than {_HEAP_MEGABYTES} MiB of memory when pandoc reads it"
        else:
            reason = f"cannot be read by pandoc: {_complaint(said.errors)}"
        raise UnsupportedDocument(reason)


def _complaint(errors: bytes) -> str:
    """Return the last of what it said that is no mere note, on one line."""
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines()]
    notes = ("[INFO]", "[WARNING]")
    last = [line for line in lines if line and not line.startswith(notes)]
    return " ".join(last)[:200].replace('"-"', "the text") or "it says nothing"


async def find_pandoc() -> Pandoc | None:
    """Return the pandoc of the wheel `pypandoc_binary`, else of the path; None: there is none."""
    for path in filter(None, (_wheel_program(), shutil.which("pandoc"))):
        named, listed = [await _said_of_itself(path, asked) for asked in _ASKED]
        if listed.code != 0:
            logger.warning("%s does not start: %s", path, _complaint(named.errors + listed.errors))
        version = re.match(r"pandoc\S*\s+([\d.]+)", named.output.decode(errors="replace"))
        if version and listed.code == 0 and _number(version[1]) >= _number(OLDEST_PANDOC):
            return Pandoc(path, version[1], frozenset(listed.output.decode().split()))
    return None


async def _said_of_itself(path: str, asked: str) -> ProgramOutput:
    return await run_program(
        _held([path, asked], _SECONDS_TO_SAY),
        (),
        seconds=_SECONDS_TO_SAY,
        most_bytes=1 << 16,
        environment=_environment(),
    )


def _held(command: Sequence[str], seconds: float) -> Sequence[str]:
    return limited(command, AS=_ADDRESS_SPACE_BYTES, CPU=math.ceil(seconds), FSIZE=0)


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.strip(".").split(".")))


def _wheel_program() -> str | None:
    """Return the program in the wheel, whose package has it in a folder."""
    found = find_spec("pypandoc")
    if found is None or found.origin is None:
        return None
    return shutil.which("pandoc", path=str(Path(found.origin).parent / "files"))


def readers(found: Pandoc | None, name: str) -> Pandoc:
    """Return the pandoc that reads a format, given by the name that it has for it.

    Raises:
        ProgramMissing: with the one command that installs it here.
    """
    known = next((each for each in FORMATS if each.pandoc == name), None)
    if known is None:
        raise UnsupportedDocument("is of no format that pandoc is asked to read")
    if found is not None and name in found.formats:
        return found
    needs = f"needs pandoc {known.pandoc_since} or newer"
    needs += f", and this one is {found.version}" if found else ""
    newest = known.pandoc_since != OLDEST_PANDOC
    raise ProgramMissing(f"{needs}: {how_to_install_pandoc(newest=newest)}")


def _environment() -> dict[str, str]:
    """Return what pandoc needs to run, and nothing of ours; texts are UTF-8."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8"}
