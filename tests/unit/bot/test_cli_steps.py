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
CLINIC = """\
# Clinic

## Lumbar puncture

The procedure takes about thirty minutes. Headache is the most common risk of the procedure. The
procedure was introduced by Heinrich Quincke in 1891. The instructions are signed by the head nurse.

1. Place the patient on the side.
2. Clean the skin with alcohol.
3. Insert the needle between the vertebrae.
4. Collect the fluid in four tubes.

## Bleeding

First aiders stop bleeding with pressure on the wound.

1. Put on gloves.
2. Press a clean cloth on the wound.
3. Raise the arm.
4. Call an ambulance.

## Emergency

The emergency procedure is as follows.

1. Press the red button.
2. Leave the hall.

## Heart massage

1. Kneel beside the chest.
2. Put both hands on the breastbone.

The breastbone is a flat bone. Children have soft ribs.
"""
BAKERY = """\
# Bakery

## Baking bread

You can tell that the dough is ready when it has doubled in size. A loaf is done when it sounds
hollow.

1. Mix the flour with the water.
2. Knead the dough.
3. Let the dough rise.
4. Bake the loaf.

## Two step verification

Two step verification keeps strangers out of the till.

1. Open the settings.
2. Choose the security page.
3. Scan the code.

## The door

To open the door:

1. Turn the key.
2. Pull the handle.

To close the door:

1. Push the handle.
2. Take the key away.

## Page replacement

Page replacement fills a torn page of the recipe book.

## Replacement

Replacement of an oven needs a technician.
"""
FILTER = """\
# Aquarium

## Der Filter

Die Bakterien im Filter nennt man Nitrosomonas. Sie bauen Ammoniak ab.

1. Ziehen Sie den Stecker.
2. Öffnen Sie den Topf.
3. Spülen Sie den Schwamm aus.
"""
PRINTER = """\
# Printer

## Resetting the printer

1. Press the green button.
2. Wait.
3. Open the lid.
4. Press the green button.
5. Wait.
6. Close the lid.

## Cleaning the print head

1. Switch the printer off.
2. Now you can use this:
3. Now look at the following picture:
"""
BOILER = """\
# Boiler

## Cleaning the filter

To drain and rinse the filter, do this:

- Switch off the pump
- Drain
- Rinse
- Close the lid

## Changing the gasket

Never open the drain valve while the boiler is hot.

To change the gasket:

- Switch off the boiler
- Open the drain valve
- Replace the gasket
"""
MOWER = """\
# Mower

## Sharpening the blade

- A file
- A wrench

1. Switch off the mower and wait until the wheel stands still.
2. Unscrew the blade of the mower.
3. Sharpen the blade with a file.
4. Screw the blade back on.
"""
FLAT_MOWER = MOWER.replace("4. Screw", "1. Hold the file flat.\n2. Draw it along.\n4. Screw")
BESIDE_PROSE = {
    "mower": {"mower.md": MOWER},
    "flat": {"flat.txt": FLAT_MOWER},
    "boiler": {"boiler.md": BOILER},
    "clinic": {"clinic.md": CLINIC},
    "bakery": {"bakery.md": BAKERY},
    "filter": {"filter.md": FILTER},
}
"""Books with prose beside a list on the same subject."""

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
        **BESIDE_PROSE,
        "filters": {"filters.md": f"# Filters\n\n## Rinsing\n\n{SOFT_WATER}\n"},
        "harbour": {"harbour.md": NESTED},
        "printer": {"printer.md": PRINTER},
    }
    described = ""
    for course, files in courses.items():
        write_files(line.folder / course, files)
        language = "de" if course in {"aquarium", "filter"} else "en"
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


def test_a_step_that_is_taken_twice_is_told_twice(manuals: CommandLine) -> None:
    response = asked(manuals, "printer", "How do I reset the printer?")
    assert marks(response) == numbers(6)
    assert response.response_text.count("Press the green button.") == 2


def test_a_step_that_ends_with_a_colon_is_told(manuals: CommandLine) -> None:
    response = asked(manuals, "printer", "How do I clean the print head?")
    assert marks(response) == numbers(3)
    assert len(response.citations) == 3


