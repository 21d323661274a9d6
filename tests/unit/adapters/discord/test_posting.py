"""Names of posts and buttons, and finding posts again."""

from typing import Any
from uuid import UUID

import pytest

from adapters.chat.buttons import Button, custom_id, parsed
from adapters.discord.answer_messages import first_part, nonce, same_text, strays

ME = "9"
REQUEST = UUID(int=7)


def message(number: int, text: str = "", author: str = ME, **fields: Any) -> dict[str, Any]:
    return {"id": str(number), "content": text, "author": {"id": author}, **fields}


def with_button(number: int, request_id: UUID) -> dict[str, Any]:
    button = {"type": 2, "custom_id": custom_id(Button.STOP, request_id)}
    return message(number, components=[{"type": 1, "components": [button]}])


def test_a_nonce_is_the_same_each_time_fits_discord_and_differs_by_place_part_and_loss() -> None:
    names = {
        nonce("discord:1:2", channel, part, again)
        for channel in range(3)
        for part in range(3)
        for again in range(3)
    }
    assert nonce("discord:1:2", 1, 0) == nonce("discord:1:2", 1, 0)
    assert len(names) == 27
    assert all(len(name) <= 25 for name in names)


@pytest.mark.parametrize("button", list(Button))
def test_a_button_finds_its_way_back_from_its_custom_id(button: Button) -> None:
    name = custom_id(button, REQUEST)
    assert len(name) <= 100
    assert parsed(name) == (button, REQUEST)


@pytest.mark.parametrize("foreign", ["", "gl:h:", f"gl:!:{REQUEST}", f"xx:h:{REQUEST}", "gl:h:7"])
def test_a_foreign_custom_id_is_not_ours(foreign: str) -> None:
    assert parsed(foreign) is None


def test_our_first_message_is_known_by_its_button_or_by_what_it_replies_to() -> None:
    found = first_part([replying(4, 3, "one")], ME, "one ", request_id=REQUEST, question=3)
    assert found == "4"
    found = first_part([with_button(5, REQUEST)], ME, "one", request_id=REQUEST, question=3)
    assert found == "5"


def test_what_was_said_while_the_question_waited_is_not_its_answer() -> None:
    waiting = replying(4, 3, "Others come first.")
    messages = [waiting, with_button(5, REQUEST)]
    assert first_part(messages, ME, "one", request_id=REQUEST, question=3) == "5"
    assert first_part([waiting], ME, "one", request_id=REQUEST, question=3) is None


def test_other_messages_are_not_taken_for_ours() -> None:
    others = [
        message(4, author="1", message_reference={"message_id": "3"}),
        message(5, message_reference={"message_id": "2"}),
        with_button(6, UUID(int=8)),
        message(7, message_reference=None, components=[]),
    ]
    assert first_part(others, ME, "", request_id=REQUEST, question=3) is None
    assert first_part(others, ME, "", request_id=None, question=None) is None


def replying(number: int, question: int, text: str = "") -> dict[str, Any]:
    return message(number, text, message_reference={"message_id": str(question)})


def test_a_later_part_is_known_by_its_text_and_what_it_replies_to() -> None:
    messages = [message(4, "one"), message(5, "two", author="1"), replying(6, 3, "two")]
    assert same_text(messages, ME, " two\n", question=3, known=()) == "6"
    assert same_text(messages, ME, "two", question=3, known=("6",)) is None
    assert same_text(messages, ME, "two", question=2, known=()) is None
    assert same_text(messages, ME, "two", question=None, known=()) is None


def test_messages_that_nobody_knows_are_those_that_answer_beside_the_known() -> None:
    of_another = {**with_button(9, UUID(int=8)), "message_reference": {"message_id": "3"}}
    messages = [
        replying(4, 3, "one"),
        replying(5, 3, "two"),
        replying(6, 2, "one"),
        message(7, "one"),
        of_another,
        with_button(10, REQUEST),
    ]
    found = strays(messages, ME, ("4",), requests={REQUEST}, question=3, own_thread=False)
    assert found == ["5", "10"]


def test_in_a_thread_of_its_own_a_repeated_part_is_one_too_many() -> None:
    messages = [message(4, "one"), message(5, "one"), replying(6, 2, "one"), message(7, "two")]
    found = strays(messages, ME, ("4",), requests={REQUEST}, question=3, own_thread=True)
    assert found == ["5"]


def test_an_answer_without_messages_has_all_of_its_messages_as_strays() -> None:
    messages = [with_button(5, REQUEST)]
    found = strays(messages, ME, (), requests={REQUEST}, question=None, own_thread=False)
    assert found == ["5"]
