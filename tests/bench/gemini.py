"""What the checks cost a reader who waits for Gemini: `python -m tests.bench.gemini`.

With `--judge MILLISECONDS`, a model judges every claim and takes so long for each.
A local Gemini writes at the pace of a real one, in another process. Each question is asked of the
product and of the bare SDK, by turns. Question, claims and what they quote are others each time,
so that nothing is remembered from the time before.
"""

import argparse
import asyncio
import math
import re
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path

from aiohttp import web

from bot.embedders import installed_model
from core.answering.agent import Agent
from core.answering.context import TextDelta
from core.domain import AgentResponse
from core.providers.embeddings.local import LocalEmbedder
from core.providers.gemini import GeminiClient
from tests.bench.distant_gemini import FIRST_AFTER, DistantGemini, Served, distant_gemini
from tests.bench.figures import machine, milliseconds, percentile
from tests.wire.answering import House, asking, open_house
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_prompts import number_of, read_prompt
from tests.wire.openai_server import ChatReply, Exchange, OpenAIServer
from tests.wire.scripted_models import answer, claim

TOWERS = [
    "".join(parts)
    for parts in product(
        ("Arden", "Bel", "Corran", "Dun", "Esk", "Fal", "Gorran", "Hol", "Inver", "Kel"),
        ("moor", "haven", "sands", "rock", "ness", "firth", "combe", "stack"),
    )
]
"""Lighthouses that there are not."""
PAGE = """\
# The lamp of {tower}

The lamp of the {tower} lighthouse burns colza oil and is lit every evening at sunset. Its flame
stands inside a lens of {prisms} glass prisms, which turns its light into one narrow beam.

## Trimming the wick at {tower}

The keeper of {tower} trims the wick of the lamp every {hours} hours. An untrimmed wick smokes, and
its soot darkens the {prisms} prisms of {tower} until ships no longer see the beam.

## The clockwork of {tower}

A clockwork driven by a falling weight turns the lens of {tower} once in {turn} seconds. The keeper
winds the weight up again every second hour, because it reaches the ground after that time.
"""
QUESTION = "How often does the keeper of {tower} trim the wick of the lamp?"
CLAIMS = (
    (
        "Every {hours} hours the keeper of {tower} trims the wick.",
        "The keeper of {tower} trims the wick of the lamp every {hours} hours.",
    ),
    (
        "At {tower} the soot of an untrimmed wick darkens {prisms} prisms.",
        "its soot darkens the {prisms} prisms of {tower} until ships no longer see the beam.",
    ),
    (
        "The lens of {tower} turns once in {turn} seconds, driven by a falling weight.",
        "A clockwork driven by a falling weight turns the lens of {tower} once in {turn} seconds.",
    ),
)
_UNHURRIED = {"first_sentence": 120.0, "whole": 240.0}
"""Limits of time that even a busy machine keeps."""
_WARM_UP = 3
"""Questions that are not counted."""


@dataclass(frozen=True)
class Asked:
    """Seconds from the question on, and of processor time."""

    first: float
    """Until the first sentence can be read, its citation included."""
    complete: float
    """Until every sentence is written and checked."""
    stored: float
    """Until the reader has the answer that is stored."""
    whole: float
    """Until its tokens are counted, too."""
    retrieval: float
    model: float
    """What the server took, by its own clock."""
    calls: int
    """Of the model that writes."""
    processor: float
    """All threads of the asking process, the embedding model's included."""


@asynccontextmanager
async def judging(seconds: float | None) -> AsyncIterator[Mapping[str, str] | None]:
    """Yield the table of a judge that takes so long for each verdict; None: there is none."""
    if seconds is None:
        yield None
        return

    async def strike(exchange: Exchange) -> web.StreamResponse:
        await asyncio.sleep(seconds)
        return await exchange.respond()

    odds = {"yes": math.log(0.95), "no": math.log(0.05)}
    async with OpenAIServer() as server:
        server.answer_with(lambda _: ChatReply("yes", logprobs=(odds,)))
        server.fail(strike, math.inf)
        key = {"kind": "openai", "model": "local-model", "api_key": server.api_key}
        key |= {"judge_wait": "60"}
        yield {**key, "base_url": server.url}


async def measure(rounds: int, judge: float | None, first_after: float) -> None:
    """Ask both by turns, and print the comparison."""
    towers = list(islice(TOWERS, rounds + _WARM_UP))
    book = {f"{tower}.md": PAGE.format_map(_facts(tower)) for tower in towers}
    with tempfile.TemporaryDirectory(prefix="glossator-bench-") as name:
        folder = Path(name)
        embedder = LocalEmbedder(installed_model(), folder / "models")
        await embedder.warm_up()
        embedder.close()
        with distant_gemini(write_answer, first_after) as gemini:
            async with (
                judging(judge) as table,
                open_house(
                    folder / "house",
                    folder / "models",
                    gemini.server,
                    book,
                    answer=_UNHURRIED,
                    judge=table,
                ) as house,
            ):
                agent = house.agent
                pairs = [await _round(house, agent, gemini, tower) for tower in towers]
    _report(pairs[_WARM_UP:])


