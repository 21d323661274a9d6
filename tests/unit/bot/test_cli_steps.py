"""Questions of how something is done, asked of three manuals at the command line."""

from pathlib import Path
from string import digits

import pytest

from core.grounding import wording
from core.models import AgentResponse, Outcome
from tests.books import write_files
from tests.command_line import CommandLine, shell
from tests.manuals import MANUALS

SOFT_WATER = "\n".join(
    f"{n}. Rinse filter {n} with {n} L of warm rain water." for n in range(1, 61)
)

REST = " and let the harbour rest"
NESTED = f"""\
# Harbour

## Making tea

- Boil the water:
    - Fill the kettle with the water of the ship.
    - Switch the kettle on.
- Pour the water over the leaves.
- Remove the leaves.

## Careening the boat

1. Tilt the boat{5 * REST}.
2. Prepare the brushes{5 * REST}:
    1. Wash the first brush{5 * REST}.
    2. Dry the second brush{5 * REST}.
3. Take out the keel{11 * REST}.
4. Close the valve{11 * REST}.
5. Sail once around the harbour{11 * REST}.
"""


@pytest.fixture(scope="module")
def manuals(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    line = shell(tmp_path_factory.mktemp("manuals"), models)
    courses = {
        **MANUALS,
        "filters": {"filters.md": f"# Filters\n\n## Rinsing\n\n{SOFT_WATER}\n"},
        "harbour": {"harbour.md": NESTED},
    }
    described = ""
    for course, files in courses.items():
        write_files(line.folder / course, files)
        language = "de" if course == "aquarium" else "en"
        described += f'[courses.{course}]\nsources = ["{course}"]\nlanguage = "{language}"\n'
    (line.folder / "glossator.toml").write_text(described)
    for course in courses:
        done = line.here("ingest", "--course", course)
        assert done.code == 0, done.err
    return line


def asked(shell: CommandLine, course: str, question: str, *options: str) -> AgentResponse:
    done = shell.here("ask", question, "--course", course, *options, "--json")
    assert done.code == 0, done.err
    return AgentResponse.model_validate_json(done.out)


def marks(response: AgentResponse) -> list[str]:
    """Return what the lines of an answer begin with, and check that each step is cited."""
    lines = [line for line in response.response_text.splitlines() if line.strip()]
    steps = [line.strip() for line in lines if line.strip()[:1] in {*digits, "-"}]
    assert all(line.endswith(("]", ":")) for line in steps)
    return [line.split()[0] for line in steps]


def numbers(last: int, first: int = 1) -> list[str]:
    return [f"{number}." for number in range(first, last + 1)]


@pytest.mark.parametrize(
    ("course", "question", "expected"),
    [
        ("workshop", "How do I sharpen a chisel?", numbers(6)),
        ("workshop", "How is a chisel sharpened?", numbers(6)),
        (
            "workshop",
            "How do I bleed the brake?",
            [*numbers(2), *numbers(3), *numbers(11, 3)],
        ),
        ("workshop", "What is the first step of bleeding the brake?", ["1."]),
        ("workshop", "What is the last step of bleeding the brake?", ["11."]),
        ("kitchen", "How do I make the lentil soup?", ["-"] * 5),
        ("kitchen", "How do I start the stove controller?", numbers(4)),
        ("harbour", "How do I make tea?", ["-"] * 5),
        ("harbour", "How do I careen the boat?", [*numbers(2), *numbers(2), *numbers(5, 3)]),
        ("harbour", "What is the last step of careening the boat?", ["5."]),
        ("aquarium", "Wie wechsle ich das Wasser?", numbers(6)),
        ("aquarium", "Wie wird der Filter gereinigt?", ["-"] * 4),
        ("aquarium", "Was ist der letzte Schritt beim Wasserwechsel?", ["6."]),
    ],
)
def test_the_steps_asked_for_are_told_in_order_and_cited(
    manuals: CommandLine, course: str, question: str, expected: list[str]
) -> None:
    response = asked(manuals, course, question)
    assert marks(response) == expected
    assert response.outcome is Outcome.ANSWERED


def test_warnings_and_code_come_with_their_steps(manuals: CommandLine) -> None:
    chisel = asked(manuals, "workshop", "How do I sharpen a chisel?").response_text
    assert "\n\nNever test the edge with your thumb." in chisel
    stove = asked(manuals, "kitchen", "How do I start the stove controller?").response_text
    assert "sudo stovectl start\n```" in stove
    assert (
        "lentils\n- two onions"
        not in asked(manuals, "kitchen", "How do I make the lentil soup?").response_text
    )


def test_a_detail_of_a_list_is_answered_with_its_step(manuals: CommandLine) -> None:
    response = asked(manuals, "kitchen", "How long does the soup simmer?")
    assert "Simmer for 25 minutes." in response.response_text


@pytest.mark.parametrize("question", ["What are the steps?", "How do I do it?"])
def test_the_steps_of_a_section_are_told_without_naming_it(
    manuals: CommandLine, question: str
) -> None:
    response = asked(manuals, "workshop", question, "--section", "Sharpening a chisel")
    assert marks(response) == numbers(6)


def test_the_next_step_is_the_one_behind_what_was_shown(manuals: CommandLine) -> None:
    first = asked(manuals, "workshop", "What is the first step of sharpening a chisel?")
    session = ("--session", str(first.conversation_id))
    for number in (2, 3):
        response = asked(manuals, "workshop", "What is the next step?", *session)
        assert marks(response) == [f"{number}."]


def test_a_list_too_long_is_told_from_its_start_and_not_as_sure(manuals: CommandLine) -> None:
    response = asked(manuals, "filters", "How do I rinse the filters?")
    shown = len(marks(response))
    assert marks(response) == numbers(shown)
    assert 10 < shown < 60
    assert wording.steps_left_out(1, shown, 60, "Rinsing") in response.notices
    assert response.outcome is Outcome.PARTIAL
