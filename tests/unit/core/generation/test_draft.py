"""How a model's text is read while it arrives."""

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.generation.base import Claim, NotCovered, Quoted
from core.generation.claims import DraftText
from core.generation.draft import DraftParser

LAW = '<cite passage="2">The law of demand holds.</cite>'
LAW_QUOTED = (Quoted(1, "The law of demand holds."),)


def read(text: str, *, piece: int | None = None) -> list[DraftText]:
    parser = DraftParser()
    step = piece or max(len(text), 1)
    parts = [part for at in range(0, len(text), step) for part in parser.feed(text[at : at + step])]
    return parts + parser.close()


def claims(text: str) -> list[Claim]:
    return [part for part in read(text) if isinstance(part, Claim)]


def texts(text: str) -> list[str]:
    return [claim.text for claim in claims(text)]


def quotes(text: str) -> list[tuple[int, str]]:
    return [(quote.chunk_number, quote.text) for claim in claims(text) for quote in claim.quotes]


# --- the format -----------------------------------------------------------------------


def test_a_sentence_comes_with_what_it_cites() -> None:
    assert read(f"Prices fall. {LAW}") == [Claim("Prices fall.", LAW_QUOTED)]


def test_a_sentence_may_cite_several_passages() -> None:
    text = 'Prices fall. <cite passage="1">One here.</cite> <cite passage="3">Two there.</cite>'
    assert quotes(text) == [(0, "One here."), (2, "Two there.")]


def test_sentences_in_front_of_one_citation_share_it() -> None:
    assert read(f"Prices fall. Demand rises. {LAW}") == [
        Claim("Prices fall.", LAW_QUOTED),
        Claim("Demand rises.", LAW_QUOTED),
    ]


def test_the_line_for_what_is_not_covered_is_told_once() -> None:
    assert read("<not-covered/>") == [NotCovered()]
    assert read("<not-covered />\n<not_covered>\n</not-covered>") == [NotCovered()]


def test_an_answer_may_cover_a_part() -> None:
    assert read(f"Prices fall. {LAW}\n<not-covered/>") == [
        Claim("Prices fall.", LAW_QUOTED),
        NotCovered(),
    ]


def test_what_is_not_cited_comes_without_quotes() -> None:
    assert read(f"Let me see.\n\nPrices fall. {LAW} I hope this helps!") == [
        Claim("Let me see."),
        Claim("Prices fall.", LAW_QUOTED, "\n\n"),
        Claim("I hope this helps!"),
    ]


def test_the_handbooks_example_is_read_as_the_handbook_says() -> None:
    page = (Path(__file__).parents[4] / "docs" / "prompt.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```text\n(A higher price .*?)```", page, re.DOTALL)
    *written, ending = read(example)
    assert [(c.text, c.lead, len(c.quotes)) for c in written if isinstance(c, Claim)] == [
        ("A higher price lowers the quantity demanded.", None, 1),
        ("Demand depends on two things:", "\n\n", 1),
        ("the will to buy", "\n- ", 1),
        ("the means to buy", "\n- ", 1),
    ]
    assert ending == NotCovered()


# --- how soon -------------------------------------------------------------------------


@pytest.mark.parametrize("following", [" D", "\n", "\n\n- ", " 2", " `"])
def test_a_claim_comes_with_the_first_character_that_opens_no_citation(following: str) -> None:
    parser = DraftParser()
    assert parser.feed(f"Prices fall. {LAW}") == []
    assert parser.feed(" ") == []
    assert parser.feed(following) == [Claim("Prices fall.", LAW_QUOTED)]


def test_a_claim_waits_while_another_citation_may_follow() -> None:
    parser = DraftParser()
    assert parser.feed(f"Prices fall. {LAW} <") == []
    assert parser.feed("ci") == []
    assert parser.feed('te passage="1">Prices fell.</cite>') == []
    (claim,) = parser.feed("\n")
    assert claim == Claim("Prices fall.", (*LAW_QUOTED, Quoted(0, "Prices fell.")))


