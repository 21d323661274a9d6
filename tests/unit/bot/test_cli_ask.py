"""`glossator ask`: questions, quotes, sections, follow-ups, and what it prints."""

import re
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from bot.cli.exits import Exit
from core.domain import AgentResponse, Outcome, QuoteStatus, i18n
from tests.books import (
    ALTERED,
    COVERED,
    COVERED_FACT,
    FOREIGN,
    LIGHTHOUSE,
    UNCOVERED,
    VERBATIM,
    write_files,
)
from tests.command_line import CommandLine, shell


@pytest.fixture(scope="module")
def two_courses(tmp_path_factory: pytest.TempPathFactory, models: Path) -> CommandLine:
    """A shell with two courses: questions have to say which one they mean."""
    line = shell(tmp_path_factory.mktemp("two"), models)
    write_files(line.folder / "arden", LIGHTHOUSE)
    write_files(
        line.folder, {"bells.md": "# Bells\n\nThe bell of Sark weighs nine hundredweight.\n"}
    )
    for source, course in (("arden", "arden"), ("bells.md", "bells")):
        done = line.here("ingest", source, "--course", course)
        assert done.code == 0, done.err
    return line


def answered(shell: CommandLine, *arguments: str) -> AgentResponse:
    done = shell.here("ask", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    return AgentResponse.model_validate_json(done.out)


def session_in(text: str) -> str:
    found = re.search(r"session ([0-9a-f-]{36})\)", text)
    assert found
    return found.group(1)


# --- what is printed ----------------------------------------------------------------------


def test_the_answer_cites_the_book_and_says_where(lighthouse: CommandLine) -> None:
    done = lighthouse.here("ask", COVERED)
    assert (done.code, done.err) == (0, "")
    assert COVERED_FACT in done.out
    place = r"^From \[1\].* The lamp › Trimming the wick · lamp\.md$"
    assert re.search(place, done.out, re.MULTILINE)
    assert "sure" not in done.out
    session_in(done.out)


def test_piped_output_has_no_escape_codes(lighthouse: CommandLine) -> None:
    assert "\x1b" not in lighthouse.here("ask", COVERED).out


def test_json_is_the_whole_response_and_nothing_else(lighthouse: CommandLine) -> None:
    done = lighthouse.here("ask", COVERED, "--json")
    response = AgentResponse.model_validate_json(done.out)
    assert (done.code, done.err) == (0, "")
    assert response.outcome is Outcome.ANSWERED
    assert response.query_text == COVERED
    assert (response.course_id, response.model_name) == ("lighthouse", "extractive")
    assert response.citations
    assert all(chunk.course_id == "lighthouse" for chunk in response.retrieved_chunks)
    assert response.response_time_ms >= response.retrieval_time_ms > 0


@pytest.mark.costly
def test_what_an_old_terminal_cannot_show_does_not_stop_the_answer(
    lighthouse: CommandLine,
) -> None:
    ascii_only = CommandLine(lighthouse.folder, {"PYTHONIOENCODING": "ascii"})
    done = ascii_only.run("ask", COVERED)
    assert (done.code, done.err) == (0, "")
    assert COVERED_FACT in done.out


@pytest.mark.costly
def test_a_question_in_another_encoding_is_answered(lighthouse: CommandLine) -> None:
    done = lighthouse.run("ask", COVERED.encode() + b" \xe9t\xe9")
    assert (done.code, done.err) == (0, "")
    assert COVERED_FACT in done.out


@pytest.mark.costly
def test_what_the_book_does_not_cover_is_said_and_is_no_failure(lighthouse: CommandLine) -> None:
    done = lighthouse.here("ask", UNCOVERED)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("The book doesn't cover this.")
    response = answered(lighthouse, UNCOVERED)
    assert response.outcome is Outcome.ABSTAINED
    assert (response.citations, response.sources, response.grounding_chunks) == ((), (), ())


# --- quotes -------------------------------------------------------------------------------


def test_a_quote_alone_is_located_and_explained(lighthouse: CommandLine) -> None:
    response = answered(lighthouse, "--quote", VERBATIM)
    assert response.outcome is Outcome.ANSWERED
    assert response.quote_location
    assert response.quote_location.status is QuoteStatus.VERBATIM
    assert "Trimming the wick" in response.response_text


def test_a_quote_in_other_words_is_located_all_the_same(lighthouse: CommandLine) -> None:
    response = answered(lighthouse, "Why does that happen?", "--quote", ALTERED)
    assert response.quote_location
    assert response.quote_location.status is QuoteStatus.ALTERED
    assert response.citations


def test_a_quote_of_another_book_is_told_apart(lighthouse: CommandLine) -> None:
    response = answered(lighthouse, "--quote", FOREIGN)
    assert response.quote_location
    assert response.quote_location.status is QuoteStatus.NOT_FOUND
    assert any("not from this book" in notice for notice in response.notices)


def test_a_quote_may_come_from_a_file(lighthouse: CommandLine) -> None:
    (lighthouse.folder / "quote.txt").write_text(f"\ufeff{VERBATIM}\n", "utf-8")
    response = answered(lighthouse, "What is this?", "--quote-file", "quote.txt")
    assert response.quote_location
    assert response.quote_location.status is QuoteStatus.VERBATIM


@pytest.mark.costly
def test_a_quote_that_is_too_long_is_cut_and_the_reader_is_told(lighthouse: CommandLine) -> None:
    (lighthouse.folder / "long.txt").write_text(f"{VERBATIM}. " * 300, "utf-8")
    response = answered(lighthouse, "--quote-file", "long.txt")
    assert any("8,000 characters" in notice for notice in response.notices)


# --- sections -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Supplies", "Suplies", "keepers/supplies.md", "SUPPLIES "])
def test_a_section_limits_where_is_searched(lighthouse: CommandLine, name: str) -> None:
    response = answered(lighthouse, "What does the keeper do?", "--section", name)
    assert {chunk.source_file for chunk in response.retrieved_chunks} <= {"keepers/supplies.md"}


def test_a_module_is_a_section_too(lighthouse: CommandLine) -> None:
    response = answered(lighthouse, "What do the keepers eat in a storm?", "--section", "keepers")
    assert "herring" in response.response_text
    assert all(c.source_file.startswith("keepers/") for c in response.retrieved_chunks)


@pytest.mark.parametrize(
    ("section", "question", "fact"),
    [
        ("Fog", "What does it weigh?", "half a ton"),
        ("The clockwork", "How often does it turn the lens?", "ninety seconds"),
    ],
)
def test_the_heading_of_the_section_stands_for_a_pronoun(
    lighthouse: CommandLine, section: str, question: str, fact: str
) -> None:
    assert fact in answered(lighthouse, question, "--section", section).response_text


# --- the language of what is said besides the book's words ---------------------------------


def test_what_is_said_besides_the_book_is_in_the_questions_language(
    lighthouse: CommandLine,
) -> None:
    asked = "Wie schwer ist die Glocke von Arden und was ist das?"
    done = lighthouse.here("ask", asked)
    said = i18n.catalogue("de").pattern("answer-sure-not-covered")
    assert said is not None
    assert said in done.out
    assert "Sitzung" in done.out
    chatted = lighthouse.here("chat", stdin=f"{asked}\nArden\n{COVERED}\n").out
    assert re.findall(r" s, (\w+) ", chatted) == ["Sitzung", "Sitzung", "session"]


# --- tables --------------------------------------------------------------------------------

_SYLLABUS = """\
# FOOD 101

## Grading

The final grade is made of four parts, as shown in the table.

| Component | Weight | Due |
| --- | --- | --- |
| Lab reports | 30 % | weekly |
| Midterm exam | 25 % | 14 October |
| Final exam | 35 % | 9 December |

## Late work

Lab reports handed in late lose 10 % of their points per started day.
"""


@pytest.mark.costly
def test_a_row_that_the_question_names_is_shown(tmp_path: Path, models: Path) -> None:
    line = shell(tmp_path, models)
    write_files(line.folder, {"syllabus.md": _SYLLABUS})
    assert line.here("ingest", "syllabus.md").code == 0
    shown = answered(line, "How much is the final exam worth?")
    assert shown.outcome is Outcome.PARTIAL
    assert "| Final exam | 35 % | 9 December |" in shown.response_text
    assert answered(line, "How much is the parking permit?").outcome is Outcome.ABSTAINED


# --- conversations ------------------------------------------------------------------------


@pytest.mark.costly
def test_a_follow_up_leans_on_the_question_before(lighthouse: CommandLine) -> None:
    first = answered(lighthouse, "What does the fog bell of Arden weigh?")
    session = str(first.conversation_id)
    second = answered(lighthouse, "And from what was it cast?", "--session", session)
    assert first.conversation_id == second.conversation_id == UUID(session)
    assert "frigate" in second.response_text
    shown = lighthouse.here("sessions", "show", session).out
    assert "1. What does the fog bell" in shown
    assert "2. And from what was it cast?" in shown


@pytest.mark.costly
def test_a_stored_conversation_knows_its_course(two_courses: CommandLine) -> None:
    assert two_courses.here("ask", COVERED).code == Exit.USAGE
    asked = {"arden": (COVERED, COVERED_FACT), "bells": ("How heavy is the bell of Sark?", "nine")}
    for course, (question, fact) in asked.items():
        begun = answered(two_courses, question, "--course", course)
        session = str(begun.conversation_id)
        done = two_courses.here("ask", question, "--session", session)
        assert (done.code, done.err) == (0, "")
        assert fact in done.out
        chatted = two_courses.here("chat", "--session", session, stdin=f"{question}\n")
        assert chatted.code == 0
        assert fact in chatted.out


@pytest.mark.parametrize(
    ("question", "said"), [(" ", "Please ask a question."), ("h", "at least 2 characters")]
)
def test_no_course_has_to_be_named_for_what_is_no_question(
    two_courses: CommandLine, question: str, said: str
) -> None:
    done = two_courses.here("ask", question)
    assert (done.code, done.out) == (Exit.USAGE, "")
    assert said in done.err


@pytest.mark.parametrize("command", [("ask", COVERED), ("chat",)], ids=["ask", "chat"])
def test_a_conversation_that_there_is_not_is_refused(
    two_courses: CommandLine, command: tuple[str, ...]
) -> None:
    session, before = str(uuid4()), two_courses.here("sessions", "list", "--json").json
    done = two_courses.here(*command, "--course", "arden", "--session", session, stdin=COVERED)
    assert (done.code, done.out) == (Exit.USAGE, "")
    assert done.sentence.startswith(f"There is no conversation {session}: leave --session out")
    assert two_courses.here("sessions", "list", "--json").json == before


def test_a_section_that_does_not_say_it_does_not_speak_for_the_book(
    lighthouse: CommandLine,
) -> None:
    done = lighthouse.here("ask", UNCOVERED, "--section", "The lamp")
    assert done.code == 0
    assert done.out.startswith(
        "I found no answer in this section; the rest of the book was not searched."
    )
    assert "The book doesn't" not in done.out


def test_nobody_is_sure_about_a_passage_that_is_not_in_the_book(lighthouse: CommandLine) -> None:
    done = lighthouse.here("ask", COVERED, "--quote", FOREIGN, "--json")
    answer = AgentResponse.model_validate_json(done.out)
    assert i18n.text("notice-quote-not-found") in answer.notices
    assert answer.outcome is not Outcome.ANSWERED
    assert answer.confidence <= 0.3


@pytest.mark.costly
def test_a_quote_of_another_book_does_not_hide_the_answer(lighthouse: CommandLine) -> None:
    alone = answered(lighthouse, COVERED)
    both = answered(lighthouse, COVERED, "--quote", "To be or not to be, that is the question.")
    assert both.response_text == alone.response_text
    assert i18n.text("notice-quote-not-found") in both.notices


@pytest.mark.costly
def test_without_a_session_every_question_begins_one(lighthouse: CommandLine) -> None:
    sessions = {answered(lighthouse, COVERED).conversation_id for _ in range(2)}
    assert len(sessions) == 2


@pytest.mark.costly
def test_the_session_of_one_answer_continues_in_the_next(lighthouse: CommandLine) -> None:
    session = session_in(lighthouse.here("ask", COVERED).out)
    assert session_in(lighthouse.here("ask", "And why?", "--session", session).out) == session
