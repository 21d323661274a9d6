"""A stream is measured event by event, whatever ends its lines and however it arrives."""

import json

import pytest

from core.providers.http import ANSWER, ReplyMeter


def event(text: str, end: str) -> bytes:
    said = {"candidates": [{"content": {"parts": [{"text": text}]}}]}
    return f"data: {json.dumps(said)}{end}{end}".encode()


@pytest.mark.costly
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
@pytest.mark.parametrize("kind", ["streams", "events"])
def test_a_long_stream_of_small_events_is_within_the_limits(end: str, size: int, kind: str) -> None:
    meter = ReplyMeter(ANSWER, **{kind: True})
    whole = b"".join(event("a word, and one more", end) for _ in range(600))
    pieces = [whole[start : start + size] for start in range(0, len(whole), size)]
    assert not [found for piece in pieces if (found := meter.exceeded_by(piece))]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_an_event_of_too_many_objects_is_found(end: str) -> None:
    meter = ReplyMeter(ANSWER, streams=True)
    assert meter.exceeded_by(event("small", end)) is None
    assert meter.exceeded_by(b"data: [" + b"{}," * 1_300 + b"{}]" + 2 * end.encode()) == "at once"


def test_the_odds_of_the_verdicts_on_eight_claims_are_within_the_limits() -> None:
    likely = {"token": " yes", "bytes": [32, 121, 101, 115], "logprob": -0.01513698}
    token = {**likely, "top_logprobs": [likely] * 10}
    said = {"choices": [{"message": {}, "logprobs": {"content": [token] * 48}}]}
    assert ReplyMeter(ANSWER).exceeded_by(json.dumps(said).encode()) is None


def test_comments_between_events_do_not_make_one_piece_of_them() -> None:
    meter = ReplyMeter(ANSWER, events=True)
    for _ in range(600):
        assert meter.exceeded_by(b": still there\n\n" + event("a word", "\n")) is None


@pytest.mark.parametrize("line", [b"data:[[[[\n", b"data: [[[[\n", b"[[[[\n"])
def test_an_event_counts_as_one_piece_however_many_lines_it_has(line: bytes) -> None:
    meter = ReplyMeter(ANSWER, events=True)
    found = [meter.exceeded_by(line) for _ in range(20)]
    assert found[-1] == "in one another"