def test_a_smaller_sign_that_opens_no_tag_holds_nothing_back() -> None:
    parser = DraftParser()
    parser.feed(f"Prices fall. {LAW}")
    assert parser.feed(" <b") == [Claim("Prices fall.", LAW_QUOTED)]


def test_smaller_signs_stay_in_the_text() -> None:
    text = f"If a < b and c<d, then <b>x</b> < <citation> < </c. {LAW}"
    assert texts(text) == ["If a < b and c<d, then <b>x</b> < <citation> < </c."]


# --- layout ---------------------------------------------------------------------------


def test_paragraphs_and_lists_keep_their_layout() -> None:
    text = f"A one. {LAW} A two. {LAW}\n\nB one. {LAW}\n\n- C {LAW}\n- D. {LAW}\n  * E {LAW}\n"
    assert [(claim.text, claim.lead) for claim in claims(text)] == [
        ("A one.", None),
        ("A two.", None),
        ("B one.", "\n\n"),
        ("C", "\n\n- "),
        ("D.", "\n- "),
        ("E", "\n  - "),
    ]


def test_numbered_items_keep_their_numbers() -> None:
    assert [(claim.text, claim.lead) for claim in claims(f"1. A {LAW}\n2) B. More. {LAW}")] == [
        ("A", "\n1. "),
        ("B.", "\n2. "),
        ("More.", None),
    ]


def test_a_citation_on_a_line_of_its_own_opens_no_paragraph() -> None:
    assert [claim.lead for claim in claims(f"A one.\n{LAW}\nA two. {LAW}")] == [None, None]


def test_a_dash_in_mid_line_is_no_item() -> None:
    assert claims(f"A one. {LAW} - and B {LAW}")[1].lead is None


def test_headings_and_rules_are_dropped() -> None:
    text = f"# Title\n\n**In short:**\nPrices fall. {LAW}\n\n---\n***\n## More\nDemand rises. {LAW}"
    assert texts(text) == ["Prices fall.", "Demand rises."]
    assert claims(text)[1].lead == "\n\n"


def test_a_bold_sentence_is_no_heading_when_it_is_cited() -> None:
    assert texts(f"**Prices fall.** {LAW}\nMore. {LAW}") == ["**Prices fall.**", "More."]


def test_code_is_one_claim_with_its_blank_lines_and_brackets() -> None:
    code = "```python\n# a heading?\nx = [1]\n\n- y\n---\n```"
    assert read(f"It works. {LAW}\n\n{code}\n{LAW}\n\nIt ends. {LAW}") == [
        Claim("It works.", LAW_QUOTED),
        Claim(code, LAW_QUOTED, "\n\n"),
        Claim("It ends.", LAW_QUOTED, "\n\n"),
    ]


def test_code_may_be_cited_behind_a_blank_line() -> None:
    assert read(f"```\ncode\n```\n\n{LAW}") == [Claim("```\ncode\n```", LAW_QUOTED)]


def test_code_in_a_list_loses_its_indent() -> None:
    text = f"1. Run it. {LAW}\n   ```sh\n   ls\n     -l\n   ```\n   {LAW}\n"
    assert texts(text) == ["Run it.", "```sh\nls\n  -l\n```"]


def test_code_that_was_not_closed_is_closed() -> None:
    assert texts("```python\nx = 1\n") == ["```python\nx = 1\n```"]
    assert texts(f"Run. {LAW}\n```c\nx = 1;\n{LAW}\n```\nDone. {LAW}") == [
        "Run.",
        "```c\nx = 1;\n```",
        "Done.",
    ]


def test_a_table_is_one_claim() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert read(f"{table}\n{LAW}\n\nNext. {LAW}")[0] == Claim(table, LAW_QUOTED)


