"""What a document's text does not have is counted, kept and told; other readers read again."""

import json
import shutil
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli.ingest import print_report, summary
from core.ingestion import pipeline
from core.ingestion.coverage import IngestionRefused, IngestReport
from core.ingestion.document import Block, BlockKind, Omission
from core.ingestion.formats import pandoc_program as program
from core.ingestion.formats import registry
from core.ingestion.refusal import counts_kept, more_left_out_than_read
from core.ingestion.sandbox import sandbox as parser_process
from core.ingestion.system_packages import how_to_install_pandoc
from tests.library import BOOK, COURSE, Library
from tests.pandoc import needs_pandoc

pytestmark = pytest.mark.costly

WEEK = """\
* Week 2
10^6 litres cost +fifty crowns+ 60.
#+begin_export html
<b>raw words</b>
#+end_export
"""
NOTES = '''"""Reads notes in which `= ` begins a heading and `! ` what is left out."""

from core.ingestion.document import Block, BlockKind, Omission, document_of
from core.ingestion.formats import registry


def read_notes(raw):
    return raw.decoded(parse_notes)


def parse_notes(text):
    blocks, left_out = [], []
    for number, line in enumerate(text.split("\\n"), 1):
        place = {"line_start": number, "line_end": number}
        if line.startswith("! "):
            left_out.append(Omission("aside", f"line {number}", len(line.split()) - 1))
        elif line.startswith("= "):
            blocks.append(Block(BlockKind.HEADING, line[2:], 1, locator=place))
        else:
            blocks.append(Block(BlockKind.PARAGRAPH, line, locator=place))
    return document_of(None, blocks, left_out=left_out)


ENTRY = registry.Format(
    "notes", "Notes", (".notes",), read_notes, places=("line_start", "line_end")
)
'''
REGISTERED = (
    "import notes_format; from core.ingestion.formats import registry; "
    "registry.FORMATS = (*registry.FORMATS, notes_format.ENTRY); "
    "from core.ingestion.sandbox.child import main; main()"
)


