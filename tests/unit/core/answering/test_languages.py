"""When a book is not in the language that its course says."""

import pytest

from core.answering.grounding.citations import foreign_language, is_in_another_language

ENGLISH = "The keeper trims the wick of the lamp every four hours, and it is seen in this weather."
GERMAN = "Der Wärter schneidet den Docht der Lampe alle vier Stunden, und das ist von See zu sehen."
RUSSIAN = "Смотритель подрезает фитиль лампы каждые четыре часа."
CODE = "x = f(y); print(x)"


@pytest.mark.parametrize(
    ("texts", "language", "found"),
    [
        ([GERMAN, GERMAN, ENGLISH], "en", "de"),
        ([GERMAN, CODE], "en", None),
        ([GERMAN, GERMAN, ENGLISH], "de-AT", None),
        ([ENGLISH, CODE, ENGLISH], "de", "en"),
        ([RUSSIAN], "en", "CYRILLIC"),
        ([RUSSIAN], "ru", None),
        ([ENGLISH], "ja", None),
        ([CODE], "de", None),
        (["Rent: 25 per cent\nFood: 30 per cent\nTravel: 5 per cent"], "en", None),
        (["Che Guevara\nChe Guevara"] * 30, "en", None),
        ([], "en", None),
    ],
)
def test_another_language_is_named_where_more_than_half_is_in_it(
    texts: list[str], language: str, found: str | None
) -> None:
    assert foreign_language(texts, language) == found


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("Wer war Gutenberg und wann lebte er?", True),
        ("Los Angeles population", False),
        ("summary of Les Fleurs du mal", False),
        ("when to use der die das", False),
        ("How high is the tower?", False),
    ],
)
def test_a_foreign_name_in_an_answered_question_is_no_language(
    question: str, answered: bool
) -> None:
    assert is_in_another_language(question, "en", answered=True) is answered
