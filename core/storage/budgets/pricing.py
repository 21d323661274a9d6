"""What tokens cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any one currency; None: not known."""

    input_price: float | None = None
    output_price: float | None = None
    of_models: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Both prices of each model that has its own; they replace the two above."""
    of_services: Mapping[str, "Prices"] = field(default_factory=dict)
    """All prices of each service that has its own; they replace all of the above."""

    def cost(
        self, model: str, query_tokens: int, response_tokens: int, service: str = ""
    ) -> float | None:
        """Return what the tokens cost, or None unless both prices are known.

        Args:
            model: As it is named to its service.
            query_tokens: Read.
            response_tokens: Written, thinking included.
            service: The name of the table of models whose service was asked; empty: of none.
        """
        if service in self.of_services:
            return self.of_services[service].cost(model, query_tokens, response_tokens)
        query, response = self.of_models.get(model, (self.input_price, self.output_price))
        if query is None or response is None:
            return None
        return (query_tokens * query + response_tokens * response) / _MILLION

    def most(
        self, models: Iterable[tuple[str, str]], query_tokens: int, response_tokens: int
    ) -> float | None:
        """Return what the tokens cost at the dearest of the models that may have used them.

        None unless the prices of all of them are known. Each model stands after its service.
        """
        costs = [
            self.cost(model, query_tokens, response_tokens, service) for service, model in models
        ]
        known = [cost for cost in costs if cost is not None]
        return max(known) if known and len(known) == len(costs) else None
