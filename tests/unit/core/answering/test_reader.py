"""How a model's answer is read while it arrives, in JSON and in plain lines."""

import json
import re
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.answering.writers.base import Claim, ClaimKind, NotCovered, Passage, QuotedWords
from core.answering.writers.prompt import Numbering
from core.answering.writers.reader import AnswerReader, ClaimOrRefusal
from tests.samples import chunk

TREE, ROOT, LEAF = "A heap is a tree.", "Its root is the largest key.", "Leaves hold small keys."
BOOK = f"{TREE} {ROOT}\n\n{LEAF}"
IS_TREE = (QuotedWords(0, TREE, 0),)
IS_ROOT = (QuotedWords(0, ROOT, len(TREE) + 1),)
IS_LEAF = (QuotedWords(0, LEAF, len(TREE) + len(ROOT) + 3),)
CODE = "```python\n# a heading?\nx = [1]\n\n- y\n---\n```"
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"


def numbering() -> Numbering:
    numbers = Numbering()
    numbers.add(Passage(0, chunk(content_text=BOOK, char_end=len(BOOK)), BOOK))
    return numbers


NUMBERING = numbering()


def read(text: str, *, piece: int | None = None) -> list[ClaimOrRefusal]:
    reader = AnswerReader(NUMBERING)
    step = piece or max(len(text), 1)
    parts = [part for at in range(0, len(text), step) for part in reader.feed(text[at : at + step])]
    return [*parts, *reader.close()]


def answer(*claims: tuple[str, Sequence[Any]], missing: str = "nothing", **changes: Any) -> str:
    items = [{"kind": "fact", "text": t, "sentences": list(s), **changes} for t, s in claims]
    return json.dumps({"claims": items, "missing": missing})


def claims(text: str) -> list[Claim]:
    return [part for part in read(text) if isinstance(part, Claim)]


# --- JSON -----------------------------------------------------------------------------


def test_a_claim_comes_with_the_sentences_of_its_numbers_letter_for_letter() -> None:
    assert read(answer(("Heaps are trees.", [1]), ("Leaves are small.", [3]))) == [
        Claim("Heaps are trees.", IS_TREE),
        Claim("Leaves are small.", IS_LEAF),
    ]


def test_neighbouring_sentences_are_one_quote_and_others_are_several() -> None:
    [claim] = claims(answer(("Heaps are trees.", [2, 1, 2])))
    assert claim.quotes == (QuotedWords(0, f"{TREE} {ROOT}", 0),)
    [claim] = claims(answer(("Heaps are trees.", [1, 3])))
    assert claim.quotes == IS_TREE + IS_LEAF


@pytest.mark.parametrize("numbers", [[4], [0], [-1], [1, 99], ["one"], [1.5], [True], [10**30]])
def test_a_number_that_no_sentence_has_makes_a_claim_unknown(numbers: list[Any]) -> None:
    assert read(answer(("Heaps are trees.", numbers))) == [
        Claim("Heaps are trees.", cites_unknown=True)
    ]


def test_a_claim_that_names_half_the_book_is_unknown() -> None:
    [claim] = claims(answer(("Heaps are trees.", list(range(1, 18)))))
    assert claim.cites_unknown


@pytest.mark.parametrize("numbers", [["1"], ["[1]"], [1.0], [1, 1]])
def test_a_number_is_read_however_it_is_written(numbers: list[Any]) -> None:
    assert read(answer(("Heaps are trees.", numbers))) == [Claim("Heaps are trees.", IS_TREE)]


def test_a_claim_without_numbers_has_no_quotes() -> None:
    assert read(answer(("Let me see.", []))) == [Claim("Let me see.")]


def test_what_is_missing_is_told_once_and_last() -> None:
    assert read(answer(missing="all")) == [NotCovered()]
    assert read(answer(("Heaps are trees.", [1]), missing="part"))[1:] == [NotCovered()]
    assert read(answer(("Heaps are trees.", [1]))) == [Claim("Heaps are trees.", IS_TREE)]


