"""The figures of rankings, answers and confidences, against values worked out by hand."""

import math
import time

import pytest

from core.teaching.evaluation.report import (
    auroc,
    calibration_error,
    contains_answer,
    hit_at,
    interval,
    ndcg,
    percentile,
    reciprocal_rank,
)


def test_a_hit_counts_only_within_the_first_k() -> None:
    ranking = ["a", "b", "c"]
    assert hit_at(ranking, {"c"}, 3) == 1.0
    assert hit_at(ranking, {"c"}, 2) == 0.0
    assert hit_at([], {"c"}, 5) == 0.0
    assert hit_at(ranking, set(), 5) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_relevant_document() -> None:
    assert reciprocal_rank(["x", "a", "b"], {"a", "b"}) == 0.5
    assert reciprocal_rank(["x"] * 10 + ["a"], {"a"}) == 0.0
    assert reciprocal_rank([f"x{i}" for i in range(9)] + ["a"], {"a"}) == pytest.approx(0.1)


def test_ndcg_of_one_relevant_document_falls_with_its_rank() -> None:
    assert ndcg(["a", "x"], {"a"}) == 1.0
    assert ndcg(["x", "a"], {"a"}) == pytest.approx(1 / math.log2(3))
    assert ndcg(["x"] * 10 + ["a"], {"a"}) == 0.0


def test_ndcg_compares_with_the_best_order_that_there_could_be() -> None:
    gained = 1 / math.log2(2) + 1 / math.log2(4)
    best = 1 / math.log2(2) + 1 / math.log2(3)
    assert ndcg(["a", "x", "b"], {"a", "b"}) == pytest.approx(gained / best)


def test_ndcg_can_reach_one_with_more_relevant_documents_than_places() -> None:
    relevant = [str(i) for i in range(20)]
    assert ndcg(relevant, relevant, k=10) == pytest.approx(1.0)


def test_ndcg_without_relevant_documents_is_zero() -> None:
    assert ndcg(["a"], set()) == 0.0


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("It was the Battle of Hastings, in 1066.", "battle of hastings"),
        ("It was a Battle of Hastings.", "the Battle of Hastings"),
        ("the so-called “Great  Depression”", "so called 'great depression'"),
        ("GDP rose—by 3.5 percent", "3.5 percent"),
        ("Die Straße ist lang", "STRASSE"),
        ("Zweite Auflage: Ökonomie.", "ökonomie"),
    ],
)
def test_an_answer_is_found_whatever_its_articles_marks_and_case(text: str, answer: str) -> None:
    assert contains_answer(text, [answer])


@pytest.mark.parametrize(
    ("text", "answer"),
    [("Scarcity exists", "car"), ("in 10666", "1066"), ("theory", "the ory"), ("anything", "")],
)
def test_a_part_of_a_word_is_no_answer(text: str, answer: str) -> None:
    assert not contains_answer(text, [answer])


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert contains_answer("in a cafe\u0301 nearby", ["caf\u00e9"])


def test_an_answer_of_an_article_alone_is_never_contained() -> None:
    assert not contains_answer("the answer", ["the"])


def test_any_of_the_reference_answers_will_do() -> None:
    assert contains_answer("about ten", ["eleven", "ten"])
    assert not contains_answer("about ten", [])


def test_searching_a_long_text_for_many_answers_is_quick() -> None:
    text = "the quick brown fox jumps over a lazy dog " * 200
    started = time.process_time()
    assert not contains_answer(text, [f"answer number {i}" for i in range(1_000)])
    assert time.process_time() - started < 1.0


def test_perfect_confidence_has_no_calibration_error() -> None:
    assert calibration_error([1.0] * 5 + [0.0] * 5, [True] * 5 + [False] * 5) == 0.0


def test_the_calibration_error_is_the_mean_gap_over_bins_of_equal_mass() -> None:
    confidences = [0.8] * 10 + [0.2] * 10
    right = [True] * 10 + [False] * 10
    assert calibration_error(confidences, right) == pytest.approx(0.2)


def test_opposite_gaps_in_different_bins_do_not_cancel() -> None:
    confidences = [0.4] * 10 + [0.6] * 10
    right = [True] * 10 + [False] * 10
    assert calibration_error(confidences, right) == pytest.approx((0.6 + 0.6) / 2)


def test_equal_confidences_make_one_bin_however_the_rows_are_ordered() -> None:
    right = [True] * 50 + [False] * 50
    assert calibration_error([0.5] * 100, right) == pytest.approx(0.0)
    assert calibration_error([0.5] * 100, right[::-1]) == pytest.approx(0.0)
    assert calibration_error([0.5] * 100, [True, False] * 50) == pytest.approx(0.0)


def test_fewer_rows_than_bins_are_bins_of_their_own() -> None:
    assert calibration_error([0.9, 0.3], [True, False]) == pytest.approx((0.1 + 0.3) / 2)


def test_no_rows_have_no_calibration_error() -> None:
    assert math.isnan(calibration_error([], []))


def test_auroc_counts_pairs_in_the_right_order() -> None:
    assert auroc([0.9, 0.8, 0.1], [True, True, False]) == 1.0
    assert auroc([0.1, 0.2, 0.9], [True, True, False]) == 0.0
    assert auroc([0.9, 0.5, 0.7, 0.1], [True, True, False, False]) == pytest.approx(3 / 4)


def test_auroc_counts_a_tie_half() -> None:
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False]) == pytest.approx(3.5 / 4)


def test_a_constant_confidence_tells_nothing() -> None:
    assert auroc([0.7] * 9, [True] * 6 + [False] * 3) == 0.5


@pytest.mark.parametrize("positive", [[True, True], [False, False], []])
def test_auroc_needs_both_classes(positive: list[bool]) -> None:
    assert math.isnan(auroc([0.5] * len(positive), positive))


def test_the_interval_of_equal_values_is_a_point() -> None:
    assert interval([1.0] * 20) == (1.0, 1.0)
    assert interval([0.25]) == (0.25, 0.25)


def test_the_interval_of_a_share_is_as_wide_as_theory_says() -> None:
    low, high = interval([1.0, 0.0] * 200)
    half = 1.96 * math.sqrt(0.25 / 400)
    assert low == pytest.approx(0.5 - half, abs=0.01)
    assert high == pytest.approx(0.5 + half, abs=0.01)


def test_the_interval_is_the_same_every_time() -> None:
    values = [0.0, 1.0, 1.0, 0.5, 0.2]
    assert interval(values) == interval(values)


def test_the_interval_of_nothing_is_unknown() -> None:
    assert all(math.isnan(bound) for bound in interval([]))


def test_percentiles_lie_between_neighbours() -> None:
    assert percentile([1.0, 2.0, 3.0], 50) == 2.0
    assert percentile([0.0, 10.0], 95) == pytest.approx(9.5)
    assert math.isnan(percentile([], 50))
