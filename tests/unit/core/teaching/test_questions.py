"""Rows of a question file: what they may hold, and what is said of those that are wrong."""

import json
from pathlib import Path

import pytest

from core.domain.errors import InvalidQuestions
from core.teaching.evaluation.report import GoldQuestion, read_questions


def _write(folder: Path, *lines: str) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_only_the_question_is_required(tmp_path: Path) -> None:
    (row,) = read_questions(_write(tmp_path, '{"question": "What is scarcity?"}'))
    assert row == GoldQuestion(id="1", question="What is scarcity?")
    assert row.answerable
    assert row.kind == ""
    assert row.earlier_questions == []


def test_every_field_is_read(tmp_path: Path) -> None:
    fields = {
        "id": "q7",
        "question": "And the second one?",
        "history": [
            {"role": "user", "text": "What are the two limits?"},
            {"role": "assistant", "text": "Time and money."},
            {"role": "human", "text": "And the first?"},
        ],
        "relevant": ["a.md", "b.md"],
        "answers": ["money"],
        "answerable": False,
        "kind": "followup",
    }
    (row,) = read_questions(_write(tmp_path, json.dumps(fields)))
    assert row.id == "q7"
    assert row.earlier_questions == ["What are the two limits?", "And the first?"]
    assert row.relevant == ("a.md", "b.md")
    assert row.answers == ("money",)
    assert not row.answerable
    assert row.kind == "followup"


def test_further_fields_and_nulls_count_as_missing(tmp_path: Path) -> None:
    line = (
        '{"question": "Why?", "note": 3, "history": null, "answers": null, "kind": null, '
        '"id": null, "relevant": null, "answerable": null}'
    )
    (row,) = read_questions(_write(tmp_path, line))
    assert row == GoldQuestion(id="1", question="Why?")


def test_further_fields_of_an_earlier_turn_are_ignored(tmp_path: Path) -> None:
    turn = {"role": "user", "text": "What is it?", "time": "noon"}
    (row,) = read_questions(_write(tmp_path, json.dumps({"question": "Why?", "history": [turn]})))
    assert row.earlier_questions == ["What is it?"]


def test_an_id_may_be_a_number(tmp_path: Path) -> None:
    (row,) = read_questions(_write(tmp_path, '{"id": 12, "question": "Why?"}'))
    assert row.id == "12"


def test_blank_lines_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    path = _write(tmp_path, '\ufeff{"question": "One?"}', "", "  ", '{"question": "Two?"}', "")
    assert [(row.id, row.question) for row in read_questions(path)] == [
        ("1", "One?"),
        ("4", "Two?"),
    ]


def test_a_line_separator_inside_a_text_does_not_end_the_row(tmp_path: Path) -> None:
    path = _write(tmp_path, '{"question": "One\u2028and\u0085two?"}')
    (row,) = read_questions(path)
    assert row.question == "One\u2028and\u0085two?"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 2 is not a JSON object"),
        ("[1]", "line 2 is not a JSON object"),
        ('"text"', "line 2 is not a JSON object"),
        ("{}", "line 2: question must be a text of 2 characters at least"),
        ('{"question": "  "}', "line 2: question must be a text"),
        ('{"question": " a "}', "line 2: question must be a text"),
        ('{"question": 12345}', "line 2: question must be a text"),
        ('{"question": ["Why?"]}', "line 2: question must be a text"),
        ('{"question": "Why?", "answerable": "perhaps"}', "line 2: answerable: "),
        ('{"question": "Why?", "history": [{"role": "user"}]}', "line 2: history.0.text: "),
        ('{"question": "Why?", "relevant": "a.md"}', "line 2: relevant: "),
    ],
)
def test_a_wrong_row_is_named_with_its_line(tmp_path: Path, line: str, sentence: str) -> None:
    with pytest.raises(InvalidQuestions, match=sentence):
        read_questions(_write(tmp_path, '{"question": "Fine?"}', line))


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestions, match="has no questions"):
        read_questions(_write(tmp_path, "", ""))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidQuestions, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl")


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes('{"question": "Où?"}'.encode("latin-1"))
    with pytest.raises(InvalidQuestions, match="not UTF-8"):
        read_questions(path)