def told(report: IngestReport, capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_report(report, 0.0)
    return capsys.readouterr().out.splitlines()


def without_pandoc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_wheel_program", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda tool, path=None: None)


# --- the account --------------------------------------------------------------------------


@needs_pandoc
async def test_what_was_not_read_is_told_in_words_and_whole_in_json(
    library: Library, capsys: pytest.CaptureFixture[str]
) -> None:
    library.write({"week2.org": WEEK})
    report = await library.ingest("book")
    lines = told(report, capsys)
    assert (
        "not read: 1 passage of struck text (2 words), 1 passage in html (4 words) in week2.org"
        in lines
    )
    named = json.loads(json.dumps(summary(report, 0.0)))["not_read"]
    assert named == [
        {
            "path": "week2.org",
            "kind": "struck text",
            "count": 1,
            "words": 2,
            "where": ["section “Week 2”"],
        },
        {
            "path": "week2.org",
            "kind": "passage in html",
            "count": 1,
            "words": 4,
            "where": ["section “Week 2”"],
        },
    ]
    again = await library.ingest("book")
    assert [(one.kind, one.count, one.words) for one in again.not_read] == [
        ("passage in html", 1, 4),
        ("struck text", 1, 2),
    ]
    assert not [line for line in told(again, capsys) if line.startswith("not read")]


@needs_pandoc
async def test_a_page_with_more_left_out_than_read_is_a_warning(library: Library) -> None:
    library.write({"week3.org": "* Week 3\nWords +and many more words that are struck+.\n"})
    report = await library.ingest("book")
    assert [(w.source, w.reason) for w in report.warnings] == [
        ("week3.org", "more of it was left out than read: 3 words were read, 7 were not")
    ]


def test_an_element_of_unknown_words_counts_as_one_word() -> None:
    blocks = [Block(BlockKind.PARAGRAPH, "Two words.")]
    assert more_left_out_than_read(blocks, [Omission("equation")] * 2) == ""
    assert more_left_out_than_read(blocks, [Omission("equation", count=3)])
    assert more_left_out_than_read([], []) == ""


def test_an_account_of_thousands_of_omissions_stays_small() -> None:
    left_out = [Omission(f"macro {n % 900}", f"line {n}", n % 3) for n in range(9_000)]
    kept = counts_kept(left_out)
    assert len(json.dumps(kept)) < 2_000
    assert sum(count for count, _ in kept.values()) == 9_000
    assert sum(words for _, words in kept.values()) == sum(one.words for one in left_out)


# --- formats that need a program ----------------------------------------------------------


async def test_files_without_their_program_are_left_out_with_the_command(
    library: Library, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_pandoc(monkeypatch)
    library.write({f"{n}.adoc": "= Words\n\nText." for n in range(3)})
    report = await library.ingest("book")
    assert (sorted(report.added), report.failed) == (sorted(BOOK), [])
    reason = f"needs pandoc 3.8.3 or newer: {how_to_install_pandoc(newest=True)}"
    assert {left.reason for left in report.left_out} == {reason}
    assert (report.share.read, report.share.of) == (3, 6)
    assert any(reason in line and ".adoc" in line for line in told(report, capsys))
    with pytest.raises(IngestionRefused, match=r"3 \.adoc \(needs pandoc 3\.8\.3 or newer: "):
        await library.ingest("book/0.adoc", "book/1.adoc", "book/2.adoc", course=OTHER)


OTHER = COURSE.model_copy(update={"course_id": "other"})


@needs_pandoc
async def test_a_document_that_was_read_stays_where_its_program_goes(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.write({"week2.org": WEEK, "week3.org": WEEK})
    await library.ingest("book")
    without_pandoc(monkeypatch)
    library.write({"week3.org": "* Week 3\nAnother text."})
    report = await library.ingest("book")
    assert "week2.org" in report.unchanged
    [failure] = report.failed
    assert failure.source == "week3.org"
    how = how_to_install_pandoc(newest=False)
    assert failure.reason == f"needs pandoc 2.15 or newer: {how}; its earlier text stays"
    assert {"week2.org", "week3.org"} <= set(await library.files())


# --- what another reader reads otherwise --------------------------------------------------


async def test_documents_of_a_changed_reader_are_read_again_once_without_new_vectors(
    library: Library, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    library.write({"plain.txt": "Plain words of the harbour."})
    first = await library.ingest("book")
    newer = [
        replace(each, version=each.version + (each.name == "plain")) for each in registry.FORMATS
    ]
    monkeypatch.setattr(registry, "FORMATS", newer)
    report = await library.ingest("book")
    assert (report.reread, report.changed, report.embedded) == (["plain.txt"], [], 0)
    assert sorted(report.unchanged) == sorted([*BOOK, "plain.txt"])
    assert (
        "read again: 1 document, since this version reads files otherwise; "
        "the text of 0 is another one now" in told(report, capsys)
    )
    assert (report.chunks, bool(report.sections)) == (first.chunks, False)
    again = await library.ingest("book")
    assert (again.reread, again.generation) == ([], report.generation)


async def test_a_course_of_an_earlier_version_is_read_again_once(library: Library) -> None:
    first = await library.ingest("book")
    with sqlite3.connect(library.folder / "catalogue.db") as database:
        database.execute("UPDATE documents SET content_hash = 'x' WHERE source_file = 'moon.md'")
        database.execute(
            "UPDATE documents SET fingerprint = '5' || substr(fingerprint, instr(fingerprint, ':'))"
        )
    database.close()
    report = await library.ingest("book")
    assert sorted(report.reread) == sorted(BOOK)
    assert (report.changed, sorted(report.unchanged)) == (["moon.md"], ["charts.md", "gauges.md"])
    assert (report.chunks, report.embedded) == (first.chunks, 0)
    assert (await library.ingest("book")).reread == []


async def test_a_document_whose_file_changed_too_is_no_more_than_changed(library: Library) -> None:
    await library.ingest("book")
    library.write({"moon.md": "# The moon\n\nAnother text.\n"})
    report = await library.ingest("book")
    assert (report.changed, report.reread) == (["moon.md"], [])


def test_each_format_has_a_reader_of_its_own_in_what_documents_keep() -> None:
    readers = pipeline._readers()
    assert len(set(readers.values())) == len(readers) == len(registry.FORMATS)
    assert not any(":" in reader for reader in readers.values())


# --- the guide "Adding a format" ----------------------------------------------------------


async def test_a_format_is_a_reader_and_one_entry(
    library: Library,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "notes_format.py").write_text(NOTES)
    monkeypatch.syspath_prepend(str(tmp_path))
    import notes_format  # type: ignore[import-not-found]

    monkeypatch.setattr(registry, "FORMATS", (*registry.FORMATS, notes_format.ENTRY))
    monkeypatch.setattr(parser_process, "_COMMAND", (sys.executable, "-P", "-c", REGISTERED))
    library.write({"a.notes": "= Sluices\nA sluice lets 10⁶ litres pass.\n! not for students\n"})
    report = await library.ingest("book")
    assert "a.notes" in report.added
    [chunk] = [one for one in await library.chunks() if one.source_file == "a.notes"]
    assert (chunk.headings, chunk.metadata["line_start"]) == (("Sluices",), 2)
    assert "not read: 1 aside (3 words) in a.notes" in told(report, capsys)
    assert "Textile, plain text and Notes" in registry.supported_formats()
