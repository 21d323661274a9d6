"""A question that the search cannot read gets a sentence that says in which language to ask."""

from dataclasses import replace

import pytest

from core.answering.answer import AnswerDraft
from core.models import AgentConfiguration, AgentRequest, EvidenceSignals, Outcome
from core.retrieval.retrieval import passage_alone
from core.retrieval.scoring import BUILT_IN

GERMAN = "Wie wird der Preis auf dem Markt durch die Nachfrage bestimmt?"
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
    fields = AnswerDraft(found).finish(request, AgentConfiguration(), answerable=False)
    assert fields["outcome"] is Outcome.ABSTAINED
    assert fields["response_text"].startswith(said)
