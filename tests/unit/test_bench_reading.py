"""Answers drawn for readers, their labels, and the confidence that is fitted on known answers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.answering.assurance import WEIGHTS
from core.domain.text_features import shipped
from core.retrieval.retrieval import passage_alone
from core.teaching.evaluation.report import GoldQuestion
from tests.bench import fit_words
from tests.bench.asked import Asked
from tests.bench.reading import labels
from tests.bench.reading.drawing import Key, add, digest_of, read_keys
from tests.samples import response

KEYS = {
    name: Key(name, "main", "economics", f"q-{name}", True, f"digest-{name}") for name in "abcd"
}


def labelled(path: Path, reader: str, **given: tuple[str, bool | None]) -> Path:
    rows = [
        {"id": name, "label": label, "reader": reader} | ({} if place is None else {"place": place})
        for name, (label, place) in given.items()
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def asked(question: str = "What is a heap?", **fields: Any) -> Asked:
    retrieval = passage_alone("economics", "A heap is a tree.")
    row = GoldQuestion(id=question, question=question, answers=("A tree.",))
    return Asked(row, "economics", retrieval, response(query_text=question, **fields))


def test_a_folder_mixes_programs_and_names_none_to_its_readers(tmp_path: Path) -> None:
    first, other = asked(), asked("What is a trie?")
    assert add(tmp_path, [first], "old") == 1
    assert add(tmp_path, [first, other], "new") == 2
    shown = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert [row["id"] for row in shown] == sorted(row["id"] for row in shown)
    assert {row["shown"] for row in shown} == {first.response.response_text}
    assert not any({"program", "course"} & row.keys() for row in shown)
    keys = read_keys(tmp_path / "key.jsonl")
    assert sorted(key.program for key in keys.values()) == ["new", "old"]
    assert {key.digest for key in keys.values()} == {digest_of(first.response)}


def test_what_two_readers_say_stands_together_without_text(tmp_path: Path) -> None:
    one = labelled(tmp_path / "1", "A", a=(labels.WHOLE, True), b=("rightly-refused", None))
    two = labelled(tmp_path / "2", "B", a=("wrong-or-beside", True))
    judged = labels.together([labels.read_labels(path, KEYS) for path in (one, two)], KEYS)
    first, second = judged
    assert first.read == {"A": "right-and-whole", "B": "wrong-or-beside"}
    assert (first.whole, first.at_place, first.is_refusal) == (False, True, False)
    assert (second.whole, second.at_place, second.is_refusal) == (False, False, True)
    labels.write(judged, tmp_path / "kept")
    assert labels.committed(tmp_path / "kept") == judged
    third = judged[0].model_copy(update={"read": {"C": "wrong-or-beside"}, "place": {}})
    another = judged[0].model_copy(update={"digest": "other"})
    labels.write([third, another], tmp_path / "kept")
    first, *rest = labels.committed(tmp_path / "kept")
    assert first.read == judged[0].read | third.read
    assert first.place == judged[0].place
    assert rest == [*judged[1:], another]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([{"id": "a", "label": "good", "place": True, "reader": "A"}], "line 1: "),
        ([{"id": "a", "label": labels.WHOLE, "reader": "A"}], "place is true or false"),
        ([{"id": "z", "label": labels.WHOLE, "place": True, "reader": "A"}], "no answer z"),
        ([{"id": "a", "label": labels.WHOLE, "place": True, "reader": "A"}] * 2, "twice"),
        (
            [
                {"id": "a", "label": labels.WHOLE, "place": True, "reader": "A"},
                {"id": "b", "label": labels.WHOLE, "place": True, "reader": "B"},
            ],
            "one reader",
        ),
    ],
)
def test_a_file_of_labels_that_is_wrong_is_refused_by_its_line(
    tmp_path: Path, lines: list[dict[str, Any]], problem: str
) -> None:
    path = tmp_path / "labels"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(labels.LabelsRefused, match=problem):
        labels.read_labels(path, KEYS)


def test_kappa_is_what_two_readers_agree_beyond_chance() -> None:
    assert labels.kappa([("x", "x"), ("y", "y")]) == 1.0
    assert labels.kappa([("x", "x"), ("x", "x")]) == 1.0
    assert labels.kappa([("x", "x"), ("x", "y"), ("y", "x"), ("y", "y")]) == 0.0
    twenty = [("x", "x")] * 20 + [("x", "y")] * 5 + [("y", "x")] * 10 + [("y", "y")] * 15
    assert labels.kappa(twenty) == pytest.approx(0.4)


def test_the_report_tells_agreement_of_labels_and_places(tmp_path: Path) -> None:
    one = labelled(tmp_path / "1", "A", a=(labels.WHOLE, True), b=("wrong-or-beside", False))
    two = labelled(tmp_path / "2", "B", a=(labels.WHOLE, True), b=("right-but-not-whole", False))
    judged = labels.together([labels.read_labels(path, KEYS) for path in (one, two)], KEYS)
    lines = list(labels.report(judged))
    assert lines[0] == "2 answers, read by A, B"
    assert "1 of    2" in lines[1]
    assert "2 of    2" in lines[3]
    assert any("kappa 1.000" in line for line in lines)
    assert any("economics, answerable, right and whole by B" in line for line in lines)


def test_the_fit_finds_what_decides_and_leaves_the_untouched_halves_out() -> None:
    chance = np.random.default_rng(1)
    rows = []
    for number in range(400):
        figures = {name: float(chance.random()) for name in shipped(WEIGHTS).names}
        right = float(figures["held"] + 0.2 * chance.normal() > 0.5)
        is_fit = number % 2 == 0
        kind = "squad2" if is_fit else "small, untouched"
        rows.append(fit_words.Row(kind, figures, right if is_fit else 1 - right))
    head = fit_words.fitted(rows)
    weights = dict(zip(head.names, head.weights, strict=True))
    assert max(weights, key=lambda name: abs(weights[name])) == "held"
    assert weights["held"] > 0
    assert [line.split()[0] for line in fit_words.report(rows, head)] == ["squad2", "small,"]