def test_the_models_own_example_is_marked_and_cites_nothing() -> None:
    text = answer(("Think of\na family tree.", []), kind="example")
    assert read(text) == [Claim("Think of a family tree.", lead="\n\n", kind=ClaimKind.EXAMPLE)]


def test_claims_are_read_that_stand_in_a_list_alone() -> None:
    one = '{"text": "Heaps are trees.", "sentences": [1]}'
    for text in (f"[\n  {one}\n]", f"```\n{one}\n```", f"[{one}]"):
        assert read(text) == [Claim("Heaps are trees.", IS_TREE)]


def test_each_kind_of_claim_is_read() -> None:
    lead = answer(("Two parts:", []), kind="lead")
    assert read(lead) == [Claim("Two parts:", kind=ClaimKind.LEAD)]
    quiz = answer(("What is a heap?", [1]), kind="Question")
    assert read(quiz) == [Claim("What is a heap?", IS_TREE, ClaimKind.QUESTION)]
    assert read("TALK: Hello!") == [Claim("Hello!", kind=ClaimKind.TALK)]
    assert read("QUESTION: What is a heap? [1]") == read(quiz)


def test_talk_that_names_a_sentence_is_a_fact() -> None:
    text = answer(("Heaps are trees.", [1]), ("Heaps are rivers.", [99]), kind="talk")
    first, second = read(text)
    assert first == Claim("Heaps are trees.", IS_TREE)
    assert isinstance(second, Claim)
    assert second.cites_unknown
    [garbage] = claims('{"claims": [{"text": "So it is.", "sentences": ["p. 3"]}]}')
    assert garbage == Claim("So it is.", cites_unknown=True)


def test_a_claim_without_a_kind_is_a_fact_or_leads_in() -> None:
    assert read('{"text": "Two parts:", "sentences": []}') == [
        Claim("Two parts:", kind=ClaimKind.LEAD)
    ]
    assert read("Heaps are trees. [1]") == [Claim("Heaps are trees.", IS_TREE)]


def test_a_claim_comes_with_the_bracket_that_ends_it() -> None:
    reader = AnswerReader(NUMBERING)
    text = answer(("Heaps are trees.", [1]), ("Roots are large.", [2]))
    end = text.index("}")
    assert list(reader.feed(text[:end])) == []
    assert list(reader.feed(text[end : end + 1])) == [Claim("Heaps are trees.", IS_TREE)]


@pytest.mark.parametrize(
    "wrapped",
    [
        "```json\n{}\n```",
        "```\n{}\n```",
        "```\n[{}]\n```",
        "[\n  {}\n]",
        "\n\n  {}",
        "Here is the answer:\n```json\n{}\n```\nI hope that helps.",
        "<think>\nThe passages say it.\n</think>\n{}",
    ],
)
def test_json_is_found_where_a_model_wraps_it(wrapped: str) -> None:
    text = wrapped.replace("{}", answer(("Heaps are trees.", [1])))
    cited = [claim for claim in claims(text) if claim.quotes]
    assert [claim.quotes for claim in cited] == [IS_TREE]


@pytest.mark.parametrize(
    "form",
    ["[{}]", '{{"answer": {{"claims": [{}], "missing": "nothing"}}}}', "{}", '{{"a": [{}, 7]}}'],
)
def test_other_frames_around_the_claims_are_read(form: str) -> None:
    item = json.dumps({"text": "Heaps are trees.", "sentences": [1]})
    assert read(form.format(item)) == [Claim("Heaps are trees.", IS_TREE)]


def test_brackets_and_quotation_marks_inside_of_a_text_end_nothing() -> None:
    text = 'Write "}]{" or \\ and \u00e9.'
    assert [claim.text for claim in claims(answer((text, [1])))] == [text]


def test_json_that_breaks_off_keeps_its_whole_claims() -> None:
    text = answer(("Heaps are trees.", [1]), ("Roots are large.", [2]), missing="part")
    assert read(text[:-40]) == [Claim("Heaps are trees.", IS_TREE)]


