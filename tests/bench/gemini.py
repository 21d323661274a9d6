"""What the checks cost a reader who waits for Gemini: `python -m tests.bench.gemini`.

A local Gemini writes at the pace of a real one. Each question is asked of the product and of the
bare SDK, by turns.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.embedders import installed_model
from core.composition import TextDelta
from core.embeddings.local import LocalEmbedder
from core.models import AgentResponse
from tests.bench.figures import machine, milliseconds, percentile
from tests.books import LIGHTHOUSE
from tests.wire.answering import House, asking, open_house
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_prompts import read_prompt
from tests.wire.gemini_replies import Reply
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import cite

FIRST_AFTER, EVERY, PIECE = 0.4, 0.02, 16
"""Seconds before the first piece and between two, and characters of a piece: 800 a second."""
QUESTION = "How often does the keeper trim the wick of the lamp?"
CLAIMS = (
    ("Every four hours the keeper trims the wick.", "The keeper trims the wick of the lamp every"),
    ("An untrimmed wick smokes.", "An untrimmed wick smokes, and the soot darkens the prisms"),
    ("Its soot darkens the prisms.", "An untrimmed wick smokes, and the soot darkens the prisms"),
)


@dataclass(frozen=True)
class Timing:
    """Seconds from the question on."""

    first: float
    """Until the first sentence can be read, its citation included."""
    whole: float


async def measure(rounds: int) -> None:
    """Ask both by turns, and print the comparison."""
    with tempfile.TemporaryDirectory(prefix="glossator-bench-") as name:
        folder = Path(name)
        embedder = LocalEmbedder(installed_model(), folder / "models")
        await embedder.warm_up()
        embedder.close()
        async with GeminiServer() as server:
            server.answer_with(_writing)
            async with open_house(folder / "house", folder / "models", server, LIGHTHOUSE) as house:
                await _ask(house)
                pairs = [(await _ask(house), await _bare(house)) for _ in range(rounds)]
    _report([ours for (ours, _, _), _ in pairs], [bare for _, bare in pairs], pairs)


def _report(ours: list[Timing], bare: list[Timing], pairs: list[Any]) -> None:
    first = [mine.first / theirs.first for mine, theirs in zip(ours, bare, strict=True)]
    beyond = [mine.whole - retrieval - theirs.whole for (mine, retrieval, _), theirs in pairs]
    unstored = [answered - retrieval - theirs.whole for (_, retrieval, answered), theirs in pairs]
    print(machine())
    print(f"{len(ours)} questions, each asked of the product and of the bare SDK")
    print(f"first sentence, product      {milliseconds([t.first for t in ours])}")
    print(f"first sentence, bare stream  {milliseconds([t.first for t in bare])}")
    print(
        f"first sentence over the bare stream's: {statistics.median(first):.3f}x, "
        f"p95 {percentile(first, 95):.3f}x (retrieval included)"
    )
    print(f"overhead beyond retrieval and model, stored:   {milliseconds(beyond)}")
    print(f"overhead beyond retrieval and model, answered: {milliseconds(unstored)}")


def _writing(call: GeminiCall) -> Reply:
    passages = read_prompt(call).passages.items()
    texts = {number: " ".join(text.split()) for number, text in passages}
    written = [
        cite(claim, next(number for number, text in texts.items() if quote in text), quote)
        for claim, quote in CLAIMS
    ]
    return Reply(" ".join(written), first_after=FIRST_AFTER, every=EVERY, piece_size=PIECE)


async def _ask(house: House) -> tuple[Timing, float, float]:
    """Return the timing, the seconds of retrieval, and those until the answer was complete."""
    started = time.perf_counter()
    first, answer = 0.0, None
    async with aclosing(house.agent.stream(asking(QUESTION))) as events:
        async for event in events:
            if isinstance(event, TextDelta) and not first:
                first = time.perf_counter() - started
            if isinstance(event, AgentResponse):
                answer = event
    assert answer is not None
    assert answer.claims_written == len(CLAIMS), answer.response_text
    assert not answer.claims_dropped, answer.response_text
    whole = time.perf_counter() - started
    return Timing(first, whole), answer.retrieval_time_ms / 1_000, answer.response_time_ms / 1_000


async def _bare(house: House) -> Timing:
    """Send the prompt of the last question once more, by the SDK alone."""
    sent = next(call for call in reversed(house.server.requests) if call.method != "countTokens")
    models = await house.services.gemini.client.models()
    started = time.perf_counter()
    first, text = 0.0, ""
    stream = await models.generate_content_stream(model=sent.model, contents=sent.body["contents"])
    async for chunk in stream:
        text += chunk.text or ""
        if "</cite>" in text and not first:
            first = time.perf_counter() - started
    return Timing(first, time.perf_counter() - started)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, metavar="N")
    asyncio.run(measure(parser.parse_args().rounds))