async def _round(
    house: House, agent: Agent, gemini: DistantGemini, tower: str
) -> tuple[Asked, Asked]:
    ours, served = await _ask(agent, gemini, QUESTION.format(tower=tower))
    return ours, await _bare(house, gemini, served)


def _report(pairs: list[tuple[Asked, Asked]]) -> None:
    ours, bare = [mine for mine, _ in pairs], [theirs for _, theirs in pairs]
    first = [mine.first / theirs.first for mine, theirs in pairs]
    floor = [theirs.whole - theirs.model for theirs in bare]
    print(machine())
    print(f"{len(pairs)} questions, each asked of the product and of the bare SDK; median / p95")
    print(f"first sentence, product         {milliseconds([a.first for a in ours])}")
    print(f"first sentence, bare stream     {milliseconds([a.first for a in bare])}")
    print(
        f"first sentence over the bare stream's: {statistics.median(first):.3f}x, "
        f"p95 {percentile(first, 95):.3f}x (retrieval included)"
    )
    print(f"calls that write, a question    {statistics.mean(a.calls for a in ours):.2f}")
    print(f"retrieval                       {milliseconds([a.retrieval for a in ours])}")
    print(f"bare SDK beyond the model       {milliseconds(floor)}")
    print("product beyond retrieval, the model and the median of the bare SDK:")
    for name in ("complete", "stored", "whole"):
        beyond = [getattr(a, name) - a.retrieval - a.model - statistics.median(floor) for a in ours]
        quarter = -(-len(beyond) // 4)
        parts = [beyond[start : start + quarter] for start in range(0, len(beyond), quarter)]
        shown = " ".join(f"{1e3 * percentile(part, 95):.1f}" for part in parts)
        print(f"  until {name:<10}              {milliseconds(beyond)}; p95 of quarters {shown}")
    print(f"processor time, product         {milliseconds([a.processor for a in ours])}")
    print(f"processor time, bare SDK        {milliseconds([a.processor for a in bare])}")


def _facts(tower: str) -> dict[str, str | int]:
    number = TOWERS.index(tower)
    return {"tower": tower, "hours": 3 + number, "prisms": 112 + number, "turn": 240 + number}


def write_answer(call: GeminiCall) -> str:
    """Return the claims about the lighthouse that is asked about, each with its quote."""
    prompt = read_prompt(call)
    tower = re.findall(r"keeper of (\w+)", prompt.question)[0]
    written = []
    for said, quoted in CLAIMS:
        words, quote = (text.format_map(_facts(tower)) for text in (said, quoted))
        written.append(claim(words, number_of(prompt, quote)))
    return answer(*written)


async def _ask(agent: Agent, gemini: DistantGemini, question: str) -> tuple[Asked, Served]:
    started, used = time.perf_counter(), time.process_time()
    first, stored, answer = 0.0, 0.0, None
    async with aclosing(agent.stream(asking(question))) as events:
        async for event in events:
            if isinstance(event, TextDelta) and not first:
                first = time.perf_counter() - started
            if isinstance(event, AgentResponse):
                answer, stored = event, time.perf_counter() - started
    whole = time.perf_counter() - started
    processor = time.process_time() - used
    assert answer is not None
    assert answer.claims_written == len(CLAIMS), answer.response_text
    assert not answer.claims_dropped, answer.response_text
    served = gemini.served()
    asked = Asked(
        first=first,
        complete=answer.response_time_ms / 1_000,
        stored=stored,
        whole=whole,
        retrieval=answer.retrieval_time_ms / 1_000,
        model=served.seconds,
        calls=1 + gemini.further(),
        processor=processor,
    )
    return asked, served


async def _bare(house: House, gemini: DistantGemini, before: Served) -> Asked:
    """Send the prompt of the question before once more, by the SDK alone."""
    client = house.services.models.client("gemini")
    assert isinstance(client, GeminiClient)
    models = await client.models()
    started, used = time.perf_counter(), time.process_time()
    first, text = 0.0, ""
    stream = await models.generate_content_stream(model=before.model, contents=before.contents)
    async for chunk in stream:
        text += chunk.text or ""
        if "}" in text and not first:  # the first claim is whole
            first = time.perf_counter() - started
    whole = time.perf_counter() - started
    processor = time.process_time() - used
    model = gemini.served().seconds
    return Asked(first, whole, whole, whole, 0.0, model, 1, processor)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, metavar="N")
    parser.add_argument("--judge", type=float, metavar="MILLISECONDS")
    parser.add_argument("--first-words", type=float, default=1_000 * FIRST_AFTER, metavar="MS")
    given = parser.parse_args()
    judge = None if given.judge is None else given.judge / 1_000
    asyncio.run(measure(given.rounds, judge, given.first_words / 1_000))
