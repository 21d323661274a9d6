"""The claims of the judge's bench, and its figures."""

import json
import re
from pathlib import Path

import pytest

from core.answering.grounding.judge import JudgedClaim
from tests.bench.judge.__main__ import Known, mark_of
from tests.bench.judge.claims import LABELS, OWN, LabelledClaim, digest, read_claims
from tests.bench.judge.figures import Judged, Share, as_json, summary

ROWS = [json.loads(line) for line in OWN.read_text("utf-8").splitlines()]
NOWHERE = Path("nowhere")


def test_the_claims_hold_places_and_no_text_of_the_books() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) >= 300
    allowed = {
        *("id", "book", "file", "spans", "heading_spans", "sha256"),
        *("question", "claim", "label", "split", "writer"),
    }
    for row in ROWS:
        assert set(row) == allowed
        assert row["label"] in LABELS
        assert re.fullmatch(r"[0-9a-f]{16}", row["sha256"])


def test_claims_about_one_passage_are_in_one_split() -> None:
    splits: dict[tuple[str, str, int], set[str]] = {}
    for row in ROWS:
        for start, _ in row["spans"]:
            splits.setdefault((row["book"], row["file"], start), set()).add(row["split"])
    assert all(len(found) == 1 for found in splits.values())
    held = sum(row["split"] == "held" for row in ROWS)
    assert 0.25 <= held / len(ROWS) <= 0.4


def test_claims_of_other_people_bring_their_quotes(tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    row = {
        "claim": "It rose.",
        "quotes": ["It went up."],
        "headings": ["Prices"],
        "question": "What of {heading}?",
        "label": "true",
    }
    file.write_text(f"# by a stranger\n\n{json.dumps(row)}\n")
    [claim] = read_claims(file, NOWHERE)
    assert claim.statement == JudgedClaim("It rose.", ("It went up.",), ("Prices",))
    assert (claim.question, claim.label, claim.split) == ("What of Prices?", "true", "")


def test_a_claim_by_its_place_is_read_from_the_book(tmp_path: Path) -> None:
    folder = tmp_path / "corpora" / "prices" / "book"
    folder.mkdir(parents=True)
    (folder / "one.md").write_text("# Prices\n\nIt went up.\n")
    row = {
        "book": "prices",
        "file": "one.md",
        "spans": [[10, 21]],
        "heading_spans": [[2, 8]],
        "sha256": digest("It went up."),
        "claim": "It rose.",
        "label": "over",
    }
    file = tmp_path / "claims.jsonl"
    file.write_text(json.dumps(row))
    [claim] = read_claims(file, tmp_path / "corpora")
    assert claim.statement == JudgedClaim("It rose.", ("It went up.",), ("Prices",))
    (folder / "one.md").write_text("# Prices\n\nIt went down.\n")
    with pytest.raises(ValueError, match="another edition"):
        list(read_claims(file, tmp_path / "corpora"))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"claim": "x", "quotes": ["y"], "label": "maybe"}, "not one of true, false, over"),
        ({"claim": "x", "quotes": [], "label": "true"}, "no quotes"),
        ({"quotes": ["y"], "label": "true"}, "line 1"),
    ],
)
def test_a_row_of_another_form_is_named(
    tmp_path: Path, row: dict[str, object], reason: str
) -> None:
    file = tmp_path / "claims.jsonl"
    file.write_text(json.dumps(row))
    with pytest.raises(ValueError, match=reason):
        list(read_claims(file, NOWHERE))


def test_an_interval_is_wilson_s() -> None:
    low, high = Share(7, 94).interval
    assert (round(low, 3), round(high, 3)) == (0.037, 0.146)
    assert as_json(summary([]))["auc"] is None


def test_claims_are_counted_by_their_labels() -> None:
    def one(label: str, likely: float, *, holds: bool) -> Judged:
        claim = LabelledClaim(JudgedClaim("x", ("y",)), "", label)
        return Judged(claim, likely, holds, 1.0)

    found = summary(
        [
            *(one("true", 0.9, holds=True), one("true", 0.4, holds=False)),
            *(one("false", 0.1, holds=False), one("false", 0.5, holds=True)),
            one("over", 0.8, holds=True),
        ]
    )
    assert (found.dropped, found.passed, found.overreaching) == (
        *(Share(1, 2), Share(1, 2)),
        Share(1, 1),
    )
    assert found.auc == 0.75


def one(label: str, likely: float, split: str) -> Judged:
    claim = LabelledClaim(JudgedClaim(f"{label} {likely}", ("y",)), "", label, split)
    return Judged(claim, likely, holds=False, milliseconds=1.0)


def test_a_mark_is_fitted_on_the_claims_that_are_for_that() -> None:
    fit = [one("true", 0.6, "fit"), one("false", 0.3, "fit"), one("over", 0.5, "fit")]
    held = [one("true", 0.2, "held"), one("false", 0.9, "held")]
    assert mark_of([*fit, *held]) == pytest.approx(0.5)


def test_what_was_judged_before_is_known_in_the_next_run(tmp_path: Path) -> None:
    file, true, false = tmp_path / "each.jsonl", one("true", 0.6, ""), one("false", 0.3, "")
    first = Known(file)
    assert first.of(true.claim) is None
    first.keep(true.claim, 0.6)
    again = Known(file)
    assert (again.of(true.claim), again.of(false.claim)) == (0.6, None)
    assert "true" not in file.read_text()
    Known(None).keep(false.claim, 0.3)
