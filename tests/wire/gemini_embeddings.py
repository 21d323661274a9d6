"""The vectors of the local Gemini: texts with like words are near each other, in every process."""

import hashlib
import re
from functools import cache

import numpy as np
import numpy.typing as npt

from tests.wire.gemini_calls import GeminiCall, Json, texts_of
from tests.wire.gemini_replies import count_tokens

_NATIVE_DIMENSIONS = 3072
_WORD = re.compile(r"\w+")
_Vector = npt.NDArray[np.float64]


def embed(text: str) -> _Vector:
    """Return the unit vector of a text in all dimensions; a prefix of it is shorter than 1."""
    total = sum((_word(word) for word in _WORD.findall(text.casefold())), _word(""))
    return np.asarray(total / np.linalg.norm(total))


def embedding_response(call: GeminiCall) -> Json:
    """Return the answer to batchEmbedContents: one vector a request, all parts of it merged."""
    texts = [" ".join(texts_of(request["content"])) for request in call.body["requests"]]
    vectors = [
        embed(text)[: request.get("outputDimensionality", _NATIVE_DIMENSIONS)]
        for text, request in zip(texts, call.body["requests"], strict=True)
    ]
    return {
        "embeddings": [{"values": vector.tolist()} for vector in vectors],
        "usageMetadata": {"promptTokenCount": sum(map(count_tokens, texts))},
    }


@cache
def _word(word: str) -> _Vector:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
    weight = 1.0 if word else 0.1
    return np.random.default_rng(seed).standard_normal(_NATIVE_DIMENSIONS) * weight
