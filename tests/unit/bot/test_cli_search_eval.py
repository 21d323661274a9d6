"""`glossator search` and `glossator eval`: their output, for people and for programs."""

import json
import re

import pytest

from core.models import RetrievalToolOutput
from tests.books import COVERED, COVERED_FACT, UNCOVERED, write_files
from tests.command_line import CommandLine, Finished

EVAL_KEYS = {
    *("n", "hit@1", "hit@5", "hit@20", "ndcg@10", "mrr@10", "answer@1", "answer@3"),
    *("refused_unanswerable", "refused_answerable", "calibration_error", "confidence_auroc"),
    *("p50_ms", "p95_ms", "by_kind", "ci95"),
}
ROWS = (
    {"question": COVERED, "relevant": ["lamp.md"], "answers": [COVERED_FACT], "kind": "span"},
    {
        "question": "And from what was it cast?",
        "history": [
            {"role": "user", "text": "What does the fog bell of Arden weigh?"},
            {"role": "assistant", "text": "Half a ton."},
        ],
        "relevant": ["keepers/duties.md"],
        "kind": "follow-up",
    },
    {"question": UNCOVERED, "answerable": False, "kind": "foreign"},
)


# --- search -------------------------------------------------------------------------------


def test_search_prints_numbered_passages_with_their_places(lighthouse: CommandLine) -> None:
    done = lighthouse.run("search", COVERED)
    assert (done.code, done.err) == (0, "")
    assert re.match(r"1\. [01]\.\d\d {2}The lamp › Trimming the wick · lamp\.md\n", done.out)
    assert COVERED_FACT in done.out
    assert "\x1b" not in done.out


def test_search_json_is_the_tools_output(lighthouse: CommandLine) -> None:
    done = lighthouse.here("search", COVERED, "--top-k", "2", "--json")
    assert (done.code, done.err) == (0, "")
    output = RetrievalToolOutput.model_validate_json(done.out)
    assert output.success
    assert output.error_message is None
    assert len(output.query_embedding) == 384
    assert 1 <= len(output.retrieved_chunks) <= 2
    best = output.retrieved_chunks[0]
    assert COVERED_FACT in best.content_text
    assert 0.5 <= best.similarity_score <= 1


def test_search_keeps_to_the_section(lighthouse: CommandLine) -> None:
    done = lighthouse.here("search", "What does the keeper do?", "--section", "Fog", "--json")
    chunks = RetrievalToolOutput.model_validate_json(done.out).retrieved_chunks
    assert {chunk.section_heading for chunk in chunks} == {"Fog"}


def test_search_says_when_nothing_fits(lighthouse: CommandLine) -> None:
    done = lighthouse.here("search", UNCOVERED)
    assert (done.code, done.out) == (0, "Nothing in this course fits the question.\n")


# --- eval ---------------------------------------------------------------------------------


@pytest.fixture
def questions(lighthouse: CommandLine) -> str:
    write_files(lighthouse.folder, {"questions.jsonl": "\n".join(json.dumps(row) for row in ROWS)})
    return "questions.jsonl"


def measured(shell: CommandLine, *arguments: str) -> Finished:
    done = shell.here("eval", *arguments)
    assert (done.code, done.err) == (0, "")
    return done


def test_eval_json_has_every_promised_figure(lighthouse: CommandLine, questions: str) -> None:
    report = measured(lighthouse, questions, "--json").json
    assert set(report) >= EVAL_KEYS
    assert report["n"] == 3
    assert [report[name] for name in ("hit@1", "hit@5", "hit@20", "mrr@10")] == [1.0] * 4
    assert report["answer@3"] == 1.0
    assert (report["refused_unanswerable"], report["refused_answerable"]) == (1.0, 0.0)
    assert set(report["by_kind"]) == {"span", "follow-up", "foreign"}
    assert all(low <= high for low, high in report["ci95"].values())


def test_eval_prints_the_same_for_people(lighthouse: CommandLine, questions: str) -> None:
    out = measured(lighthouse, questions).out
    assert out.startswith("3 questions\n")
    assert all(name in out for name in EVAL_KEYS - {"n", "by_kind", "ci95"})


def test_eval_may_keep_to_a_kind_and_a_number(lighthouse: CommandLine, questions: str) -> None:
    only = measured(lighthouse, questions, "--kind", "follow-up", "--json").json
    assert (only["n"], list(only["by_kind"])) == (1, ["follow-up"])
    assert measured(lighthouse, questions, "--limit", "2", "--json").json["n"] == 2
    refused = lighthouse.here("eval", questions, "--kind", "essay")
    assert refused.code == 2
    assert "follow-up" in refused.sentence


def test_eval_leaves_no_conversation_behind(
    glossator: CommandLine, lighthouse: CommandLine
) -> None:
    write_files(glossator.folder, {"q.jsonl": json.dumps(ROWS[0])})
    shell = glossator.setting(DATA_DIR=str(lighthouse.data))
    before = shell.here("sessions", "list", "--limit", "1000").out
    measured(shell, "q.jsonl")
    assert shell.here("sessions", "list", "--limit", "1000").out == before
