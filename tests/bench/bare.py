"""The embedding model and the vector engine with nothing of the product around them."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import qdrant_edge as edge

from core.index.base import SparseVector
from core.providers.embeddings.base import Vectors
from core.providers.embeddings.local import WordPiece, forbid_reports

forbid_reports()
import onnxruntime  # noqa: E402 - only now

_BATCH = 32


class BareEmbedder:
    """The same graph and tokenizer, run directly; texts are sorted by length into batches."""

    def __init__(self, graph: Path, model: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(4, os.cpu_count() or 1)
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"]
        )
        tokenizer = (model / "tokenizer.json").read_text("utf-8")
        self._tokenizer = WordPiece(tokenizer, max_tokens=512)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return (n, dimensions) vectors in order."""
        encoded = [self._tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
        rows: dict[int, Vectors] = {}
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            ids = np.zeros((len(batch), len(encoded[batch[-1]])), np.int64)
            mask = np.zeros_like(ids)
            for row, i in enumerate(batch):
                ids[row, : len(encoded[i])] = encoded[i]
                mask[row, : len(encoded[i])] = 1
            output = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
            rows.update(zip(batch, output, strict=True))
        return np.stack([rows[i] for i in range(len(encoded))])


class BareEngine:
    """A sealed collection, asked for the ids of its best 100 points by either vector."""

    def __init__(self, folder: Path) -> None:
        self._shard = edge.EdgeShard.load(str(folder))

    def search(self, dense: Vectors, sparse: SparseVector) -> int:
        """Return how many hits the two queries have."""
        terms = edge.SparseVector(list(sparse.indices), list(sparse.values))
        queries = (
            edge.Query.Nearest(dense.tolist(), using="dense"),
            edge.Query.Nearest(terms, using="sparse"),
        )
        requests = [edge.QueryRequest(limit=100, query=query) for query in queries]
        return sum(map(len, self._shard.query_batch(edge.QueryBatchRequest(requests))))

    def close(self) -> None:
        """Release the files."""
        self._shard.close()
