"""Sentences and token counts."""

import pytest

from core.domain.sentences import count_tokens, sentence_spans, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fell. Why? It rose!", ["It fell.", "Why?", "It rose!"]),
        ("Dr. Lee earns $3.5 million, e.g. from oil.", None),
        ("He moved to the U.S. The rest stayed.", ["He moved to the U.S.", "The rest stayed."]),
        ("The U.S. economy grew.", None),
        ("They passed the U.S. Senate bill.", None),
        ("Nixon named William E. Simon to the post.", None),
        ("J. Smith came.", None),
        ("Take Plan B. Then rest.", ["Take Plan B.", "Then rest."]),
        ("“Go.” She went.", ["“Go.”", "She went."]),
        ("Call `a.b()` first. Then stop.", ["Call `a.b()` first.", "Then stop."]),
        ("See Fig. 3. It is red.", ["See Fig. 3.", "It is red."]),
        ("- one\n- two", ["- one", "- two"]),
        ("1. First step.\n2. Second step.", ["1. First step.", "2. Second step."]),
        ("水は流れる。山は動かない。", ["水は流れる。", "山は動かない。"]),
        ("पानी बहता है। पहाड़ नहीं।", ["पानी बहता है।", "पहाड़ नहीं।"]),
        ("پانی بہتا ہے۔ پہاڑ نہیں۔", ["پانی بہتا ہے۔", "پہاڑ نہیں۔"]),
        ("هل يجري الماء؟ نعم يجري.", ["هل يجري الماء؟", "نعم يجري."]),
        (
            "She wrote '水は流れる。' The rest is lost.",
            ["She wrote '水は流れる。'", "The rest is lost."],
        ),
        ("Erst nach dem 15. Mai, sonst am 3. Juni, dürfen sie ins Freie.", None),
        ("Er starb im 19. Jahrhundert.", None),
        ("Es endete im 19. Die Stadt blieb.", ["Es endete im 19.", "Die Stadt blieb."]),
        ("She was born in 1950. May is warm.", ["She was born in 1950.", "May is warm."]),
        ("A line\nwrapped here. Next.", ["A line\nwrapped here.", "Next."]),
        ("   ", []),
        ("", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str] | None) -> None:
    assert sentences(text) == ([text] if expected is None else expected)


@pytest.mark.parametrize(
    "block",
    [
        "```rust\nlet a = 1. ;\n\nlet b = 2.\n```",
        "| a. | b. |\n| --- | --- |\n| 1. | 2. |",
        "$$\nx = 1. y\n$$",
    ],
)
def test_fences_tables_and_formulas_stay_whole(block: str) -> None:
    assert sentences(f"Before. It stands.\n\n{block}\n\nAfter.") == [
        "Before.", "It stands.", block, "After.",
    ]  # fmt: skip


def test_spans_point_into_the_text() -> None:
    text = "  One. Two.\n\nThree"
    assert [text[start:end] for start, end in sentence_spans(text)] == ["One.", "Two.", "Three"]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    assert sentences("Look.\n\n```\na. b. c.") == ["Look.", "```\na. b. c."]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("Water flows.", 3), ("12345", 2), ("internationalisation", 3), ("水は流れる", 5)],
)
def test_tokens_are_counted_in_any_script(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@pytest.mark.parametrize(
    "sentence",
    [
        "The work of K. C. Cole shows it.",
        "As H. M. Treasury says, tea is taxed.",
        "J. R. R. Tolkien wrote it.",
        "G. E. Moore asked so in 1903.",
    ],
)
def test_initials_end_no_sentence(sentence: str) -> None:
    assert sentences(f"{sentence} Then came another.") == [sentence, "Then came another."]


@pytest.mark.parametrize(
    "sentence",
    [
        "Am 3. Oktober 1990 wurde das Land vereint.",
        "Seit 1. Januar gilt ein anderer Preis.",
        "Dr. A. Smith works here.",
        "Vol. I of the series is lost.",
        "Compare e.g. The Wealth of Nations.",
        "Caesar vs. The Senate is a play.",
    ],
)
def test_dates_titles_and_abbreviations_end_no_sentence(sentence: str) -> None:
    assert sentences(f"{sentence} Then came another.") == [sentence, "Then came another."]
