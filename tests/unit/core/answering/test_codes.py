"""A code that stands nowhere is noticed; how it is written is of no account."""

import pytest

from core.answering.grounding.certain import missing_codes

PASSAGES = ("`E042` means that the bus is busy.", "Covid 19 is caused by SARS-CoV-2. Use TLS 1.3.")


@pytest.mark.parametrize("question", ["What does E044 mean?", "e044?", "Is ERR-1044 an error?"])
def test_a_code_that_no_passage_holds_is_missing(question: str) -> None:
    assert missing_codes(question, PASSAGES)


@pytest.mark.parametrize(
    "question",
    [
        "What does E042 mean?",
        "what does e-042 mean?",
        "What causes COVID-19?",
        "What happened in 1990?",
        "What does chapter 12 say?",
        "What is H2O?",
        "Is 20C warm, and is v1.25 new?",
    ],
)
def test_what_stands_there_and_what_is_no_code_is_not(question: str) -> None:
    assert missing_codes(question, PASSAGES) == []