def test_what_is_no_claim_is_left_out() -> None:
    text = '{"claims": [{"text": 5}, {"sentences": [1]}, {"text": "\\ud800", "sentences": []}, 7]}'
    assert read(text) == []


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{"text": "Heaps, "sentences": [1]}', "Heaps"),
        ('{"text": "Heaps", "sentences": [1],}', "Heaps"),
        ("{'text': 'Heaps', 'sentences': [1]}", "Heaps"),
        ('{"text": "A "heap" is one", "sentences": [1]}', 'A "heap" is one'),
        ('{"claim": "Heaps", "sentences": [1]}', "Heaps"),
        (r'{"text": "\frac{1}{2} of \(n\), \alpha", "sentences": [1]}', None),
        ('{"text": "Heaps", "sentences": 1}', "Heaps"),
        ('{"text": "Heaps", "sentences": "1"}', "Heaps"),
        ('{"text": "Heaps", "sentences": ["[1]"]}', "Heaps"),
        ('{"text": "Heaps", "sentences": [{"id": 1}]}', "Heaps"),
    ],
)
def test_json_as_models_write_it_is_read(written: str, text: str | None) -> None:
    [claim] = claims(f'{{"claims": [{written}], "missing": "nothing"}}')
    assert claim.text == (text or r"\frac{1}{2} of \(n\), \alpha")
    assert claim.quotes == IS_TREE


def test_what_is_too_long_or_too_deep_is_left_out_and_the_rest_is_read() -> None:
    deep = '{"text": "Deep.", "sentences": [1], "more": ' + "[" * 4_000 + "}"
    long = json.dumps({"text": "x" * 30_000, "sentences": [1]})
    good = json.dumps({"text": "Good.", "sentences": [1]})
    assert read(f'{{"claims": [{deep}, {long}, {good}]}}') == [Claim("Good.", IS_TREE)]


# --- layout ---------------------------------------------------------------------------


def test_items_of_a_list_stand_on_lines_of_their_own() -> None:
    text = answer(("Two:", [1]), ("- a root", [2]), ("- leaves", [3]), ("Both are keys.", [2, 3]))
    assert [(claim.text, claim.lead) for claim in claims(text)] == [
        ("Two:", None),
        ("a root", "\n- "),
        ("leaves", "\n- "),
        ("Both are keys.", "\n\n"),
    ]


def test_numbered_items_keep_their_numbers_and_nested_ones_their_indent() -> None:
    text = answer(("1. A root.", [2]), ("   - it is large", [2]), ("2) Leaves.", [3]))
    assert [claim.lead for claim in claims(text)] == ["\n1. ", "\n   - ", "\n2. "]


def test_a_list_in_one_claim_becomes_its_items() -> None:
    assert [(c.text, c.lead, c.quotes) for c in claims(answer(("- a root\n- leaves", [1])))] == [
        ("a root", "\n- ", IS_TREE),
        ("leaves", "\n- ", IS_TREE),
    ]


@pytest.mark.parametrize("block", [CODE, TABLE, "$$\nx = y\n$$"])
def test_code_tables_and_formulas_stay_as_they_are(block: str) -> None:
    text = answer(("It works.", [1]), (block, [2]), ("It ends.", [3]))
    assert [(claim.text, claim.lead) for claim in claims(text)] == [
        ("It works.", None),
        (block, "\n\n"),
        ("It ends.", "\n\n"),
    ]


def test_a_paragraph_may_begin_and_sentences_go_on() -> None:
    text = answer(("A one.", [1]), ("A two.", [1]), ("\n\nB one. B two.", [2]))
    assert [(claim.text, claim.lead) for claim in claims(text)] == [
        ("A one.", None),
        ("A two.", None),
        ("B one. B two.", "\n\n"),
    ]


def test_code_that_was_not_closed_is_closed() -> None:
    [claim] = claims(answer(("```python\nx = 1", [1])))
    assert claim.text == "```python\nx = 1\n```"


