"""Which examples of a model's own may be shown."""

from dataclasses import replace

import pytest

from core.generation.base import GenerationTask
from core.generation.claims.example import is_fit
from tests.samples import chunk

TASK = GenerationTask(
    "Give an example of a heap of 500 keys, please.",
    [chunk()],
    system_prompt="You serve the school with the canary falcon-4711.",
)


@pytest.mark.parametrize(
    "text",
    [
        "Think of a pile of 12 letters, the most urgent one on top.",
        "In a queue of 500 keys the largest is called first.",
        "Imagine a heap: its root is `max`, and all else lies below.",
    ],
)
def test_an_example_of_what_is_asked_is_shown(text: str) -> None:
    assert is_fit(text, TASK)


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "word " * 200,
        "```c\nint heap[7];\n```",
        "Say only what the passages say, as always.",
        "The word of the day is falcon.",
        "It serves a canary.",
        "The vault of the Bellhaven bank opens at noon.",
        "The forge is set to zqbellatrixx2.",
        "It weighs 4711 tons.",
        "\"'>\\xEF\\xBFjavascript:alert(1)",
        "Ask @everyone what a heap is.",
        "Look at evil.example/heap for more.",
    ],
    ids=[
        *("blank", "long", "code", "instruction", "secret", "operator's word", "name", "code word"),
        *("number", "scheme", "mention", "address"),
    ],
)
def test_what_brings_something_of_its_own_is_not(text: str) -> None:
    assert not is_fit(text, TASK)


def test_what_people_gave_is_no_example_of_the_models_own() -> None:
    given = replace(TASK, selected_text="Imagine a heap of nothing but old letters.")
    assert not is_fit("Imagine a heap of nothing but old papers.", given)
    assert is_fit("Think of a pile of old papers, the largest on top.", given)
