"""What stands where on a PDF page decides how it is read, not how it was drawn."""

from collections.abc import Sequence

import pytest
from pypdf._codecs.core_font_metrics import CORE_FONT_METRICS

from core.ingestion.document import BlockKind, ParsedDocument
from core.ingestion.formats.pdf import parse_pdf
from tests.unit.core.ingestion.pdfs import lines, pdf

_WIDTHS = CORE_FONT_METRICS["Helvetica"].character_widths
Line = tuple[float, float, str]


def texts(*pages: str) -> list[str]:
    return [block.text for block in read(*pages).blocks]


def read(*pages: str) -> ParsedDocument:
    return parse_pdf(pdf(*pages))


def at(x: float, y: float, text: str, size: float = 11, font: str = "F1") -> str:
    return f"BT /{font} {size} Tf 1 0 0 1 {x:.3f} {y:.3f} Tm ({text}) Tj ET\n"


def width(text: str, size: float = 11) -> float:
    return sum(_WIDTHS[letter] for letter in text) * size / 1000


def by_letter(x: float, y: float, text: str, size: float = 11, apart: float = 0) -> str:
    """Return a page's operators that draw each letter by itself, and no spaces."""
    drawn = ""
    for letter in text:
        if letter != " ":
            drawn += at(x, y, letter, size)
        x += width(letter, size) + apart
    return drawn


# --- words


@pytest.mark.parametrize("apart", [0.0, 0.3, 2.5])
def test_letters_that_are_drawn_one_by_one_make_up_words(apart: float) -> None:
    page = by_letter(60, 700, "Master of the harbour", apart=apart)
    assert texts(page) == ["Master of the harbour"]


def test_letters_are_put_in_order_by_their_places() -> None:
    pieces = by_letter(60, 700, "harbour").split("BT ")
    assert texts("".join(f"BT {piece}" for piece in reversed(pieces) if piece)) == ["harbour"]


def test_a_gap_in_an_array_is_a_space_and_kerning_is_none() -> None:
    page = "BT /F1 11 Tf 60 700 Td [(A) 70 (VE) -300 (MARIA)] TJ ET"
    assert texts(page) == ["AVE MARIA"]


def test_text_that_is_drawn_twice_to_look_bold_is_read_once() -> None:
    assert texts(at(60, 700, "Bold") + at(60.3, 700, "Bold") + at(60, 680, "text")) == ["Bold text"]


# --- raised, lowered and struck text


@pytest.mark.parametrize(
    ("text", "small", "rise", "shown"),
    [
        ("10", "6", 4, "10⁶"),
        ("10", "24", 3, "10²⁴"),
        ("CO", "2", -2, "CO₂"),
        ("x", "2,5", 4, "x^(2,5)"),
        ("the 2", "nd", 4, "the 2nd"),
        ("NASA", "s", 0, "NASAs"),
    ],
)
def test_small_text_that_stands_high_or_low_is_raised_or_lowered(
    text: str, small: str, rise: float, shown: str
) -> None:
    end = 60 + width(text)
    rest = end + width(small, 7) + 3
    apart = at(60, 700, text) + at(end, 700 + rise, small, 7) + at(rest, 700, "litres")
    assert texts(apart) == [f"{shown} litres"]
    risen = (
        f"BT /F1 11 Tf 60 700 Td ({text}) Tj /F1 7 Tf {rise} Ts ({small}) Tj 0 Ts /F1 11 Tf "
        "( litres) Tj ET"
    )
    assert texts(risen) == [f"{shown} litres"]


@pytest.mark.parametrize(
    "rule",
    [
        "{left:.1f} 703 {wide:.1f} 0.6 re f",
        "0.5 w {left:.1f} 703.5 m {right:.1f} 703.5 l S",
        "q 1 0 0 1 {left:.1f} 703.2 cm 0 0 {wide:.1f} 0.5 re f Q",
    ],
)
def test_text_with_a_line_through_it_is_left_out_and_counted(rule: str) -> None:
    left, wide = 60 + width("The fee is "), width("40 euros")
    line = rule.format(left=left, wide=wide, right=left + wide)
    document = read(at(60, 700, "The fee is 40 euros 30 euros.") + line)
    assert [block.text for block in document.blocks] == ["The fee is 30 euros."]
    assert [(one.kind, one.where, one.words) for one in document.left_out] == [
        ("struck text", "page 1", 2)
    ]


