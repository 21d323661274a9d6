"""What is said about the last answer."""

from uuid import uuid4

import pytest

from adapters.chat.earlier_answers import SEEN_AGAIN, about_last
from adapters.chat.speaking import INTENTS, Intent
from core.domain import ConversationTurn, Outcome
from core.domain.i18n import use_locale
from tests.samples import request, response_to

ABOUT = [one for one in INTENTS if one.is_meta and one not in SEEN_AGAIN]


def turn(**changes: object) -> ConversationTurn:
    """Return an answered question."""
    asked = request()
    response = response_to(asked, uuid4()).model_copy(update=changes)
    return ConversationTurn(
        turn_number=1,
        request_id=asked.request_id,
        user_id="ann",
        outcome=response.outcome or Outcome.ANSWERED,
        user_input=asked.query_text,
        agent_response=response,
    )


@pytest.mark.parametrize("intent", ABOUT)
@pytest.mark.parametrize("locale", ["en", "de"])
def test_every_wish_gets_a_sentence_with_the_place_of_the_answer(
    intent: Intent, locale: str
) -> None:
    answered = turn()
    chunk = answered.agent_response.grounding_chunks[0]
    with use_locale(locale):
        back = about_last(intent, answered)
    assert (chunk.section_heading or chunk.page_title or chunk.source_file) in back.sentence
    assert back.link == str(answered.agent_response.sources[0])


def test_what_was_checked_is_told_with_its_numbers() -> None:
    kept = about_last(Intent.SURE, turn(claims_written=3)).sentence
    dropped = about_last(Intent.SURE, turn(claims_written=3, claims_dropped=1)).sentence
    own = about_last(Intent.SURE, turn(claims_written=0)).sentence
    assert "each of the 3 sentences" in kept
    assert "kept 2 and left out one" in dropped
    assert "book's own sentences" in own


def test_an_answer_without_a_place_says_so() -> None:
    bare = turn(grounding_chunks=(), citations=(), sources=(), outcome=Outcome.ABSTAINED)
    back = about_last(Intent.WHERE, bare)
    assert "no section" in back.sentence
    assert back.link is None
    assert "found nothing" in about_last(Intent.SURE, bare).sentence


def test_of_a_section_it_is_not_said_that_the_whole_book_was_searched() -> None:
    bare = turn(grounding_chunks=(), citations=(), sources=(), outcome=Outcome.ABSTAINED)
    within = bare.model_copy(update={"section_filter": "Cells"})
    assert "The rest of the book was not searched" in about_last(Intent.SURE, within).sentence
