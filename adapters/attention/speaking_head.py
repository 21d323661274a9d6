"""The linear head that decides when to speak; `python -m tests.bench.speaking --fit` fits it."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adapters.attention.features import Floats
from adapters.attention.intents import INTENTS

WEIGHTS = Path(__file__).with_name("speaking.npz")
DIMENSIONS = 384
"""Of the built-in embedding model, which the head was fitted on."""


@dataclass(frozen=True, slots=True)
class SpeakingHead:
    """A multinomial logistic regression, over what is seen of a line."""

    weights: Floats
    """(n_features, n_intents)."""
    fitted_on: str
    """Identifies the lines that it was fitted on."""

    def probabilities(self, features: Floats) -> Floats:
        """Return the probability of each of INTENTS: (..., n_intents) for (..., n_features)."""
        scores = features @ self.weights
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        shares: Floats = powers / powers.sum(-1, keepdims=True)
        return shares

    def save(self) -> None:
        """Write what the package ships: a byte a weight."""
        scale = np.abs(self.weights).max(0) / 127
        rounded: npt.NDArray[np.int8] = np.round(self.weights / scale).astype(np.int8)
        np.savez_compressed(
            WEIGHTS,
            weights=rounded,
            scale=scale.astype(np.float32),
            fitted_on=np.array(self.fitted_on),
        )


@cache
def shipped_head() -> SpeakingHead:
    """Return the head that the package ships; read at its first use."""
    with np.load(WEIGHTS) as stored:
        weights = stored["weights"].astype(np.float32) * stored["scale"]
        fitted_on = str(stored["fitted_on"])
    assert weights.shape[1] == len(INTENTS)
    return SpeakingHead(weights, fitted_on)
