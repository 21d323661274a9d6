"""`glossator chat`: a conversation that comes in line by line."""

import re

import pytest

from tests.books import COVERED, COVERED_FACT, UNCOVERED, VERBATIM
from tests.command_line import CommandLine, Finished


def said(shell: CommandLine, *lines: str) -> Finished:
    done = shell.here("chat", stdin="".join(f"{line}\n" for line in lines))
    assert done.code == 0
    assert "Traceback" not in done.err
    return done


def sessions_of(text: str) -> list[str]:
    return re.findall(r"session ([0-9a-f-]{36})\)", text)


@pytest.mark.costly
def test_questions_are_answered_one_after_another_in_one_session(lighthouse: CommandLine) -> None:
    done = said(lighthouse, "What does the fog bell weigh?", "", "And from what was it cast?")
    assert "half a ton" in done.out
    assert "frigate" in done.out
    first, second = sessions_of(done.out)
    assert first == second


@pytest.mark.costly
def test_it_reads_a_pipe_and_ends_with_it(lighthouse: CommandLine) -> None:
    done = lighthouse.run("chat", stdin=f"{COVERED}\n".encode())
    assert done.code == 0
    assert COVERED_FACT in done.out
    assert "\x1b" not in done.out


@pytest.mark.costly
def test_lines_in_another_encoding_are_read(lighthouse: CommandLine) -> None:
    done = lighthouse.run("chat", stdin=COVERED.encode() + b" \xe9\n")
    assert done.code == 0
    assert "Traceback" not in done.err
    assert COVERED_FACT in done.out


def test_a_quote_goes_with_the_question_behind_it(lighthouse: CommandLine) -> None:
    first, second = VERBATIM[:30], VERBATIM[30:]
    done = said(lighthouse, f"> {first}", f">{second}", "Why is that bad?")
    assert "This passage stands" in done.out
    assert len(sessions_of(done.out)) == 1


@pytest.mark.costly
def test_an_empty_line_or_the_end_of_the_input_ends_a_quote(lighthouse: CommandLine) -> None:
    for lines in ((f"> {VERBATIM}", ""), (f"> {VERBATIM}",)):
        assert "This passage stands" in said(lighthouse, *lines).out


@pytest.mark.costly
def test_a_section_stays_until_it_is_taken_back(lighthouse: CommandLine) -> None:
    question = "What do the keepers eat when storms keep the boat away?"
    done = said(lighthouse, "/section The lamp", question, "/section", question)
    limited, whole = done.out.split("session ", 1)
    assert "herring" not in limited
    assert "herring" in whole
    assert "From now on: The lamp." in done.err
    assert "From now on: the whole book." in done.err


@pytest.mark.costly
def test_an_unknown_section_is_refused_at_once_and_the_one_before_stays(
    lighthouse: CommandLine,
) -> None:
    done = said(lighthouse, "/section The lamp", "/section Quinine stores", COVERED)
    refusal = done.err.index("no section called “Quinine stores”.")
    assert "From now on: Quinine" not in done.err
    assert refusal > done.err.index("From now on: The lamp.")
    assert COVERED_FACT in done.out


def test_a_section_may_be_named_by_number_file_or_spelling(lighthouse: CommandLine) -> None:
    done = said(lighthouse, "/section lamp.md", "/section the lampp", "/section Nowhere at all")
    assert [line for line in done.err.splitlines() if line.startswith("From now on")] == [
        "From now on: lamp.md.",
        "From now on: the lampp.",
    ]


@pytest.mark.costly
def test_new_begins_another_session(lighthouse: CommandLine) -> None:
    done = said(lighthouse, COVERED, "/new", COVERED)
    first, second = sessions_of(done.out)
    assert first != second


@pytest.mark.costly
def test_new_drops_a_quote_that_waits(lighthouse: CommandLine) -> None:
    done = said(lighthouse, f"> {VERBATIM}", "/new", COVERED)
    assert "This passage stands" not in done.out
    assert COVERED_FACT in done.out


def test_help_explains_the_commands(lighthouse: CommandLine) -> None:
    done = said(lighthouse, "/help")
    assert all(word in done.err for word in ("/section", "/new", "/help", "/quit"))


def test_an_unknown_command_is_told_and_not_asked(lighthouse: CommandLine) -> None:
    done = said(lighthouse, "/frobnicate the lamp")
    assert done.out == ""
    assert "There is no command /frobnicate; /help shows those that there are." in done.err


def test_quit_leaves_before_the_rest_is_read(lighthouse: CommandLine) -> None:
    assert said(lighthouse, "/quit", COVERED).out == ""


def test_a_message_of_two_letters_gets_a_friendly_sentence_and_the_conversation_goes_on(
    lighthouse: CommandLine,
) -> None:
    done = said(lighthouse, "hi", COVERED)
    assert "Ask me a question" in done.out
    assert COVERED_FACT in done.out


def test_what_the_book_does_not_cover_is_said(lighthouse: CommandLine) -> None:
    assert "The book doesn't cover this." in said(lighthouse, UNCOVERED).out


@pytest.mark.costly
def test_what_was_understood_is_shown_and_corrected(lighthouse: CommandLine) -> None:
    done = said(
        lighthouse,
        "What does the fog bell weigh?",
        "And from what was it cast?",
        "/not What does the lamp burn?",
        "/not",
    )
    assert done.out.count("Understood as: “") == 1
    assert "Understood as: “And from what was the fog bell cast?”" in done.out
    assert "Not what you meant? /not YOUR QUESTION" in done.out
    assert "colza oil" in done.out
    assert "Write what you meant after it" in done.err


@pytest.mark.costly
def test_what_is_asked_back_is_chosen_by_its_number(lighthouse: CommandLine) -> None:
    done = said(
        lighthouse, "What turns the lens?", "And the second one?", "1", "And the second one?"
    )
    asked, chosen = done.out.split("Which of these do you mean?")
    assert "Understood as" not in asked
    assert "1. And the second one? (The clockwork)" in chosen
    assert "Type its number" in chosen
    assert "ninety seconds" in chosen.split("Type its number")[1]


@pytest.mark.costly
def test_what_no_book_answers_gets_a_sentence(lighthouse: CommandLine) -> None:
    done = said(lighthouse, "hi", "eli5", "who made you?")
    assert "Ask me a question about this course's book" in done.out
    assert "word for word" in done.out
    assert "I am Glossator" in done.out
    assert "at least" not in done.err