@pytest.mark.parametrize("y", [698.5, 712])
def test_a_line_under_or_over_text_strikes_nothing(y: float) -> None:
    assert texts(at(60, 700, "The fee is due.") + f"60 {y} 70 0.5 re f") == ["The fee is due."]


def test_ruled_paper_strikes_nothing() -> None:
    paper = "".join(f"20 {y} m 590 {y} l S " for y in range(20, 780, 4))
    assert texts(paper + lines("The fee is due.", "It is 30 euros.")) == [
        "The fee is due. It is 30 euros."
    ]


def test_fractions_and_limits_stand_in_their_line() -> None:
    bar = 60 + width("The rate is ")
    fraction = at(bar + 6, 706, "a", 8) + at(bar + 1, 694, "b+1", 8) + f"{bar} 702.5 16 0.4 re f "
    assert texts(at(60, 700, "The rate is") + fraction + at(bar + 20, 700, "per year.")) == [
        "The rate is a/(b+1) per year."
    ]


# --- columns


_LEFT = (
    *("The committee on ponds met in", "spring and looked at the depth of"),
    *("every pond in the county. It found", "that the northern pond had lost", "two metres."),
)
_RIGHT = (
    *("Herons nest on the island in the", "southern lake. Their number grew"),
    *("from nine pairs to twenty within", "ten years. The wardens close the", "path."),
)


def by_row(left: Sequence[str], right: Sequence[str], shift: float = 0, x: float = 320) -> str:
    page = ""
    for row, (one, two) in enumerate(zip(left, right, strict=True)):
        page += at(60, 700 - 13 * row, one) + at(x, 700 - 13 * row - shift, two)
    return page


@pytest.mark.parametrize("shift", [0, 5])
@pytest.mark.parametrize("title", ["", "A title that runs over both of the columns of this page"])
def test_columns_are_read_one_after_the_other(shift: float, title: str) -> None:
    head = at(60, 760, title, 16) if title else ""
    page = (
        head
        + by_row(_LEFT, _RIGHT, shift)
        + at(60, 600, "Below both of the columns stands this long line of text.")
    )
    found = " ".join(texts(page))
    assert "looked at the depth of every pond" in found
    assert "nest on the island in the southern lake" in found
    assert found.index("two metres.") < found.index("Herons nest") < found.index("Below both")
    assert found.startswith(title or "The committee")


def test_three_columns_are_read_one_after_the_other() -> None:
    left = [line[:16] + " ab cd" for line in _LEFT]
    page = by_row(left, [f"2 {line}" for line in left], x=230)
    page += "".join(at(400, 700 - 13 * row, f"3 {line}") for row, line in enumerate(left))
    found = " ".join(texts(page))
    assert found.index("2 two metres") < found.index("3 The committee")
    assert found.index(left[-1]) < found.index("2 The committee")


def test_lists_side_by_side_are_read_one_after_the_other() -> None:
    page = by_row(
        [f"- {word}" for word in ("Rain", "Snow", "Tide")], ["- Dike", "- Weir", "- Gate"]
    )
    assert texts(page) == ["- Rain", "- Snow", "- Tide", "- Dike", "- Weir", "- Gate"]


def test_a_note_in_the_margin_stands_apart_from_the_text() -> None:
    page = "".join(at(60, 700 - 13 * row, line) for row, line in enumerate(_LEFT))
    page += at(400, 692, "See chapter 4")
    assert texts(page)[-1] == "See chapter 4"


# --- tables


_ROWS = (("Weir", "Height", "Built"), ("North", "4 m", "1953"), ("South", "12 m", "1962"))
_TABLE = "| Weir | Height | Built |\n| --- | --- | --- |\n| North | 4 m | 1953 |\n"


