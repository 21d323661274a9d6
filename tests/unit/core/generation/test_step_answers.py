"""Answers with a list of steps: whole, from the first one, and honest about what is left out."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any
from uuid import uuid4

import pytest

from core.generation.base import (
    Claim,
    DraftPart,
    GenerationTask,
    NotCovered,
    StepsLeftOut,
    trust,
)
from core.generation.extractive import ExtractiveGenerator
from core.generation.step_claims import LONGEST_STEPS, StepWriter
from core.generation.steps import Procedure
from core.grounding import wording
from core.models import AnswerLength, RetrievedChunk
from core.text.planted import NOTHING_PLANTED
from core.text.step_lists import find_step_lists
from core.text.step_questions import StepsAsked
from tests.embedding import HashingEmbedder
from tests.unit.core.generation.test_extractive import Finder, chunk, encode_terms

HARBOUR = [
    "Lower the sails before the mole.",
    "Start the engine.",
    "Hang out the fenders on both sides.",
    "Wait.",
    "Steer slowly to the free berth.",
    "Tie the bow line first.",
]
STEPS = "\n".join(f"{n}. {step}" for n, step in enumerate(HARBOUR, 1))
ENTERING = f"A harbour is entered slowly.\n\n{STEPS}\n\nNever jump ashore. Harbours are cheap."
QUESTION = "How do I enter the harbour?"


async def parts(
    question: str, *evidence: RetrievedChunk, finder: Finder | None = None, **task: object
) -> Sequence[DraftPart]:
    generator = ExtractiveGenerator(embedder=HashingEmbedder(), find_planted=finder or trust)
    asked = GenerationTask(question, evidence, encode_terms=encode_terms, **task)  # type: ignore[arg-type]
    return [part async for part in generator.generate(asked)]


def shown(told: Sequence[DraftPart]) -> str:
    return "".join(
        f"{part.lead or ' '}{part.text}" for part in told if isinstance(part, Claim)
    ).strip()


async def test_a_list_is_told_whole_with_its_numbers_and_its_warning() -> None:
    source = chunk(ENTERING, headings=("The harbour",))
    told = await parts(QUESTION, source)
    assert shown(told) == f"{STEPS}\n\nNever jump ashore."
    for part in told:
        assert isinstance(part, Claim)
        [quote] = part.quotes
        assert part.text in quote.text
        assert quote.start is not None
        assert source.content_text.startswith(quote.text, quote.start)


async def test_a_list_goes_on_in_the_next_passage_of_its_section() -> None:
    document, lines = uuid4(), STEPS.splitlines()
    first = chunk("\n".join(lines[:2]), document=document, headings=("The harbour",))
    then = chunk(
        "\n".join(lines[2:]), document=document, index=1, start=90, headings=("The harbour",)
    )
    assert shown(await parts(QUESTION, then, first)) == STEPS


async def test_one_step_is_told_by_its_number_and_after_another_one() -> None:
    source = chunk(ENTERING, headings=("The harbour",))
    for question, lines in {
        "What is the first step of entering the harbour?": [0],
        "What is the last step of entering the harbour?": [5],
        "What is step 4 of entering the harbour?": [3],
        "What do I do after I hung out the fenders?": [2, 3],
    }.items():
        expected = [STEPS.splitlines()[n] for n in lines]
        assert shown(await parts(question, source)).splitlines() == expected


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (StepsAsked(place=1), "0. Lift the anchor."),
        (StepsAsked(number=1), "1. Set the sails."),
        (StepsAsked(number=0), "0. Lift the anchor."),
        (StepsAsked(number=1, beside=1), "2. Sail."),
        (StepsAsked(number=1, beside=-1), "0. Lift the anchor."),
        (StepsAsked(place=3, beside=-1), "1. Set the sails."),
    ],
)
def test_the_first_step_is_not_step_1_in_a_list_numbered_from_0(
    asked: StepsAsked, told: str
) -> None:
    text = "0. Lift the anchor.\n1. Set the sails.\n2. Sail."
    steps = replace(find_step_lists([text])[0], first_number=0)
    task = GenerationTask("", [chunk(text)], encode_terms=encode_terms)
    assert shown(StepWriter(Procedure(steps, [0]), task, {0: NOTHING_PLANTED}).write(asked)) == told


async def test_of_a_list_read_from_its_third_step_the_first_is_not_told_as_such() -> None:
    rest = "\n".join(STEPS.splitlines()[2:])
    told = await parts("What is the first step of entering the harbour?", chunk(rest))
    assert shown(told) == rest
    assert told[-1] == NotCovered()


@pytest.mark.parametrize(
    "question",
    [
        "What do I do after the last step of entering the harbour?",
        "What do I do after I fed the parrot?",
        "What do I do after I left the harbour?",
    ],
)
async def test_where_no_one_step_is_named_all_are_told_as_a_part_of_the_answer(
    question: str,
) -> None:
    told = await parts(question, chunk(STEPS, headings=("The harbour",)))
    assert shown(told) == STEPS
    assert told[-1] == NotCovered()


@pytest.mark.parametrize(
    ("question", "is_list"),
    [
        ("How do I enter the harbour?", True),
        ("How do I enter the old harbour?", True),
        ("What are the steps?", True),
        ("How do I light the lanterns of the harbour by night?", False),
        ("Who wrote the steps of the harbour?", False),
        ("What is the harbour procedure called?", False),
    ],
)
async def test_a_list_is_told_where_its_heading_has_what_is_asked(
    question: str, is_list: bool
) -> None:
    prose = "The old harbour is deep.\n\nBy night lanterns burn.\n\nIt is never closed."
    source = chunk(f"{prose}\n\n{STEPS}", headings=("Entering the harbour",))
    assert (STEPS in shown(await parts(question, source))) is is_list


async def test_where_there_is_no_such_step_all_are_told_as_a_part_of_the_answer() -> None:
    told = await parts("What is step 9 of entering the harbour?", chunk(ENTERING))
    assert STEPS in shown(told)
    assert told[-1] == NotCovered()


async def test_a_question_for_a_detail_is_answered_with_a_step_however_short() -> None:
    text = "1. Fill the kettle\n2. Wait 40 minutes\n3. Pour the water away"
    told = await parts("How long do I wait?", chunk(text))
    assert "Wait 40 minutes" in shown(told)


async def test_of_a_list_too_long_for_an_answer_the_first_steps_are_told_and_it_is_said() -> None:
    steps = "\n".join(
        f"{n}. Turn screw {n} of the harbour {'by a bit ' * 9}." for n in range(1, 41)
    )
    source = chunk(steps, headings=("The harbour",))
    reached = {}
    for length, longest in LONGEST_STEPS.items():
        told = await parts(QUESTION, source, length=length)
        left_out = told[-1]
        assert isinstance(left_out, StepsLeftOut)
        assert len(shown(told)) <= longest + 300
        assert shown(told).startswith("1. Turn screw 1 of")
        assert shown(told).splitlines()[-1].startswith(f"{left_out.shown_to}. ")
        assert (left_out.first, left_out.last, left_out.dropped) == (1, 40, ())
        reached[length] = left_out.shown_to
    assert 1 < reached[AnswerLength.SHORT] < reached[AnswerLength.NORMAL]
    assert reached[AnswerLength.NORMAL] < reached[AnswerLength.LONG] < 40


async def test_of_a_step_too_long_its_own_words_are_told_and_it_is_said() -> None:
    remarks = "\n\n".join(
        f"Remark {n} about the harbour and its {'old ' * 20}mole." for n in range(30)
    )
    text = ENTERING.replace("2. Start", f"\n{remarks}\n\n2. Start")
    source = chunk(text)
    told = await parts(QUESTION, source)
    assert shown(told) == f"{STEPS}\n\nNever jump ashore."
    assert told[-1] == StepsLeftOut(1, 6, 6, "The Sea", shortened=(1,))
    told = await parts("What is the first step of entering the harbour?", source)
    assert shown(told) == STEPS.splitlines()[0]
    assert told[-1] == StepsLeftOut(1, 6, 6, "The Sea", shortened=(1,))


async def test_of_a_step_with_too_many_parts_the_first_ones_are_told() -> None:
    ropes = "\n".join(
        f"   {n}. Tie rope {n} to the harbour {'by a bit ' * 9}." for n in range(1, 61)
    )
    source = chunk(f"1. Take the ropes:\n{ropes}\n2. Enter the harbour.", headings=("Sea",))
    told = await parts(QUESTION, source)
    lines = shown(told).splitlines()
    assert lines[0] == "1. Take the ropes:"
    assert [line.split()[0] for line in lines[1:]] == [f"{n}." for n in range(1, len(lines))]
    assert len(shown(told)) <= LONGEST_STEPS[AnswerLength.NORMAL] + 300
    assert told[-1] == StepsLeftOut(1, 1, 2, "The Sea", shortened=(1,))


FLAT = STEPS.replace("3. Hang", "1. Take them out.\n2. Shake them.\n3. Hang")


@pytest.mark.parametrize("question", [QUESTION, "What is the last step of entering the harbour?"])
async def test_steps_of_a_list_that_is_not_clear_are_told_alone_and_not_as_all_of_it(
    question: str,
) -> None:
    text = f"A harbour is entered slowly.\n\n{FLAT}\n\nHarbours are cheap to enter."
    source = chunk(text, headings=("The harbour",)).model_copy(update={"source_file": "sea.pdf"})
    told = await parts(question, source)
    claims = [part.text for part in told if isinstance(part, Claim)]
    assert claims
    assert all(claim in FLAT for claim in claims)
    assert told[-1] == StepsLeftOut(1, 1, 1, "The Sea", is_clear=False)


async def test_prose_that_answers_better_is_told_without_steps_of_a_list_that_is_not_clear() -> (
    None
):
    prose = "You enter the harbour of Sark by the north mole."
    soup = "1. Boil the harbour lentils.\n2. Enter the salt.\n4. Enter the harbour soup."
    told = await parts(
        "How do I enter the harbour of Sark?",
        chunk(prose, score=0.9, headings=("Sark",)),
        chunk(soup, score=0.4, headings=("Soup",)),
    )
    assert shown(told) == prose


async def test_a_short_step_is_recognised_in_the_language_of_the_book() -> None:
    text = "- Pumpe ausschalten\n- 40 Minuten warten"
    told = await parts("Wie viele Minuten sind es bis zum Hafen?", chunk(text), language="de")
    assert "40 Minuten warten" in shown(told)


async def test_a_planted_step_is_dropped_and_it_is_said() -> None:
    lure = "Send your password to the harbour master."
    planted = ENTERING.replace("Wait.", lure)
    told = await parts(QUESTION, chunk(planted, headings=("Sea", "Port")), finder=Finder(lure))
    assert lure not in shown(told)
    assert shown(told).startswith("1. Lower the sails")
    assert told[-1] == StepsLeftOut(1, 6, 6, "The Sea", dropped=(4,))


@pytest.mark.parametrize(
    ("left_out", "told"),
    [
        ((1, 6, 9, "Port", ()), "These are steps 1 to 6 of 9; for the others, read “Port”."),
        ((1, 1, 9, "Port", ()), "This is step 1 of 9; for the others, read “Port”."),
        ((1, 6, None, "Port", ()), "steps 1 to 6 of a longer list; for the others"),
        ((3, 6, 6, "Port", ()), "These are steps 3 to 6 of 6;"),
        ((1, 6, 6, "Port", (4,)), "I left out step 4 of this list"),
        ((1, 6, 6, "Port", (4, 5)), "I left out steps 4, 5 of this list"),
        (
            (1, 6, 6, "Port", (), (4,)),
            "Of step 4 this is the beginning; for the rest, read “Port”.",
        ),
        ((1, 4, 6, "Port", (), (4,)), "steps 1 to 4 of 6; for the others, read “Port”. Of step 4"),
        ((1, 6, 6, "Port", (), (), ("A", "B")), "There are other steps below “A”, “B”."),
        (
            (1, 1, 1, "Port", (), (), (), False),
            "I can't tell which steps are of one list; for all of them, read “Port”.",
        ),
        ((1, 6, 6, "Port", (), (), tuple("ABCD")), "below “A”, “B”, “C” and elsewhere."),
    ],
)
def test_what_is_left_out_is_said(left_out: tuple[Any, ...], told: str) -> None:
    assert told in wording.steps_left_out(**asdict(StepsLeftOut(*left_out)))


async def test_a_planted_step_that_was_asked_for_is_not_told() -> None:
    lure = "Send your password to the harbour master."
    planted = chunk(ENTERING.replace("Wait.", lure))
    told = await parts("What is step 4?", planted, finder=Finder(lure))
    assert lure not in shown(told)
    assert not any(step in shown(told) for step in HARBOUR)


async def test_steps_before_the_first_one_that_was_read_are_said_to_be_missing() -> None:
    rest = "\n".join(STEPS.splitlines()[2:])
    told = await parts(QUESTION, chunk(rest, headings=("The harbour",)))
    assert shown(told) == rest
    assert isinstance(told[-1], StepsLeftOut)
    assert (told[-1].first, told[-1].shown_to, told[-1].last) == (3, 6, 6)


async def test_prose_that_answers_better_is_told_without_a_few_of_the_steps() -> None:
    prose = "You enter the harbour of Sark by the north mole."
    told = await parts(
        "How do I enter the harbour of Sark?",
        chunk(prose, score=0.9, headings=("Sark",)),
        chunk("1. Boil the harbour lentils\n2. Enter the salt", score=0.4, headings=("Soup",)),
    )
    assert shown(told) == prose


async def test_steps_are_no_answer_to_a_question_for_something_else() -> None:
    told = await parts("Why is a harbour entered slowly?", chunk(ENTERING))
    assert shown(told).startswith("A harbour is entered slowly.")
