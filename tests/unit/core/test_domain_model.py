"""Walks the domain model in its order: every rule once kept and once broken.

One file although it is long, so that it can be read beside the page that it proves.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import pytest
from pydantic import BaseModel, ValidationError

from core import domain as models
from core.domain import (
    CLOCK_SKEW,
    EXPLAIN_QUOTE,
    MAX_SELECTED_TEXT,
    STORED,
    AgentConfiguration,
    AgentRequest,
    AgentResponse,
    AgentSession,
    AgentToolCall,
    ChunkState,
    Citation,
    ContextMode,
    ConversationTurn,
    Course,
    Outcome,
    QueryType,
    QuoteLocation,
    QuoteStatus,
    ResponseState,
    RetrievalContext,
    RetrievalToolInput,
    RetrievalToolOutput,
    RetrievedChunk,
    ThreadMessage,
    UserContext,
    cut_selected_text,
    is_on_site,
    is_silent,
    now,
    session_id_for,
    source_urls,
)
from core.domain.errors import EmptyQuestion, QuestionTooLong, QuestionTooShort
from tests.samples import (
    EARLIER,
    TEXT,
    URL,
    chunk,
    chunk_fields,
    citation,
    request,
    response,
    response_fields,
    tool_call,
)

UNIT_INTERVAL = ([0, 0.0, 0.5, 1, 1.0], [-0.01, 1.01, float("nan"), float("inf"), "half"])
COUNT = ([0, 1, 10**9], [-1, 0.5, "many"])
MILLISECONDS = ([0, 0.25, 86_400_000.0], [-0.1, float("nan"), float("inf")])
NON_BLANK = (["x", " x ", "堆"], ["", " ", "\n\t"])
UUIDS = ([UUID(int=7), str(UUID(int=7))], ["7", 7, "not-a-uuid"])


def in_future(by: timedelta) -> datetime:
    return now() + CLOCK_SKEW + by


def search_input(**changes: Any) -> RetrievalToolInput:
    return RetrievalToolInput(**{"query_text": "What is a heap?", **changes})


def search_output(**changes: Any) -> RetrievalToolOutput:
    fields = {
        "retrieved_chunks": (chunk(),),
        "query_embedding": (0.6, 0.8),
        "search_time_ms": 1.5,
        "total_candidates": 40,
        "success": True,
    }
    return RetrievalToolOutput(**{**fields, **changes})


def search_context(**changes: Any) -> RetrievalContext:
    fields = {"collection_name": "algorithms-1", "top_k": 5, "similarity_threshold": 0.3}
    return RetrievalContext(**{**fields, **changes})


def cited(**changes: Any) -> Citation:
    fields = {"marker": 1, "chunk_id": uuid4(), "quote": "heap", "char_start": 2, "char_end": 6}
    return Citation(**{**fields, **changes})


def quote_location(**changes: Any) -> QuoteLocation:
    fields = {
        "status": QuoteStatus.ALTERED,
        "chunk_ids": (uuid4(), uuid4()),
        "document_id": uuid4(),
        "char_start": 10,
        "char_end": 90,
        "score": 0.93,
    }
    return QuoteLocation(**{**fields, **changes})


def turn(number: int = 1, **changes: Any) -> ConversationTurn:
    answer = response()
    fields = {
        "turn_number": number,
        "request_id": answer.query_id,
        "user_id": "reader-1",
        "outcome": answer.outcome,
        "user_input": answer.query_text,
        "retrieved_chunks": answer.retrieved_chunks,
        "agent_response": answer,
        "timestamp": EARLIER,
    }
    return ConversationTurn(**{**fields, **changes})


def session(**changes: Any) -> AgentSession:
    fields = {
        "user_id": "reader-1",
        "course_id": "algorithms",
        "created_at": EARLIER,
        "last_activity": EARLIER,
    }
    return AgentSession(**{**fields, **changes})


def configuration(**changes: Any) -> AgentConfiguration:
    return AgentConfiguration(**changes)


def unfinished(**changes: Any) -> AgentResponse:
    fields = {
        "query_id": uuid4(),
        "query_text": "What is a heap?",
        "response_text": "Searching …",
        "conversation_id": uuid4(),
        "course_id": "algorithms",
        "model_name": "extractive",
        "requested_at": EARLIER,
    }
    return AgentResponse(**{**fields, **changes})


BUILDERS: dict[type[BaseModel], Callable[..., BaseModel]] = {
    AgentRequest: request,
    AgentResponse: response,
    RetrievedChunk: chunk,
    RetrievalToolInput: search_input,
    RetrievalToolOutput: search_output,
    RetrievalContext: search_context,
    Citation: cited,
    ThreadMessage: partial(ThreadMessage, text="A heap is a tree."),
    QuoteLocation: quote_location,
    AgentToolCall: tool_call,
    ConversationTurn: turn,
    AgentSession: session,
    AgentConfiguration: configuration,
    models.StaffCheck: partial(
        models.StaffCheck,
        answer_id=uuid4(),
        revision=1,
        question="What is a heap?",
        checked_at=datetime(2026, 11, 12, tzinfo=UTC),
    ),
    models.OfferedAnswer: partial(
        models.OfferedAnswer, answer_id=uuid4(), question="What is a heap?"
    ),
}

FIELDS: list[tuple[type[BaseModel], str, tuple[list[Any], list[Any]]]] = [
    (models.StaffCheck, "revision", ([1, 7], [0, -1])),
    (models.StaffCheck, "question", (["What is a heap?"], ["", "  "])),
    (models.OfferedAnswer, "question", (["What is a heap?"], ["", "  "])),
    (AgentRequest, "request_id", UUIDS),
    (
        AgentRequest,
        "course_id",
        (["a", "cs-101_b", "9", "x" * 64], ["", "CS", "-a", "ä", "x" * 65]),
    ),
    (AgentRequest, "section_filter", ([None, "Heaps", "Chapter 3"], ["", "  "])),
    (AgentRequest, "selected_text", ([None, "A heap", "x" * 8_000], ["", " \n"])),
    (
        AgentRequest,
        "thread_messages",
        ([(), 15 * (ThreadMessage(text="A"),)], [16 * (ThreadMessage(text="A"),), "A"]),
    ),
    (ThreadMessage, "text", (["A heap", "x" * 2_000], ["", " ", "x" * 2_001])),
    (AgentRequest, "session_id", ([None, *UUIDS[0]], UUIDS[1])),
    (AgentRequest, "user_id", (["3f9c"], ["", " ", None])),
    (AgentRequest, "temperature", ([None, *UNIT_INTERVAL[0]], UNIT_INTERVAL[1])),
    (AgentRequest, "max_turns", ([None, 1, 50], [0, 51, -1, 1.5])),
    (AgentRequest, "top_k", ([None, 1, 10], [0, 11, 2.5])),
    (AgentRequest, "answer_length", ([None, "short", "long"], ["huge"])),
    (AgentRequest, "score_threshold", ([None, *UNIT_INTERVAL[0]], UNIT_INTERVAL[1])),
    (AgentResponse, "id", UUIDS),
    (AgentResponse, "query_id", UUIDS),
    (AgentResponse, "query_text", NON_BLANK),
    (AgentResponse, "response_text", (["Yes [1]."], ["", " ", "\n"])),
    (AgentResponse, "confidence", UNIT_INTERVAL),
    (AgentResponse, "context_used", (["", "The passages"], [None])),
    (AgentResponse, "conversation_id", UUIDS),
    (AgentResponse, "query_tokens", COUNT),
    (AgentResponse, "response_tokens", COUNT),
    (AgentResponse, "tokens_used", COUNT),
    (AgentResponse, "generation", ([None, *UUIDS[0]], UUIDS[1])),
    (AgentResponse, "model_name", (["extractive", "gemini"], ["", " "])),
    (AgentResponse, "notices", ([(), ("The quote was cut.",)], [("",), "text"])),
    (AgentResponse, "response_time_ms", MILLISECONDS),
    (AgentResponse, "retrieval_time_ms", MILLISECONDS),
    (AgentResponse, "first_token_ms", MILLISECONDS),
    (AgentResponse, "generation_time_ms", MILLISECONDS),
    (RetrievedChunk, "chunk_id", UUIDS),
    (RetrievedChunk, "document_id", UUIDS),
    (RetrievedChunk, "generation", UUIDS),
    (RetrievedChunk, "course_id", (["algorithms"], ["", "Algorithms", None])),
    (RetrievedChunk, "similarity_score", UNIT_INTERVAL),
    (RetrievedChunk, "content_text", NON_BLANK),
    (RetrievedChunk, "source_file", (["heaps.md"], ["", " "])),
    (RetrievedChunk, "page_title", (["Heaps"], ["", " "])),
    (RetrievedChunk, "module_name", ([None, "Trees"], [7])),
    (RetrievedChunk, "section_heading", ([None, "Definition"], [7])),
    (RetrievedChunk, "headings", ([(), ("Heaps", "Definition")], ["Heaps", (None,)])),
    (RetrievedChunk, "chunk_index", ([0, 1, 2], [-1, 3, 4])),
    (RetrievedChunk, "total_chunks", ([1, 3], [0, -1])),
    (RetrievedChunk, "token_count", COUNT),
    (RetrievedChunk, "char_start", ([0, 1], [-1, len(TEXT), len(TEXT) + 1])),
    (RetrievedChunk, "char_end", ([1, 500], [0, -1])),
    (
        RetrievedChunk,
        "metadata",
        ([{}, {"page": 3, "cell": "a"}], [{"page": None}, {3: 3}, "page"]),
    ),
    (RetrievalToolInput, "top_k", ([1, 5, 20], [0, 21])),
    (RetrievalToolInput, "score_threshold", UNIT_INTERVAL),
    (RetrievalToolInput, "selected_text", ([None, "A heap"], ["", " "])),
    (RetrievalToolInput, "section_filter", ([None, "Heaps"], ["", " "])),
    (RetrievalToolOutput, "query_embedding", ([(), (0.1, -0.9)], [("x",), None])),
    (RetrievalToolOutput, "search_time_ms", MILLISECONDS),
    (RetrievalToolOutput, "total_candidates", COUNT),
    (RetrievalContext, "collection_name", (["algorithms-1"], ["", " "])),
    (RetrievalContext, "top_k", ([1, 200], [0, -5])),
    (RetrievalContext, "similarity_threshold", UNIT_INTERVAL),
    (RetrievalContext, "filters", ([{}, {"section_ids": ("a", "b")}], [{"section_ids": 3}])),
    (RetrievalContext, "search_params", ([{}, {"hnsw_ef": 64, "fusion": "dbsf"}], [{"a": None}])),
    (Citation, "marker", ([1, 99], [0, -1])),
    (Citation, "chunk_id", UUIDS),
    (QuoteLocation, "score", UNIT_INTERVAL),
    (QuoteLocation, "char_start", ([0, 10], [-1, None])),
    (AgentToolCall, "tool_name", (["retrieve"], ["", "search", "shell", None])),
    (ConversationTurn, "turn_number", ([1, 2], [0, -1])),
    (ConversationTurn, "request_id", UUIDS),
    (ConversationTurn, "user_id", (["3f9c"], ["", " "])),
    (ConversationTurn, "user_input", NON_BLANK),
    (ConversationTurn, "outcome", ([*Outcome], ["unsure", None])),
    (AgentSession, "session_id", UUIDS),
    (AgentSession, "user_id", (["3f9c"], ["", " "])),
    (AgentSession, "course_id", (["algorithms"], ["", "Al Gorithms"])),
    (AgentSession, "current_turn", COUNT),
    (AgentSession, "message_count", COUNT),
    (AgentSession, "metadata", ([{}, {"platform": "slack"}], [{"thread": None}, "slack"])),
    (AgentConfiguration, "model_name", (["extractive"], ["", " "])),
    (AgentConfiguration, "temperature", ([None, *UNIT_INTERVAL[0]], UNIT_INTERVAL[1])),
    (AgentConfiguration, "max_tokens", ([1, 65_536], [0, -1])),
    (AgentConfiguration, "context_window", ([512, 1_000_000], [511, 0])),
    (AgentConfiguration, "evidence_tokens", ([200, 100_000], [199, 0])),
    (AgentConfiguration, "system_prompt", ([None, "Be brief."], [7])),
    (AgentConfiguration, "retrieval_enabled", ([True, False], ["perhaps", None])),
    (AgentConfiguration, "max_turns", ([1, 50], [0, 51])),
    (AgentConfiguration, "score_threshold", UNIT_INTERVAL),
    (AgentConfiguration, "top_k", ([1, 10], [0, 11])),
    (AgentConfiguration, "answer_length", (["short", "normal", "long"], ["huge", None])),
]


def _each(side: int) -> list[Any]:
    return [
        pytest.param(model, name, value, id=f"{model.__name__}.{name}={str(value)[:20]!r}")
        for model, name, values in FIELDS
        for value in values[side]
    ]


class TestEveryField:
    @pytest.mark.parametrize(("model", "name", "value"), _each(0))
    def test_what_the_rule_allows_is_accepted(
        self, model: type[BaseModel], name: str, value: Any
    ) -> None:
        made = BUILDERS[model](**{name: value})
        assert str(getattr(made, name)) == str(value) or getattr(made, name) == value

    @pytest.mark.parametrize(("model", "name", "value"), _each(1))
    def test_what_the_rule_forbids_is_refused(
        self, model: type[BaseModel], name: str, value: Any
    ) -> None:
        with pytest.raises(ValidationError):
            BUILDERS[model](**{name: value})


class TestEveryModel:
    @pytest.mark.parametrize("model", BUILDERS, ids=lambda model: model.__name__)
    def test_it_cannot_be_changed(self, model: type[BaseModel]) -> None:
        made = BUILDERS[model]()
        for name in model.model_fields:
            with pytest.raises(ValidationError, match="frozen"):
                setattr(made, name, getattr(made, name))

    @pytest.mark.parametrize("model", BUILDERS, ids=lambda model: model.__name__)
    def test_it_refuses_unknown_fields(self, model: type[BaseModel]) -> None:
        with pytest.raises(ValidationError, match="Extra inputs"):
            BUILDERS[model](colour="red")

    @pytest.mark.parametrize("model", BUILDERS, ids=lambda model: model.__name__)
    def test_it_comes_back_equal_from_json(self, model: type[BaseModel]) -> None:
        made = BUILDERS[model]()
        assert model.model_validate_json(made.model_dump_json()) == made

    def test_every_entity_is_walked_here(self) -> None:
        entities = {
            value
            for value in vars(models).values()
            if isinstance(value, type) and issubclass(value, models.Model)
        }
        helpers = {models.Model, models.Chunk, models.EvidenceSignals, Course, UserContext}
        assert entities - helpers == set(BUILDERS)


PAST_TIMES = [
    (request, "created_at"),
    (chunk, "retrieved_at"),
    (tool_call, "timestamp"),
    (turn, "timestamp"),
]
TIMES = [
    (response, "generated_at"),
    (response, "requested_at"),
    (session, "last_activity"),
    (session, "created_at"),
]


class TestTimes:
    @pytest.mark.parametrize(("build", "name"), PAST_TIMES + TIMES)
    def test_a_time_without_a_zone_is_refused(self, build: Any, name: str) -> None:
        with pytest.raises(ValidationError, match="timezone"):
            build(**{name: datetime(2026, 3, 1)})

    @pytest.mark.parametrize(("build", "name"), [*PAST_TIMES, TIMES[0], TIMES[2]])
    def test_a_time_of_another_zone_becomes_utc(self, build: Any, name: str) -> None:
        local = (EARLIER + timedelta(hours=1)).astimezone(timezone(timedelta(hours=-8)))
        kept = getattr(build(**{name: local}), name)
        assert kept == local
        assert kept.tzinfo is UTC

    @pytest.mark.parametrize(("build", "name"), PAST_TIMES)
    def test_five_seconds_of_skew_are_allowed(self, build: Any, name: str) -> None:
        moment = in_future(timedelta(seconds=-1))
        assert getattr(build(**{name: moment}), name) == moment

    @pytest.mark.parametrize(("build", "name"), PAST_TIMES)
    def test_a_time_further_in_the_future_is_refused(self, build: Any, name: str) -> None:
        with pytest.raises(ValidationError, match="future"):
            build(**{name: in_future(timedelta(seconds=1))})

    @pytest.mark.parametrize(("build", "name"), PAST_TIMES)
    def test_what_was_stored_stays_readable_when_the_clock_is_set_back(
        self, build: Any, name: str
    ) -> None:
        made = build()
        stored = {**made.model_dump(), name: in_future(timedelta(days=1))}
        assert type(made).model_validate(stored, context=STORED) == made.model_copy(
            update={name: stored[name]}
        )

    def test_our_clock_sets_the_time_of_a_request(self) -> None:
        before = now()
        made = AgentRequest(course_id="a", query_text="What?", user_id="u")
        assert before <= made.created_at <= now()

    def test_the_platforms_own_time_goes_into_the_user_context(self) -> None:
        ahead = in_future(timedelta(hours=1))
        made = request(user_context=UserContext(sent_at=ahead))
        assert made.user_context.sent_at == ahead
        assert made.created_at == EARLIER


class TestAgentRequest:
    @pytest.mark.parametrize("length", [3, 4, 998, 999])
    def test_a_question_of_3_to_999_characters_is_accepted(self, length: int) -> None:
        assert request(query_text="ü" * length).query_text == "ü" * length

    @pytest.mark.parametrize(
        ("text", "refusal"),
        [
            ("", EmptyQuestion),
            (" \n\t ", EmptyQuestion),
            ("E", QuestionTooShort),
            (" E  ", QuestionTooShort),
            ("x" * 1_000, QuestionTooLong),
            ("x" * 5_000, QuestionTooLong),
        ],
    )
    def test_another_question_is_refused_with_a_sentence_for_the_asker(
        self, text: str, refusal: type[EmptyQuestion]
    ) -> None:
        for build in (request, search_input):
            with pytest.raises(refusal) as caught:
                build(query_text=text)
            assert caught.value.user_message.endswith(".")

    def test_the_refusal_tells_length_and_limit(self) -> None:
        with pytest.raises(QuestionTooLong) as caught:
            request(query_text="x" * 1_000)
        assert (caught.value.length, caught.value.limit) == (1_000, 999)
        with pytest.raises(QuestionTooShort) as short:
            request(query_text="E")
        assert (short.value.length, short.value.limit) == (1, 2)

    def test_what_no_database_holds_is_replaced(self) -> None:
        asked = request(
            query_text="What is \ud83d?",
            selected_text="A cut \ude00 emoji",
            context_mode="selected_text",
            section_filter="\x00 Heaps",
            thread_messages=({"text": "\udfff"},),
        )
        assert asked.query_text == "What is \ufffd?"
        assert asked.selected_text == "A cut \ufffd emoji"
        assert asked.section_filter == "\ufffd Heaps"
        assert asked.thread_messages[0].text == "\ufffd"

    def test_what_stands_for_an_emoji_stays(self) -> None:
        assert request(query_text="What is \N{GRINNING FACE}?").query_text.endswith("\U0001f600?")

    def test_blanks_around_a_question_do_not_count(self) -> None:
        assert request(query_text=f"  {'x' * 999}\n").query_text == "x" * 999
        assert request(query_text="\tWhy? ").query_text == "Why?"

    @pytest.mark.parametrize("text", [None, 7, ["What is a heap?"]])
    def test_a_question_is_a_text(self, text: object) -> None:
        with pytest.raises(ValidationError):
            request(query_text=text)

    def test_no_rule_is_escaped_by_sending_bytes(self) -> None:
        with pytest.raises(QuestionTooLong):
            request(query_text=b"x" * 1_000)
        with pytest.raises(ValidationError, match="8000"):
            request(selected_text=b"x" * 8_001)

    def test_the_standard_question_of_a_bare_quote_is_a_question(self) -> None:
        assert EXPLAIN_QUOTE == "Explain this passage."
        assert request(query_text=EXPLAIN_QUOTE).query_text == EXPLAIN_QUOTE

    def test_a_question_asks_the_whole_book_unless_told_otherwise(self) -> None:
        made = request()
        assert made.query_type is QueryType.GLOBAL
        assert made.context_mode is ContextMode.FULL_BOOK
        assert {t.value for t in QueryType} == {"global", "section_specific"}
        assert {m.value for m in ContextMode} == {"full_book", "selected_text"}

    def test_a_section_query_needs_its_section(self) -> None:
        made = request(query_type="section_specific", section_filter="Heaps")
        assert made.query_type is QueryType.SECTION_SPECIFIC
        with pytest.raises(ValidationError, match="requires section_filter"):
            request(query_type="section_specific")

    def test_a_question_about_a_quote_needs_the_quote(self) -> None:
        made = request(context_mode="selected_text", selected_text="A heap is …")
        assert made.context_mode is ContextMode.SELECTED_TEXT
        with pytest.raises(ValidationError, match="requires selected_text"):
            request(context_mode="selected_text")

    @pytest.mark.parametrize("name", ["query_type", "context_mode"])
    def test_other_kinds_of_question_are_refused(self, name: str) -> None:
        with pytest.raises(ValidationError):
            request(**{name: "everything"})

    def test_what_is_left_open_is_the_courses_to_decide(self) -> None:
        made = request()
        assert made.temperature is made.max_turns is made.top_k is made.score_threshold is None
        defaults = AgentConfiguration()
        assert (defaults.temperature, defaults.max_turns) == (None, 10)
        assert (defaults.top_k, defaults.score_threshold) == (5, 0.5)

    def test_course_and_user_must_be_given(self) -> None:
        for name in ("course_id", "user_id"):
            fields = request().model_dump(exclude={name})
            with pytest.raises(ValidationError, match=name):
                AgentRequest(**fields)

    def test_two_requests_never_share_an_id(self) -> None:
        assert request().request_id != request().request_id

    def test_the_context_of_the_user_is_kept(self) -> None:
        context = UserContext(
            platform="discord",
            workspace="G1",
            channel="C1",
            thread="T1",
            message_ids=("1", "2"),
            locale="de",
            role="student",
        )
        assert request(user_context=context).user_context == context
        assert request().user_context == UserContext()

    @pytest.mark.parametrize("wrong", [{"role": "root"}, {"name": "Ann"}, {"sent_at": "today"}])
    def test_the_context_of_the_user_has_rules_as_well(self, wrong: dict[str, str]) -> None:
        with pytest.raises(ValidationError):
            request(user_context=wrong)
        with pytest.raises(ValidationError):
            UserContext().role = "staff"  # type: ignore[misc]


class TestSelectedText:
    def test_8000_characters_are_kept_whole(self) -> None:
        made = request(selected_text="x" * MAX_SELECTED_TEXT)
        assert made.selected_text == "x" * 8_000
        assert not made.selected_text_cut

    def test_a_longer_quote_is_cut_behind_a_sentence_and_says_so(self) -> None:
        sentence = "A heap is a tree, as “Knuth says.” "
        made = request(selected_text=sentence * 400)
        assert made.selected_text is not None
        assert made.selected_text_cut
        assert 8_000 - len(sentence) <= len(made.selected_text) <= 8_000
        assert made.selected_text.endswith("“Knuth says.”")
        assert (sentence * 400).startswith(made.selected_text)

    def test_a_sentence_that_ends_exactly_at_the_limit_is_kept(self) -> None:
        text = "x" * 7_999 + ". And more."
        assert cut_selected_text(text) == (text[:8_000], True)

    def test_a_language_without_blanks_is_cut_behind_a_sentence_too(self) -> None:
        cut, was_cut = cut_selected_text("堆是一棵完全二叉树。" * 900)
        assert was_cut
        assert cut.endswith("树。")
        assert 7_990 <= len(cut) <= 8_000

    def test_a_decimal_point_ends_no_sentence(self) -> None:
        cut, _ = cut_selected_text("x" * 7_000 + ". " + "3.14159 " * 200)
        assert cut == "x" * 7_000 + "."

    def test_without_a_sentence_it_is_cut_behind_a_word(self) -> None:
        cut, _ = cut_selected_text("words " * 2_000)
        assert cut.endswith(" words")
        assert len(cut) > 7_990

    @pytest.mark.parametrize("text", ["x" * 9_000, "a " + "x" * 9_000, "Yes. " + "x" * 9_000])
    def test_without_a_place_to_cut_it_is_cut_at_the_limit(self, text: str) -> None:
        assert cut_selected_text(text) == (text[:8_000], True)


class TestAgentResponse:
    def test_it_begins_pending_with_nothing_found(self) -> None:
        made = unfinished()
        assert made.state is ResponseState.PENDING
        assert made.outcome is None
        assert made.retrieval_success
        assert (made.query_tokens, made.response_tokens, made.tokens_used) == (0, 0, 0)
        assert (made.error_message, made.generation, made.quote_location) == (None,) * 3

    def test_an_outcome_is_one_of_five(self) -> None:
        assert {o.value for o in Outcome} == {
            "answered",
            "partial",
            "abstained",
            "asked_back",
            "error",
        }
        with pytest.raises(ValidationError):
            response(outcome="guessed")

    def test_it_goes_from_pending_over_processing_to_completed(self) -> None:
        done = response()
        working = unfinished().advance(ResponseState.PROCESSING)
        finished = working.advance(
            ResponseState.COMPLETED,
            **{
                name: getattr(done, name)
                for name in (
                    "response_text",
                    "outcome",
                    "retrieved_chunks",
                    "grounding_chunks",
                    "citations",
                    "sources",
                )
            },
        )
        assert finished.state is ResponseState.COMPLETED
        assert finished.id == working.id

    def test_or_to_an_error(self) -> None:
        working = unfinished().advance(ResponseState.PROCESSING)
        failed = working.advance(
            ResponseState.ERROR, outcome=Outcome.ERROR, error_message="Please try again."
        )
        assert failed.state is ResponseState.ERROR

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (before, after)
            for before in ResponseState
            for after in ResponseState
            if (before, after)
            not in {
                (ResponseState.PENDING, ResponseState.PROCESSING),
                (ResponseState.PROCESSING, ResponseState.COMPLETED),
                (ResponseState.PROCESSING, ResponseState.ERROR),
            }
        ],
    )
    def test_no_other_step_is_possible(self, before: ResponseState, after: ResponseState) -> None:
        made = {
            ResponseState.PENDING: unfinished(),
            ResponseState.PROCESSING: unfinished(state=ResponseState.PROCESSING),
            ResponseState.COMPLETED: response(),
            ResponseState.ERROR: unfinished(
                state=ResponseState.ERROR, outcome=Outcome.ERROR, error_message="Sorry."
            ),
        }[before]
        with pytest.raises(ValueError, match="cannot go"):
            made.advance(after)

    def test_a_step_does_not_escape_the_rules(self) -> None:
        working = unfinished().advance(ResponseState.PROCESSING)
        with pytest.raises(ValidationError, match="does not fit"):
            working.advance(ResponseState.COMPLETED)

    @pytest.mark.parametrize(
        ("state", "outcome"),
        [
            ("PENDING", "answered"),
            ("PROCESSING", "abstained"),
            ("COMPLETED", None),
            ("COMPLETED", "error"),
            ("ERROR", "abstained"),
            ("ERROR", None),
        ],
    )
    def test_an_outcome_fits_its_state(self, state: str, outcome: str | None) -> None:
        with pytest.raises(ValidationError, match="does not fit"):
            unfinished(state=state, outcome=outcome, error_message="Sorry.")

    @pytest.mark.parametrize("outcome", [Outcome.ANSWERED, Outcome.PARTIAL])
    def test_an_answer_needs_at_least_one_grounding_chunk(self, outcome: Outcome) -> None:
        assert response(outcome=outcome).outcome is outcome
        with pytest.raises(ValidationError, match="at least one grounding chunk"):
            response(outcome=outcome, grounding_chunks=(), citations=(), sources=())

    def test_not_knowing_needs_none(self) -> None:
        made = unfinished(state="COMPLETED", outcome="abstained")
        assert (made.grounding_chunks, made.citations, made.sources) == ((), (), ())

    def test_the_grounding_chunks_are_those_that_are_cited(self) -> None:
        one, two = chunk(), chunk()
        with pytest.raises(ValidationError, match="exactly the chunks that are cited"):
            response(cited=one, grounding_chunks=(one, two))
        with pytest.raises(ValidationError, match="exactly the chunks that are cited"):
            response(cited=one, citations=(citation(one), citation(two, 2)))

    def test_a_citation_is_verbatim(self) -> None:
        one = chunk()
        altered = citation(one).model_copy(update={"quote": "A heap is a complete binary tre3"})
        with pytest.raises(ValidationError, match="not verbatim"):
            response(cited=one, citations=(altered,))

    def test_a_citation_stands_where_it_says(self) -> None:
        one = chunk()
        right = citation(one)
        moved = right.model_copy(
            update={"char_start": right.char_start + 1, "char_end": right.char_end + 1}
        )
        with pytest.raises(ValidationError, match="not verbatim"):
            response(cited=one, citations=(moved,))

    def test_a_citation_is_as_long_as_its_span(self) -> None:
        assert cited().quote == "heap"
        for wrong in ({"char_end": 7}, {"char_start": 6}, {"quote": ""}):
            with pytest.raises(ValidationError):
                cited(**wrong)

    def test_every_citation_has_its_marker_in_the_text(self) -> None:
        with pytest.raises(ValidationError, match="has its marker"):
            response(response_text="A tree.")

    def test_every_marker_in_the_text_has_its_citation(self) -> None:
        with pytest.raises(ValidationError, match="has its citation"):
            response(response_text="A tree [1] of sorts [2].")

    @pytest.mark.parametrize("code", ["`x = [7]`", "```py\nx = [7]\n```", "~~~\n[7]\n", "keys[7]"])
    def test_a_number_in_code_is_no_marker(self, code: str) -> None:
        assert code in response(response_text=f"A tree [1].\n\n{code}").response_text

    def test_a_marker_stands_for_one_citation(self) -> None:
        one = chunk()
        both = (citation(one), citation(one, quote="root"))
        with pytest.raises(ValidationError, match="stands for one citation"):
            response(cited=one, citations=both)
        two = (both[0], citation(one, 2, "root"))
        made = response(cited=one, citations=two, response_text="A tree [1] with a root [2].")
        assert len(made.citations) == 2

    def test_sources_are_the_cited_urls_in_order_of_first_citation(self) -> None:
        first, second, third = (chunk(source_url=f"{URL}-{n}") for n in range(3))
        fields: dict[str, Any] = {
            "grounding_chunks": (first, second, third),
            "citations": (citation(second), citation(first, 2), citation(second, 3, "root")),
            "response_text": "Yes [1] [2] [3].",
        }
        fields["grounding_chunks"] = (first, second)
        made = response(**fields, sources=(f"{URL}-1", f"{URL}-0"))
        assert made.sources == (f"{URL}-1", f"{URL}-0")
        for wrong in ((f"{URL}-0", f"{URL}-1"), (f"{URL}-1",), (*made.sources, f"{URL}-2"), ()):
            with pytest.raises(ValidationError, match="sources are"):
                response(**fields, sources=wrong)

    def test_two_chunks_of_one_page_are_one_source(self) -> None:
        one, two = chunk(), chunk()
        made = response(
            grounding_chunks=(one, two),
            citations=(citation(one), citation(two, 2)),
            response_text="Yes [1] [2].",
            sources=(URL,),
        )
        assert made.sources == (URL,)

    def test_a_chunk_without_a_page_is_cited_without_a_source(self) -> None:
        unpublished = chunk(source_url=None)
        assert response(cited=unpublished).sources == ()
        assert source_urls((unpublished,), (citation(unpublished),)) == ()

    @pytest.mark.parametrize("url", ["javascript:alert(1)", "ftp://x/y", "/heaps", "https://"])
    def test_a_source_is_a_web_page(self, url: str) -> None:
        with pytest.raises(ValidationError):
            response(sources=(url,))

    def test_a_chunk_of_another_course_is_refused_wherever_it_stands(self) -> None:
        foreign = chunk(course_id="biology")
        with pytest.raises(ValidationError, match="another course"):
            response(retrieved_chunks=(foreign,))
        with pytest.raises(ValidationError, match="another course"):
            response(cited=foreign, retrieved_chunks=())

    def test_an_error_is_told_in_words(self) -> None:
        error = {"state": "ERROR", "outcome": "error"}
        assert unfinished(**error, error_message="Please try again.").error_message
        for missing in (None, ""):
            with pytest.raises(ValidationError, match="needs an error_message"):
                unfinished(**error, error_message=missing)

    def test_an_outage_of_retrieval_is_told_in_words(self) -> None:
        told = unfinished(retrieval_success=False, error_message="I cannot search now.")
        assert not told.retrieval_success
        with pytest.raises(ValidationError, match="failed retrieval"):
            unfinished(retrieval_success=False)

    def test_it_is_never_generated_before_the_request(self) -> None:
        later = EARLIER + timedelta(seconds=3)
        assert response(generated_at=later).generated_at == later
        with pytest.raises(ValidationError, match="before the request"):
            response(generated_at=EARLIER - CLOCK_SKEW - timedelta(seconds=1))
        assert response(generated_at=EARLIER - timedelta(seconds=1)).generated_at == EARLIER
        ahead = now() + timedelta(seconds=4)
        assert unfinished(requested_at=ahead).generated_at == ahead

    def test_tool_calls_are_kept(self) -> None:
        call = tool_call()
        assert response(tool_calls=(call,)).tool_calls == (call,)
        with pytest.raises(ValidationError):
            response(tool_calls=({"tool_name": "retrieve"},))


class TestQuoteLocation:
    def test_it_is_verbatim_altered_or_not_found(self) -> None:
        assert {s.value for s in QuoteStatus} == {"verbatim", "altered", "not_found"}
        with pytest.raises(ValidationError):
            quote_location(status="similar")

    @pytest.mark.parametrize("missing", ["chunk_ids", "document_id", "char_start", "char_end"])
    def test_a_quote_that_was_found_has_its_place(self, missing: str) -> None:
        with pytest.raises(ValidationError, match="has a place"):
            quote_location(**{missing: () if missing == "chunk_ids" else None})

    def test_one_that_was_not_found_has_none(self) -> None:
        assert QuoteLocation(status="not_found", score=0.2).chunk_ids == ()
        with pytest.raises(ValidationError, match="has a place"):
            quote_location(status="not_found")

    def test_an_answer_without_a_quote_has_none(self) -> None:
        assert response().quote_location is None
        place = quote_location()
        assert response(quote_location=place).quote_location == place


class TestRetrievedChunk:
    def test_it_goes_from_retrieved_over_validated_to_returned(self) -> None:
        found = chunk()
        assert found.state is ChunkState.RETRIEVED
        returned = found.advance(ChunkState.VALIDATED).advance(ChunkState.RETURNED)
        assert returned == found.model_copy(update={"state": ChunkState.RETURNED})

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (before, after)
            for before in ChunkState
            for after in ChunkState
            if (before, after)
            not in {
                (ChunkState.RETRIEVED, ChunkState.VALIDATED),
                (ChunkState.VALIDATED, ChunkState.RETURNED),
            }
        ],
    )
    def test_no_other_step_is_possible(self, before: ChunkState, after: ChunkState) -> None:
        with pytest.raises(ValueError, match="cannot go"):
            chunk(state=before).advance(after)

    @pytest.mark.parametrize(
        "url",
        [None, URL, "http://localhost:8000/a", "https://bücher.example/ü#a", "https://x/?q=1"],
    )
    def test_its_url_is_a_web_page_or_none(self, url: str | None) -> None:
        assert chunk(source_url=url).source_url == url

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "heaps.html",
            "//book.example.org/heaps",
            "https:///heaps",
            "file:///etc/passwd",
            "data:text/html,x",
            "JAVASCRIPT:alert(1)",
            "https://book.example.org/a b",
            "https://book.example.org/\n",
            "https://book.example.org/\u202egpj",
        ],
    )
    def test_anything_else_is_refused_as_its_url(self, url: str) -> None:
        with pytest.raises(ValidationError):
            chunk(source_url=url)

    @pytest.mark.parametrize(
        ("url", "base"),
        [
            ("https://book.example.org/", "https://book.example.org"),
            ("https://book.example.org/heaps#a", "https://book.example.org/"),
            ("https://BOOK.example.org/course/heaps", "https://book.example.org/course/"),
            ("https://book.example.org/course/b.html", "https://book.example.org/course/a.html"),
        ],
    )
    def test_a_page_below_the_base_url_is_on_the_courses_own_site(
        self, url: str, base: str
    ) -> None:
        assert is_on_site(url, base)

    @pytest.mark.parametrize(
        "url",
        [
            "https://evil.example/course/heaps",
            "https://book.example.org.evil.example/course/",
            "https://book.example.org@evil.example/course/",
            "https://book.example.org:8443/course/heaps",
            "https://book.example.org/other/heaps",
            "https://book.example.org/coursework",
        ],
    )
    def test_another_host_or_place_is_not(self, url: str) -> None:
        assert not is_on_site(url, "https://book.example.org/course/")

    def test_a_course_without_a_base_url_has_no_site(self) -> None:
        assert not is_on_site(URL, None)
        assert Course(course_id="slides", title="Slides").base_url is None

    def test_every_field_but_the_optional_ones_must_be_given(self) -> None:
        optional = {"source_url", "module_name", "section_heading", "headings", "metadata"}
        optional |= {"retrieved_at", "state"}
        of_the_page = {n: f for n, f in RetrievedChunk.model_fields.items() if not f.exclude}
        assert {n for n, f in of_the_page.items() if not f.is_required()} == optional
        for name in chunk_fields().keys() - optional:
            with pytest.raises(ValidationError, match=name):
                RetrievedChunk(**{k: v for k, v in chunk_fields().items() if k != name})


class TestCourse:
    def test_it_has_an_id_a_title_a_site_and_a_language(self) -> None:
        course = Course(course_id="cs-1", title="Algorithms", base_url="https://book.example.org/")
        assert course.language == "en"

    @pytest.mark.parametrize(
        "wrong",
        [{"course_id": "CS 1"}, {"title": " "}, {"base_url": "book.example.org"}, {"owner": "me"}],
    )
    def test_its_fields_have_rules(self, wrong: dict[str, str]) -> None:
        with pytest.raises(ValidationError):
            Course(**{"course_id": "cs-1", "title": "Algorithms", **wrong})


class TestRetrieving:
    def test_a_search_has_the_defaults_of_the_tool(self) -> None:
        made = search_input()
        assert (made.top_k, made.score_threshold) == (5, 0.3)
        assert made.selected_text is made.section_filter is None

    def test_a_successful_search_tells_no_error(self) -> None:
        assert search_output().error_message is None
        with pytest.raises(ValidationError, match="error_message"):
            search_output(error_message="none")

    def test_a_failed_search_tells_its_error(self) -> None:
        failed = search_output(success=False, error_message="No answer.", retrieved_chunks=())
        assert not failed.success
        with pytest.raises(ValidationError, match="error_message"):
            search_output(success=False)

    def test_what_was_sent_to_the_database_is_kept(self) -> None:
        made = search_context(
            filters={"section_ids": ("a",)}, search_params={"fusion": "dbsf", "limit": 100}
        )
        assert made.filters == {"section_ids": ("a",)}
        assert made.search_params == {"fusion": "dbsf", "limit": 100}
        assert (search_context().filters, search_context().search_params) == ({}, {})


class TestAgentSession:
    def test_the_last_activity_does_not_lie_before_the_creation(self) -> None:
        assert session(last_activity=EARLIER + timedelta(seconds=1)).created_at == EARLIER
        with pytest.raises(ValidationError, match="last_activity"):
            session(last_activity=EARLIER - timedelta(microseconds=1))

    def test_a_new_session_is_empty_and_has_an_id_of_its_own(self) -> None:
        made = session()
        assert (made.current_turn, made.message_count) == (0, 0)
        assert made.conversation_history == ()
        assert made.session_id != session().session_id

    @pytest.mark.parametrize("numbers", [(1,), (1, 2, 3), (7, 8)])
    def test_turns_are_numbered_without_gaps(self, numbers: tuple[int, ...]) -> None:
        history = tuple(turn(number) for number in numbers)
        made = session(conversation_history=history, current_turn=numbers[-1])
        assert made.conversation_history == history

    @pytest.mark.parametrize("numbers", [(1, 3), (2, 1), (1, 1), (1, 2, 4)])
    def test_gaps_and_disorder_are_refused(self, numbers: tuple[int, ...]) -> None:
        history = tuple(turn(number) for number in numbers)
        with pytest.raises(ValidationError, match="no gaps"):
            session(conversation_history=history, current_turn=numbers[-1])

    def test_the_current_turn_is_the_latest(self) -> None:
        with pytest.raises(ValidationError, match="current_turn"):
            session(conversation_history=(turn(1),), current_turn=2)

    def test_a_thread_is_a_session_on_every_replica(self) -> None:
        made = session_id_for("slack", "T1", "C1", "1700.1")
        assert made == session_id_for("slack", "T1", "C1", "1700.1")
        assert made.version == 5
        namespace = uuid5(NAMESPACE_URL, "urn:glossator:session")
        assert made == uuid5(namespace, "slack:T1:C1:1700.1")

    @pytest.mark.parametrize(
        "other",
        [
            ("discord", "T1", "C1", "1700.1"),
            ("slack", "T2", "C1", "1700.1"),
            ("slack", "T1", "C2", "1700.1"),
            ("slack", "T1", "C1", "1700.2"),
        ],
    )
    def test_another_thread_channel_workspace_or_platform_is_another_session(
        self, other: tuple[str, str, str, str]
    ) -> None:
        assert session_id_for(*other) != session_id_for("slack", "T1", "C1", "1700.1")

    def test_a_direct_message_starts_anew_after_8_hours_of_silence(self) -> None:
        assert not is_silent(EARLIER, EARLIER + timedelta(hours=8, microseconds=-1))
        assert is_silent(EARLIER, EARLIER + timedelta(hours=8))
        parts = [session_id_for("discord", "@me", "D1", "", part=part) for part in range(3)]
        assert len(set(parts)) == 3
        assert parts[0] == session_id_for("discord", "@me", "D1", "")


class TestConversationTurn:
    def test_it_keeps_who_asked_what_and_the_whole_answer(self) -> None:
        made = turn(user_id="reader-2", selected_text="A heap", tool_calls=(tool_call(),))
        assert made.user_id == "reader-2"
        assert made.agent_response.response_text == "A complete binary tree [1]."

    @pytest.mark.parametrize("wrong", [{}, None, "text"])
    def test_it_needs_a_valid_answer(self, wrong: object) -> None:
        with pytest.raises(ValidationError):
            turn(agent_response=wrong)


class TestAgentToolCall:
    def test_its_parameters_are_valid_for_the_tool(self) -> None:
        made = tool_call(parameters={"query_text": "What is a heap?", "top_k": 20})
        assert made.parameters == RetrievalToolInput(query_text="What is a heap?", top_k=20)
        for wrong in ({"top_k": 5}, {"query_text": "What?", "top_k": 21}, {"query": "What?"}, None):
            with pytest.raises(ValidationError):
                tool_call(parameters=wrong)

    def test_its_result_is_one_of_the_tool(self) -> None:
        unfinished_result: dict[str, Any] = {"retrieved_chunks": []}
        for wrong in (None, {}, unfinished_result):
            with pytest.raises(ValidationError):
                tool_call(result=wrong)


class TestAgentConfiguration:
    def test_its_bands_are_ordered(self) -> None:
        assert configuration(partial_from=0.5, answered_from=0.5).partial_from == 0.5
        with pytest.raises(ValidationError, match="partial_from"):
            configuration(partial_from=0.6, answered_from=0.5)

    def test_a_course_without_settings_has_the_defaults(self) -> None:
        assert configuration().model_dump() == {
            "model_name": None,
            "temperature": None,
            "max_tokens": 2_048,
            "context_window": 32_000,
            "evidence_tokens": 4_000,
            "system_prompt": None,
            "retrieval_enabled": True,
            "max_turns": 10,
            "score_threshold": 0.5,
            "top_k": 5,
            "answer_length": "normal",
            "answered_from": 0.65,
            "partial_from": 0.3,
        }


def test_no_more_claims_are_dropped_than_were_written() -> None:
    assert response(claims_written=2, claims_dropped=2).claims_dropped == 2
    with pytest.raises(ValidationError, match="dropped"):
        response(claims_written=1, claims_dropped=2)


def test_the_fields_of_an_answer_are_those_of_the_page() -> None:
    assert set(response_fields()) <= set(AgentResponse.model_fields)
    assert set(AgentResponse.model_fields) == {
        *("id", "query_id", "query_text", "response_text", "outcome", "state"),
        *("retrieved_chunks", "grounding_chunks", "citations", "sources"),
        *("confidence", "located"),
        *("context_used", "conversation_id", "query_tokens", "response_tokens", "tokens_used"),
        *("cached_tokens", "estimated_cost", "claims_written", "claims_dropped", "claims_unjudged"),
        *("course_id", "generation", "model_name", "notices", "quote_location"),
        *("nearest_sections", "shows_again", "unknown_section", "leans"),
        *("checked", "offered", "held_to", "asks_nothing", "understood_as", "choices"),
        *("response_time_ms", "retrieval_time_ms", "first_token_ms", "generation_time_ms"),
        *("retrieval_success", "error_message", "tool_calls", "requested_at", "generated_at"),
    }