@pytest.mark.parametrize("places", [(60, 160, 260), (60, 105, 150)])
def test_cells_that_stand_below_each_other_are_a_table(places: tuple[float, ...]) -> None:
    page = "".join(
        at(x, 700 - 14 * row, cell)
        for row, cells in enumerate(_ROWS)
        for x, cell in zip(places, cells, strict=True)
    )
    assert texts(at(60, 740, "Before the table.") + page + at(60, 600, "After it.")) == [
        *("Before the table.", f"{_TABLE}| South | 12 m | 1962 |", "After it."),
    ]


def test_a_cell_of_several_lines_is_one() -> None:
    page = (
        at(60, 700, "Weir") + at(160, 700, "Remark") + at(60, 680, "North")
        + at(160, 680, "old, to be built") + at(160, 668, "again") + at(60, 648, "South")
        + at(160, 648, "new") + at(60, 628, "East") + at(160, 628, "newer")
    )  # fmt: skip
    assert texts(page) == [
        "| Weir | Remark |\n| --- | --- |\n| North | old, to be built again |\n"
        "| South | new |\n| East | newer |"
    ]


def test_lines_around_cells_make_a_table_whatever_stands_in_them() -> None:
    grid = "".join(f"60 {y} m 360 {y} l S {x} 640 m {x} 720 l S " for y, x in _GRID)
    page = (
        grid + at(64, 706, "Weir") + at(164, 706, "Remark of the council") + at(64, 672, "North")
        + at(164, 684, "The weir is old and was to be")
        + at(164, 672, "built again in the year after the") + at(164, 660, "flood of 1953")
    )  # fmt: skip
    assert texts(page) == [
        "| Weir | Remark of the council |\n| --- | --- |\n"
        "| North | The weir is old and was to be built again in the year after the flood of 1953 |"
    ]


_GRID = ((720, 60), (700, 160), (640, 360))


# --- code


def test_code_keeps_its_indentation_and_its_blank_lines() -> None:
    code = ("def f(a):", "    b = 0", "", "    if a:", "        b = 1", "    return b")
    page = "".join(
        at(60, 700 - 12 * row, line.replace("(", "\\(").replace(")", "\\)"), 10, "F2")
        for row, line in enumerate(code)
        if line
    )
    assert texts(page) == ["```\n" + "\n".join(code) + "\n```"]
    moved = "".join(
        at(60 + 6 * (len(line) - len(line.lstrip())), 700 - 12 * row, _escaped(line), 10, "F2")
        for row, line in enumerate(code)
        if line
    )
    assert texts(moved) == ["```\n" + "\n".join(code) + "\n```"]


def _escaped(line: str) -> str:
    return line.strip().replace("(", "\\(").replace(")", "\\)")


def test_code_keeps_the_gaps_between_its_words() -> None:
    page = at(60, 700, "a = 1      # one", 10, "F2") + at(60, 688, "bcd = 2", 10, "F2")
    page += at(60 + 11 * 6, 688, "# two", 10, "F2")
    assert texts(page) == ["```\na = 1      # one\nbcd = 2    # two\n```"]


# --- running heads and slides


def slide(title: str, *items: str, foot: str = "") -> str:
    page = at(60, 720, title, 22)
    page += "".join(at(70, 680 - 24 * row, item, 14) for row, item in enumerate(items))
    return page + (at(60, 20, foot, 8) if foot else "")


def test_titles_and_bullets_that_come_again_are_no_running_heads() -> None:
    pages = [slide("Floods", "- Rain falls.", f"- {word}.") for word in ("One", "Two", "Three")]
    found = texts(*pages)
    assert found.count("Floods") == found.count("- Rain falls.") == 3


def test_lines_that_differ_in_a_number_alone_are_kept() -> None:
    pages = [at(60, 745, f"Exercise {n}") + lines("Work it out.") for n in range(1, 7)]
    assert sum(text.startswith("Exercise") for text in texts(*pages)) == 6
    years = [slide("History", f"- The flood of {1950 + n}.") for n in range(6)]
    assert "- The flood of 1953." in texts(*years)


