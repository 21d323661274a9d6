"""Where the markers of citations stand behind a text."""

import pytest

from core.answering.grounding.citations import CitationLedger, CitedPlace
from tests.samples import chunk

TABLE = "| caste | days |\n|---|---|\n| drone | 24 |"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Drones take 24 days.", "Drones take 24 days. [1]"),
        ("```\nlet days = 24;\n```", "```\nlet days = 24;\n```\n[1]"),
        (TABLE, f"{TABLE}\n\n[1]"),
    ],
    ids=["a sentence", "a code block", "a table, whose row it must not become"],
)
def test_markers_stand_behind_the_text(text: str, shown: str) -> None:
    ledger = CitationLedger([chunk(content_text=text, char_start=0, char_end=len(text))])
    place = ledger.locate(0, text, 0)
    assert place == CitedPlace(0, 0, len(text))
    assert ledger.cite(text, [place]) == shown
