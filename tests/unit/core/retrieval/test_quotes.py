"""Tests of locating a quoted passage in a synthetic book."""

import random
import unicodedata

import numpy as np
import pytest

from core.domain import QuoteStatus
from core.retrieval.quotes import BookText, QuoteMatch

SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "la",
    "me",
    "ni",
    "po",
    "ru",
    "sa",
    "te",
    "vi",
    "ast",
    "ent",
    "ing",
    "ock",
]


def prose(seed: int, sentences: int) -> str:
    rng = random.Random(seed)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(800)]
    lines = [
        " ".join(rng.choices(words, k=rng.randint(6, 14))).capitalize() + "."
        for _ in range(sentences)
    ]
    return "\n\n".join(" ".join(lines[start : start + 5]) for start in range(0, sentences, 5))


CHAPTERS = [(f"chapter-{number}", prose(number, 60)) for number in range(4)]
BOOK = BookText(CHAPTERS)
TEXT = CHAPTERS[2][1]
START, END = TEXT.index(". ", 900) + 2, TEXT.index(". ", 1300) + 1
PASSAGE = TEXT[START:END]


def passage_found(match: QuoteMatch, slack: int = 3) -> bool:
    ends_fit = abs(match.char_start - START) <= slack and abs(match.char_end - (END - 1)) <= slack
    return match.document_id == "chapter-2" and ends_fit


def damaged(text: str, rate: float, seed: int = 7) -> str:
    rng = random.Random(seed)
    return "".join(
        rng.choice(["", "0", "l", "rn"]) if rng.random() < rate else letter for letter in text
    )


def test_a_copied_passage_is_verbatim_and_its_span_is_exact() -> None:
    assert BOOK.locate(PASSAGE) == QuoteMatch(
        QuoteStatus.VERBATIM, "chapter-2", START, END - 1, 1.0
    )


@pytest.mark.parametrize(
    "wrapped",
    [
        "> " + PASSAGE.replace(" ", "\n> "),
        "- " + PASSAGE.replace(" ", "\n\n* ", 3),
        PASSAGE.replace("ing", "in-\ng"),
        "“" + PASSAGE.upper() + "”",
        PASSAGE.replace(" ", " **", 1).replace(".", "**.", 1),
        "".join(
            chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in PASSAGE
        ),
    ],
    ids=["quote marks", "bullets", "hyphens", "case", "bold", "full width"],
)
def test_a_passage_that_only_looks_different_is_verbatim(wrapped: str) -> None:
    match = BOOK.locate(wrapped)
    assert match.status == "verbatim"
    assert passage_found(match, slack=0)


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.1])
def test_a_badly_scanned_passage_is_altered_and_keeps_its_place(rate: float) -> None:
    match = BOOK.locate(damaged(PASSAGE, rate))
    assert match.status == "altered"
    assert 0.7 <= match.score < 1.0
    assert passage_found(match, slack=12)


def test_dropped_and_inserted_words_are_altered() -> None:
    words = PASSAGE.split()
    shorter = " ".join(word for place, word in enumerate(words) if place % 10 != 5)
    longer = " ".join(word + " however" * (place % 10 == 5) for place, word in enumerate(words))
    for quote in (shorter, longer):
        match = BOOK.locate(quote)
        assert match.status == "altered"
        assert passage_found(match)


def test_the_words_around_a_quote_are_left_out_of_the_span() -> None:
    match = BOOK.locate(f"As the book says: “{PASSAGE}” What is meant by that?")
    assert match.status == "altered"
    assert match.score > 0.97
    assert passage_found(match, slack=6)


def test_a_quote_that_is_half_foreign_finds_its_own_half() -> None:
    match = BOOK.locate(prose(90, 4) + PASSAGE + prose(91, 4))
    assert match.status == "altered"
    assert passage_found(match, slack=8)


