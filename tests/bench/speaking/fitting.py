"""Fits the head on the train part."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from adapters.chat.attention import embedded_features
from adapters.chat.speaking import INTENTS, Floats, SpeakingHead
from core.providers.embeddings.base import Embedder
from tests.bench.speaking.labelled import Labelled

_REGULARISATION = 2.0
_STEPS = 40


async def features_of_all(embedder: Embedder, lines: Sequence[Labelled]) -> Floats:
    """Return the features of labelled lines, (n_lines, n_features), as the bot reads them."""
    return np.stack([await embedded_features(embedder, x.line) for x in lines])


def fitted_head(features: Floats, lines: Sequence[Labelled], fitted_on: str) -> SpeakingHead:
    """Return the head fitted on all lines."""
    return SpeakingHead(_weights(features, _labels(lines)), fitted_on)


def _labels(lines: Sequence[Labelled]) -> npt.NDArray[np.int64]:
    return np.array([INTENTS.index(x.intent) for x in lines])


def _weights(features: Floats, labels: npt.NDArray[np.int64]) -> Floats:
    """Return weights of a multinomial logistic regression with a ridge penalty.

    Source: Böhning, "Multinomial logistic regression algorithm" (1992): one bound of the Hessian
    serves every step; here with Nesterov's acceleration.
    """
    one_hot = np.eye(len(INTENTS), dtype=np.float32)[labels]
    penalty = np.full((features.shape[1], 1), _REGULARISATION, np.float32)
    penalty[-1] = _REGULARISATION / 1_000  # the bias
    bound = 0.5 * (features.T @ features).astype(np.float64) + np.diag(penalty[:, 0])
    step = np.linalg.inv(bound).astype(np.float32)
    weights = ahead = np.zeros((features.shape[1], len(INTENTS)), np.float32)
    pace = 1.0
    for _ in range(_STEPS):
        shares = SpeakingHead(ahead, "").probabilities(features)
        moved = ahead - step @ (features.T @ (shares - one_hot) + penalty * ahead)
        faster = (1 + np.sqrt(1 + 4 * pace * pace)) / 2
        ahead = moved + np.float32((pace - 1) / faster) * (moved - weights)
        weights, pace = moved, faster
    return weights
