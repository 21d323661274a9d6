"""The cached model is used only as it was built."""

import hashlib
import logging
import shutil
from pathlib import Path

import numpy as np
import pytest

from bot.embedders import installed_model
from core.domain.errors import ConfigurationError, EmbeddingError
from core.providers.embeddings.graph import build_graph, is_intact
from core.providers.embeddings.local import GRAPH_VERSION, LocalEmbedder

NAME = f"{GRAPH_VERSION}.onnx"


def cached(folder: Path, content: bytes, noted: str | None) -> Path:
    graph = folder / NAME
    graph.write_bytes(content)
    if noted is not None:
        graph.with_name(f"{NAME}.sha256").write_text(noted)
    return graph


def test_only_a_graph_with_its_own_sum_is_intact(tmp_path: Path) -> None:
    content = bytes(range(256)) * 64
    digest = hashlib.sha256(content).hexdigest()
    assert is_intact(cached(tmp_path, content, digest))
    for size in (0, 1, len(content) - 1):
        assert not is_intact(cached(tmp_path, content[:size], digest))
    for place in range(0, len(content), 1_001):
        flipped = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        assert not is_intact(cached(tmp_path, flipped, digest))
    for noted in ("", digest[:-1], digest.upper(), "\udcff".encode(errors="replace").decode()):
        assert not is_intact(cached(tmp_path, content, noted))
    (tmp_path / f"{NAME}.sha256").unlink()
    assert not is_intact(tmp_path / NAME)
    assert not is_intact(tmp_path / "nothing.onnx")


def damaged_copy(models: Path, folder: Path) -> None:
    for name in (NAME, f"{NAME}.sha256"):
        shutil.copy(models / name, folder)
    with (folder / NAME).open("r+b") as graph:
        graph.seek(1_000_000)
        graph.write(b"damaged")


@pytest.mark.costly
async def test_a_damaged_graph_is_built_again_and_gives_the_same_vectors(
    tmp_path: Path, models: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="core.embeddings")
    whole = LocalEmbedder(installed_model(), models)
    expected = await whole.embed_passages(["The keeper trims the wick."])
    whole.close()
    damaged_copy(models, tmp_path)
    embedder = LocalEmbedder(installed_model(), tmp_path)
    vectors = await embedder.embed_passages(["The keeper trims the wick."])
    embedder.close()
    assert np.array_equal(vectors, expected)
    assert len(caplog.records) == 1
    assert is_intact(tmp_path / NAME)


async def test_a_damaged_tokenizer_is_refused_though_the_graph_is_cached(
    tmp_path: Path, models: Path
) -> None:
    (tmp_path / "model.safetensors").symlink_to(installed_model() / "model.safetensors")
    text = (installed_model() / "tokenizer.json").read_text("utf-8")
    (tmp_path / "tokenizer.json").write_text(text.replace("harbor", "harbar", 1), "utf-8")
    embedder = LocalEmbedder(tmp_path, models)
    with pytest.raises(ConfigurationError, match=r"tokenizer\.json is not the published one"):
        await embedder.embed_passages(["harbor"])
    embedder.close()


async def test_a_closed_model_fails_in_a_way_that_is_foreseen(models: Path) -> None:
    embedder = LocalEmbedder(installed_model(), models)
    embedder.close()
    with pytest.raises(EmbeddingError, match="closed"):
        await embedder.embed_queries(["What is missed while a bot stops, is not passed over."])


@pytest.mark.costly
def test_the_graph_is_the_one_that_stored_vectors_were_made_with(tmp_path: Path) -> None:
    """Another graph needs another GRAPH_VERSION, and every course to be ingested again."""
    build_graph(installed_model() / "model.safetensors", tmp_path / NAME)
    with (tmp_path / NAME).open("rb") as graph:
        digest = hashlib.file_digest(graph, "sha256").hexdigest()
    assert digest == "280074e4e1a6b7eead50782a8c1197bf567ece47e5e376b768f818a2fbf101c1"
