"""The tesseract of this machine, for tests that need a real one, and stand-ins that fail."""

import asyncio
import shutil
from pathlib import Path

import pytest

from core.ingestion.formats.scans import Recognition, Tesseract, find_tesseract, recognition_with

needs_tesseract = pytest.mark.skipif(
    shutil.which("tesseract") is None,
    reason="there is no tesseract on this machine: install the package tesseract-ocr",
)
without_windows = pytest.mark.skipif(
    shutil.which("sh") is None, reason="the program that stands in for tesseract is a shell script"
)


def english_scans(most_pages: int = 10) -> Recognition:
    """Return how this machine reads English scans; the test is skipped where it cannot."""
    recognition = recognition_with(asyncio.run(find_tesseract()), "en", most_pages)
    if recognition.missing:
        pytest.skip(recognition.missing)
    return recognition


def program(folder: Path, does: str) -> Tesseract:
    """Return a shell script that is called like tesseract, and does something else."""
    path = folder / "tesseract"
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return Tesseract(str(path), "0", ("eng",))
