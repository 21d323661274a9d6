"""Subtitles become paragraphs; a citation names the minute, and links into the recording."""

from pathlib import Path

import pytest

from adapters.chat.markdown.footnotes import place_in_book
from core.ingestion.document import ParsedDocument
from core.ingestion.formats.plain import parse_subtitles
from core.ingestion.formats.registry import parse
from core.ingestion.sandbox.messages import ParseJob
from tests.format_courses.reading import read_course, said_of
from tests.format_courses.subtitles import COURSE
from tests.samples import chunk

ENGLISH, GERMAN = "week-1/Tides_a-1.en.vtt", "week-1/Tides_a-1.de.srt"


def said(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(block.locator["second"], block.text) for block in document.blocks]


async def test_a_course_of_lectures_is_read_by_time(tmp_path: Path) -> None:
    read = await read_course(tmp_path, COURSE)
    assert said(read.parsed[ENGLISH]) == [
        (
            0,
            "Ada Reed: The tide rises twice a day, and a spring tide comes after a new moon & a "
            "full one.",
        ),
        (65, "- Why is that?"),
        (3725, "Ben: Sun and moon pull in one line, if x < y and y > z."),
    ]
    assert read.parsed[ENGLISH].title == "The tides"
    assert said(read.parsed[GERMAN]) == [
        (0, "Die Flut kommt zweimal am Tag."),
        (65, "Warum?"),
    ]
    assert said(read.parsed["_extra/rolled.vtt"]) == [
        (1, "the harbour of Arden lies open to the west")
    ]
    assert said(read.parsed["broken.srt"]) == [
        (
            1,
            "A cue without a number runs on. A line after a blank one. 99:99 -> nowhere",
        ),
        (30, "The end."),
    ]
    assert read.failed == {"empty.vtt": "has no text"}


async def test_a_citation_names_the_minute_and_links_to_it(tmp_path: Path) -> None:
    long = "".join(
        f"{minute}:00.000 --> {minute}:50.000\nIn harbour {minute} "
        + "the tide rises. " * 50
        + "\n\n"
        for minute in range(3)
    )
    files = {**COURSE, "long.vtt": f"WEBVTT\n\n{long}01:02:05.000 --> 01:02:06.000\nThe end.\n"}
    read = await read_course(tmp_path, files)
    first, second, *_ = read.chunks("long.vtt")
    assert (first.source_url, second.source_url) == (
        "https://course.example/book/long?t=0",
        "https://course.example/book/long?t=60",
    )
    shown = [place_in_book(chunk(metadata={"second": at})).locator for at in (0, 65, 3725)]
    assert shown == ["0:00", "1:05", "1:02:05"]
    for name in (ENGLISH, GERMAN):
        assert read.chunks(name)[0].source_url == "https://course.example/book/week-1/Tides_a-1?t=0"


@pytest.mark.costly
@pytest.mark.parametrize(
    "hostile",
    [
        "00:00:00 --> 00:00:01\n" * 200_000,
        "WEBVTT\n\n" + "00:00.000 --> 00:01.000\n" + "<v a" * 500_000,
        "00:00:00,000 --> 00:00:01,000\n" + "x" * 3_000_000,
        "9" * 2_000_000 + ":00:00 --> " + "9" * 2_000_000,
        "00:00:00,000 --> 00:00:01,000\n" + "&#x41;" * 400_000,
        "WEBVTT " + "-" * 1_000_000 + "\n" + "\t" * 1_000_000 + "-->",
    ],
)
async def test_hostile_subtitles_end_in_text_or_a_reason(hostile: str) -> None:
    assert await said_of(ParseJob(hostile.encode(), "hostile.vtt"))


def test_what_is_not_shown_by_name_is_known_by_its_header() -> None:
    text = b"WEBVTT\n\n00:01.000 --> 00:02.000\nThe tide.\n"
    document = parse(text, "captions", None, dialect="markdown", read_include=lambda _: None)
    assert said(document) == [(1, "The tide.")] == said(parse_subtitles(text))


def test_a_time_that_cannot_be_read_is_noted_and_is_no_speech() -> None:
    text = (
        b"1\n00:00:01,000 --> 00:00:03,000\nOsmosis moves water.\n\n"
        b"2\n00:99:xx --> bad\nSo it swells.\n\n"
        b"3\n00:01:10,000 --> 00:01:12,000\nDiffusion moves solutes.\n"
    )
    document = parse_subtitles(text)
    assert said(document) == [
        (1, "Osmosis moves water. So it swells."),
        (70, "Diffusion moves solutes."),
    ]
    [warning] = document.warnings
    assert "line 6" in warning
