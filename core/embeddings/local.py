"""The offline embedder: all-MiniLM-L6-v2 on onnxruntime, no network and no key."""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from core.disk.space import is_want_of_room, megabytes, roomy_folder
from core.embeddings.base import Vectors
from core.embeddings.graph import TOKENIZER_SHA256, build_graph, is_intact, verify
from core.embeddings.remembering import RememberingEmbedder
from core.embeddings.reports import forbid_reports
from core.embeddings.sentences import pooled
from core.embeddings.wordpiece import Encoding, WordPiece
from core.errors import ConfigurationError, EmbeddingError, NoRoom
from core.text.sentences import Span

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

logger = logging.getLogger(__name__)

GRAPH_VERSION = "all-MiniLM-L6-v2-int8-2"
"""Part of the cached graph's file name: a graph built differently gets another one."""
MAX_TOKENS = 512
_TOKENS_A_BATCH = 1_024
"""Larger batches leave the processor's cache: 4,096 tokens take a fifth more time."""
_BUILDING = 250_000_000
"""Bytes that the graph takes while it is built."""
_QUESTIONS = 256
_LONGEST_OVER_SHORTEST = 1.25
_FEW_TOKENS = 4

Result = TypeVar("Result")


class LocalEmbedder:
    """Embeds with the MiniLM weights in `model_dir`, on at most `threads` threads.

    The graph is built once into `cache_dir` (about 2 s) and loaded at first use (0.2 s).
    Texts beyond 512 tokens are cut. One call runs at a time; others wait their turn.

    `prepare` is called before the first use: it may put into both folders what is missing there.
    """

    name = "all-MiniLM-L6-v2"
    dimensions = 384

    def __init__(
        self,
        model_dir: Path,
        cache_dir: Path,
        *,
        threads: int = 0,
        announce: Callable[[str], None] = lambda _: None,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        self._model_dir = model_dir
        self._graph = cache_dir / f"{GRAPH_VERSION}.onnx"
        self._threads = threads or min(4, os.cpu_count() or 1)
        self._announce = announce
        self._prepare = prepare
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._is_closed = False
        self._questions = RememberingEmbedder(self, kept=_QUESTIONS)
        self._loading = threading.Lock()
        self._loaded: tuple[WordPiece, InferenceSession] | None = None

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return (n, 384) unit vectors; this model treats questions like passages.

        Those of the latest questions are remembered: an answer compares with one several times.
        """
        return await self._questions.embed_passages(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return (n, 384) unit vectors, in order.

        Raises:
            ConfigurationError: when the model's files are missing or not the published ones.
            EmbeddingError: when the model cannot be run, or was closed.
        """
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return await self._in_thread(partial(self._embed, list(texts)))

    async def embed_with_sentences(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> tuple[Vectors, list[Vectors]]:
        """Return (n, 384) unit vectors, and for each text one unit vector a span of it.

        Both come of one run of the model: a sentence's vector is the mean over its tokens. One
        beyond the 512 tokens that are read gets the mean of all.

        Raises:
            ConfigurationError, EmbeddingError: as `embed_passages`.
        """
        if not texts:
            return np.empty((0, self.dimensions), np.float32), []
        return await self._in_thread(partial(self._embed_with_sentences, list(texts), spans))

    async def warm_up(self) -> None:
        """Build and load the model now instead of at the first question."""
        await self._in_thread(self._load)

    def close(self) -> None:
        """Stop the worker thread once it is idle; nothing is embedded any more."""
        self._is_closed = True
        self._executor.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        """Return what some work in the thread comes to."""
        if self._is_closed:
            raise EmbeddingError("the embedding model was closed")
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def _embed(self, texts: list[str]) -> Vectors:
        encodings, session = self._encoded(texts)
        rows = np.empty((len(texts), self.dimensions), np.float32)
        for batch, feed in _feeds(encodings):
            rows[batch] = np.asarray(session.run(["embedding"], feed)[0], np.float32)
        return _finite(rows)

    def _embed_with_sentences(
        self, texts: list[str], spans: Sequence[Sequence[Span]]
    ) -> tuple[Vectors, list[Vectors]]:
        encodings, session = self._encoded(texts)
        rows = np.empty((len(texts), self.dimensions), np.float32)
        sentences: list[Vectors] = [rows] * len(texts)
        for batch, feed in _feeds(encodings):
            whole, tokens = session.run(["embedding", "tokens"], feed)
            rows[batch] = np.asarray(whole, np.float32)
            for row, i in enumerate(batch):
                places = np.array(encodings[i].offsets, np.int32).reshape(-1, 2)
                sentences[i] = _finite(pooled(np.asarray(tokens)[row], places, spans[i]))
        return _finite(rows), sentences

    def _encoded(self, texts: list[str]) -> "tuple[list[Encoding], InferenceSession]":
        tokenizer, session = self._load()
        return [tokenizer.encode(text) for text in texts], session

    def _load(self) -> "tuple[WordPiece, InferenceSession]":
        with self._loading:
            if self._loaded is None:
                self._loaded = self._open()
            return self._loaded

    def _open(self) -> "tuple[WordPiece, InferenceSession]":
        forbid_reports()
        self._prepare()
        with ExitStack() as closing:
            return self._run(self._intact_graph(closing))

    def _run(self, graph: Path) -> "tuple[WordPiece, InferenceSession]":
        import onnxruntime
        from threadpoolctl import threadpool_limits

        # NumPy's own threads and onnxruntime's would fight for the same cores.
        threadpool_limits(limits=1, user_api="blas")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(
                graph, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ConfigurationError(
                f"The embedding model's cached graph cannot be loaded: delete {graph} "
                "and try again."
            ) from error
        return WordPiece(self._read_tokenizer(), max_tokens=MAX_TOKENS), session

    def _read_tokenizer(self) -> str:
        path = self._model_dir / "tokenizer.json"
        verify(path, TOKENIZER_SHA256)
        return path.read_text(encoding="utf-8")

    def _intact_graph(self, closing: ExitStack) -> Path:
        """Return the graph, built unless it is cached whole; elsewhere if the cache has no room.

        Raises:
            NoRoom: when there is no room for it anywhere.
        """
        if is_intact(self._graph):
            return self._graph
        if self._graph.exists():
            logger.warning(
                "the cached model %s is damaged, or has no sum: it is built again", self._graph
            )
        self._announce("Preparing the embedding model (once, a few seconds) ...")
        try:
            return self._build(self._graph)
        except OSError as error:
            if not (is_want_of_room(error) or isinstance(error, PermissionError)):
                raise
        if (elsewhere := roomy_folder(_BUILDING)) is None:
            raise NoRoom(
                f"The embedding model needs {megabytes(_BUILDING)} in {self._graph.parent} to be "
                "prepared: free some room, or set TMPDIR to a folder with as much."
            )
        folder = closing.enter_context(TemporaryDirectory(prefix="glossator-", dir=elsewhere))
        return self._build(Path(folder) / self._graph.name)

    def _build(self, target: Path) -> Path:
        verify(self._model_dir / "tokenizer.json", TOKENIZER_SHA256)
        build_graph(self._model_dir / "model.safetensors", target)
        return target


def _finite(vectors: Vectors) -> Vectors:
    if not np.isfinite(vectors).all():
        raise EmbeddingError("the local model returned values that are not finite")
    return vectors


def _feeds(
    encodings: Sequence[Encoding],
) -> Iterator[tuple[list[int], dict[str, npt.NDArray[np.int64]]]]:
    """Yield batches of the texts' numbers with what the model is given for them."""
    for batch in _batches([len(encoding.ids) for encoding in encodings]):
        length = max(len(encodings[i].ids) for i in batch)
        ids = np.zeros((len(batch), length), np.int64)
        mask = np.zeros_like(ids)
        for row, i in enumerate(batch):
            ids[row, : len(encodings[i].ids)] = encodings[i].ids
            mask[row, : len(encodings[i].ids)] = 1
        yield batch, {"input_ids": ids, "attention_mask": mask}


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Group texts of like length, so that little is spent on padding."""
    batches: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if (
            batches
            and lengths[i] <= lengths[batches[-1][0]] * _LONGEST_OVER_SHORTEST + _FEW_TOKENS
            and (len(batches[-1]) + 1) * lengths[i] <= _TOKENS_A_BATCH
        ):
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches
