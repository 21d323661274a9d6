"""Suggested questions: each was answered from the section that it is about."""

import asyncio
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from adapters.actions.about import MOST, Suggestions, _ways_to_ask, _within_a_sentence
from adapters.chat.course_directory import CourseDirectory
from core.domain import AgentRequest, AgentResponse, Outcome, ResponseState
from core.domain.errors import ServiceError
from core.domain.i18n import use_locale
from core.retrieval.sections import Likely, Topic
from tests.samples import chunk, response

READER: Any = None
TOPICS = ["Heaps", "Trees", *(f"Part {n}" for n in range(9))]


class _Edition:
    generation = UUID(int=1)


class _Course:
    course_id = "biology"
    language = "en"


class _Mark:
    edition = _Edition()
    course = _Course()


class Shelf:
    """A guide to one course."""

    def __init__(self) -> None:
        self.mine = True

    async def mark(self, reader: Any, course_id: str) -> _Mark | None:
        return _Mark() if self.mine else None


class Book:
    """Answers what it is asked, from the section that the question names or from another one."""

    def __init__(self, *silent: str, beside: str = "") -> None:
        self.silent = silent
        self.beside = beside
        self.asked = list[str]()
        self.fails = False
        self.has_no_answers = False

    async def rehearse(self, asked: AgentRequest) -> AgentResponse:
        await asyncio.sleep(0)
        if self.fails:
            raise ServiceError("down")
        self.asked.append(asked.query_text)
        topic = next((one for one in TOPICS if one.lower() in asked.query_text.lower()), "")
        section = "Another section" if topic == self.beside else topic
        if self.has_no_answers:
            nothing = {"grounding_chunks": (), "citations": (), "sources": ()}
            failed = {"state": ResponseState.ERROR, "error_message": "down"}
            return response(outcome=Outcome.ERROR, **nothing, **failed)
        outcome = Outcome.PARTIAL if topic in self.silent else Outcome.ANSWERED
        cited = chunk(page_title="Book", section_heading=section, headings=(section,))
        return response(outcome=outcome, cited=cited)


async def topics(edition: Any, language: str) -> list[Topic]:
    return [topic(name) for name in TOPICS]


def topic(name: str, likely: Likely = Likely.STANDS, said: str | None = None) -> Topic:
    return Topic(name, name, likely, said)


def suggestions(book: Book, shelf: Shelf | None = None) -> Suggestions:
    return Suggestions(cast("CourseDirectory", shelf or Shelf()), topics, book.rehearse)


async def test_each_is_answered_from_its_section_and_there_are_four() -> None:
    book = Book("Heaps", beside="Part 0")
    found = await suggestions(book).about(READER, "biology")
    assert [one.topic for one in found] == ["Trees", "Part 1", "Part 2", "Part 3"]
    assert len(found) == MOST
    assert found[0].question == "What does the book say about Trees?"
    heaps = [question for question in book.asked if "Heaps" in question]
    assert len(heaps) == 2, "every way to ask was tried"


@pytest.mark.parametrize(
    ("topic", "said"),
    [
        ("How the code is laid out", "how the code is laid out"),
        ("What Glossator is", "what Glossator is"),
        ("Slack", "Slack"),
        ("Slack Connect channels", "Slack Connect channels"),
        ("TCP in practice today", "TCP in practice today"),
        ("Earlier turns", "earlier turns"),
        ("What is a heap?", "What is a heap?"),
    ],
)
def test_a_topic_is_written_as_in_a_sentence(topic: str, said: str) -> None:
    assert _within_a_sentence(topic, [topic, "Asking what a section says"]) == said


@pytest.mark.parametrize(
    ("likely", "question"),
    [
        (Likely.ASKS, "Why do heaps grow?"),
        (Likely.IS, "What is a heap?"),
        (Likely.ARE, "What are heaps?"),
        (Likely.BEGINS, "What does the book say about heaps?"),
    ],
)
def test_a_topic_is_asked_about_as_its_text_speaks_of_it(likely: Likely, question: str) -> None:
    said = {Likely.IS: "a heap"}.get(likely, "heaps")
    asked = topic("Why do heaps grow?" if likely is Likely.ASKS else "Heaps", likely)
    assert next(_ways_to_ask(asked, said)) == question


async def test_they_are_tried_once_for_an_edition_however_many_ask() -> None:
    book, shelf = Book(), Shelf()
    tried = suggestions(book, shelf)
    one, other = await asyncio.gather(*(tried.about(READER, "biology") for _ in range(2)))
    assert one == other
    assert len(book.asked) == len(one)
    _Edition.generation = uuid4()
    await tried.about(READER, "biology")
    assert len(book.asked) == 2 * len(one)
    with use_locale("de"):
        german = await tried.about(READER, "biology")
    assert german[0].question == "Was sagt das Buch über Heaps?"


async def test_who_may_not_read_a_course_gets_none() -> None:
    book, shelf = Book(), Shelf()
    tried = suggestions(book, shelf)
    await tried.about(READER, "biology")
    shelf.mine = False
    assert await tried.about(READER, "biology") == ()


async def test_after_a_failure_they_are_tried_again() -> None:
    book = Book()
    tried = suggestions(book)
    book.fails = True
    with pytest.raises(ServiceError):
        await tried.about(READER, "biology")
    book.fails = False
    assert await tried.about(READER, "biology")


async def test_what_could_not_be_tried_is_tried_again() -> None:
    book = Book()
    tried = suggestions(book)
    book.has_no_answers = True
    with pytest.raises(ServiceError):
        await tried.about(READER, "biology")
    assert len(book.asked) == 1
    book.has_no_answers = False
    assert await tried.about(READER, "biology")
