"""A follow-up is worded to stand alone by what the last answer showed."""

import pytest

from core.retrieval.resolving import (
    LastAnswer,
    ReadingKind,
    chosen,
    has_own_subject,
    head_terms,
    names_place,
    readings,
    refers,
    root_of,
)

_LITTLE = {
    "the",
    "a",
    "an",
    "of",
    "in",
    "is",
    "are",
    "was",
    "it",
    "its",
    "what",
    "why",
    "how",
    "and",
}
_LITTLE |= {
    "do",
    "does",
    "who",
    "then",
    "them",
    "they",
    "which",
    "that",
    "there",
    "many",
    "on",
    "for",
}
KEPT = LastAnswer(
    "How long are conversations kept?",
    "Conversations are kept for 180 days.",
    ("What is stored",),
)
WASTE = LastAnswer(
    "What kinds of waste are there?",
    "There are three kinds:\n1. **Sharps**: go into the box.\n2. Solvents: go into the can."
    "\n3. `rm FILE` deletes the rest.",
)


SHOWN = """Old conversations are kept. The Federal Reserve is a bank, and a tariff is a tax.
The extinguisher hangs there."""


def is_content(word: str) -> bool:
    return word.lower() not in _LITTLE


def first(question: str, last: LastAnswer) -> str:
    return readings(question, last, is_content)[0].question


@pytest.mark.parametrize(
    ("question", "before", "meant"),
    [
        (
            "And who deletes them then?",
            "Why are conversations kept?",
            "And who deletes conversations then?",
        ),
        ("Who runs it?", "What is the Federal Reserve?", "Who runs the Federal Reserve?"),
        ("What are its tools?", "What is a bank?", "What are a bank’s tools?"),
        ("How does that help?", "What is a tariff?", "How does a tariff help?"),
        ("Where is it?", "Which extinguisher is red?", "Where is extinguisher?"),
    ],
)
def test_a_pronoun_becomes_what_the_last_question_was_about(
    question: str, before: str, meant: str
) -> None:
    assert first(question, LastAnswer(before, SHOWN)) == meant


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Where does the second one go?", "Where does Solvents go?"),
        ("the first one", "Sharps"),
        ("What does the last one do?", "What does rm FILE do?"),
    ],
)
def test_a_place_in_a_list_becomes_its_item(question: str, meant: str) -> None:
    reading = readings(question, WASTE, is_content)[0]
    assert (reading.question, reading.kind) == (meant, ReadingKind.ITEM)


@pytest.mark.parametrize("question", ["How long does it last?", "What was said last week?"])
def test_the_verb_and_the_week_are_no_places_in_a_list(question: str) -> None:
    assert not names_place(question)


def test_without_a_pronoun_the_whole_question_before_is_added_and_not_added_twice() -> None:
    meant = first("And 5?", LastAnswer("What does exit code 1 mean?", ""))
    assert meant == "And 5? (What does exit code 1 mean?)"
    assert root_of("And 5?", meant) == "What does exit code 1 mean?"
    assert root_of("Who runs it?", "Who runs the bank?") == "Who runs the bank?"


def test_which_of_them_asks_for_one_and_is_not_replaced() -> None:
    assert first("Which of them grows?", KEPT) == f"Which of them grows? ({KEPT.question})"


def test_a_plural_pronoun_prefers_what_is_plural() -> None:
    last = LastAnswer("Does a bank keep the bonds?", "a bank keeps the bonds")
    assert first("Who sells them?", last) == "Who sells the bonds?"
    assert first("Who owns it?", last) == "Who owns a bank?"


def test_verbs_of_the_last_question_are_not_what_it_was_about() -> None:
    last = LastAnswer("What do I have to wear in class?", "wear a coat")
    assert "wear" not in head_terms(last, is_content)


@pytest.mark.parametrize(
    ("question", "says_so"),
    [("How is it done?", True), ("the third one", True), ("How is bread baked?", False)],
)
def test_a_word_that_stands_for_something_is_seen(question: str, says_so: bool) -> None:
    assert refers(question) is says_so


def test_a_reply_chooses_by_its_words_or_its_place() -> None:
    choices = ["Which is it? (Insulin)", "Which is it? (Glucagon)"]
    assert chosen("insulin", choices, is_content) == choices[0]
    assert chosen("the second one", choices, is_content) == choices[1]
    assert chosen("bread", choices, is_content) is None


@pytest.mark.parametrize(
    ("question", "is_own"),
    [
        ("What is opinion?", True),
        ("so what's a price floor", True),
        ("Who is Keynes?", True),
        ("Was ist Inflation?", True),
        ("What is `this`?", True),
        ("What is IT?", True),
        ("WHAT IS IT?", False),
        ("What is it?", False),
        ("what's this?", False),
        ("What is the second one?", False),
        ("what is the answer", False),
        ("What was it cast from?", False),
        ("What is natural selection good for?", False),
        ("was ist das?", False),
    ],
)
def test_what_is_asked_for_by_its_name_needs_nothing_said_before(
    question: str, is_own: bool
) -> None:
    assert has_own_subject(question) is is_own