def test_a_table_may_be_cited_in_its_cells() -> None:
    table = f"| a | b |\n|---|---|\n| One {LAW} | Two {LAW} |\n| Three {LAW} | x |\n\nNext. {LAW}"
    assert read(table) == [
        Claim("| a | b |\n|---|---|\n| One | Two |\n| Three | x |", LAW_QUOTED * 3),
        Claim("Next.", LAW_QUOTED, "\n\n"),
    ]


@pytest.mark.parametrize("opening", ["```\n", "```markdown\n", "\n```md\n", "~~~\n"])
def test_a_fence_around_the_whole_answer_is_taken_off(opening: str) -> None:
    text = f"{opening}A one. {LAW}\n\n```c\nx;\n```\n{LAW}\n\nA two. {LAW}\n{opening[:3].strip()}\n"
    assert texts(text)[0] == "A one."
    assert texts(text)[1] == "```c\nx;\n```"
    assert texts(text)[2] == "A two."


# --- what models do instead -----------------------------------------------------------


@pytest.mark.parametrize(
    "tag",
    [
        '<cite passage="2">',
        "<cite passage='2'>",
        "<cite passage=2>",
        '<CITE\n  PASSAGE = "2" >',
        '<cite\npassage=2\nkind="x">',
        '<cite passage="passage 2">',
        '<cite passages="#2">',
        '<cite passage="[2]">',
    ],
)
def test_the_number_is_read_however_it_is_written(tag: str) -> None:
    assert quotes(f"Prices fall. {tag}The law.</cite >") == [(1, "The law.")]


def test_several_numbers_are_tried_each() -> None:
    assert quotes('A. <cite passage="1, 3">The law.</cite>') == [(0, "The law."), (2, "The law.")]


@pytest.mark.parametrize("tag", ["<cite>", '<cite passage="two">', "<cite passage=>", "<cite/ >"])
def test_a_missing_number_is_told_as_none(tag: str) -> None:
    assert quotes(f"Prices fall. {tag}The law.</cite>") == [(-1, "The law.")]


@pytest.mark.parametrize("quote", ['"The law."', "“The law.”", "«The law.»", "\n The law. \n"])
def test_quotation_marks_around_a_quote_are_taken_off(quote: str) -> None:
    assert quotes(f'A. <cite passage="1">{quote}</cite>') == [(0, "The law.")]


def test_quotation_marks_inside_a_quote_stay() -> None:
    assert quotes('A. <cite passage="1">"No," he said, "never."</cite>') == [
        (0, '"No," he said, "never."')
    ]


def test_entities_are_turned_back_once() -> None:
    text = 'If a &lt; b. <cite passage="1">x &amp;lt; y &amp; &quot;z&quot; &copy;</cite>'
    assert texts(text) == ["If a < b."]
    assert quotes(text) == [(0, 'x &lt; y & "z" &copy;')]


def test_a_citation_that_the_stream_breaks_off_ends_there() -> None:
    for tail in ("", "<", "</ci"):
        (claim,) = claims(f'Prices fall. <cite passage="2">The law of demand{tail}')
        assert claim.quotes[0].text.rstrip("<") == "The law of demand"


def test_a_tag_that_the_stream_breaks_off_is_no_text() -> None:
    assert texts('Prices fall. <cite passage="') == ["Prices fall."]


def test_the_next_citation_ends_one_that_was_not_closed() -> None:
    text = 'A one. <cite passage="1">The law.<cite passage="2">A rule.</cite> B two.'
    assert quotes(text) == [(0, "The law."), (1, "A rule.")]


def test_an_empty_citation_quotes_nothing() -> None:
    assert quotes('A one. <cite passage="1"/> B two.') == [(0, "")]


def test_what_stands_behind_the_citation_goes_before_it() -> None:
    text = f'He said "prices fall {LAW}". Demand rises {LAW}.\nThat ends. {LAW}.'
    assert texts(text) == ['He said "prices fall".', "Demand rises.", "That ends."]


