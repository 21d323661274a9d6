"""What tokens cost."""

import pytest

from core.storage.budgets import Prices


def test_prices_are_of_a_million_tokens_read_and_written_apart() -> None:
    assert Prices(0.5, 3.0).cost("a-model", 2_000_000, 500_000) == pytest.approx(2.5)
    assert Prices(0.3, 2.5).cost("a-model", 1_200, 340) == pytest.approx(0.00121)


def test_what_is_free_costs_nothing() -> None:
    assert Prices(0.0, 0.0).cost("a-model", 10, 10) == 0.0
    assert Prices(0.5, 3.0).cost("a-model", 0, 0) == 0.0


@pytest.mark.parametrize("prices", [Prices(), Prices(input_price=1.0), Prices(output_price=1.0)])
def test_without_both_prices_there_is_no_estimate(prices: Prices) -> None:
    assert prices.cost("a-model", 1_000, 1_000) is None


def test_a_model_with_prices_of_its_own_costs_these() -> None:
    prices = Prices(0.5, 3.0, {"cheap": (0.1, 0.4)})
    assert prices.cost("cheap", 1_000_000, 1_000_000) == pytest.approx(0.5)
    assert prices.cost("another", 1_000_000, 1_000_000) == pytest.approx(3.5)
    assert Prices(of_models={"cheap": (0.1, 0.4)}).cost("another", 1, 1) is None


def test_tokens_of_nobody_knows_which_model_cost_at_most_what_the_dearest_takes() -> None:
    prices = Prices(0.5, 3.0, {"cheap": (0.1, 0.4)})
    cheap, another = ("", "cheap"), ("", "another")
    assert prices.most([cheap, another], 1_000_000, 0) == pytest.approx(0.5)
    assert prices.most([cheap], 1_000_000, 0) == pytest.approx(0.1)
    assert Prices(of_models={"cheap": (0.1, 0.4)}).most([cheap, another], 1, 1) is None
    assert prices.most([], 1, 1) is None


def test_a_service_with_prices_of_its_own_has_no_others() -> None:
    own = Prices(of_models={"llama": (2.0, 2.0)})
    prices = Prices(0.5, 3.0, {"cheap": (0.1, 0.4)}, {"a": own})
    assert prices.cost("llama", 1_000_000, 0, "a") == pytest.approx(2.0)
    assert prices.cost("llama", 1_000_000, 0, "b") == pytest.approx(0.5)
    assert prices.cost("another", 1_000_000, 0, "a") is None
    assert prices.most([("a", "llama"), ("b", "llama")], 1_000_000, 0) == pytest.approx(2.0)
