"""What a model is told when it uses its tool, rightly or wrongly."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema
import pytest

from core.answering.writers.base import Passage, answer_call, answer_calls, declare_retrieve
from core.domain import RetrievalToolInput
from core.domain.errors import UnknownSection, VectorIndexError
from core.providers.base import ToolCall
from tests.samples import chunk

LEAF = Passage(1, chunk(content_text="A leaf has no child."), "A leaf has no child.")
ROOM = 1_000


class Library:
    """A search that finds one passage, and remembers what it was asked."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.asked: list[RetrievalToolInput] = []
        self._failure = failure

    async def __call__(self, asked: RetrievalToolInput) -> Sequence[Passage]:
        self.asked.append(asked)
        if self._failure is not None:
            raise self._failure
        return [LEAF]


def read(passages: Sequence[Passage]) -> str:
    return " ".join(passage.text for passage in passages)


async def told(
    arguments: Mapping[str, Any] | None,
    *,
    name: str | None = "retrieve",
    library: Library | None = None,
) -> dict[str, str]:
    return await answer_call(ToolCall("1", name, arguments), library or Library(), read)


def test_the_schema_refers_to_nothing_outside_of_itself() -> None:
    schema = declare_retrieve().parameters
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$ref" not in json.dumps(schema)
    assert schema["required"] == ["query_text"]
    jsonschema.validate({"query_text": "what is a leaf", "top_k": 3}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"query": "what is a leaf"}, schema)


async def test_a_valid_call_is_searched_for() -> None:
    library = Library()
    arguments = {"query_text": "what is a leaf", "top_k": 3.0}
    assert await told(arguments, library=library) == {"output": "A leaf has no child."}
    assert library.asked == [RetrievalToolInput(query_text="what is a leaf", top_k=3)]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (None, "query_text: Field required"),
        ({}, "query_text: Field required"),
        ({"query_text": ["no", "text"]}, "query_text: Input should be a valid string"),
        ({"query_text": "leaf", "top_k": "many"}, "top_k: Input should be a valid integer"),
        ({"query_text": "leaf", "top_k": 99}, "top_k: Input should be less than or equal to 20"),
        ({"query_text": "leaf", "course": "other"}, "course: Extra inputs are not permitted"),
        ({"query_text": "leaf", "section_filter": " "}, "section_filter"),
        ({"query_text": "  "}, "query_text: Please ask a question."),
        ({"query_text": "x" * 1_000}, "query_text: Your question has 1,000 characters"),
    ],
    ids=str,
)
async def test_wrong_arguments_are_explained_to_the_model(
    arguments: Mapping[str, Any] | None, complaint: str
) -> None:
    library = Library()
    result = await told(arguments, library=library)
    assert result["error"].startswith(complaint)
    assert "many" not in result["error"]
    assert library.asked == []


@pytest.mark.parametrize("name", [None, "", "Retrieve", "delete_everything", "x" * 5_000])
async def test_an_unknown_tool_is_explained_to_the_model(name: str | None) -> None:
    library = Library()
    result = await told({"query_text": "what is a leaf"}, name=name, library=library)
    assert result["error"].startswith("There is no tool ")
    assert result["error"].endswith(", only 'retrieve'.")
    assert len(result["error"]) < 120
    assert library.asked == []


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (UnknownSection("Trees", ["Heaps"]), "no section called “Trees”. The nearest are: Heaps."),
        (VectorIndexError("http://secret:6333 refused"), "I cannot search the book"),
    ],
    ids=["the asker's", "an outage"],
)
async def test_a_search_that_fails_is_told_in_safe_words(failure: Exception, words: str) -> None:
    result = await told({"query_text": "what is a leaf"}, library=Library(failure))
    assert words in result["error"]
    assert "secret" not in result["error"]


async def test_a_fault_of_our_own_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        await told({"query_text": "what is a leaf"}, library=Library(ZeroDivisionError()))


async def test_only_three_calls_are_answered_at_a_time() -> None:
    library = Library()
    calls = [ToolCall(str(n), "retrieve", {"query_text": f"leaf {n}"}) for n in range(5)]
    results = await answer_calls(calls, library, read, ROOM)
    assert [list(result) for result in results] == [["output"]] * 3 + [["error"]] * 2
    assert len(library.asked) == 3


async def test_what_does_not_fit_any_more_is_left_out() -> None:
    calls = [ToolCall(None, "retrieve", {"query_text": "leaf"}) for _ in range(3)]
    results = await answer_calls(calls, Library(), read, 20)
    assert [list(result) for result in results] == [["output"], ["output"], ["error"]]
    assert "no room" in results[2]["error"]
