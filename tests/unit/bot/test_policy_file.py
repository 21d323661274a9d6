"""Policies in the course file, and what is wrong with them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.course_file import CourseFile, read_course_file
from core.domain import PolicyMode
from core.domain.errors import ConfigurationError

HEAD = '[courses.arden]\ntime_zone = "Europe/Berlin"\n[[courses.arden.policies]]\n'


def read(folder: Path, text: str) -> CourseFile:
    (folder / "glossator.toml").write_text(HEAD + text, encoding="utf-8")
    return read_course_file(folder / "glossator.toml")


def test_days_begin_at_midnight_of_the_courses_zone(tmp_path: Path) -> None:
    given = "mode = 'hints'\nfrom = 2026-07-01\nuntil = 2026-12-01T18:00:00\nplace = 'C0123456'"
    (policy,) = read(tmp_path, given).policies_of("arden")
    assert policy.mode is PolicyMode.HINTS
    assert policy.place == "C0123456"
    assert policy.valid_from == datetime(2026, 6, 30, 22, tzinfo=UTC)
    assert policy.valid_until == datetime(2026, 12, 1, 17, tzinfo=UTC)


def test_a_solution_comes_from_a_file_and_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "key.md").write_text("The lamp turns because of the falling weight.")
    given = (
        "mode = 'hints'\nassignment = 'Sheet 1'\ntext = 'Why does the lamp turn?'\n"
        "sections = ['The lamp']\nsolution_file = 'key.md'\n"
    )
    course_file = read(tmp_path, given)
    (policy,) = course_file.policies_of("arden")
    assert policy.assignment is not None
    assert policy.assignment.sections == ("The lamp",)
    assert policy.assignment.solution is not None
    assert policy.assignment.solution.leaks("the lamp turns because of a falling weight")
    assert "falling" not in repr(course_file)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("mode = 'hint'", "courses.arden.policies.0.mode must be"),
        ("mode = 'hints'\nwhere = 'x'", "courses.arden.policies.0.where is not a key"),
        ("mode = 'hints'\nplace = 'general'", "no id of a channel"),
        ("mode = 'hints'\nfrom = 2026-12-02\nuntil = 2026-12-01", "until must lie after from"),
        ("mode = 'hints'\ntext = 'Compute it.'", "name it with assignment"),
        ("mode = 'hints'\nassignment = 'S'", "either text or text_file"),
        ("mode = 'full'\nassignment = 'S'\ntext = 't'", "leave the policy out"),
        ("mode = 'hints'\nassignment = 'S'\ntext = 't'\nplace = 'C0123456'", "leave out place"),
        (
            "mode = 'hints'\nassignment = 'S'\ntext = 't'\nsolution_file = 'none.md'",
            "courses.arden.policies[1].solution_file: ",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, given: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        read(tmp_path, given)
    assert said in str(raised.value)


def test_an_unknown_time_zone_is_named(tmp_path: Path) -> None:
    path = tmp_path / "glossator.toml"
    path.write_text('[courses.arden]\ntime_zone = "Berlin"\n')
    with pytest.raises(ConfigurationError, match="'Berlin' is no time zone"):
        read_course_file(path)
