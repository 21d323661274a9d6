"""Where more courses could be meant than are named, the rest is told."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from adapters.chat.places import PlaceContext, PlaceResolver
from core.domain.i18n import text
from core.storage.access import Reader
from core.storage.channels import Rules


class Guide:
    """Knows so many courses, all of which may be read."""

    def __init__(self, count: int) -> None:
        titles = [f"Course {number:02}" for number in range(count)]
        self._courses = {
            title.lower().replace(" ", "-"): SimpleNamespace(course=SimpleNamespace(title=title))
            for title in titles
        }

    async def own(self, _: Reader) -> dict[str, Any]:
        return {**self._courses}

    courses = own

    async def mark(self, _: Reader, __: str | None) -> None:
        return None

    async def only(self, _: Reader) -> None:
        return None


@pytest.mark.parametrize(("count", "more"), [(60, ""), (1001, "These are 1000 of 1001")])
async def test_a_menu_says_how_many_courses_it_leaves_out(count: int, more: str) -> None:
    meant = await _meant(count, direct=True)
    assert len(meant.choices) == min(count, 1000)
    assert meant.refusal is not None
    assert meant.refusal.startswith(text("course-which"))
    assert more in meant.refusal
    assert (len(meant.refusal) > len(text("course-which"))) == bool(more)


async def test_a_channel_without_a_course_names_none_to_students() -> None:
    meant = await _meant(23, direct=False, is_staff=False)
    assert meant.refusal == text("course-unset-tell")
    assert "course-1" not in meant.refusal


@pytest.mark.parametrize(("count", "end"), [(20, "course-19."), (23, "course-19 and 3 more.")])
async def test_a_channel_without_a_course_says_how_many_are_not_named(count: int, end: str) -> None:
    meant = await _meant(count, direct=False)
    assert meant.refusal is not None
    assert meant.refusal.endswith(end)


async def _meant(count: int, *, direct: bool, is_staff: bool = True) -> Any:
    async def staff() -> bool:
        return is_staff

    nothing = cast("Any", None)
    place_resolver = PlaceResolver(nothing, cast("Any", Guide(count)), nothing, lambda _: {})
    here = PlaceContext(Rules(), Reader("discord"))
    return await place_resolver.meant(here, None, direct=direct, bound=True, is_staff=staff)
