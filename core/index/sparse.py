"""BM25 weights of texts as sparse vectors, the same in every process and engine."""

from collections.abc import Iterable, Sequence

from qdrant_edge import Bm25, Bm25Config, DisabledStemmer, StopwordsSet, TokenizerType

from core.index.base import SparseVector

AVERAGE_LENGTH = 100.0
"""Words of a chunk that count: about 200 tokens less stop words and punctuation."""
_ENGINE_NAMES = {"ja": "japanese", "nb": "norwegian", "nn": "norwegian"}
_WITHOUT_SPACES = frozenset({"ja", "th", "zh"})


class Bm25Encoder:
    """Turns texts of one language into sparse vectors of BM25 term weights.

    Stop words are left out and words are stemmed where the engine knows the language; in
    any other language every word counts as it is written. The inverse document frequency
    is no part of the vectors: the index applies it, from the collection's own counts.

    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009), with the
    usual k1 = 1.2 and b = 0.75.
    """

    def __init__(self, language: str = "en") -> None:
        """Prepare for `language`, a BCP 47 tag; its region and script make no difference."""
        self._model = _model(language.replace("_", "-").split("-")[0].lower())

    def passages(self, texts: Sequence[str]) -> list[SparseVector]:
        """Return the term weights of each passage, in order; a wordless one has none."""
        vectors = [self._model.embed_document(text) for text in texts]
        return [ascending(vector.indices, vector.values) for vector in vectors]

    def query(self, text: str) -> SparseVector:
        """Return the question's terms, each with weight 1."""
        vector = self._model.embed_query(text)
        return ascending(vector.indices, vector.values)

    def terms(self, text: str) -> tuple[int, ...]:
        """Return the distinct term ids of a text, in no set order; faster than `query`."""
        return tuple(self._model.embed_query(text).indices)


def ascending(indices: Iterable[int], values: Iterable[float]) -> SparseVector:
    """Return the sparse vector with its term ids in ascending order."""
    terms = sorted(zip(indices, values, strict=True))
    return SparseVector(
        indices=tuple(index for index, _ in terms), values=tuple(value for _, value in terms)
    )


def _model(language: str) -> Bm25:
    tokens = TokenizerType.Multilingual if language in _WITHOUT_SPACES else TokenizerType.Word
    name = _ENGINE_NAMES.get(language, language)
    try:
        return Bm25(Bm25Config(avg_len=AVERAGE_LENGTH, tokenizer=tokens, language=name))
    except ValueError:  # the engine has neither stop words nor a stemmer for it
        stopwords, stemmer = StopwordsSet(), DisabledStemmer()
        return Bm25(
            Bm25Config(
                avg_len=AVERAGE_LENGTH, tokenizer=tokens, stopwords=stopwords, stemmer=stemmer
            )
        )
