"""The course of `glossator demo` is whole, and its figures agree with one another."""

import re
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_line import ROOT

COURSE = ROOT / "demo"
PAGES = sorted(COURSE.glob("*.md"))
TEXT = {page.name: page.read_text("utf-8") for page in PAGES}
ALL = "\n".join(TEXT.values())


def rows(page: str, first: str) -> list[list[str]]:
    """Return the cells of the table whose header begins so."""
    [table] = re.findall(rf"^(\| {first} ?\|.*\n(?:\|.*\n)+)", TEXT[page], re.M)
    return [[c.strip() for c in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def test_ten_pictures_and_tables_are_numbered_and_have_captions() -> None:
    for kind in ("Figure", "Table"):
        captions = [int(n) for n in re.findall(rf"^\*{kind} (\d)\. \S", ALL, re.M)]
        assert sorted(captions) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_link_and_picture_of_the_course_is_there(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)]+)\)", TEXT[page.name])
    assert [link for link in links if not (COURSE / link).is_file()] == []


def test_every_picture_is_shown_once_and_says_what_it_shows() -> None:
    shown = re.findall(r"^!\[([^\]]+)\]\(pictures/(\S+)\)$", ALL, re.M)
    assert sorted(name for _, name in shown) == sorted(
        picture.name for picture in (COURSE / "pictures").iterdir()
    )
    assert all(len(alt.split()) > 8 for alt, _ in shown)
    for _, name in shown:
        root = ElementTree.parse(COURSE / "pictures" / name).getroot()
        assert root.get("aria-label") == root.findtext("{http://www.w3.org/2000/svg}title")
        assert "href" not in (COURSE / "pictures" / name).read_text("utf-8")


def test_classes_are_on_mondays_and_every_named_weekday_is_right() -> None:
    classes = [datetime.strptime(row[1], "%d %B %Y").date() for row in rows("index.md", "week")]
    assert [day.isoweekday() for day in classes] == [1] * 6
    assert all((later - earlier).days == 7 for earlier, later in pairwise(classes))
    named = re.findall(r"(Monday|Friday) (\d+) (February)", ALL)
    assert len(named) >= 3
    for weekday, day, _ in named:
        assert date(2027, 2, int(day)).strftime("%A") == weekday


def test_the_grade_is_made_of_a_hundred_per_cent() -> None:
    [(written, report, sheet)] = re.findall(
        r"counts (\d+) % of the grade, the lab report (\d+) % and the two problem sheets (\d+) %",
        TEXT["index.md"],
    )
    assert int(written) + int(report) + 2 * int(sheet) == 100


def test_the_moon_and_the_sun_have_the_tides_that_their_masses_and_distances_make() -> None:
    table = {row[0]: row[1:] for row in rows("1-what-raises-the-tide.md", "")}

    def number(cell: str) -> float:
        digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
        mantissa, _, power = cell.replace(",", "").partition(" × 10")
        return float(f"{mantissa}e{power.translate(digits) or 0}")

    masses, distances, pulls, forces, ranges = ([*map(number, cells)] for cells in table.values())
    gravity, radius, earth = 6.674e-11, 6.371e6, 5.972e24
    for mass, far, pull, force, height in zip(
        masses, distances, pulls, forces, ranges, strict=True
    ):
        metres = far * 1000
        assert pull == pytest.approx(gravity * mass / metres**2, rel=0.01)
        assert force == pytest.approx(2 * gravity * mass * radius / metres**3, rel=0.02)
        raised = 1.5 * mass / earth * (radius / metres) ** 3 * radius
        assert height == pytest.approx(raised, rel=0.03)
    assert forces[1] / forces[0] == pytest.approx(0.46, abs=0.005)
    assert pulls[1] / pulls[0] == pytest.approx(180, rel=0.01)


def test_springs_come_as_often_as_the_periods_of_their_waves_say() -> None:
    table = {row[0]: float(row[2]) for row in rows("2-rhythm-of-the-month.md", "constituent")}
    days = 1 / (1 / table["S2"] - 1 / table["M2"]) / 24
    assert days == pytest.approx(14.8, abs=0.05)
    assert "it takes 14.8 days" in TEXT["2-rhythm-of-the-month.md"]
    perigee, apogee = 363_300, 405_500
    assert (apogee / perigee) ** 3 == pytest.approx(1.39, abs=0.005)


def test_the_readings_of_the_lab_add_up() -> None:
    readings = rows("lab.md", "time")
    heights = [float(row[1]) for row in readings]
    rises = [float(row[2]) for row in readings[1:]]
    assert [round(b - a, 2) for a, b in pairwise(heights)] == rises
    assert sum(rises) == pytest.approx(5.20)
    assert rises[3] == 1.30 == pytest.approx(5.20 / 4)
