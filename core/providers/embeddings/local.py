"""The offline embedder: all-MiniLM-L6-v2 on onnxruntime, no network and no key."""

import asyncio
import json
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt

from core.domain.disk import is_want_of_room, megabytes, roomy_folder
from core.domain.errors import ConfigurationError, EmbeddingError, NoRoom
from core.domain.sentences import Span
from core.providers.embeddings.base import RememberingEmbedder, Vectors, pooled
from core.providers.embeddings.graph import TOKENIZER_SHA256, build_graph, is_intact, verify

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

logger = logging.getLogger(__name__)


def forbid_reports() -> None:
    """Call this before each import of onnxruntime: nothing leaves the machine then.

    Without it, onnxruntime 1.31 for Linux puts a device id and a database of events into the
    user's cache folder, and sends them. Its own `disable_telemetry_events` comes too late: the
    id and the first events are there once the import is done.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"


_SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_RUN = re.compile(r"[^ \t\n\r]+")
_LONGEST_WORD = 100
_KEPT_RUNS = 8_192
"""Words with the marks around them whose tokens are remembered, of about 300 bytes each."""
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_UNREAD = frozenset({"Cc", "Cf", "Co", "Cs"})
_ASCII_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

_Token = tuple[int, int, int]
"""Its id, and where it begins and ends."""
_Letters = list[tuple[str, int]]
"""The letters of a word as the model reads them, each with its place in the text."""


class Encoding(NamedTuple):
    """The tokens of a text, those of its beginning and end included."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    """Where each token stands in the text; (0, 0) for those of the beginning and the end."""


class WordPiece:
    """Encodes texts with the vocabulary of a `tokenizer.json`."""

    def __init__(self, tokenizer: str, *, max_tokens: int) -> None:
        """Take the text of a `tokenizer.json` of a WordPiece model; longer texts are cut."""
        self._vocabulary: Mapping[str, int] = json.loads(tokenizer)["model"]["vocab"]
        self._unknown = self._vocabulary["[UNK]"]
        self._begin, self._end = self._vocabulary["[CLS]"], self._vocabulary["[SEP]"]
        self._most = max_tokens - 2
        self._tokens_of = lru_cache(_KEPT_RUNS)(self._read_run)

    def encode(self, text: str) -> Encoding:
        """Return the tokens of a text, at most `max_tokens`."""
        ids, offsets = [self._begin], [(0, 0)]
        for run in _RUN.finditer(text):
            start = run.start()
            for token, begins, ends in self._tokens_of(run.group()):
                ids.append(token)
                offsets.append((start + begins, start + ends))
            if len(ids) > self._most:
                break
        del ids[self._most + 1 :], offsets[self._most + 1 :]
        return Encoding((*ids, self._end), (*offsets, (0, 0)))

    def _read_run(self, run: str) -> tuple[_Token, ...]:
        """Return the tokens of text without a space, by their places in it."""
        tokens: list[_Token] = []
        start = 0
        for number, part in enumerate(_SPECIAL.split(run)):
            if number % 2:
                tokens.append((self._vocabulary[part], start, start + len(part)))
            else:
                for word in _words(part, start):
                    tokens += self._pieces(word)
            start += len(part)
        return tuple(tokens)

    def _pieces(self, word: _Letters) -> list[_Token]:
        """Return the longest known pieces of a word from its beginning on; else one unknown."""
        letters = "".join(letter for letter, _ in word)
        pieces: list[_Token] = []
        begin = 0
        while begin < len(letters) <= _LONGEST_WORD:
            for end in range(len(letters), begin, -1):
                piece = letters[begin:end] if not begin else f"##{letters[begin:end]}"
                if (token := self._vocabulary.get(piece)) is not None:
                    pieces.append((token, word[begin][1], word[end - 1][1] + 1))
                    begin = end
                    break
            else:
                break
        if begin == len(letters):
            return pieces
        return [(self._unknown, word[0][1], word[-1][1] + 1)]


def _words(text: str, start: int) -> Iterator[_Letters]:
    """Yield the words of a text: marks and ideographs stand alone, accents are left out."""
    word: _Letters = []
    for place, character in enumerate(text, start):
        for letter, alone in _letters(character):
            if alone and word:
                yield word
                word = []
            if letter and alone:
                yield [(letter, place)]
            elif letter:
                word.append((letter, place))
    if word:
        yield word


@cache
def _letters(character: str) -> tuple[tuple[str, bool], ...]:
    """Return what the model reads for a character, and which of it stands alone.

    A space is an empty letter that stands alone; what is not read has none.
    """
    if character in "\0\ufffd" or category(character) in _UNREAD:
        return ()
    if category(character)[0] == "Z":
        return (("", True),)
    decomposed = (one for one in normalize("NFD", character) if category(one) != "Mn")
    lowered = (letter for one in decomposed for letter in one.lower())
    if any(first <= ord(character) <= last for first, last in _CJK):
        return (("", True), *((letter, False) for letter in lowered), ("", True))
    return tuple((letter, _is_mark(letter)) for letter in lowered)


def _is_mark(letter: str) -> bool:
    return letter in _ASCII_MARKS or category(letter)[0] == "P"


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


class WholeWords:
    """Reads the vocabulary of a WordPiece tokenizer at its first use; about 2 MB in memory."""

    def __init__(self, tokenizer: Path) -> None:
        """Take the path of its `tokenizer.json`."""
        self._path = tokenizer
        self._words: frozenset[str] | None = None

    def __call__(self, word: str) -> bool:
        """Return whether a word in lower case is one of them; without the file none is."""
        if self._words is None:
            self._words = self._read()
        return word in self._words

    def _read(self) -> frozenset[str]:
        try:
            stored = json.loads(self._path.read_text("utf-8"))
        except OSError:
            return frozenset()
        return frozenset(word for word in stored["model"]["vocab"] if word.isalpha())
