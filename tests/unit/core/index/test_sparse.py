"""BM25 vectors: the same everywhere, in the course's language."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.index.base import SparseVector
from core.index.terms import Bm25Encoder, ascending

PROJECT = Path(__file__).parents[4]
TEXT = "The central bank raises its interest rates; banks and households react to the rates."


def shared(encoder: Bm25Encoder, passage: str, question: str) -> set[int]:
    [vector] = encoder.passages([passage])
    return set(vector.indices) & set(encoder.query(question).indices)


def test_terms_are_ascending_and_distinct_and_weighed() -> None:
    [vector] = Bm25Encoder().passages([TEXT])
    assert list(vector.indices) == sorted(set(vector.indices))
    assert len(vector.values) == len(vector.indices)
    assert all(value > 0 for value in vector.values)


def test_a_question_weighs_each_of_its_words_once() -> None:
    assert set(Bm25Encoder().query("rates, rates and more rates").values) == {1.0}


def test_a_repeated_word_weighs_more_and_a_long_passage_less() -> None:
    encoder = Bm25Encoder()
    [term] = encoder.query("inflation").indices
    texts = ["inflation", "inflation inflation", "inflation " + "money supply demand " * 60]
    once, twice, diluted = (
        dict(zip(v.indices, v.values, strict=True))[term] for v in encoder.passages(texts)
    )
    assert diluted < once < twice


def test_inflected_english_words_meet() -> None:
    assert shared(Bm25Encoder(), "Banks were lending", "bank lends")


@pytest.mark.parametrize("text", ["", "   ", "?!", "the of and"])
def test_a_text_without_words_has_no_terms(text: str) -> None:
    encoder = Bm25Encoder()
    assert encoder.query(text) == SparseVector((), ())
    assert encoder.passages([text]) == [SparseVector((), ())]


def test_no_passages_give_no_vectors() -> None:
    assert Bm25Encoder().passages([]) == []


@pytest.mark.parametrize("tag", ["en", "EN", "en-GB", "en_US"])
def test_a_region_makes_no_difference(tag: str) -> None:
    assert Bm25Encoder(tag).query(TEXT) == Bm25Encoder().query(TEXT)


def test_each_language_has_its_own_stop_words_and_stems() -> None:
    assert shared(Bm25Encoder("de-CH"), "Die Häuser der Stadt", "Haus")
    assert not shared(Bm25Encoder("en"), "Die Häuser der Stadt", "Haus")
    assert not Bm25Encoder("de").query("und der die das").indices
    assert Bm25Encoder("nb").query("husene").indices == Bm25Encoder("no").query("husene").indices


@pytest.mark.parametrize("tag", ["pl", "hi", "tlh", ""])
def test_an_unknown_language_keeps_every_word_as_written(tag: str) -> None:
    encoder = Bm25Encoder(tag)
    assert len(encoder.query("the houses").indices) == 2
    assert not shared(encoder, "houses", "house")


@pytest.mark.costly
@pytest.mark.parametrize(
    ("tag", "passage", "question"),
    [
        ("zh", "我们在经济学中研究供给和需求", "供给"),
        ("ja", "経済学では需要と供給を研究します", "供給とは何ですか"),
    ],
)
def test_languages_without_spaces_are_cut_into_words(tag: str, passage: str, question: str) -> None:
    assert shared(Bm25Encoder(tag), passage, question)


@pytest.mark.costly
def test_every_process_computes_the_same_vectors() -> None:
    script = f"from core.index.terms import Bm25Encoder; print(Bm25Encoder().passages([{TEXT!r}]))"
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=PROJECT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    assert outputs == [str(Bm25Encoder().passages([TEXT]))] * 2


def test_the_vectors_of_stored_collections_never_change() -> None:
    assert Bm25Encoder().query("central banks") == SparseVector(
        Bm25Encoder().query("bank central").indices, (1.0, 1.0)
    )
    assert Bm25Encoder().query("dogs foxes").indices == (1312749093, 1621867415)


def test_ascending_sorts_terms_with_their_weights() -> None:
    assert ascending([5, 2], [0.5, 0.25]) == SparseVector((2, 5), (0.25, 0.5))