@pytest.mark.parametrize("foot", ["A. Reed, Harbour School", "Floods {}/6", "Page {}", "{}"])
def test_feet_and_page_numbers_go_and_are_counted(foot: str) -> None:
    pages = [
        slide(f"Title {'abcdef'[n]}", "- Rain falls.", foot=foot.format(n + 1)) for n in range(6)
    ]
    document = read(*pages)
    assert not any("Reed" in b.text or "6" in b.text or "Page" in b.text for b in document.blocks)
    assert [one.kind for one in document.left_out] == ["header or footer"]


def test_a_foot_on_less_than_half_of_the_pages_stays() -> None:
    pages = [slide("Title", "- Rain.", foot="Only here" if n < 3 else "") for n in range(7)]
    assert sum("Only here" in text for text in texts(*pages)) == 3


def test_running_heads_of_chapters_go_with_the_numbers_beside_them() -> None:
    pages = [
        at(60, 760, f"1.{n // 2} About weirs")
        + at(500, 760, str(n + 7))
        + lines(f"Text {'abcdef'[n]}.")
        for n in range(6)
    ]
    assert texts(*pages) == [f"Text {letter}." for letter in "abcdef"]


def wide(*pages: str) -> ParsedDocument:
    return parse_pdf(pdf(*pages).replace(b"/MediaBox[0 0 612 792]", b"/MediaBox[0 0 999 792]"))


def test_of_a_slide_that_grows_the_last_step_is_kept() -> None:
    items = ("- Rain falls.", "- Snow melts.", "- Tide comes.")
    steps = [slide("Causes", *items[:n], foot=f"{n}/9") for n in (1, 2, 3)]
    document = wide(*steps, slide("Damage", "- Cellars.", foot="4/9"))
    assert [(block.text, block.locator["page"]) for block in document.blocks] == [
        *(("Causes", 3), *((item, 3) for item in items), ("Damage", 4), ("- Cellars.", 4)),
    ]
    assert [one.where for one in document.left_out if one.kind == "step of a slide"] == [
        *("page 1", "page 2"),
    ]


def test_a_slide_that_shows_something_else_in_its_place_is_kept() -> None:
    pages = slide("Quiz", "- Is it seven?"), slide("Quiz", "- It is nine.")
    assert [block.text for block in wide(*pages).blocks] == [
        *("Quiz", "- Is it seven?", "Quiz", "- It is nine."),
    ]


# --- from right to left


_HEBREW = {chr(65 + n): chr(0x5D0 + n) for n in range(26)}


def hebrew(visible: str) -> ParsedDocument:
    """Return a page whose letters A to Z are Hebrew, drawn from left to right as it looks."""
    pairs = "".join(f"<{ord(a):02X}> <{ord(h):04X}>\n" for a, h in _HEBREW.items())
    cmap = (
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <FF> "
        f"endcodespacerange 26 beginbfchar\n{pairs}endbfchar endcmap"
    ).encode()
    stream = b"<</Length %d>>stream\n%s\nendstream" % (len(cmap), cmap)
    font = (
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding"
        b"/ToUnicode 1001 0 R>>"
    )
    page = pdf(at(60, 700, visible), objects={1000: font, 1001: stream})
    return parse_pdf(page.replace(b"/F1 3 0 R", b"/F1 1000 0 R"))


@pytest.mark.parametrize(
    ("visible", "read_as"),
    [
        ("CBA 12 FED", "DEF 12 ABC"),
        ("CBA 3.50 FED", "DEF 3.50 ABC"),
        ("CBA 10-20 FED", "DEF 10-20 ABC"),
        (".CBA python 3 FED", "DEF python 3 ABC."),
        ("\\)CBA\\( FED", "DEF (ABC)"),
        ("50% CBA", "ABC 50%"),
    ],
)
def test_text_from_right_to_left_keeps_its_numbers(visible: str, read_as: str) -> None:
    turned = visible.replace("\\)CBA\\(", "\\(CBA\\)")
    expected = "".join(_HEBREW.get(letter, letter) for letter in read_as)
    assert [block.text for block in hebrew(turned).blocks] == [expected]


