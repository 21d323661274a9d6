"""What is learned of a service is forgotten again."""

from dataclasses import replace

from core.providers.base import OutputForm
from core.providers.manner import LearnedManner, Manner


class Clock:
    """Shows the time that it is set to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_a_service_refused_is_asked_for_again_after_a_while() -> None:
    clock = Clock()
    manner = LearnedManner(Manner(), clock)
    manner.learn(replace(Manner(), form=OutputForm.JSON, logprobs=False))
    clock.now = 599.0
    assert (manner.now.form, manner.now.logprobs) == (OutputForm.JSON, False)
    clock.now = 600.0
    assert manner.now == Manner()


def test_a_lesson_is_kept_as_long_as_it_is_not_old() -> None:
    clock = Clock()
    manner = LearnedManner(Manner(), clock)
    manner.learn(replace(Manner(), temperature=False))
    clock.now = 500.0
    manner.learn(replace(Manner(), temperature=False, tools=False))
    clock.now = 1_000.0
    assert (manner.now.temperature, manner.now.tools) == (False, False)


def test_what_was_known_of_a_service_from_the_start_is_not_forgotten() -> None:
    clock = Clock()
    manner = LearnedManner(replace(Manner(), form=OutputForm.LINES), clock)
    clock.now = 10_000.0
    assert manner.now.form is OutputForm.LINES
