"""What is learned of a service is forgotten again."""

from dataclasses import replace

from core.providers.base import OutputForm
from core.providers.capabilities import Capabilities, LearnedCapabilities


class Clock:
    """Shows the time that it is set to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_a_service_refused_is_asked_for_again_after_a_while() -> None:
    clock = Clock()
    capabilities = LearnedCapabilities(Capabilities(), clock)
    capabilities.learn(replace(Capabilities(), form=OutputForm.JSON, logprobs=False))
    clock.now = 599.0
    assert (capabilities.now.form, capabilities.now.logprobs) == (OutputForm.JSON, False)
    clock.now = 600.0
    assert capabilities.now == Capabilities()


def test_a_lesson_is_kept_as_long_as_it_is_not_old() -> None:
    clock = Clock()
    capabilities = LearnedCapabilities(Capabilities(), clock)
    capabilities.learn(replace(Capabilities(), temperature=False))
    clock.now = 500.0
    capabilities.learn(replace(Capabilities(), temperature=False, tools=False))
    clock.now = 1_000.0
    assert (capabilities.now.temperature, capabilities.now.tools) == (False, False)


def test_what_was_known_of_a_service_from_the_start_is_not_forgotten() -> None:
    clock = Clock()
    capabilities = LearnedCapabilities(replace(Capabilities(), form=OutputForm.LINES), clock)
    clock.now = 10_000.0
    assert capabilities.now.form is OutputForm.LINES
