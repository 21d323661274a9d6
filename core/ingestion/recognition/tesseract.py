"""The tesseract of this machine: whether there is one, what it knows, and what a picture says."""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from core.ingestion.formats.pdf.scans import PagePicture
from core.ingestion.limited_program import limited, said_by

_KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "TESSDATA_PREFIX")
_MEMORY_BYTES = 1 << 30
_PROCESSOR_SECONDS = 60
"""For one page; most take a few."""
_SECONDS = 600.0
"""For one page, on a machine that is busy with other work."""
_SECONDS_TO_SAY = 20.0
_MOST_BYTES = 4_000_000
"""Of what tesseract says of one page."""
_LANGUAGE = re.compile(r"[A-Za-z][\w/-]*")


@dataclass(frozen=True, slots=True)
class Tesseract:
    """A tesseract that can be started."""

    path: str
    version: str
    languages: tuple[str, ...]
    """Of which it has data, as it calls them: `deu`, `eng`, `osd` ..."""

    async def read(self, picture: PagePicture, language: str) -> bytes:
        """Return the lines of text on a picture as hOCR; empty where that fails.

        The program gets a header written here and the bare pixels, no file of anyone's. It may
        use 1 GiB of memory and 60 s of processor time, and write no file.
        """
        command = (self.path, "stdin", "stdout", "-l", language, "--dpi", str(picture.dpi))
        code, said = await _said_by(
            limited(
                [*command, "-c", "tessedit_create_hocr=1"],
                AS=_MEMORY_BYTES,
                CPU=_PROCESSOR_SECONDS,
                FSIZE=0,
            ),
            (b"P5 %d %d 255\n" % (picture.width, picture.height), picture.pixels),
            _SECONDS,
        )
        return said if code == 0 and len(said) <= _MOST_BYTES else b""


async def find_tesseract() -> Tesseract | None:
    """Return the tesseract of this machine; none where there is none that can be started."""
    path = shutil.which("tesseract")
    if path is None:
        return None
    _, named = await _said_by([path, "--version"], (), _SECONDS_TO_SAY)
    code, listed = await _said_by([path, "--list-langs"], (), _SECONDS_TO_SAY)
    version = re.search(r"tesseract v?(\d[\w.-]*)", named.decode(errors="replace"))
    if version is None or code != 0:
        return None
    lines = listed.decode(errors="replace").splitlines()
    return Tesseract(path, version[1], tuple(filter(_LANGUAGE.fullmatch, lines)))


async def _said_by(
    command: Sequence[str], given: Sequence[bytes], seconds: float
) -> tuple[int, bytes]:
    """Return the exit code and the output of a program, of which too much is cut off.

    The code is -1 where it cannot be started, takes too long or says too much.
    """
    said = await said_by(
        command, given, seconds=seconds, most_bytes=_MOST_BYTES, environment=_environment()
    )
    return (-1 if said.code is None else said.code), said.output


def _environment() -> dict[str, str]:
    """Return what tesseract needs to run: one thread, and nothing of ours."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C", "OMP_THREAD_LIMIT": "1"}
