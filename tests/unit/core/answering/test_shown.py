"""The one rule by which text that is shown is taken back."""

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.answering.context import AnswerContext, TextDelta, TextWithdrawn
from core.domain import AgentConfiguration, AgentResponse
from tests.samples import request


def context() -> AnswerContext:
    asked = request()
    pending = AgentResponse(
        query_id=asked.request_id,
        query_text=asked.query_text,
        response_text="...",
        conversation_id=uuid4(),
        course_id=asked.course_id,
        model_name="scripted",
        requested_at=asked.created_at,
    )
    return AnswerContext(asked, AgentConfiguration(), pending)


@pytest.mark.costly
@given(st.lists(st.text(alphabet="ab ", max_size=4)))
def test_what_is_shown_is_always_the_text_that_was_given_last(texts: list[str]) -> None:
    answer, seen = context(), ""
    for text in texts:
        for event in answer.show(text):
            seen = "" if isinstance(event, TextWithdrawn) else seen + event.text
        assert seen == answer.shown == text


def test_text_that_goes_on_is_not_taken_back() -> None:
    answer = context()
    assert [*answer.show("A heap")] == [TextDelta("A heap")]
    assert [*answer.show("A heap is a tree.")] == [TextDelta(" is a tree.")]
    assert [*answer.show("A heap is a tree.")] == []
    assert [*answer.show("A queue.")] == [TextWithdrawn(), TextDelta("A queue.")]


def test_a_response_takes_back_what_it_does_not_begin_with() -> None:
    answer = context()
    [*answer.show("A heap is")]
    whole = answer.pending.model_copy(update={"response_text": "A heap is a tree."})
    other = answer.pending.model_copy(update={"response_text": "The book doesn't cover this."})
    assert [*answer.end_with(whole)] == [whole]
    assert [*answer.end_with(other)] == [TextWithdrawn(), other]