def test_a_sentence_may_be_cited_in_its_middle() -> None:
    (claim,) = claims(f"Supply {LAW}, which grows {LAW} and shrinks, meets demand. {LAW}")
    assert claim.text == "Supply, which grows and shrinks, meets demand."
    assert len(claim.quotes) == 3


def test_a_citation_without_a_sentence_is_dropped() -> None:
    assert read(f"{LAW}\nPrices fall. {LAW}\n{LAW}\n\n{LAW} Demand rises.") == [
        Claim("Prices fall.", LAW_QUOTED),
        Claim("Demand rises."),
    ]


def test_markers_in_brackets_are_dropped_from_prose_alone() -> None:
    text = f"Prices fall [1]. [2][3] See `x [1]` and a[0]. [4] {LAW}"
    assert texts(text) == ["Prices fall.", "See `x [1]` and a[0]."]


def test_the_cite_element_of_a_page_is_text_where_it_is_code() -> None:
    code = "```html\n<cite>Ulysses</cite>\n```"
    assert texts(f"Use `<cite>`…`</cite>` for titles. {LAW}\n{code}\n{LAW}") == [
        "Use `<cite>`…`</cite>` for titles.",
        code,
    ]


def test_a_stray_closing_tag_is_dropped() -> None:
    assert texts(f"Prices fall.</cite> {LAW}") == ["Prices fall."]


def test_control_characters_and_hidden_ones_vanish() -> None:
    hidden = "\x00\x1b\u202e\U000e0041\ud800"
    text = f'Pri{hidden}ces fall. <ci{hidden}te passage="2">The{hidden} law.</cite>'
    assert read(text) == [Claim("Prices fall.", (Quoted(1, "The law."),))]


# --- refusals in plain words ----------------------------------------------------------

REFUSALS = [
    "The passages do not say when the bank was founded.",
    "The book does not mention tariffs.",
    "Unfortunately, the provided text doesn't contain information about that.",
    "There is no information about this in the given passages.",
    "I cannot answer this question.",
    "I'm sorry, but I could not find this in the book.",
    "None of the passages explain inflation.",
    "Die Passagen sagen nicht, wann die Bank gegründet wurde.",
    "Dazu steht im Buch nichts.",
    "In den vorliegenden Abschnitten wird die Inflation nicht erwähnt.",
    "Les passages ne mentionnent pas la date.",
    "Le livre ne contient aucune information à ce sujet.",
    "Los pasajes no mencionan la inflación.",
    "O livro não explica a inflação.",
    "I brani non menzionano l'inflazione.",
    "De passages vermelden de inflatie niet.",
    "В тексте об этом ничего не говорится.",
    "文中没有提到通货膨胀。",
    "本文にはインフレについての記載がありません。",
    "본문에는 인플레이션에 대한 언급이 없습니다.",
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_in_plain_words_is_understood(refusal: str) -> None:
    assert read(refusal) == [NotCovered()]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_refusal_beside_claims_covers_the_rest(refusal: str) -> None:
    assert read(f"{refusal}\n\nPrices fall. {LAW}") == [
        NotCovered(),
        Claim("Prices fall.", LAW_QUOTED, "\n\n"),
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "The law does not say how high a tax is.",
        "Prices do not fall when supply shrinks.",
        "The book value of a firm does not include its good name.",
        "The raw material does not contain iron.",
        "Consumers have no information about the quality of a used car.",
        "Ein Monopol enthält keinen Wettbewerb.",
        "Le marché ne contient pas de monopole.",
    ],
)
def test_a_negated_sentence_is_no_refusal(sentence: str) -> None:
    assert read(sentence) == [Claim(sentence)]


def test_a_cited_sentence_is_never_a_refusal() -> None:
    assert len(claims(f"The book does not mention tariffs. {LAW}")) == 1


# --- any text -------------------------------------------------------------------------

FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *("<", ">", "<cite", "<cite>", ' passage="1"', '<cite passage="2">', "</cite>", "</"),
            *("<not-covered/>", "<not", "/", "\n", "\n\n", " ", "  ", "\t", "```", "```md\n"),
            *("~~~", "`", "- ", "1. ", "# ", "**", "---", "|", "| a |\n", "$$", "[1]", "&lt;"),
            *("A one.", "b", " and", "Two", ".", "!", '"', "”", ",", "\x00", "…", "。", "é", "9"),
            *("<c\u0131te>", "<cite\u2028", "x" * 90),
            "The book does not say. ",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=600, deadline=None)
@given(FRAGMENTS, st.lists(st.integers(0, 300), max_size=12))
@example(f"A one. {LAW}\n\n  - b {LAW}.", [3, 9, 20, 30, 55])
def test_the_pieces_that_a_text_comes_in_make_no_difference(text: str, cuts: list[int]) -> None:
    parser = DraftParser()
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[start:end] for start, end in pairwise(places)]
    parts = [part for piece in pieces for part in parser.feed(piece)] + parser.close()
    assert parts == read(text) == read(text, piece=1)


@settings(max_examples=300, deadline=None)
@given(st.text() | FRAGMENTS)
def test_no_text_is_an_error_and_no_claim_is_empty(text: str) -> None:
    parts = read(text)
    assert all(part.text.strip() == part.text != "" for part in parts if isinstance(part, Claim))
    assert parts.count(NotCovered()) <= 1


WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)
SENTENCES = st.lists(WORDS, min_size=2, max_size=8).map(lambda ws: " ".join(ws).capitalize() + ".")
CITATIONS = st.lists(st.tuples(st.integers(0, 20), SENTENCES), min_size=1, max_size=16)
CITED = st.tuples(SENTENCES, CITATIONS)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([" ", "\n\n", "\n- "]), CITED), max_size=6))
def test_what_is_written_in_the_format_is_read_as_it_was_meant(
    answer: list[tuple[str, tuple[str, list[tuple[int, str]]]]],
) -> None:
    text, meant = "", []
    for lead, (sentence, cited) in answer:
        text += lead + sentence
        text += "".join(f' <cite passage="{number + 1}">{quote}</cite>' for number, quote in cited)
        meant.append((sentence, tuple(Quoted(number, quote) for number, quote in cited)))
    assert [(claim.text, claim.quotes) for claim in claims(text)] == meant


def test_no_claim_has_more_quotes_than_are_looked_up() -> None:
    numbers = ",".join("1" * 40)
    for citations in (f'<cite passage="{numbers}">b.</cite>', '<cite passage="1">b.</cite>' * 500):
        [claim] = claims(f"A heap is a tree. {citations}")
        assert len(claim.quotes) <= 16


@pytest.mark.parametrize(
    "garbage",
    ["<", "<cite ", '<cite passage="1">', "a. ", ". . ", "...", "`", "\n", "| a", "Ab c. ", '."!'],
)
@pytest.mark.parametrize("piece", [1, 1_000_000])
def test_garbage_takes_no_more_than_linear_time(garbage: str, piece: int) -> None:
    text = (garbage * (200_000 // len(garbage)))[: 20_000 if piece == 1 else 200_000]
    started = time.process_time()
    read(text + "x", piece=piece)
    assert time.process_time() - started < 8


def test_a_claim_is_foreseen_once_as_soon_as_its_first_quote_begins() -> None:
    foreseen: list[str] = []
    parser = DraftParser(foreseen.append)
    parser.feed("A heap is a tree. <cite pass")
    assert foreseen == []
    parser.feed('age="1">A heap')
    assert foreseen == ["A heap is a tree."]
    parser.feed(' is a tree.</cite> <cite passage="2">It has a root.</cite> It has a root.')
    assert foreseen == ["A heap is a tree."]
    parser.feed(' <cite passage="2">It has a root.</cite>')
    assert foreseen == ["A heap is a tree.", "It has a root."]
