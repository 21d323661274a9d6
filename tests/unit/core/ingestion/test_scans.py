"""Scanned pages of a PDF: recognised and marked, or named with what is missing."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import BlockKind, ParsedDocument
from core.ingestion.formats import scans as tesseract_module
from core.ingestion.formats.scans import (
    PagePicture,
    Recognition,
    Tesseract,
    find_tesseract,
    recognition_with,
    tesseract_name,
)
from core.ingestion.sandbox.messages import ParseJob
from core.ingestion.sandbox.sandbox import Sandbox
from core.ingestion.system_packages import how_to_install_tesseract
from tests.tesseract import english_scans, needs_tesseract, program, without_windows
from tests.unit.core.ingestion.pdfs import lines, pdf, scan_of

TITLE = lines("Elasticity", size=20, top=740)
PROSE = lines(
    "The elasticity of demand says how far demand moves when a",
    "price changes. It is large where people can do without a good.",
)
MORE = lines("Where demand is elastic, a higher price lowers what is earned.", top=600)
PICTURE = PagePicture(4, 2, 300, bytes(8))
UNREAD = Recognition(missing="to recognise scans, install something")
TILES = b"0 g 0 0 2 2 re f"
SLOW = pdf(
    lines("Good page."),
    "/Pattern cs /N scn 0 0 612 792 re f",
    objects={
        1000: b"<</Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 4 4]/XStep 0.05"
        b"/YStep 0.05/Resources<<>>/Length %d>>stream\n%s\nendstream" % (len(TILES), TILES)
    },
    resources="/Pattern<</N 1000 0 R>>",
)
"""Its second page is drawn for minutes: a billion tiles, each a twentieth of a point away."""


def parsed(data: bytes, recognition: Recognition, *, seconds: float = 20) -> ParsedDocument:
    """Return the document as the sandbox parses it, which then still works."""

    async def parse() -> ParsedDocument:
        async with Sandbox(recognition=recognition, seconds=seconds) as box:
            try:
                return await box.parse(ParseJob(data, "scan.pdf"))
            finally:
                await box.parse(ParseJob(b"Demand falls.", "good.txt"))

    return asyncio.run(parse())


@needs_tesseract
@pytest.mark.costly
def test_a_scan_becomes_headings_and_paragraphs_that_are_marked() -> None:
    document = parsed(scan_of(TITLE + PROSE, MORE), english_scans())
    heading, prose, more = document.blocks
    assert (heading.kind, heading.text, heading.level) == (BlockKind.HEADING, "Elasticity", 1)
    assert prose.text.startswith("The elasticity of demand says how far demand moves when a price")
    assert more.text == "Where demand is elastic, a higher price lowers what is earned."
    assert all(block.recognised for block in document.blocks)
    assert [block.locator for block in document.blocks] == [{"page": 1}, {"page": 1}, {"page": 2}]
    assert document.warnings == ("the text of 2 of 2 pages was recognised from a scan: 1, 2",)


@needs_tesseract
@pytest.mark.costly
def test_a_scanned_page_among_pages_with_text_is_recognised_too() -> None:
    beside = [lines("Supply", size=20, top=740) + lines("Supply rises with the price."), ""]
    document = parsed(scan_of(TITLE + PROSE, beside=beside), english_scans())
    assert [(block.text, block.recognised) for block in document.blocks[:3]] == [
        ("Supply", False),
        ("Supply rises with the price.", False),
        ("Elasticity", True),
    ]
    assert [block.level for block in document.blocks[:3]] == [1, 0, 1]
    assert document.warnings == (
        "the text of 1 of 3 pages was recognised from a scan: 3",
        "1 of 3 pages have no text: 2; no text was recognised there",
    )


@needs_tesseract
@pytest.mark.costly
def test_no_more_pages_are_recognised_than_may_be() -> None:
    document = parsed(scan_of(PROSE, MORE), english_scans(most_pages=1))
    assert {block.locator["page"] for block in document.blocks} == {1}
    assert document.warnings[1] == (
        "1 of 2 pages have no text: 2; of a document, no more than 1 are recognised"
    )


@needs_tesseract
def test_the_tesseract_of_this_machine_says_its_version_and_languages() -> None:
    found = asyncio.run(find_tesseract())
    assert found is not None
    assert found.version[0].isdigit()
    assert found.languages


@pytest.mark.costly
def test_without_recognition_a_scan_is_refused_with_what_is_missing() -> None:
    reason = r"^has no text layer \(it is scanned\); to recognise scans, install something$"
    with pytest.raises(UnsupportedDocument, match=reason):
        parsed(scan_of(PROSE), UNREAD)


@pytest.mark.costly
def test_without_recognition_scanned_pages_are_named_with_what_is_missing() -> None:
    document = parsed(scan_of(PROSE, beside=[lines("Text.")]), UNREAD)
    assert [block.text for block in document.blocks] == ["Text."]
    assert document.warnings == (
        "1 of 2 pages have no text: 2; to recognise scans, install something",
    )


@pytest.mark.costly
def test_text_that_another_program_recognised_is_marked() -> None:
    page = "BT 3 Tr /F1 11 Tf 72 500 Td (Scanned page) Tj ET"
    [block] = parsed(pdf(page), UNREAD).blocks
    assert (block.text, block.recognised) == ("Scanned page", True)


@without_windows
@pytest.mark.costly
def test_what_draws_a_page_without_end_costs_only_the_pages_without_text(tmp_path: Path) -> None:
    recognition = Recognition(program(tmp_path, "exit 1"), "eng", 10)
    document = parsed(SLOW, recognition, seconds=8)
    assert [block.text for block in document.blocks] == ["Good page."]
    assert document.warnings == (
        "1 of 2 pages have no text: 2; while its pages are drawn, it takes longer than 8 s to read",
    )


@pytest.mark.costly
@without_windows
def test_after_three_failures_in_a_row_no_further_page_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, real = list[Sequence[str]](), tesseract_module._run_program

    async def counted(
        command: Sequence[str], given: Sequence[bytes], seconds: float
    ) -> tuple[int, bytes]:
        started.append(command)
        return await real(command, given, seconds)

    monkeypatch.setattr(tesseract_module, "_run_program", counted)
    recognition = Recognition(program(tmp_path, "exit 1"), "eng", 10)
    with pytest.raises(UnsupportedDocument, match="no text was recognised there"):
        parsed(scan_of(*[lines(f"Page {number}.") for number in range(5)], dpi=36), recognition)
    assert len(started) == 3


@without_windows
@pytest.mark.parametrize(
    "does",
    ["exit 3", "kill -9 $$", "exec cat /dev/zero", "exec sleep 60", "echo no hOCR; exit 1"],
    ids=["fails", "dies", "endless output", "endless silence", "fails with words"],
)
async def test_a_program_that_goes_wrong_recognises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    monkeypatch.setattr(tesseract_module, "_SECONDS", 2.0)
    assert await program(tmp_path, does).read(PICTURE, "eng") == b""


@without_windows
async def test_the_program_gets_a_bare_picture_and_none_of_our_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLOSSATOR_TOKEN", "s3cret")
    given = await program(tmp_path, "cat").read(PICTURE, "eng")
    assert given == b"P5 4 2 255\n" + bytes(8)
    called = await program(tmp_path, 'echo "$@"; env').read(PICTURE, "deu")
    assert called.startswith(b"stdin stdout -l deu --dpi 300 -c tessedit_create_hocr=1\n")
    assert b"s3cret" not in called


@without_windows
def test_the_program_may_write_no_file(tmp_path: Path) -> None:
    asyncio.run(program(tmp_path, 'echo text > "$0.txt"').read(PICTURE, "eng"))
    made = tmp_path / "tesseract.txt"  # where the kernel has no Landlock, it is there, and empty
    assert not made.exists() or made.read_text() == ""


@pytest.mark.costly
@without_windows
@pytest.mark.parametrize(
    "said",
    [
        "<html",
        '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
        "<a title='bbox 0 0 9 9; x_size 9'><b title='x_wconf 20'>noise</b></a>",
        "<a title='bbox 0 0 9 9; x_size 9'><b>no certainty</b></a>",
    ],
    ids=["broken", "entities", "uncertain", "without certainty"],
)
def test_what_is_no_certain_text_is_left_out(tmp_path: Path, said: str) -> None:
    (tmp_path / "said.html").write_text(said)
    recognition = Recognition(program(tmp_path, 'exec cat "${0%/*}/said.html"'), "eng", 10)
    with pytest.raises(UnsupportedDocument, match="no text was recognised there"):
        parsed(scan_of(PROSE, dpi=36), recognition)


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("en", "eng"),
        ("de-AT", "deu"),
        ("pt-BR", "por"),
        ("zh", "chi_sim"),
        ("zh-Hant", "chi_tra"),
        ("zh-HK", "chi_tra"),
        ("sr-Latn", "srp_latn"),
        ("grc", "grc"),
        ("xx", "xx"),
    ],
)
def test_a_language_has_the_name_that_tesseract_gives_it(tag: str, name: str) -> None:
    assert tesseract_name(tag) == name


def test_what_is_missing_is_named_with_the_command_that_brings_it() -> None:
    english = Tesseract("tesseract", "5", ("eng", "osd"))
    assert recognition_with(english, "en", 10) == Recognition(english, "eng", 10)
    assert recognition_with(None, "de", 10).missing == (
        f"to recognise scans, install the program tesseract {how_to_install_tesseract('deu')}"
    )
    assert recognition_with(english, "zh-Hant", 10) == Recognition(
        missing="to recognise scans, install tesseract's data of the course's language, chi_tra, "
        f"{how_to_install_tesseract('chi_tra', is_there=True)}"
    )
    off = recognition_with(english, "en", 0)
    assert off.most_pages == 0
    assert "GLOSSATOR_INGEST__MAX_RECOGNISED_PAGES is 0" in off.missing


def test_only_a_pdf_is_read_again_once_scans_are_recognised() -> None:
    english = Recognition(Tesseract("tesseract", "5", ("eng",)), "eng", 10)
    assert english.facts(pdf(PROSE)) != ()
    assert english.facts(b"# A page in Markdown") == ()
    assert UNREAD.facts(pdf(PROSE)) == ()
