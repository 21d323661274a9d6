"""What a line that is a command says."""

from typing import Any, cast

import pytest

from adapters.actions.text_commands import TextCommands, _called
from adapters.actions.use import Extent
from core.domain.errors import RequestError
from core.storage.access import NamedStaff, StaffKind


def read(line: str) -> dict[str, Any]:
    def whom(word: str, course: str | None) -> NamedStaff:
        return NamedStaff(StaffKind.PERSON, word, course)

    reads = TextCommands(
        cast("Any", None), wide={"workspace": Extent.TENANT}, whom=whom, platform="line"
    )
    call = _called("course", line)
    assert call is not None
    return dict(reads._read(*reads._extent(call)))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("bind arden", {"course": "arden"}),
        ("bind arden workspace", {"course": "arden", "where": Extent.TENANT}),
        ("SWITCH Off", {"state": "off"}),
        ("set length: short private=yes", {"length": "short", "private": True}),
        ("set follow-ups until-people-talk", {"follow_ups": "until-people-talk"}),
        ("queue post", {"cards": "post here"}),
        ("queue", {}),
        (
            'policy set hints section "Chapter One" until 2026-12-01 10:00',
            {"mode": "hints", "section": "Chapter One", "until": "2026-12-01 10:00"},
        ),
        ("policy set hints section My workspace", {"mode": "hints", "section": "My workspace"}),
        (
            'policy set hints section "My room" workspace',
            {"mode": "hints", "section": "My room", "where": Extent.TENANT},
        ),
        (
            "policy set hints until 2026-12-01 workspace",
            {"mode": "hints", "until": "2026-12-01", "where": Extent.TENANT},
        ),
    ],
)
def test_a_line_says_what_is_given(line: str, said: dict[str, Any]) -> None:
    assert read(line) == said


def test_staff_are_named_for_a_course_or_for_all() -> None:
    assert read("staff add U1 arden")["role"] == NamedStaff(StaffKind.PERSON, "U1", "arden")
    assert read("staff remove U1")["role"] == NamedStaff(StaffKind.PERSON, "U1", None)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("set", "Say what to set"),
        ("set length", "Say what to set"),
        ("set colour: red", "'colour' cannot be set"),
        ("set length: huge", "`length` may be: short, normal, long"),
        ("switch maybe", "How to set me up here"),
        ("bind", "How to set me up here"),
        ("policy set never", "The modes are"),
        ("staff add", "Who may set me up"),
        ("queue later", "queue post"),
    ],
)
def test_a_line_that_cannot_be_read_says_how_it_is_written(line: str, told: str) -> None:
    with pytest.raises(RequestError) as refused:
        read(line)
    assert told in refused.value.user_message


def test_what_is_no_command_is_none() -> None:
    assert _called("course", "dance") is None
    assert _called("glossator", "What is a wick?") is None
