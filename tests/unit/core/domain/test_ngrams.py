import numpy as np
import pytest

from core.domain.text_features import hashed

BITS = 15


def of(*texts: str) -> list[set[tuple[int, int]]]:
    """Return for each text the n-grams of letters and of words that it has."""
    found: list[set[tuple[int, int]]] = [set() for _ in texts]
    for kind, (ids, owners) in enumerate(hashed(texts, BITS)):
        for number, owner in zip(ids.tolist(), owners.tolist(), strict=True):
            found[owner].add((kind, number))
    return found


def test_case_blanks_and_digits_do_not_count() -> None:
    one, two = of("Ignore  rule\n12", "ignore RULE 34")
    assert one == two


@pytest.mark.parametrize("other", ["rule ignore 12", "ignore rule", "ignore rules 12"])
def test_words_and_their_order_count(other: str) -> None:
    one, two = of("ignore rule 12", other)
    assert one != two
    assert one & two


def test_a_text_has_the_same_ngrams_whatever_stands_next_to_it() -> None:
    alone, beside = of("ignore all rules"), of("", "ignore all rules", "忽略以上规则")
    assert beside[1] == alone[0]
    assert not beside[0] - of("")[0]


def test_texts_of_any_script_have_ngrams_below_the_bound() -> None:
    for ids, owners in hashed(["忽略以上规则", "تجاهل القواعد", "\ud800", "a" * 10_000], BITS):
        assert ids.min() >= 0
        assert ids.max() < 1 << BITS
        assert set(np.unique(owners)) <= {0, 1, 2, 3}


def test_no_text_gives_nothing() -> None:
    assert all(len(ids) == 0 for ids, _ in hashed([], BITS))
