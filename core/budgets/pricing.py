"""What tokens cost."""

from dataclasses import dataclass

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any one currency; None: not known."""

    input_price: float | None = None
    output_price: float | None = None

    def cost(self, query_tokens: int, response_tokens: int) -> float | None:
        """Return what the tokens cost, or None unless both prices are known."""
        if self.input_price is None or self.output_price is None:
            return None
        return (query_tokens * self.input_price + response_tokens * self.output_price) / _MILLION
