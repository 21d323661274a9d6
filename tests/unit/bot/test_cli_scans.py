"""Scanned pages at the command line: read with a mark, or named and never counted as read."""

from pathlib import Path

import pytest

from bot.cli.exits import Exit
from tests.books import LIGHTHOUSE, write_files
from tests.command_line import CommandLine
from tests.tesseract import english_scans, needs_tesseract
from tests.unit.core.ingestion.pdfs import lines, scan_of

pytestmark = pytest.mark.costly

SCAN = lines("Foghorns", size=20, top=740) + lines(
    "The foghorn of the lighthouse sounds for four seconds in every minute",
    "of fog, and its compressor is tested by the keeper each Tuesday.",
)
REASON = "has no text layer (it is scanned); to recognise scans, install the program tesseract"


@pytest.fixture
def book(glossator: CommandLine) -> Path:
    """The lighthouse book with a scanned chapter, not ingested yet."""
    folder = write_files(glossator.folder / "arden", LIGHTHOUSE)
    (folder / "foghorns.pdf").write_bytes(scan_of(SCAN))
    return folder


def without_tesseract(glossator: CommandLine) -> CommandLine:
    """Return a shell that finds no program."""
    return glossator.knowing(PATH=str(glossator.folder))


@pytest.mark.costly
def test_without_tesseract_a_scan_is_named_and_does_not_count_as_read(
    glossator: CommandLine, book: Path
) -> None:
    done = without_tesseract(glossator).here("ingest", "arden", "--json")
    assert done.code == Exit.INCOMPLETE
    [failed] = done.json["failed"]
    assert failed["source"] == "foghorns.pdf"
    assert failed["reason"].startswith(REASON)
    assert done.json["text_files"] == {"read": 3, "of": 4}
    lines_said = without_tesseract(glossator).here("doctor").out.splitlines()
    [scans] = [" ".join(line.split()) for line in lines_said if " scans " in line]
    assert scans.startswith("ok scans scanned pages are named, and not read: to recognise scans,")
    [files] = [line for line in lines_said if " files " in line]
    assert "3 files read, 1 failed" in files
    assert REASON in files


@needs_tesseract
@pytest.mark.costly
def test_a_recognised_scan_is_cited_with_its_mark_and_kept(
    glossator: CommandLine, book: Path
) -> None:
    english_scans()
    first = glossator.here("ingest", "arden", "--json").json
    assert first["failed"] == []
    assert {
        "source": "foghorns.pdf",
        "reason": "the text of 1 of 1 pages was recognised from a scan: 1",
    } in first["warnings"]
    asked = glossator.here("ask", "How long does the foghorn sound in fog?")
    assert "four seconds" in asked.out
    assert "p. 1 · text recognised from a scan" in asked.out
    again = glossator.here("ingest", "arden", "--json").json
    assert (again["embedded"], len(again["unchanged"])) == (0, 4)
    [failed] = without_tesseract(glossator).here("ingest", "arden", "--json").json["failed"]
    assert failed["reason"].startswith(REASON)
    assert failed["reason"].endswith("its earlier text stays")
    assert "four seconds" in glossator.here("ask", "How long does the foghorn sound in fog?").out


@needs_tesseract
def test_the_doctor_names_the_tesseract_and_a_language_that_it_lacks(
    glossator: CommandLine,
) -> None:
    english_scans()
    described = '[courses.arden]\ntitle = "Arden"\nsources = ["arden"]\nlanguage = "tlh"\n'
    (glossator.folder / "glossator.toml").write_text(described)
    found = glossator.here("doctor").out.splitlines()
    first, second = [" ".join(line.split()) for line in found if " scans " in line]
    assert first.startswith("ok scans tesseract ")
    assert "eng" in first
    assert second.startswith(
        "WARN scans scanned pages of arden are named, and not read: to recognise scans, install "
        "tesseract's data of the course's language, tlh"
    )
