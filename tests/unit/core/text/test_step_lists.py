"""Where a section's text has a list of steps, and what belongs to each of them."""

import pytest

from core.text.step_lists import StepList, find_step_lists


def words(texts: list[str], one: StepList) -> list[list[str]]:
    """Return the texts of the items of each step."""
    return [
        [
            " ".join(" ".join(texts[p.text_number][p.start : p.end] for p in item.parts).split())
            for item in step.items
        ]
        for step in one.steps
    ]


def only(*texts: str, language: str = "en") -> list[list[str]]:
    [found] = find_step_lists(texts, language)
    return words(list(texts), found)


def test_numbers_that_follow_each_other_are_steps() -> None:
    assert only("To start:\n\n1. Go\n2. Run. Do not fall.\n\nIt is fun.") == [
        ["1. Go"],
        ["2. Run. Do not fall."],
    ]


def test_a_list_goes_on_in_the_next_passage() -> None:
    assert only("1. Go\n2. Run", "3. Stop\n\nIt is fun.") == [["1. Go"], ["2. Run"], ["3. Stop"]]


def test_what_stands_between_two_numbers_belongs_to_the_first() -> None:
    assert only(
        "1. Run this:\n\n```\nls\n```\n\nIt lists files.\n\n2. Stop\n- now\n- here\n3. Go"
    ) == [
        ["1. Run this: ``` ls ``` It lists files."],
        ["2. Stop", "- now", "- here"],
        ["3. Go"],
    ]


def test_the_steps_of_a_step_are_told_apart_by_their_indent() -> None:
    assert only("1. Go\n2. Prepare:\n   1. Wash\n   2. Dry\n3. Stop") == [
        ["1. Go"],
        ["2. Prepare:", "1. Wash", "2. Dry"],
        ["3. Stop"],
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ["1. Go\n2. Prepare:\n1. Wash\n2. Dry\n3. Stop"],
        ["1. Go\n2. Prepare:", "1. Wash\n2. Dry", "3. Stop\n4. Sit"],
        ["1. Go\n2. Run\n4. Stop\n5. Sit"],
        ["- Go\n- Prepare:\n1. Wash\n2. Dry\n- Stop\n- Sit"],
        ["   - Wash\n   - Dry\n- Stop\n- Sit"],
    ],
)
def test_a_list_is_not_clear_where_an_item_beside_it_does_not_fit_in(texts: list[str]) -> None:
    found = find_step_lists(texts)
    assert found
    assert not any(one.is_clear for one in found)


@pytest.mark.parametrize(
    ("text", "numbers_of_steps"),
    [
        ("- Get a file\n- Get a wrench\n\n1. Go\n2. Run\n3. Stop", [2, 3]),
        ("1. Go\n2. Run\n3. Stop\n1. Sit\n2. Lie", [3, 2]),
        ("1. Go\n2. Run\n- Wash it\n- Dry it", [2, 2]),
        ("1. Go\n2. Run\n- A file\n- A wrench\n1. Sit\n2. Lie", [2, 2]),
        ("1. Go\n2. Prepare:\n- Wash it\n- Dry it", [2]),
        ("1. Go\n- Walk on\n2. Prepare\n- Wash it\n- Dry it", [2]),
    ],
)
def test_lists_right_behind_each_other_are_clear_where_the_format_keeps_their_depth(
    text: str, numbers_of_steps: list[int]
) -> None:
    found = find_step_lists([text], keeps_depth=True)
    assert [len(one.steps) for one in found] == numbers_of_steps
    assert all(one.is_clear for one in found)


def test_without_depth_bullets_in_front_of_a_first_number_are_another_list_too() -> None:
    [found] = find_step_lists(["- A file\n- A wrench\n\n1. Go\n2. Run"])
    assert found.is_clear
    found, *_ = find_step_lists(["1. Go\n2. Run\n3. Stop\n1. Sit\n2. Lie"])
    assert not found.is_clear


def test_an_item_left_over_from_a_list_that_is_not_clear_is_not_clear_either() -> None:
    found = find_step_lists(["1. Go\n2. Run\n4. Stop"])
    assert [(len(one.steps), one.is_clear) for one in found] == [(2, False), (1, False)]


def test_the_number_of_a_list_read_from_within_tells_what_it_begins_with() -> None:
    [found] = find_step_lists(["   2. Dry", "3. Stop\n4. Sit"])
    assert (found.first_number, len(found.steps), found.is_clear) == (3, 2, True)


def test_a_list_may_begin_with_0() -> None:
    [found] = find_step_lists(["0. Go\n1. Run\n2. Stop"])
    assert found.first_number == 0


def test_an_indented_paragraph_is_of_the_item_above_and_another_one_ends_its_bullets() -> None:
    assert only("- Go\n\n   It is far.\n\n- Run\n\n   It is late. Hurry.\n\nIt is fun.") == [
        ["- Go It is far."],
        ["- Run It is late. Hurry."],
    ]
    assert only("- Go\n- Run\n\nIt is fun.\n\n- Sing") == [["- Go"], ["- Run"]]


def test_two_lists_of_a_section_are_two() -> None:
    text = "Up:\n\n1. Go\n2. Run\n\nDown:\n\n1. Sit\n2. Lie"
    found = find_step_lists([text])
    assert [words([text], one) for one in found] == [
        [["1. Go"], ["2. Run"]],
        [["1. Sit"], ["2. Lie"]],
    ]
    assert [text[one.lead_in[0].start : one.lead_in[0].end] for one in found] == ["Up:", "Down:"]


def test_a_warning_beside_a_list_comes_with_it_and_other_text_does_not() -> None:
    text = "1. Go\n2. Run\n\nNever run on ice. Ice is cold.\n\nDo not sing."
    [found] = find_step_lists([text])
    assert [text[p.start : p.end] for p in found.warnings] == ["Never run on ice."]


@pytest.mark.parametrize(
    ("text", "language", "is_list"),
    [
        ("- Chop the onions\n- Gently stir the soup\n- a spoon", "en", True),
        ("- Base: fit the foot\n- Lamp: screw in the bulb", "en", True),
        ("- red lentils\n- two onions\n- one lemon", "en", False),
        ("- The moon moves the tide.\n- The baker rises early.", "en", False),
        ("- Schlauch abklemmen\n- Filter reinigen", "de", True),
        ("You have learned how to:\n\n- Chop onions\n- Fry them", "en", False),
        ("- Read (r): data are copied\n- Write (w): data are changed", "en", False),
        ("- Use of the slide is free.\n- Watch of the night\n- Wash the car", "en", False),
        ("- Dispose of the oil.\n- Wash the car", "en", True),
        ("- rote Linsen\n- zwei Zwiebeln", "de", False),
        ("1. Who rises early?\n2. What moves the tide?", "en", False),
        ("1. alone", "en", False),
    ],
)
def test_bullets_are_steps_when_they_tell_what_to_do(
    text: str, language: str, is_list: bool
) -> None:
    assert bool(find_step_lists([text], language)) is is_list


def test_paragraphs_that_call_themselves_steps_are_steps() -> None:
    assert only("Step 1: Go up.\n\nStep 2: Run down. Rest.") == [
        ["Step 1: Go up."],
        ["Step 2: Run down. Rest."],
    ]
