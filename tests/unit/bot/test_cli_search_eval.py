"""`glossator search` and `glossator eval`: their output, for people and for programs."""

import json
import re
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from core.domain import RetrievalToolOutput
from core.domain.errors import VectorIndexError
from core.retrieval.retrieval import Retrieval
from core.retrieval.retriever import Retriever
from tests.books import COVERED, COVERED_FACT, UNCOVERED, write_files
from tests.command_line import CommandLine, Finished
from tests.pandoc import needs_pandoc

EVAL_KEYS = {
    *("n", "hit@1", "hit@5", "hit@20", "ndcg@10", "mrr@10", "answer@1", "answer@3"),
    *("refused_unanswerable", "refused_answerable", "calibration_error", "confidence_auroc"),
    *("p50_ms", "p95_ms", "by_kind", "ci95", "failed"),
}
ANSWER_KEYS = {
    *("n", "sentences", "citation_precision", "citation_recall", "unsupported_claims"),
    *("dropped_claims", "source_precision", "source_recall", "refusal_precision"),
    *("refusal_recall", "partial_answerable", "partial_unanswerable", "follow_ups"),
    *("tokens_used", "estimated_cost", "fallback_share"),
    *("first_token_p50_ms", "first_token_p95_ms"),
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


@pytest.mark.costly
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


@pytest.mark.costly
def test_eval_json_has_every_promised_figure(lighthouse: CommandLine, questions: str) -> None:
    report = measured(lighthouse, questions, "--json").json
    assert set(report) >= EVAL_KEYS
    assert (report["n"], report["failed"]) == (3, 0)
    assert "answers" not in report
    assert [report[name] for name in ("hit@1", "hit@5", "hit@20", "mrr@10")] == [1.0] * 4
    assert report["answer@3"] == 1.0
    assert (report["refused_unanswerable"], report["refused_answerable"]) == (1.0, 0.0)
    assert set(report["by_kind"]) == {"span", "follow-up", "foreign"}
    assert all(low <= high for low, high in report["ci95"].values())


@pytest.mark.costly
def test_eval_prints_the_same_for_people(lighthouse: CommandLine, questions: str) -> None:
    out = measured(lighthouse, questions).out
    assert out.startswith("3 questions\n")
    assert all(name in out for name in EVAL_KEYS - {"n", "by_kind", "ci95", "failed"})


@pytest.mark.costly
def test_eval_names_each_unknown_document_once(lighthouse: CommandLine) -> None:
    row = json.dumps({"question": COVERED, "relevant": ["lamp.md", "lamps.md"]})
    path = write_files(lighthouse.folder, {"unknown.jsonl": f"{row}\n{row}\n"}) / "unknown.jsonl"
    done = lighthouse.here("eval", str(path), "--json")
    assert (done.code, done.json["n"]) == (0, 2)
    assert done.err == "The course lighthouse has no document called lamps.md.\n"


def test_eval_of_a_question_that_is_too_short_names_file_and_line(lighthouse: CommandLine) -> None:
    rows = f'{json.dumps({"question": COVERED})}\n{{"question": "a"}}\n'
    path = write_files(lighthouse.folder, {"short.jsonl": rows}) / "short.jsonl"
    done = lighthouse.here("eval", str(path))
    assert done.code == 65
    assert f"{path}, line 2: question must be a text" in done.sentence


@pytest.mark.costly
def test_eval_may_keep_to_a_kind_and_a_number(lighthouse: CommandLine, questions: str) -> None:
    only = measured(lighthouse, questions, "--kind", "follow-up", "--json").json
    assert (only["n"], list(only["by_kind"])) == (1, ["follow-up"])
    assert measured(lighthouse, questions, "--limit", "2", "--json").json["n"] == 2
    refused = lighthouse.here("eval", questions, "--kind", "essay")
    assert refused.code == 2
    assert "follow-up" in refused.sentence


@pytest.mark.costly
def test_eval_leaves_no_conversation_behind(
    glossator: CommandLine, lighthouse: CommandLine
) -> None:
    write_files(glossator.folder, {"q.jsonl": json.dumps(ROWS[0])})
    shell = glossator.setting(DATA_DIR=str(lighthouse.data))
    before = shell.here("sessions", "list", "--limit", "1000").out
    measured(shell, "q.jsonl")
    assert shell.here("sessions", "list", "--limit", "1000").out == before


# --- eval --answers -----------------------------------------------------------------------


@pytest.mark.costly
def test_eval_answers_finds_nothing_wrong_with_the_books_own_sentences(
    lighthouse: CommandLine, questions: str
) -> None:
    report = measured(lighthouse, questions, "--answers", "--json").json
    answers = report["answers"]
    assert set(report) >= EVAL_KEYS
    assert set(answers) == ANSWER_KEYS
    assert (answers["n"], answers["sentences"] > 1) == (3, True)
    assert (answers["citation_precision"], answers["citation_recall"]) == (1.0, 1.0)
    assert (answers["unsupported_claims"], answers["dropped_claims"]) == (0.0, 0.0)
    assert (answers["refusal_precision"], answers["refusal_recall"]) == (1.0, 1.0)
    assert 0 < answers["source_precision"] <= answers["source_recall"] == 1.0
    assert answers["follow_ups"]["n"] == 1
    assert answers["follow_ups"]["source_recall"] == 1.0
    assert (answers["tokens_used"], answers["estimated_cost"]) == (0, None)
    assert answers["fallback_share"] is None
    assert 0 < answers["first_token_p50_ms"] <= answers["first_token_p95_ms"]


@pytest.mark.costly
def test_eval_answers_prints_the_same_for_people(lighthouse: CommandLine, questions: str) -> None:
    head, _, block = measured(lighthouse, questions, "--answers").out.partition("3 answers\n")
    assert head.startswith("3 questions\n")
    assert all(name in block for name in ANSWER_KEYS - {"n", "follow_ups"})
    assert "follow-ups (1): hit@1 1.000" in block
    assert "  sentences " in block


# --- eval --reference ---------------------------------------------------------------------


@pytest.mark.costly
def test_eval_reference_measures_what_is_shown_of_the_reference_answers(
    lighthouse: CommandLine, questions: str
) -> None:
    report = measured(lighthouse, questions, "--reference", "--json").json
    block = report["reference"]
    assert set(report) >= EVAL_KEYS
    assert (block["n"], list(block["by_kind"])) == (2, ["follow-up", "span"])
    assert (block["references"], block["reference_share"], block["span_shown"]) == (1, 1.0, 1.0)
    assert block["span_shown_ci95"] == [1.0, 1.0]
    assert len(COVERED_FACT.split()) <= block["words_shown"] < 300


def test_eval_reference_prints_the_same_for_people(lighthouse: CommandLine, questions: str) -> None:
    out = measured(lighthouse, questions, "--reference").out
    _, _, block = out.partition("2 answerable questions\n")
    assert "  all: words_shown " in block
    assert "  kind span (1): words_shown " in block
    assert block.count("    reference_share      1.000  [1.000, 1.000]") == 2
    assert block.count("    span_shown           1.000  [1.000, 1.000]") == 2


@pytest.mark.costly
def test_eval_draws_the_same_rows_for_the_same_seed(lighthouse: CommandLine) -> None:
    rows = [{"question": COVERED, "kind": str(number)} for number in range(8)]
    write_files(lighthouse.folder, {"drawn.jsonl": "\n".join(map(json.dumps, rows))})

    def kinds(*options: str) -> list[str]:
        report = measured(lighthouse, "drawn.jsonl", "--limit", "3", *options, "--json").json
        return list(report["by_kind"])

    assert kinds() == ["0", "1", "2"]
    assert kinds("--seed", "1") == kinds("--seed", "1") != kinds("--seed", "2")
    refused = lighthouse.here("eval", "drawn.jsonl", "--seed", "1")
    assert (refused.code, refused.sentence) == (2, "--seed needs --limit: how many rows to draw.")


# --- eval in an outage --------------------------------------------------------------------


def failing(monkeypatch: pytest.MonkeyPatch, fails: Callable[[int], bool]) -> None:
    """Let the search for the n-th question fail, from 0, as when a database goes away."""
    search = Retriever.retrieve
    numbers = count()

    async def unsteady(retriever: Retriever, *asked: Any) -> Retrieval:
        if fails(next(numbers)):
            raise VectorIndexError("the index is away")
        return await search(retriever, *asked)

    monkeypatch.setattr(Retriever, "retrieve", unsteady)


@pytest.mark.costly
@pytest.mark.parametrize("options", [(), ("--answers",)])
def test_eval_counts_a_question_that_failed_and_keeps_what_was_measured(
    lighthouse: CommandLine,
    questions: str,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
) -> None:
    failing(monkeypatch, lambda number: number == 1)
    done = lighthouse.here("eval", questions, "--json", *options)
    assert done.code == 0
    assert (done.json["n"], done.json["failed"]) == (2, 1)
    assert set(done.json["by_kind"]) == {"span", "foreign"}
    assert done.json.get("answers", {"n": 2})["n"] == 2
    assert "1 of 3 questions failed: I cannot search the book" in done.err


@pytest.mark.costly
def test_eval_tells_people_of_failed_questions(
    lighthouse: CommandLine, questions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, lambda number: number == 0)
    assert lighthouse.here("eval", questions).out.startswith("2 questions, 1 more failed\n")


@pytest.mark.costly
def test_eval_of_which_nothing_could_be_measured_ends_as_a_service_that_is_away(
    lighthouse: CommandLine, questions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch, lambda number: True)
    done = lighthouse.here("eval", questions)
    assert (done.code, done.out) == (69, "")
    assert "the index is away" in done.sentence
    write_files(lighthouse.folder, {"many.jsonl": f"{json.dumps(ROWS[0])}\n" * 30})
    assert "the index is away" in lighthouse.here("eval", "many.jsonl").sentence


@pytest.mark.costly
def test_eval_stops_asking_after_ten_failures_in_a_row(
    lighthouse: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(lighthouse.folder, {"many.jsonl": f"{json.dumps(ROWS[0])}\n" * 30})
    failing(monkeypatch, lambda number: number in {0, 1} or number >= 5)
    done = lighthouse.here("eval", "many.jsonl", "--json")
    assert (done.code, done.json["n"], done.json["failed"]) == (0, 3, 12)
    assert "12 of 15 questions failed" in done.err
    assert "15 were not asked" in done.err


@pytest.mark.costly
def test_eval_says_in_words_what_was_found_instead_and_writes_one_page(
    lighthouse: CommandLine,
) -> None:
    wrong = {"question": COVERED, "relevant": ["keepers/duties.md"], "id": "<b>1</b>"}
    hidden = {"question": f"<script>{COVERED}", "relevant": ["lamp.md"], "answerable": False}
    rows = "".join(f"{json.dumps(row)}\n" for row in (wrong, hidden))
    (lighthouse.folder / "wrong.jsonl").write_text(rows)
    done = lighthouse.here("eval", "wrong.jsonl", "--html", "page.html")
    assert done.code == 0, done.err
    assert "2 of 2 questions failed:" in done.out
    assert "Answered from lamp.md instead of keepers/duties.md; the search found it" in done.out
    assert "Answered, though the book does not answer it." in done.out
    page = (lighthouse.folder / "page.html").read_text("utf-8")
    assert "&lt;script&gt;" in page
    assert not re.search(r"<script|<link|<img|src=|url\(|https?://", page)
    again = lighthouse.here("eval", "wrong.jsonl", "--html", "page.html")
    assert (again.code, again.sentence) == (
        2,
        "page.html is there already: name another file with --html.",
    )
    [first, second] = lighthouse.here("eval", "wrong.jsonl", "--json").json["failed_questions"]
    assert (first["failure"], first["cited"][0]["source"]) == ("elsewhere", "lamp.md")
    assert second["failure"] == "answered"


@pytest.mark.costly
def test_eval_proposes_questions_that_it_can_then_ask(lighthouse: CommandLine) -> None:
    done = lighthouse.here("eval", "--generate", "3", "new.jsonl")
    assert done.code == 0, done.err
    written = (lighthouse.folder / "new.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in written.splitlines()]
    assert len(rows) == 3
    assert all(row["relevant"] and row["passage"] for row in rows)
    assert lighthouse.here("eval", "new.jsonl", "--json").json["n"] == 3
    assert lighthouse.here("eval", "--generate", "3", "new.jsonl").code == 2


@needs_pandoc
@pytest.mark.costly
def test_eval_and_doctor_name_what_was_not_read_where_the_text_lacks_the_answer(
    lighthouse: CommandLine,
) -> None:
    folder = write_files(
        lighthouse.folder / "bell",
        {"bell.org": "* The bell\nThe bell of the mill weighs +nine hundred pounds+.\n"},
    )
    assert lighthouse.here("ingest", str(folder), "--course", "bell").code == 0
    row = {
        "question": "What does the bell of the mill weigh?",
        "relevant": ["bell.org"],
        "answers": ["nine hundred pounds"],
        "kind": "span",
    }
    there = {**row, "answers": ["bell of the mill"]}
    text = "".join(f"{json.dumps(one)}\n" for one in (row, there))
    (lighthouse.folder / "bell.jsonl").write_text(text)
    report = lighthouse.here("eval", "bell.jsonl", "--course", "bell", "--json").json
    first = report["failed_questions"][0]
    assert first["not_read"] == "1 passage of struck text (3 words) of bell.org"
    assert first["sentence"].endswith(
        "The words of the answer are not in the text that was read; not read were 1 passage of "
        "struck text (3 words) of bell.org."
    )
    assert [one["not_read"] for one in report["failed_questions"][1:]] in ([], [None])
    told = [line for line in lighthouse.here("doctor").out.splitlines() if "bell:" in line]
    assert any("were not read: 1 passage of struck text (3 words)" in line for line in told)
