"""Prints how many files of the product a question touches: `python -m tests.bench.touched`."""

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bot.embedders import installed_model
from core.providers.embeddings.local import LocalEmbedder
from tests.bench.touched.questions import Way, at_terminal, on_discord
from tests.wire.discord_bot import make_template


def main() -> None:
    """Ask at a terminal and on Discord, and print what was touched."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", action="store_true", help="print each function, in order")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="glossator-touched-") as name:
        folder = Path(name)
        models = folder / "models"
        asyncio.run(_build_model(models))
        template = make_template(folder / "template", models, "arden")
        ways = {
            "a question at the terminal": asyncio.run(at_terminal(template, folder / "terminal")),
            "a question and its follow-up on Discord": asyncio.run(
                on_discord(template, folder / "discord")
            ),
        }
    for asked, way in ways.items():
        print("\n".join(_lines(asked, way, in_full=options.functions)))


def _lines(asked: str, way: Way, *, in_full: bool) -> Iterator[str]:
    yield f"{asked}: {len(way.files)} files, {len(way.calls)} functions"
    if in_full:
        yield from (f"  {file} {function}" for file, function in way.calls)
        return
    rooms = Counter(str(PurePosixPath(file).parent) for file in way.files)
    yield from (f"  {count:3} {room}" for room, count in sorted(rooms.items()))


async def _build_model(models: Path) -> None:
    embedder = LocalEmbedder(installed_model(), models)
    await embedder.warm_up()
    embedder.close()


if __name__ == "__main__":
    main()