def test_a_step_is_told_and_cited_where_it_stands_though_its_words_stand_before_it_too(
    manuals: CommandLine,
) -> None:
    response = asked(manuals, "boiler", "How do I clean the filter?")
    quotes = [citation.quote for citation in response.citations]
    assert quotes[-4:] == ["- Switch off the pump", "- Drain", "- Rinse", "- Close the lid"]
    response = asked(manuals, "boiler", "How do I change the gasket?")
    assert "- Open the drain valve" in [citation.quote for citation in response.citations]
    assert "- Open the drain valve [4]" in response.response_text


def test_a_list_right_behind_another_one_is_told_whole(manuals: CommandLine) -> None:
    response = asked(manuals, "mower", "How do I sharpen the blade?")
    assert marks(response) == numbers(4)
    assert response.outcome is Outcome.ANSWERED


def test_a_few_steps_of_a_list_that_is_not_clear_are_not_told_as_sure(
    manuals: CommandLine,
) -> None:
    response = asked(manuals, "flat", "How do I sharpen the blade?")
    assert all(citation.quote in FLAT_MOWER for citation in response.citations)
    assert response.outcome is Outcome.PARTIAL
    assert any("which steps are of one list" in notice for notice in response.notices)


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


@pytest.mark.parametrize(
    ("course", "question", "told"),
    [
        ("clinic", "Who introduced the procedure of lumbar puncture?", "Heinrich Quincke"),
        ("clinic", "What is the most common risk of the procedure?", "Headache is"),
        ("clinic", "Who signs the instructions for the lumbar puncture?", "the head nurse"),
        ("clinic", "How do first aiders stop bleeding?", "with pressure on the wound"),
        ("clinic", "What do first aiders do about bleeding?", "with pressure on the wound"),
        ("clinic", "How is the breastbone of children?", "a flat bone"),
        ("bakery", "How can you tell that the dough is ready?", "doubled in size"),
        ("bakery", "How do I know that the loaf is done?", "sounds hollow"),
        ("bakery", "Explain page replacement", "fills a torn page"),
        ("filter", "Wie nennt man die Bakterien im Filter?", "Nitrosomonas"),
        ("filter", "Wie werden die Bakterien im Filter genannt?", "Nitrosomonas"),
    ],
)
def test_a_question_for_something_else_is_answered_with_the_prose_beside_the_list(
    manuals: CommandLine, course: str, question: str, told: str
) -> None:
    response = asked(manuals, course, question)
    assert told in response.response_text
    assert marks(response) == []


@pytest.mark.parametrize(
    ("course", "question", "expected"),
    [
        ("clinic", "What is the emergency procedure?", numbers(2)),
        ("clinic", "How do I do a heart massage?", numbers(2)),
        ("bakery", "How do I set up two step verification?", numbers(3)),
        ("bakery", "What comes after step 2 of baking bread?", ["3."]),
        ("bakery", "What do I do after step 2 of baking bread?", ["3."]),
        ("bakery", "Which step comes before step 3 of baking bread?", ["2."]),
        ("bakery", "How do I close the door?", numbers(2)),
    ],
)
def test_the_list_beside_prose_is_told_where_it_is_asked_for(
    manuals: CommandLine, course: str, question: str, expected: list[str]
) -> None:
    response = asked(manuals, course, question)
    assert marks(response) == expected
    assert response.outcome is Outcome.ANSWERED


def test_the_subject_of_the_steps_counts_within_a_section(manuals: CommandLine) -> None:
    response = asked(manuals, "clinic", "What is the emergency procedure?", "--section", "Clinic")
    assert "Press the red button." in response.response_text
    assert marks(response) == numbers(2)


def test_a_step_that_is_named_goes_before_the_one_just_shown(manuals: CommandLine) -> None:
    first = asked(manuals, "bakery", "What is the first step of baking bread?")
    session = ("--session", str(first.conversation_id))
    named = asked(manuals, "bakery", "What do I do after kneading the dough?", *session)
    assert marks(named) == ["2.", "3."]
    assert marks(asked(manuals, "bakery", "What do I do after that?", *session)) == ["4."]


def test_of_a_section_with_several_lists_the_others_are_named(manuals: CommandLine) -> None:
    response = asked(manuals, "bakery", "What are the steps?", "--section", "The door")
    assert "To open the door:" in response.response_text
    assert marks(response) == numbers(2)
    assert "There are other steps below “The door”." in response.notices
    assert response.outcome is Outcome.PARTIAL
