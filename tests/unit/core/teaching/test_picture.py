"""The picture of a report, and its page."""

import re
from dataclasses import replace
from datetime import date

from core.teaching.radar import Report
from core.teaching.radar_activity import OTHER, Ending, SectionActivity
from core.teaching.radar_picture import to_html, to_svg

COURSE = "Introduction to the Economics of Lighthouses and Harbours"
LEAF = "Price Elasticity of Demand and Supply"
BUSY = SectionActivity(("Elasticity", LEAF), {Ending.ANSWERED: 6}, askers=6)
OTHERS = SectionActivity(OTHER, {Ending.NOT_COVERED: 3}, askers=3)
REPORT = Report("economics", date(2026, 11, 16), 3, (BUSY, OTHERS), ())


def drawn(report: Report, course: str) -> list[str]:
    """Return the texts of a picture in order."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", to_svg(report, course))


def test_the_week_stands_in_the_headline_however_long_the_course_is_called() -> None:
    for course in ("Arden", COURSE, COURSE * 3):
        headline = " ".join(drawn(REPORT, course)[:2])
        assert "16 Nov 2026" in headline
        assert headline.startswith(course[:20])


def test_a_section_whose_name_is_too_long_is_called_by_its_last_heading() -> None:
    shown = drawn(REPORT, "Arden")
    assert f"… › {LEAF}" in shown
    short = replace(REPORT, this_week=(replace(BUSY, section=("Elasticity", "Uses")),))
    assert "Elasticity › Uses" in drawn(short, "Arden")


def test_a_page_has_the_picture_twice_and_its_table_as_text() -> None:
    page = to_html(REPORT, "Arden <b>")
    assert page.count("<svg") == 2
    assert "Arden &lt;b&gt;" in page
    assert "<b>" not in page
    assert f"Elasticity › {LEAF}: 6 questions" in page


def test_a_page_of_nothing_says_so_once_and_has_no_picture() -> None:
    page = to_html(replace(REPORT, this_week=()), "Arden")
    assert "<svg" not in page
    assert page.count("There is nothing to show") == 1
