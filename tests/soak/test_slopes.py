"""Slopes are told as they are, through interruptions too, and drawn."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.soak.picture import png
from tests.soak.samples import Sample, keep, kept_in
from tests.soak.slopes import FIGURES, WARM_UP, slope, table, tells_enough, too_steep, warm

MEMORY = FIGURES[0]
STILL = Sample(1, 0, 0.0, 200_000_000, 30, 18, 22, 12, 4_000_000, 0)


def grown(per_10_000: float, life: int = 1, begun: int = 0, base: float = 200.0) -> list[Sample]:
    """Return a life of 5,000 questions in which memory grows by so many megabytes."""
    return [
        replace(
            STILL,
            life=life,
            questions=begun + number,
            seconds=number / 5,
            memory=round((base + per_10_000 * number / 10_000) * 1_000_000),
        )
        for number in range(0, 5_000, 50)
    ]


@pytest.mark.parametrize("growth", [0.0, 0.4, 12.5])
def test_a_slope_is_told_for_ten_thousand_questions(growth: float) -> None:
    assert slope(grown(growth), MEMORY) == pytest.approx(growth, abs=1e-3)


def test_a_process_that_begins_higher_than_the_one_before_has_not_grown() -> None:
    lives = grown(0.5) + grown(0.5, life=2, begun=5_000, base=260.0)
    assert slope(lives, MEMORY) == pytest.approx(0.5, abs=1e-3)


def test_the_beginning_of_each_life_is_left_out() -> None:
    lives = grown(0) + grown(0, life=2, begun=5_000)
    assert {s.seconds >= WARM_UP for s in warm(lives)} == {True}
    assert len({s.life for s in warm(lives)}) == 2


def test_a_short_run_is_not_believed() -> None:
    assert tells_enough(grown(0))
    assert not tells_enough(grown(0)[:60])
    assert not tells_enough([])


def test_what_comes_and_goes_with_the_askers_is_no_growth() -> None:
    tasks = FIGURES[2]
    busy = [
        replace(s, tasks=22 + s.questions // 500 if s.questions % 200 else 22) for s in grown(0)
    ]
    assert slope(busy, tasks) == 0
    left = [replace(s, tasks=s.tasks + s.questions // 200) for s in busy]
    assert slope(left, tasks) == pytest.approx(50, rel=0.05)


def test_what_grows_more_than_it_may_is_named() -> None:
    assert too_steep(grown(0.9)) == []
    assert too_steep(grown(1.1)) == ["memory"]
    assert "+1.10" in "\n".join(table(grown(1.1)))


def test_nothing_is_told_of_a_run_that_has_hardly_begun() -> None:
    assert too_steep([]) == []
    assert too_steep([STILL]) == []
    assert len(list(table([]))) == 1


def test_samples_are_kept_between_two_sittings(tmp_path: Path) -> None:
    assert list(kept_in(tmp_path)) == []
    for sample in grown(1)[:3]:
        keep(sample, tmp_path)
    assert list(kept_in(tmp_path)) == grown(1)[:3]


def test_the_picture_is_drawn_with_letters_on_a_machine_without_fonts() -> None:
    drawn = png(grown(0.5))
    assert drawn.startswith(b"\x89PNG")
    assert len(drawn) > 20_000
