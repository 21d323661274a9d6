"""Written answers next to passages: what is replayed, what readers get, and what they say."""

from pathlib import Path

import pytest

from core.teaching.evaluation.report import GoldQuestion
from tests.bench.writing import compared
from tests.bench.writing.compared import Key, Read, pair_of, report, together
from tests.bench.writing.replayed import (
    ReplayedModel,
    Reply,
    digest_of,
    read_replies,
    write_prompts,
)
from tests.samples import response
from tests.wire.openai_calls import OpenAICall
from tests.wire.openai_server import ChatReply
from tests.wire.scripted_models import NOT_COVERED

ROW = GoldQuestion(
    id="q1", question="What is a heap?", relevant=("heaps.md",), answers=("A tree.",)
)
KEY = Key(
    id="p1",
    program="main",
    course="economics",
    question="q1",
    written="1" * 16,
    passages="2" * 16,
    written_is="right",
    calls=1,
    claims=4,
    dropped=1,
    refused=False,
    fell_back=False,
)


def call(mark: str) -> OpenAICall:
    return OpenAICall({"messages": [{"role": "user", "content": f"<passage-{mark}>\nA heap."}]})


def test_the_random_mark_of_a_prompt_does_not_change_its_digest() -> None:
    assert digest_of(call("0" * 16)) == digest_of(call("f" * 16))
    assert digest_of(call("0" * 16)) != digest_of(call("none"))


def test_a_prompt_without_a_reply_is_refused_and_kept(tmp_path: Path) -> None:
    model = ReplayedModel({})
    model.begin("q1")
    assert model(call("0" * 16)) == ChatReply(NOT_COVERED)
    [prompt] = model.lacking
    assert (prompt.id, prompt.call) == ("q1", 0)
    write_prompts(model.lacking, tmp_path / "prompts.jsonl")
    assert "A heap." in (tmp_path / "prompts.jsonl").read_text()


def test_each_call_of_a_question_gets_the_reply_that_was_written_to_it(tmp_path: Path) -> None:
    digest = digest_of(call("0" * 16))
    file = tmp_path / "replies.jsonl"
    file.write_text(
        f'{{"id": "q1", "call": 0, "prompt": "{digest}", "search": "heaps"}}\n'
        f'{{"id": "q1", "call": 1, "prompt": "{digest}", "answer": {{"missing": "part"}}}}\n'
        '{"id": "q1", "call": 2, "prompt": "another", "answer": {"missing": "part"}}\n'
    )
    model = ReplayedModel(read_replies(file))
    model.begin("q1")
    assert model(call("1" * 16)).calls == (("retrieve", '{"query_text": "heaps"}'),)
    assert model(call("1" * 16)).text == '{"missing": "part"}'
    assert model.lacking == []
    assert model(call("1" * 16)).text == NOT_COVERED
    assert [prompt.call for prompt in model.lacking] == [2]
    assert Reply("q1", 0, digest, search="heaps") in model.replies.values()


def test_a_pair_shows_both_answers_on_sides_that_the_seed_draws() -> None:
    written = response(response_text="A heap is a tree [1].")
    passages = response(response_text="**A heap is a tree.** [1]")
    sides = set()
    for seed in range(20):
        pair, side = pair_of(ROW, written, passages, seed)
        sides.add(side)
        own = pair.left if side == "left" else pair.right
        assert written.response_text in own
        assert "**" not in own
    assert sides == {"left", "right"}
    assert pair.reference == "A tree."


@pytest.mark.parametrize(("better", "meant"), [("right", "written"), ("left", "passages")])
def test_what_a_reader_says_of_a_side_is_said_of_what_stands_there(better: str, meant: str) -> None:
    read = Read(id="p1", reader="r1", better=better, left="wrong", right="whole")
    [found] = together([KEY], [read])
    verdict = found.read["r1"]
    assert (verdict.better, verdict.written, verdict.passages) == (meant, "whole", "wrong")


def test_a_pair_that_was_read_before_keeps_its_labels_under_another_program() -> None:
    first = Read(id="p1", reader="r1", better="right", left="wrong", right="whole")
    known = together([KEY], [first])
    [again] = together([KEY.model_copy(update={"program": "mended"})], [], known)
    assert (again.program, again.read) == ("mended", known[0].read)
    assert together([KEY.model_copy(update={"id": "p2"})], [], known) == []


def test_the_figures_are_those_of_each_program() -> None:
    reads = [
        Read(id="p1", reader="r1", better="right", left="wrong", right="whole"),
        Read(id="p1", reader="r2", better="left", left="partly", right="partly"),
    ]
    lines = "\n".join(report(together([KEY], reads)))
    assert "main:" in lines
    assert "claims dropped" in lines
    assert " 1 of    4  0.250" in lines
    assert "r1: written better or the same" in lines
    assert "readers agree on better" in lines


def test_the_labels_that_are_kept_hold_no_text_and_are_of_sixty_questions() -> None:
    kept = compared.committed()
    for program in {one.program for one in kept}:
        assert len({one.question for one in kept if one.program == program}) == 60
    assert all(len(one.read) >= 2 for one in kept)
