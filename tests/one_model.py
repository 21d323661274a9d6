"""Loads the embedding model once a process: most tests open a bot, with the same one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.providers.embeddings.local import LocalEmbedder, WholeWords


@contextmanager
def loaded_once() -> Iterator[None]:
    """Keep what is read of a model's files while the block lasts, as long as they are the same."""
    kept = dict[Any, Any]()
    run, read = LocalEmbedder._run, WholeWords._read

    def once(key: Any, load: Any) -> Any:
        if key not in kept:
            kept[key] = load()
        return kept[key]

    def run_once(self: LocalEmbedder, graph: Path) -> Any:
        tokenizer = self._model_dir / "tokenizer.json"
        key = (_version(graph), _version(tokenizer), self._threads)
        return once(key, lambda: run(self, graph))

    def read_once(self: WholeWords) -> Any:
        return once(_version(self._path), lambda: read(self))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEmbedder, "_run", run_once)
        patch.setattr(WholeWords, "_read", read_once)
        yield


def _version(path: Path) -> tuple[Path, int, int]:
    """Return what changes when a file does; an absent one has zeros."""
    try:
        status = path.stat()
    except OSError:
        return path, 0, 0
    return path.resolve(), status.st_mtime_ns, status.st_size
