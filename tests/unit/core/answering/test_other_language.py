"""A question that the search cannot read gets a sentence that says in which language to ask."""

from dataclasses import replace

import pytest

from core.answering.draft import AnswerDraft
from core.domain import EXPLAIN_QUOTE, AgentConfiguration, AgentRequest, EvidenceSignals, Outcome
from core.retrieval.ranking import BUILT_IN
from core.retrieval.retrieval import passage_alone
from tests.samples import resting_on

GERMAN = "Wie wird der Preis auf dem Markt durch die Nachfrage bestimmt?"
PRINTER = "Gutenberg was a printer."
NOT_COVERED = "The book doesn't cover this."


@pytest.mark.parametrize(
    ("question", "language", "model", "said"),
    [
        (GERMAN, "en", BUILT_IN, "This course’s book is in English; please ask in English."),
        ("Как определяется цена?", "en-GB", BUILT_IN, "This course’s book is in English;"),
        (GERMAN, "de", BUILT_IN, NOT_COVERED),
        (GERMAN, "ru", BUILT_IN, NOT_COVERED),
        (GERMAN, "en", "gemini-embedding-001", NOT_COVERED),
        ("How is the price on the market set by demand?", "en", BUILT_IN, NOT_COVERED),
        ("x y z", "en", BUILT_IN, NOT_COVERED),
        ("y = mx + b", "en", BUILT_IN, NOT_COVERED),
        ("GDP per capita", "en", BUILT_IN, NOT_COVERED),
        (EXPLAIN_QUOTE, "de", BUILT_IN, NOT_COVERED),
    ],
)
def test_another_language_is_told_as_such(
    question: str, language: str, model: str, said: str
) -> None:
    found = replace(
        passage_alone("c", "The price."),
        language=language,
        embedding_model=model,
        signals=EvidenceSignals(),
        evidence=(),
    )
    request = AgentRequest(course_id="c", query_text=question, user_id="u")
    fields = AnswerDraft(found).finish(request, AgentConfiguration())
    assert fields["outcome"] is Outcome.ABSTAINED
    assert fields["response_text"].startswith(said)


@pytest.mark.parametrize(
    ("question", "language", "model", "by_model", "is_said"),
    [
        ("Wer war Gutenberg und wann lebte er?", "en", BUILT_IN, False, True),
        ("Wer war Gutenberg und wann lebte er?", "en", BUILT_IN, True, False),
        ("Who was Gutenberg?", "en", BUILT_IN, False, False),
        ("Wer war Gutenberg und wann lebte er?", "en", "gemini-embedding-001", False, False),
        ("Wer war Gutenberg und wann lebte er?", "de", BUILT_IN, False, False),
    ],
)
def test_an_answer_to_a_question_in_another_language_says_in_which_to_ask(
    question: str, language: str, model: str, by_model: bool, is_said: bool
) -> None:
    found = replace(passage_alone("c", PRINTER), language=language, embedding_model=model)
    draft = AnswerDraft(found, by_model=by_model)
    claim = resting_on(PRINTER, PRINTER, content=PRINTER)
    draft.add(claim, draft.locate(claim))
    request = AgentRequest(course_id="c", query_text=question, user_id="u")
    fields = draft.finish(request, AgentConfiguration())
    assert fields["outcome"] is not Outcome.ABSTAINED
    assert ("please ask in English" in " ".join(fields["notices"])) is is_said