def test_a_passage_over_a_paragraph_border_is_found() -> None:
    border = TEXT.index("\n\n", 1000)
    match = BOOK.locate(TEXT[border - 80 : border] + " " + TEXT[border + 2 : border + 80])
    assert match.status == "verbatim"
    assert match.char_start <= border - 78 < border + 78 <= match.char_end


def test_the_whole_of_a_long_chapter_is_found() -> None:
    match = BOOK.locate(damaged(TEXT, 0.05))
    assert match.status == "altered"
    assert match.char_start <= 12
    assert match.char_end >= len(TEXT) - 12


@pytest.mark.parametrize("seed", range(50, 70))
def test_a_passage_of_another_book_is_not_found(seed: int) -> None:
    assert BOOK.locate(prose(seed, 6)) == QuoteMatch(QuoteStatus.NOT_FOUND)


@pytest.mark.parametrize(
    "quote", ["", "   ", "…—!?", "> \n> ", "**", "a few", "\ud83d", "🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂🙂"]
)
def test_a_quote_without_enough_letters_is_not_found(quote: str) -> None:
    assert BOOK.locate(quote).status == "not_found"


def test_of_equal_passages_the_first_is_taken() -> None:
    book = BookText([("x", prose(8, 20)), ("a", PASSAGE + prose(9, 20)), ("b", PASSAGE)])
    for quote in (PASSAGE, damaged(PASSAGE, 0.05)):
        match = book.locate(quote)
        assert (match.document_id, match.char_start) == ("a", 0)


def test_a_short_phrase_used_everywhere_points_nowhere() -> None:
    phrase = "on the other hand "
    book = BookText([("x", phrase.join(prose(8, 20).split("\n\n") * 5))])
    assert book.locate(phrase).status == "not_found"


def test_a_short_but_singular_phrase_is_found() -> None:
    quote = " ".join(PASSAGE.split()[:5])
    assert len(quote) < 60
    assert BOOK.locate(quote).status == "verbatim"


def test_a_match_never_spans_two_documents() -> None:
    first, second = CHAPTERS[0][1], CHAPTERS[1][1]
    match = BOOK.locate(first[-300:] + "\n" + second[:100])
    assert match.document_id == "chapter-0"
    assert match.char_end <= len(first)


def test_a_script_without_spaces_is_found() -> None:
    rng = random.Random(3)
    text = "".join(
        chr(rng.randrange(0x4E00, 0x5200)) + "。" * (place % 17 == 16) for place in range(3000)
    )
    book = BookText([("zh", text)])
    quote = text[1000:1100]
    assert book.locate(quote).status == "verbatim"
    match = book.locate(quote[:30] + "錯" + quote[31:60] + quote[62:])
    assert match.status == "altered"
    assert abs(match.char_start - 1000) <= 2
    assert abs(match.char_end - 1100) <= 2


def test_offsets_stay_true_behind_characters_that_fold_to_none_or_many() -> None:
    lead = "½ ﬁve “straße” e\u0301te\u0301 ☃ 한국어 " * 3000
    book = BookText([("x", lead + PASSAGE)])
    match = book.locate(PASSAGE)
    assert (match.char_start, match.char_end) == (len(lead), len(lead) + len(PASSAGE) - 1)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_every_unicode_form_of_a_quote_is_verbatim(form: str) -> None:
    text = (
        "Die Größenordnung der Änderung, ﬁnanziell: café, naïveté, 서울의 경제 성장률과 ² Fußnoten."
    )
    quote = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    assert BookText([("x", prose(1, 9)), ("y", text)]).locate(quote).document_id == "y"


def test_a_book_without_text_finds_nothing() -> None:
    for documents in ([], [("x", "")], [("x", ""), ("y", "—")]):
        assert BookText(documents).locate(PASSAGE) == QuoteMatch(QuoteStatus.NOT_FOUND)


def test_the_same_question_gets_the_same_answer() -> None:
    quote = damaged(PASSAGE, 0.1)
    assert BookText(CHAPTERS).locate(quote) == BOOK.locate(quote)
    assert np.isfinite(BOOK.locate(quote).score)
