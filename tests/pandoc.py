"""The pandoc of this machine, for tests that need a real one, and stand-ins that fail."""

import asyncio
from pathlib import Path

import pytest

from core.ingestion.formats.pandoc_program import Pandoc, find_pandoc

FOUND = asyncio.run(find_pandoc())
needs_pandoc = pytest.mark.skipif(
    FOUND is None or not {"asciidoc", "typst"} <= FOUND.formats,
    reason="there is no pandoc on this machine that reads AsciiDoc: pip install pypandoc_binary",
)


async def no_pandoc() -> Pandoc | None:
    """Return what a machine without pandoc finds."""
    return None


def program(folder: Path, does: str) -> Pandoc:
    """Return a shell script that is called like pandoc, and does something else."""
    path = folder / "pandoc"
    path.write_text(f"#!/bin/sh\n{does}\n")
    path.chmod(0o755)
    return Pandoc(str(path), "3.9", frozenset({"org", "rtf"}))