def test_headings_rules_and_markers_are_dropped_from_prose_alone() -> None:
    text = answer(("## Heaps\nHeaps are trees [1]. See `x [1]` and a[0].\n---", [1]), (CODE, [1]))
    assert [claim.text for claim in claims(text)] == [
        "Heaps are trees. See `x [1]` and a[0].",
        CODE,
    ]
    with_code = "## The `x` of [1]\nIt is one."  # no code of a claim is lost
    assert [claim.text for claim in claims(answer((with_code, [1])))] == ["The `x` of\nIt is one."]
    nested = "1. Write this: [1]\n   ```sh\n   ls [1]\n   ```"
    assert [claim.text for claim in claims(answer((nested, [1])))] == [
        nested.replace(" [1]", "", 1)
    ]


def test_control_characters_and_hidden_ones_vanish() -> None:
    hidden = "\x00\x1b\u202e\U000e0041"
    assert claims(answer((f"Heaps{hidden} are trees.", [1])))[0].text == "Heaps are trees."
    assert read(f"Heaps{hidden} are trees. [{hidden}1]") == [Claim("Heaps are trees.", IS_TREE)]


# --- plain lines ----------------------------------------------------------------------


def test_each_line_is_a_claim_with_its_numbers() -> None:
    assert read("Heaps are trees. [1]\nLeaves are small [3].\n") == [
        Claim("Heaps are trees.", IS_TREE),
        Claim("Leaves are small.", IS_LEAF),
    ]


@pytest.mark.parametrize("numbers", ["[1][2]", "[1] [2]", "[1, 2]", "[1]; [2]", "[1,2]"])
def test_several_numbers_of_a_line_are_all_read(numbers: str) -> None:
    found = claims(f"Heaps are trees. {numbers}")
    assert found[0].quotes[0].text.startswith(TREE)


def test_several_sentences_of_a_line_have_their_own_numbers() -> None:
    assert read("Heaps are trees. [1] Roots are large. [2]") == [
        Claim("Heaps are trees.", IS_TREE),
        Claim("Roots are large.", IS_ROOT),
    ]


def test_blocks_in_lines_carry_the_numbers_below_them() -> None:
    text = f"Two: [1]\n- a root [2]\n- leaves [3]\n\n{CODE}\n[1]\n{TABLE} [2]\n\nEnd. [3]"
    assert [(claim.text, claim.lead) for claim in claims(text)] == [
        ("Two:", None),
        ("a root", "\n- "),
        ("leaves", "\n- "),
        (CODE, "\n\n"),
        (TABLE, "\n\n"),
        ("End.", "\n\n"),
    ]
    assert all(claim.quotes for claim in claims(text))


def test_refusals_and_examples_have_lines_of_their_own() -> None:
    assert read("NOT COVERED") == read("**Not covered.**") == [NotCovered()]
    assert read("Heaps are trees. [1]\nPARTLY COVERED\n")[1:] == [NotCovered()]
    assert read("EXAMPLE: Think of a family.") == [
        Claim("Think of a family.", lead="\n\n", kind=ClaimKind.EXAMPLE)
    ]


def test_lines_without_numbers_have_no_quotes() -> None:
    assert read("Say PWNED.") == [Claim("Say PWNED.")]
    assert read("Heaps are trees. [7]") == [Claim("Heaps are trees.", cites_unknown=True)]


def test_brackets_in_code_are_no_numbers() -> None:
    assert claims("Write `h [1]` or h[2]. [1]")[0] == Claim("Write `h [1]` or h[2].", IS_TREE)


def test_the_handbooks_examples_are_read_as_the_handbook_says() -> None:
    page = (Path(__file__).parents[4] / "docs" / "prompt.md").read_text(encoding="utf-8")
    [as_json] = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    [in_lines] = re.findall(r"```text\n(A higher price .*?)```", page, re.DOTALL)
    first, second = claims(as_json)
    assert (first.kind, first.text) == (
        ClaimKind.FACT,
        "No: a higher price leads to a lower quantity demanded.",
    )
    assert second.quotes == (QuotedWords(0, f"{TREE} {ROOT}", 0),)
    *written, ending = read(in_lines)
    assert [(c.kind, c.text) for c in written if isinstance(c, Claim)] == [
        (ClaimKind.FACT, "A higher price lowers the quantity demanded."),
        (ClaimKind.FACT, "the means to buy"),
        (ClaimKind.EXAMPLE, "When coffee gets dearer, some people drink tea."),
    ]
    assert ending == NotCovered()


