"""The frozen replies of the bench, the falsehoods planted in them, and what is told of them."""

from collections import Counter

from core.answering.grounding.certain import Flaw
from core.answering.grounding.judge import JudgedClaim, Setting
from core.answering.writers.base import ClaimKind
from core.answering.writers.prompt import Numbering
from core.answering.writers.reader import AnswerReader
from tests.bench.replies.figures import NO_ITEM, fates_of
from tests.bench.replies.frozen import CHANGES, falsehoods, questions, replies
from tests.bench.replies.scripted import Memory, RememberingJudge, YesModel
from tests.samples import response


def test_each_question_has_its_reply_and_half_are_of_each_book() -> None:
    asked = questions()
    assert [one.id for one in asked] == list(replies())
    assert set(Counter(one.course for one in asked).values()) == {20}


def test_a_claim_keeps_places_and_no_text_of_a_book() -> None:
    for reply in replies().values():
        for claim in reply.claims:
            rests = claim.kind in (ClaimKind.FACT, ClaimKind.QUESTION)
            assert bool(claim.places) is rests
            assert all(len(place.digest) == 12 for place in claim.places)


def test_a_falsehood_is_a_fact_with_one_thing_changed() -> None:
    known, made = replies(), falsehoods()
    per_book = Counter((one.id[:4], one.change) for one in made)
    assert per_book == {(book, change): 12 for book in ("econ", "rust") for change in CHANGES}
    for one in made:
        true = known[one.id].claims[one.claim]
        assert true.kind == "fact"
        assert true.text != one.text


def test_what_fell_is_told_with_its_reason() -> None:
    said = '{"claims": [{"kind": "lead", "text": "So:"}, {"kind": "fact", "text": "- one"}]}'
    claims = [*AnswerReader(Numbering()).feed(said)]
    answer = response(response_text="Nothing of it [1].", model_name="frozen")
    lead, fact = fates_of(questions()[0], claims, answer, [Flaw.UNCITED], [])
    assert (lead.is_shown, lead.why) == (False, NO_ITEM)
    assert (fact.is_shown, fact.why, fact.score) == (False, Flaw.UNCITED, 0.0)


async def test_a_judge_is_asked_each_thing_once() -> None:
    judge = RememberingJudge(YesModel(), memory=Memory(None))
    asked = [JudgedClaim("It rose.", ("The levy rose.",)), JudgedClaim("It fell.", ("It fell.",))]
    assert await judge.judge(asked, Setting("Did it?")) == [1.0, 1.0]
    tokens = judge.tokens
    judge.begin()
    judge.is_asked = False
    assert await judge.judge(asked, Setting("Did it?")) == [1.0, 1.0]
    assert judge.tokens == tokens > 0
    assert await judge.judge(asked[:1], Setting("Did it?")) == [None]
