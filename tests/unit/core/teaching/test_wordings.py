"""Questions of a report: grouped by meaning, the shortest wording, without names."""

from uuid import uuid4

import pytest

from core.teaching.radar_activity import AskedWording, groups_of, told, without_names
from tests.embedding import HashingEmbedder

BOOK = set("what is a lamp how do i trim the wick of".split())


def common(word: str) -> bool:
    return word.casefold() in BOOK


def said(asker: str, text: str) -> AskedWording:
    return AskedWording(uuid4(), asker, text)


async def test_a_question_of_too_few_people_is_in_no_group() -> None:
    asked = [said("a", "What is a lamp?"), said("b", "what is a LAMP"), said("a", "What is a lamp")]
    assert await groups_of(asked, 3, HashingEmbedder()) == []
    (group,) = await groups_of(asked, 2, HashingEmbedder())
    assert set(group.request_ids) == {one.request_id for one in asked}


async def test_the_question_of_most_people_comes_first() -> None:
    asked = [said(person, "How do I trim the wick?") for person in "abc"]
    asked += [said(person, "What is a lamp?") for person in "abcd"]
    first, second = await groups_of(asked, 3, HashingEmbedder())
    assert (len(first.request_ids), len(second.request_ids)) == (4, 3)


def test_the_shortest_wording_without_gaps_is_told() -> None:
    group = [
        said("a", "Hi Ada Lovelace, what is a lamp?"),
        said("b", "What is a lamp?"),
        said("c", "Zoe: what is a lamp, is a lamp?"),
    ]
    assert told(group, 3, common) == "What is a lamp?"


def test_a_word_of_k_people_is_told_though_the_book_lacks_it() -> None:
    group = [said(person, "What is a widget?") for person in "abc"]
    assert told(group, 3, common) == "What is a widget?"
    assert told([said("a", "What is Bob?"), said("b", "What is Eve?")], 2, common) == "What is …?"


def test_nothing_is_told_once_too_few_are_left() -> None:
    assert told([said("a", "What is a lamp?")], 2, common) is None


@pytest.mark.parametrize(
    "text",
    [
        "<@123456789012345678> what is a lamp",
        "ada@example.org what is a lamp",
        "@ada.l what is a lamp",
        "s1234567 what is a lamp",
        "https://example.org/ada what is a lamp",
        "Ada-Maria what is a lamp",
    ],
)
def test_names_and_ids_are_taken_out(text: str) -> None:
    assert without_names(text, common) == "… what is a lamp"
