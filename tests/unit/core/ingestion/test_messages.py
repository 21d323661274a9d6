"""The sandbox believes nothing that an intact child would not say."""

import json
from dataclasses import replace
from typing import Any

import pytest

from core.domain.errors import UnsupportedDocument
from core.ingestion.document import Block, BlockKind, BlockRole, Omission, document_of
from core.ingestion.sandbox.messages import (
    MOST_OMISSIONS,
    Answer,
    Finished,
    InvalidMessage,
    PictureHead,
    document_frames,
)

BLOCK = {
    "kind": "paragraph",
    "text": "x",
    "level": 0,
    "anchor": None,
    "locator": {},
    "role": "text",
    "linked": 0.0,
    "recognised": False,
    "entry": None,
}
PICTURE = {"width": 2_000, "height": 3_000, "dpi": 300}
END: dict[str, Any] = {
    "title": None,
    "metadata": {},
    "warnings": [],
    "retire": False,
    "format": "markdown",
}


@pytest.mark.parametrize(
    "message",
    [
        3,
        {},
        {**BLOCK, "kind": "script"},
        {**BLOCK, "text": " "},
        {**BLOCK, "text": 7},
        {**BLOCK, "text": "x" * 2_000_001},
        {**BLOCK, "text": "\ud800"},
        {**BLOCK, "level": -1},
        {**BLOCK, "level": True},
        {**BLOCK, "anchor": 5},
        {**BLOCK, "locator": {"page": 0}},
        {**BLOCK, "locator": {"page": "1"}},
        {**BLOCK, "locator": {"href": 1}},
        {**BLOCK, "locator": [1]},
        {**BLOCK, "role": "king"},
        {**BLOCK, "linked": 1.5},
        {**BLOCK, "linked": True},
        {**BLOCK, "recognised": 1},
        {"kind": "paragraph"},
        {"picture": {**PICTURE, "height": 9_000}},
        {"picture": {**PICTURE, "width": 0}},
        {"picture": {**PICTURE, "width": 2.5}},
        {"picture": {**PICTURE, "dpi": 9_000}},
        {"picture": {**PICTURE, "path": "/etc/passwd"}},
        {"picture": []},
        {**END, "title": ["x"]},
        {**END, "title": "x" * 3_000},
        {**END, "metadata": {"slug": 1}},
        {**END, "warnings": ["x"] * 2_000},
        {**END, "warnings": None},
        {**END, "format": "x.lua"},
        {"left_out": [["text box", "page 1", -1, 1]]},
        {"left_out": [["text box", 3, 1, 1]]},
        {"left_out": [["text box", "", True, 1]]},
        {"left_out": [["x" * 300, "", 1, 1]]},
        {"left_out": [["text box"]]},
        {"left_out": [["text box", "", 1, 1]] * 30_000},
        {"convert": 3, "frames": 1},
        {"include": 3},
        {"include": "x" * 3_000},
        {"include": "\ud800"},
        {"convert": "org", "frames": 0},
        {"convert": "org", "frames": 10_000},
        {"reason": 3, "retire": False},
        {"reason": "is odd"},
    ],
)
def test_an_answer_out_of_bounds_is_not_believed(message: Any) -> None:
    with pytest.raises(InvalidMessage):
        Answer().take(json.dumps(message).encode())


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5_000])
def test_an_answer_that_is_no_json_is_not_believed(body: bytes) -> None:
    with pytest.raises(InvalidMessage):
        Answer().take(body)


def test_a_picture_has_as_many_pixels_as_was_said() -> None:
    head = Answer().take(json.dumps({"picture": PICTURE}).encode())
    assert isinstance(head, PictureHead)
    assert head.picture(bytes(6_000_000)).dpi == 300
    with pytest.raises(InvalidMessage):
        head.picture(bytes(6_000_001))


def test_too_much_text_is_refused_on_both_sides() -> None:
    block = Block(BlockKind.PARAGRAPH, "x" * 1_900_000)
    with pytest.raises(UnsupportedDocument, match="has more than 20,000,000 characters of text"):
        next(document_frames(document_of(None, [block] * 11), retire=False))
    answer = Answer()
    body = json.dumps({**BLOCK, "text": block.text}).encode()
    for _ in range(10):
        assert answer.take(body) is None
    with pytest.raises(InvalidMessage):
        answer.take(body)


def test_a_document_of_emojis_fits_its_frames() -> None:
    block = Block(BlockKind.PARAGRAPH, "😀" * 1_000_000)
    answer = Answer()
    document = replace(document_of("T", [block], warnings=["w"]), format="markdown")
    for frame in document_frames(document, retire=True):
        finished = answer.take(frame[4:])
    assert isinstance(finished, Finished)
    assert finished.document == document
    assert finished.retire


def test_a_block_arrives_as_it_was_read() -> None:
    where = {"line_start": 3, "line_end": 4}
    blocks = [
        Block(BlockKind.PARAGRAPH, "A weir.", 1, None, where, BlockRole.CAPTION, 0.25),
        Block(BlockKind.HEADING, "Weirs", 2, "weirs", recognised=True),
    ]
    answer = Answer()
    left_out = [Omission("text box", "page 3", 7), Omission("equation")]
    document = replace(document_of("T", blocks, left_out=left_out), format="markdown")
    for frame in document_frames(document, retire=False):
        finished = answer.take(frame[4:])
    assert isinstance(finished, Finished)
    assert finished.document == document


def test_of_very_many_omissions_the_last_arrive_as_counts() -> None:
    left_out = [Omission(f"kind {n % 7}", f"line {n}", 2) for n in range(50_000)]
    document = document_of("T", [Block(BlockKind.PARAGRAPH, "x")], left_out=left_out)
    answer = Answer()
    frames = list(document_frames(replace(document, format="markdown"), retire=False))
    for frame in frames:
        finished = answer.take(frame[4:])
    assert isinstance(finished, Finished)
    assert finished.document is not None
    arrived = finished.document.left_out
    assert len(arrived) == MOST_OMISSIONS + 7
    assert sum(one.count for one in arrived) == 50_000
    assert sum(one.words for one in arrived) == 100_000
    assert max(map(len, frames)) < 200_000
