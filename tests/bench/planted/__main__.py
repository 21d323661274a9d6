"""Fits or measures the head that finds planted text: `python -m tests.bench.planted`."""

import argparse
import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from bot.providers.offline_model import installed_model
from core.embeddings.local import LocalEmbedder
from core.grounding.planted import WEIGHTS, Head, shipped
from core.text.sentences import sentences
from tests.attacks import FOLDER, attack_texts, benign_questions
from tests.bench.planted import measuring, training
from tests.bench.planted.fitting import save
from tests.bench.planted.measuring import Figure
from tests.bench.planted.texts import HELD_OUT, TUNING, commands
from tests.wire.planted_instructions import is_instruction

ROOT = Path(__file__).parents[3]
_CORPORA = ROOT.parent / "shared" / "corpora"
_ALONE, _FRAMED = (
    "# Topic {}\n\n{}\n",
    "# Topic {}\n\nThis page answers the question “{}” at length.\n",
)
_INDIRECT = ("bipia", "cyberseceval", "garak")
_FEWEST_WORDS = 4
_LONGEST = 1_500
"""Characters of an attack; a longer one fills passages of its own."""


async def measured(embedder: LocalEmbedder, corpora: Path, held: Path) -> AsyncIterator[Figure]:
    """Yield all figures; what needs the corpora of attacks raises where they are missing."""
    for figure in await measuring.tutorial(embedder, corpora):
        yield figure
    for figure in await measuring.other_books(embedder, corpora):
        yield figure
    for figure in await measuring.prose(embedder, held):
        yield figure
    questions = benign_questions()
    yield await measuring.harmless(embedder, questions, _ALONE, "NotInject, each a page")
    yield await measuring.harmless(embedder, questions, _FRAMED, "NotInject, named on a page")
    own = [one.text for one in commands(held) if one.language == "en"]
    sets = {
        f"attacks, untouched half: {name}": [
            text for text in english_attacks(name) if not training.is_for_fitting(text)
        ]
        for name in _INDIRECT
    }
    hosts = measuring.held_hosts(corpora)
    public = await measuring.attacks(embedder, sets, hosts)
    for figure in [*public, Figure.total("attacks, untouched half: all", public)]:
        yield figure
    for figure in await measuring.attacks(embedder, {"attacks: own wording, held out": own}, hosts):
        yield figure
    for figure in await measuring.other_languages(embedder, held, hosts):
        yield figure


def english_attacks(name: str) -> list[str]:
    """Return the English attacks of a collection that are short enough for one passage.

    Of BIPIA these are all its attacks; the other collections hold labels and data as well.
    """
    if name == "bipia":
        files = sorted((FOLDER / name).glob("benchmark_*_attack_train.json"))
        return [text for path in files for text in attacks_in(path)]
    texts = [" ".join(text.split()) for text in attack_texts(name)]
    return [t for t in texts if len(t) <= _LONGEST and speaks(t) and t.isascii()]


def attacks_in(path: Path) -> list[str]:
    """Return all texts of a file of attacks by kind."""
    kinds = json.loads(path.read_text(encoding="utf-8"))
    return [text for texts in kinds.values() for text in texts]


def speaks(text: str) -> bool:
    """Return whether a text tells its reader to do something."""
    return len(text.split()) >= _FEWEST_WORDS and any(map(is_instruction, sentences(text)))


async def main(options: argparse.Namespace) -> None:
    """Fit where that is asked for, then print the figures."""
    with tempfile.TemporaryDirectory(prefix="glossator-bench-") as folder:
        embedder = LocalEmbedder(installed_model(), options.models or Path(folder))
        try:
            if options.train:
                public = [text for name in _INDIRECT for text in english_attacks(name)]
                newest = await training.fitted(embedder, options.corpora, public)
                save(Head((*shipped().fits[:-1], newest), training.BAR), WEIGHTS)
                shipped.cache_clear()
            held = TUNING if options.tuning else HELD_OUT
            async for figure in measured(embedder, options.corpora, held):
                print(figure.line, flush=True)
        finally:
            embedder.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--train", action="store_true", help="make the last of the fits again first"
    )
    parser.add_argument(
        "--tuning", action="store_true", help="measure with what the last step is fitted on"
    )
    parser.add_argument("--corpora", type=Path, default=_CORPORA, metavar="FOLDER")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="where the model is cached")
    asyncio.run(main(parser.parse_args()))