# --- what is not read


def test_slanted_text_is_left_out_and_counted() -> None:
    stamp = "BT /F1 40 Tf 0.7 0.7 -0.7 0.7 100 200 Tm (DRAFT COPY) Tj ET\n"
    document = read(stamp + lines("Text."))
    assert [block.text for block in document.blocks] == ["Text."]
    assert [(one.kind, one.words) for one in document.left_out] == [("slanted text", 2)]


def test_a_page_that_is_turned_is_read() -> None:
    page = "".join(
        f"BT /F1 11 Tf 0 1 -1 0 {100 + 13 * row} 60 Tm ({text}) Tj ET\n"
        for row, text in enumerate(("The first line", "and the second."))
    )
    assert texts(page) == ["The first line and the second."]


def test_layers_that_are_switched_off_are_left_out() -> None:
    layer = b"<</Type/OCG/Name(Solution)>>"
    page = "/OC /L BDC " + lines("The answer is seven.", top=600) + "EMC " + lines("Question.")
    data = pdf(page, objects={1000: layer}, resources="/Properties<</L 1000 0 R>>")
    off = b"/OCProperties<</OCGs[1000 0 R]/D<</OFF[1000 0 R]>>>>"
    hidden = parse_pdf(data.replace(b"/Type/Catalog", b"/Type/Catalog" + off))
    assert [block.text for block in hidden.blocks] == ["Question."]
    assert [(one.kind, one.words) for one in hidden.left_out] == [("hidden text", 4)]
    assert "seven" in parse_pdf(data).blocks[0].text


def test_the_text_that_a_mark_gives_is_read_for_what_is_drawn() -> None:
    page = (
        "BT /F1 11 Tf 60 700 Td (Of) Tj /Span <</ActualText(fice)>> BDC (#) Tj EMC ( hours) Tj ET"
    )
    assert texts(page) == ["Office hours"]


def test_pictures_and_hidden_words_are_counted() -> None:
    picture = (
        b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8"
        b"/Length 1>>stream\n0\nendstream"
    )
    page = "q 99 0 0 99 60 60 cm /P Do Q BT 3 Tr /F1 11 Tf 72 500 Td (Not seen) Tj 0 Tr ET "
    data = pdf(
        *[page + lines("Text.")] * 2, objects={1000: picture}, resources="/XObject<</P 1000 0 R>>"
    )
    assert [(one.kind, one.where, one.words) for one in parse_pdf(data).left_out] == [
        ("hidden text", "page 1", 2),
        ("picture", "page 1", 0),
        ("hidden text", "page 2", 2),
    ]


def test_annotations_are_counted_and_may_strike_text() -> None:
    left, right = 60 + width("The fee is "), 60 + width("The fee is 40 euros")
    quad = f"{left} 710 {right} 710 {left} 698 {right} 698"
    annotations = (
        f"/Annots[<</Type/Annot/Subtype/StrikeOut/QuadPoints[{quad}]>>"
        "<</Type/Annot/Subtype/Text/Contents(Is that so?)>>"
        "<</Type/Annot/Subtype/Widget/V(Ada Reed)>>]"
    ).encode()
    data = pdf(at(60, 700, "The fee is 40 euros 30 euros."))
    document = parse_pdf(data.replace(b"/Type/Page/", b"/Type/Page" + annotations + b"/"))
    assert [block.text for block in document.blocks] == ["The fee is 30 euros."]
    assert sorted((one.kind, one.words) for one in document.left_out) == [
        *(("comment", 3), ("form control", 2), ("struck text", 2)),
    ]


def test_lines_of_a_table_of_contents_are_counted() -> None:
    document = read(lines("1 Tides . . . . . . . . . . 4", "2 Waves .......... 9", "Text."))
    assert [block.kind for block in document.blocks] == [BlockKind.PARAGRAPH]
    assert [(one.kind, one.words) for one in document.left_out] == [
        ("line of the contents", 3),
        ("line of the contents", 3),
    ]
