"""Which questions ask for steps, and for which of them."""

import pytest

from core.text.step_questions import LAST, StepsAsked, names_no_subject, read_steps_asked

ALL = StepsAsked()


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How do I sharpen a chisel?", ALL),
        ("How to bleed the brake", ALL),
        ("How is the stove started?", ALL),
        ("Explain how to cook lentils.", ALL),
        ("Can you tell me how to cook lentils?", ALL),
        ("What are the steps for bleeding the brake?", ALL),
        ("Give me the instructions for the brake.", ALL),
        ("What should I do when the pot is burnt?", ALL),
        ("What has to be done after a spill?", ALL),
        ("Walk me through the oil change.", ALL),
        ("Wie wechsle ich das Wasser?", ALL),
        ("Wie wird der Filter gereinigt?", ALL),
        ("Was muss ich bei einem Leck tun?", ALL),
        ("How does the brake work?", StepsAsked(plainly=False)),
        ("What is the first step when there is a leak?", StepsAsked(1)),
        ("What is the second safety step?", StepsAsked(2)),
        ("What do I do in step 12?", StepsAsked(12)),
        ("What is the 3rd step?", StepsAsked(3)),
        ("What is the last step of bleeding the brake?", StepsAsked(LAST)),
        ("What do I do first when the alarm rings?", StepsAsked(1)),
        ("Was ist der letzte Schritt beim Wasserwechsel?", StepsAsked(LAST)),
        ("Was ist Schritt 4?", StepsAsked(4)),
        ("What is the next step?", StepsAsked(is_next=True)),
        ("What do I do after I closed the valve?", StepsAsked(is_next=True)),
    ],
)
def test_a_question_for_steps_is_read(question: str, asked: StepsAsked) -> None:
    assert read_steps_asked(question) == asked


@pytest.mark.parametrize(
    "question",
    [
        "How long do I wait when sharpening?",
        "How much oil do I need?",
        "How many steps are there in the tower?",
        "What is a chisel?",
        "Why is the brake bled?",
        "When do I change the water?",
        "Wie lange kocht die Suppe?",
        "Wie viele Stufen hat der Turm?",
    ],
)
def test_a_question_for_one_detail_is_not_one_for_steps(question: str) -> None:
    assert read_steps_asked(question) is None


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("What are the steps?", True),
        ("What is the first step?", True),
        ("How do I do it?", True),
        ("List the steps.", True),
        ("Was sind die Schritte?", True),
        ("What are the steps for the brake?", False),
        ("How do I do the laundry?", False),
    ],
)
def test_steps_of_nothing_are_asked_of_the_section_at_hand(question: str, alone: bool) -> None:
    assert names_no_subject(question) is alone
