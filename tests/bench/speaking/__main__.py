"""`python -m tests.bench.speaking`: the held-out figures; `--fit` fits the head before."""

import argparse
import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.chat.attention import decision
from adapters.chat.speaking import SpeakingHead, shipped_head
from bot.embedders import installed_model
from core.providers.embeddings.base import Embedder
from core.providers.embeddings.local import LocalEmbedder
from tests.bench.speaking.fitting import features_of_all, fitted_head
from tests.bench.speaking.labelled import HELD_OUT, TRAIN, identity_of, labelled_in
from tests.bench.speaking.table import Decided, report


async def fit(embedder: Embedder) -> SpeakingHead:
    """Return the head that the train part gives."""
    lines = labelled_in(TRAIN)
    return fitted_head(await features_of_all(embedder, lines), lines, identity_of(TRAIN))


async def decided_by(head: SpeakingHead, embedder: Embedder) -> Decided:
    """Return what a head decides about the held-out lines."""
    lines = labelled_in(HELD_OUT)
    features = await features_of_all(embedder, lines)
    return [(x, decision(head, x.line, row)) for x, row in zip(lines, features, strict=True)]


async def _run(models: Path, *, fits: bool) -> None:
    embedder = LocalEmbedder(installed_model(), models)
    try:
        if fits:
            (await fit(embedder)).save()
            shipped_head.cache_clear()
        head = shipped_head()
        print("\n".join(report(await decided_by(head, embedder))))
    finally:
        embedder.close()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.speaking", description=__doc__)
    parser.add_argument("--fit", action="store_true", help="fit the head on the train part first")
    parser.add_argument("--models", type=Path, help="a folder that holds the model's graph")
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        asyncio.run(_run(chosen.models or Path(folder), fits=chosen.fit))


if __name__ == "__main__":
    main()
