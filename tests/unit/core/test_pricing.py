"""What tokens cost."""

import pytest

from core.budgets.pricing import Prices


def test_prices_are_of_a_million_tokens_read_and_written_apart() -> None:
    assert Prices(0.5, 3.0).cost(2_000_000, 500_000) == pytest.approx(2.5)
    assert Prices(0.3, 2.5).cost(1_200, 340) == pytest.approx(0.00121)


def test_what_is_free_costs_nothing() -> None:
    assert Prices(0.0, 0.0).cost(10, 10) == 0.0
    assert Prices(0.5, 3.0).cost(0, 0) == 0.0


@pytest.mark.parametrize("prices", [Prices(), Prices(input_price=1.0), Prices(output_price=1.0)])
def test_without_both_prices_there_is_no_estimate(prices: Prices) -> None:
    assert prices.cost(1_000, 1_000) is None