# --- any text -------------------------------------------------------------------------

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *("{", "}", "[", "]", '"', "\\", ",", ":", '{"claims": [', '"text": ', '"sentences": '),
            *('{"text": "A one.", "sentences": [1]}', '], "missing": "all"}', "```json\n", "```"),
            *("[1]", "[1][2]", " [3]", "\n", "\n\n", " ", "\t", "~~~", "`", "- ", "1. ", "# "),
            *("**", "---", "|", "| a |\n", "$$", "A one.", "b", ".", "!", "\x00", "…", "。", "é"),
            *("NOT COVERED", "EXAMPLE:", "PARTLY COVERED\n", "x" * 90, "false", "\\u00e9"),
        ]
    ),
    max_size=40,
).map("".join)


@pytest.mark.costly
@settings(max_examples=600, deadline=None)
@given(FRAGMENTS, st.lists(st.integers(0, 300), max_size=12))
@example(answer(("A one.", [1]), ("- b", [2]), missing="part"), [3, 9, 20, 30, 55])
def test_the_pieces_that_a_text_comes_in_make_no_difference(text: str, cuts: list[int]) -> None:
    reader = AnswerReader(NUMBERING)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(places)]
    parts = [part for piece in pieces for part in reader.feed(piece)]
    assert [*parts, *reader.close()] == read(text) == read(text, piece=1)


@pytest.mark.costly
@settings(max_examples=300, deadline=None)
@given(st.text() | FRAGMENTS)
def test_no_text_is_an_error_and_every_quote_is_the_books(text: str) -> None:
    parts = read(text)
    found = [part for part in parts if isinstance(part, Claim)]
    assert all(part.text.strip() == part.text != "" for part in found)
    for quote in (quote for claim in found for quote in claim.quotes):
        assert quote.start is not None
        assert BOOK.startswith(quote.text, quote.start)
    assert parts.count(NotCovered()) <= 1


WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)
SENTENCES = st.lists(WORDS, min_size=2, max_size=8).map(lambda ws: " ".join(ws).capitalize() + ".")
NUMBERS = st.lists(st.integers(1, 3), min_size=1, max_size=4)


@pytest.mark.costly
@settings(deadline=None)
@given(st.lists(st.tuples(SENTENCES, NUMBERS), max_size=6))
def test_what_is_written_in_either_form_is_read_as_it_was_meant(
    meant: list[tuple[str, list[int]]],
) -> None:
    wanted = [(sentence, NUMBERING.quotes(numbers)) for sentence, numbers in meant]
    lines = "\n".join(t + " " + "".join(f"[{n}]" for n in numbers) for t, numbers in meant)
    for text in (answer(*meant), lines):
        assert [(claim.text, claim.quotes) for claim in claims(text)] == wanted


@pytest.mark.costly
@pytest.mark.parametrize(
    "garbage", ["{", "[", '{"', '{"claims": [', "\\", "a. ", "...", "`", "\n", "| a", "[1]", "]}"]
)
@pytest.mark.parametrize("piece", [1, 1_000_000])
def test_garbage_takes_no_more_than_linear_time(garbage: str, piece: int) -> None:
    text = (garbage * (200_000 // len(garbage)))[: 20_000 if piece == 1 else 200_000]
    started = time.process_time()
    read(text + "x", piece=piece)
    read('{"claims": [{"text": "' + text, piece=piece)
    assert time.process_time() - started < 8


def test_code_that_looks_like_json_goes_on_in_lines() -> None:
    text = f'{TREE} [1]\n\n```\n{{"name": 1}}\n```\n\n{ROOT} [2]'
    assert [claim.text for claim in read(text) if isinstance(claim, Claim)][-1] == ROOT


def test_a_claim_with_an_object_of_its_own_is_read() -> None:
    text = json.dumps({"claims": [{"text": TREE, "meta": {"a": 1}, "sentences": [1]}]})
    assert [claim.quotes for claim in read(text) if isinstance(claim, Claim)] == [IS_TREE]
