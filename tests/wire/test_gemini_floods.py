"""Whatever a model sends, the book answers within the question's time, and the loop stays free."""

import itertools
import json
import logging
import random
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from core.domain import EXTRACTIVE, AgentResponse, Outcome
from tests.books import COVERED, LIGHTHOUSE
from tests.wire.answering import House, asking, open_house
from tests.wire.floods import LONGEST_SLICE, Slices, nested, places, replaced
from tests.wire.gemini_server import GeminiServer
from tests.wire.raw_gemini import RawGemini
from tests.wire.scripted_models import answer as written_as
from tests.wire.scripted_models import claim

pytestmark = pytest.mark.costly

SENTENCE = "The keeper trims the wick of the lamp every four hours."
"""The third that a model reads of the question."""
PLACE = 3
CLAIM = json.dumps(claim(SENTENCE, PLACE))
CITED = written_as(claim(SENTENCE, PLACE))


def event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def says(text: str, **fields: Any) -> dict[str, Any]:
    part = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}
    return {"candidates": [part], **fields}


def unfinished(text: str) -> bytes:
    return event({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]})


def wants(*calls: Any) -> bytes:
    parts = [{"functionCall": {"name": "retrieve", "args": args}} for args in calls]
    return event(
        {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    )


FLOODS: dict[str, Callable[[], Iterable[bytes]]] = {
    "lists 100,000 deep": lambda: [b"data: " + b"[" * 100_000 + b"]" * 100_000 + b"\n\n"],
    "arguments 500 deep": lambda: [wants({"query_text": "lens", "x": nested(500)})],
    "arguments 40 deep": lambda: itertools.repeat(wants({"query_text": "x", "y": nested(40)}), 1),
    "a thousand calls": lambda: [wants(*[{"query_text": "lens"}] * 1_000)],
    "a section's name of 400,000 characters": lambda: [
        wants({"query_text": "lens", "section_filter": "Lamps " * 66_000})
    ],
    "a passage of 400,000 characters": lambda: [
        wants({"query_text": "lens", "selected_text": "The lens turns. " * 25_000})
    ],
    "calls piece by piece": lambda: itertools.repeat(wants({"query_text": "lens"})),
    "5,000 claims": lambda: [unfinished(f"[{CLAIM}, " * 200)] * 25 + [event(says(""))],
    "5,000 answers": lambda: [unfinished(f"{CITED}\n" * 20)] * 250 + [event(says(""))],
    "claims of many sentences": lambda: (
        [unfinished(written_as(claim(SENTENCE, *range(1, 500))))] * 60 + [event(says(""))]
    ),
    "lists in a claim": lambda: [event(says('{"claims": [{"text": "A.", "x": ' + "[" * 30_000))],
    "open brackets": lambda: [event(says("{" * 30_000))],
    "quotation marks": lambda: [event(says('{"' * 15_000))],
    "backslashes": lambda: [event(says('{"claims": [{"text": "' + "\\" * 30_000))],
    "plain lines": lambda: [unfinished(f"{SENTENCE} [1]\n" * 20)] * 250 + [event(says(""))],
    "words without end": lambda: itertools.repeat(unfinished("word " * 100)),
    "nothing without end": lambda: itertools.repeat(event({"candidates": []})),
    "blank lines without end": lambda: itertools.repeat(b"\n" * 1_000),
    "a line without end": lambda: itertools.repeat(b"data: " + b"x" * 60_000),
    "an object without end": lambda: itertools.chain(
        [b"data: {"], itertools.repeat(b'"a":1,' * 99)
    ),
    "many events at once": lambda: itertools.repeat(unfinished("a ") * 600, 50),
    "5,000 parts": lambda: [
        event({"candidates": [{"content": {"parts": [{"text": "a"}] * 5_000}}]}),
    ],
    "a claim of 30,000 characters": lambda: [
        event(says(written_as(claim("the lens turns " * 2_000, 1))))
    ],
    "backticks": lambda: [event(says("`" * 30_000))],
    "angle brackets": lambda: [event(says("<" * 30_000))],
    "the shortest sentences": lambda: [event(says(written_as(claim("A b. " * 950, 1))))],
    "one word": lambda: [event(says(written_as(claim("a" * 4_700, 1))))],
    "numbers": lambda: [event(says(written_as(claim("1 " * 2_350, 1))))],
    "a number of 6,000 digits": lambda: [
        b'data: {"usageMetadata":{"promptTokenCount":' + b"9" * 6_000 + b"}}\n\n"
    ],
    "150,000 values of a wrong type": lambda: [event({"candidates": [1] * 150_000})],
    "many small events, their lines ended by CR": lambda: [b"data: {}\r\r" * 10_000],
    "an event of many lines, their CR and LF apart": lambda: itertools.chain(
        [b'data: {"candidates":[\r\n'], itertools.cycle([b"data: {},\r", b"\n"])
    ),
    "an error of many lines with blank ones between": lambda: itertools.chain(
        [b'{"candidates":[{"content":{"parts":[\n'],
        itertools.repeat(b'{"text":"a"},\n\n', 12_000),
        [b'{"text":"a"}]}}]}\n'],
    ),
    "an error whose strings hide lists": lambda: [
        b'{"candidates":"\n","x":[' + b"[]," * 100_000 + b"[]]}\n"
    ],
    "an error of lists in lists": lambda: itertools.repeat(b'{"a":[\n\n', 12_000),
    "bytes that are no text": lambda: [b'data: {"candidates":[{"content":"\xff\xfe"}]}\n\n'],
}
USAGES = [-5, -(10**12), 10**30, 1e30, 1.5, "many", True, None, [], {}]
ODD = [None, -1, 0, 1e30, -0.5, 10**40, True, "", "x" * 5_000, [], {}, [[]], [{}], nested(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flooded")


@pytest.fixture
async def house(folder: Path, models: Path, raw: RawGemini) -> AsyncIterator[House]:
    """Services that ask a Gemini which sends anything; it needs no more of a server than these."""
    server = cast("GeminiServer", raw)
    async with open_house(folder, models, server, LIGHTHOUSE) as house:
        raw.body = [event(says(CITED))]
        await house.agent.answer(asking(COVERED))  # what is loaded once is no slice of an answer
        raw.body = [b"data: {}\n\n"]
        await house.agent.answer(asking(COVERED))
        yield house


async def answer_of(house: House) -> AgentResponse:
    house.services.models.chat("gemini").breaker.succeeded()  # one flood, and not the next
    return await house.agent.answer(asking(COVERED))


@pytest.mark.parametrize("flood", FLOODS, ids=str)
async def test_a_flood_ends_in_an_answer(
    house: House,
    raw: RawGemini,
    flood: str,
    slices: Slices,
    caplog: pytest.LogCaptureFixture,
) -> None:
    raw.body = FLOODS[flood]()
    slices.clear()
    answer = await answer_of(house)
    assert answer.outcome is not Outcome.ERROR
    assert slices.longest() <= LONGEST_SLICE
    assert [r for r in caplog.records if r.exc_info or r.levelno >= logging.ERROR] == []


PARTS = b'{"candidates":[{"content":{"parts":[%s{}]},"finishReason":"STOP"}]}'
WHOLE_FLOODS = {
    "12,000 parts, a blank line between each two": PARTS % (b'{"text":"a"},\n\n' * 12_000),
    "lists 12,000 deep, a blank line between each two": b'{"a":' + b"[\n\n" * 12_000,
    "150,000 values of a wrong type": b'{"candidates":[' + b"1," * 150_000 + b"1]}",
}


@pytest.mark.parametrize("flood", WHOLE_FLOODS, ids=str)
async def test_a_flood_that_is_no_stream_ends_in_an_answer(
    folder: Path,
    models: Path,
    raw: RawGemini,
    flood: str,
    slices: Slices,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = cast("GeminiServer", raw)
    async with open_house(folder, models, server, LIGHTHOUSE, stream=False) as house:
        raw.body = [json.dumps(says(CITED)).encode()]
        written = await house.agent.answer(asking(COVERED))
        assert written.model_name != EXTRACTIVE, "an ordinary reply is read"
        raw.body = [WHOLE_FLOODS[flood]]
        slices.clear()
        answer = await answer_of(house)
    assert answer.outcome is not Outcome.ERROR
    assert slices.longest() <= LONGEST_SLICE
    assert "too much" in caplog.text
    assert [r for r in caplog.records if r.exc_info or r.levelno >= logging.ERROR] == []


async def test_a_reply_that_was_packed_is_not_unpacked(house: House, raw: RawGemini) -> None:
    raw.body, raw.headers = [b"\x1f\x8b" + b"0" * 100], {"content-encoding": "gzip"}
    answer = await answer_of(house)
    assert (answer.outcome, answer.model_name) == (Outcome.ANSWERED, EXTRACTIVE)


@pytest.mark.parametrize("count", USAGES, ids=str)
async def test_tokens_that_cannot_be_true_are_not_counted(
    house: House, raw: RawGemini, count: Any
) -> None:
    usage = {"promptTokenCount": count, "candidatesTokenCount": count, "thoughtsTokenCount": count}
    raw.body = [event(says(CITED, usageMetadata=usage))]
    answer = await answer_of(house)
    assert answer.outcome is not Outcome.ERROR
    assert 0 <= answer.tokens_used < 100_000


WHOLE = says(
    CITED,
    usageMetadata={"promptTokenCount": 10, "candidatesTokenCount": 5},
    promptFeedback={"blockReason": "BLOCK_REASON_UNSPECIFIED", "safetyRatings": []},
    modelVersion="m",
    responseId="r",
)
WHOLE["candidates"][0] |= {
    "index": 0,
    "safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}],
    "citationMetadata": {"citationSources": [{"startIndex": 0, "endIndex": 9, "uri": "u"}]},
}
CALLING = json.loads(wants({"query_text": "lens", "top_k": 3})[6:])
ODDITIES = [
    replaced(whole, path, odd)
    for whole in (WHOLE, CALLING)
    for path in places(whole)
    for odd in ODD
]


@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
async def test_an_odd_value_anywhere_in_a_reply_ends_in_an_answer(
    house: House, raw: RawGemini, every: int, caplog: pytest.LogCaptureFixture
) -> None:
    odd = random.Random(4711).sample(ODDITIES, len(ODDITIES) // every)
    for value in odd:
        raw.body = [event(value)]
        answer = await answer_of(house)
        assert answer.outcome is not Outcome.ERROR, value
        assert 0 <= answer.tokens_used < 100_000, value
    assert [r for r in caplog.records if r.exc_info or r.levelno >= logging.ERROR] == []
    print(f"{len(odd)} odd replies, each answered")


@pytest.mark.parametrize("odd", [*ODD, [nested(200)], [{"values": [1e999]}]], ids=str)
async def test_an_odd_reply_to_an_embedding_ends_in_a_sentence(raw: RawGemini, odd: Any) -> None:
    from core.domain.errors import EmbeddingError
    from core.providers.embeddings.remote import GeminiEmbedder
    from core.providers.gemini import GeminiClient

    client = GeminiClient("test-key", base_url=raw.url)
    raw.body = [json.dumps({"embeddings": odd}).encode()]
    with pytest.raises(EmbeddingError):
        await GeminiEmbedder(client, dimensions=3).embed_queries(["What turns the lens?"])
    await client.aclose()


@pytest.mark.parametrize("value", [b"{}", b'""', b"1", b"[]"], ids=bytes.decode)
async def test_odd_vectors_do_not_hold_up_the_loop(
    raw: RawGemini, value: bytes, slices: Slices
) -> None:
    from core.domain.errors import EmbeddingError
    from core.providers.embeddings.remote import GeminiEmbedder
    from core.providers.gemini import GeminiClient

    client = GeminiClient("test-key", base_url=raw.url)
    embedder = GeminiEmbedder(client, dimensions=3)
    raw.body = [b'{"embeddings":[{"values":[1,2,3]}]}']
    await embedder.embed_queries(["What turns the lens?"])
    raw.body = [b'{"embeddings":[{"values":[' + (value + b",") * 250_000 + b"1]}]}"]
    slices.clear()
    with pytest.raises(EmbeddingError, match="too much"):
        await embedder.embed_queries(["What turns the lens?"])
    await client.aclose()
    assert slices.longest() <= LONGEST_SLICE


async def test_vectors_without_end_end_in_a_sentence(raw: RawGemini) -> None:
    from core.domain.errors import EmbeddingError
    from core.providers.embeddings.remote import GeminiEmbedder
    from core.providers.gemini import GeminiClient

    client = GeminiClient("test-key", base_url=raw.url)
    raw.body = itertools.chain([b'{"embeddings":[{"values":['], itertools.repeat(b"0.25," * 9_000))
    with pytest.raises(EmbeddingError, match="too much"):
        await GeminiEmbedder(client, dimensions=3).embed_queries(["What turns the lens?"])
    await client.aclose()
