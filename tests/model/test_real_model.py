"""The kind `openai` before a real model: replies, forms, log-probabilities, limits.

Fetch it with `make fetch-model`; without it, these tests are skipped.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import pytest

from core.answering.grounding.judge import Judge, JudgedClaim, Setting
from core.providers.base import ChatMessage, ChatRequest, Deadline, Finish, OutputForm, Schema, Tool
from core.providers.capabilities import ProviderFailure
from core.providers.guarded import GuardedModel
from core.providers.openai import OpenAIClient, OpenAIWire
from core.providers.pacing import Timeouts
from tests.model.serving import CONTEXT, served
from tests.model.weights import folder, server_python, weights
from tests.wire.chat_stations import NAMES, Heard, hear

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("real model"),
    pytest.mark.skipif(
        not (weights().exists() and server_python().exists()),
        reason=f"there is no model in {folder()}: fetch 1.1 GB with 'make fetch-model'",
    ),
]
SENTENCES = """\
[1] The keeper trims the wick of the lamp every four hours.
[2] An untrimmed wick smokes, and its soot darkens the prisms."""
CLAIMS = Schema(
    "answer",
    {
        "type": "object",
        "properties": {
            "claims": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string"},
                        "sentences": {"type": "array", "items": {"type": "integer"}},
                    },
                    "required": ["text", "sentences"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["claims"],
        "additionalProperties": False,
    },
    "Write each claim on a line of its own, and the numbers of its sentences in brackets.",
)
_SECONDS = 240.0


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with served() as url:
        yield url


@pytest.fixture
async def model(address: str) -> AsyncIterator[GuardedModel]:
    client = OpenAIClient(None, base_url=address, names=NAMES, timeout=_SECONDS)
    patient = Timeouts(first_piece=_SECONDS, silence=60.0)
    model = GuardedModel(OpenAIWire(client, "qwen"), timeouts=patient, concurrency=1)
    yield model
    await model.aclose()


def asking(question: str, system: str = "You are brief.", **changes: object) -> ChatRequest:
    fields: dict[str, object] = {"max_tokens": 120, "temperature": 0.0, **changes}
    return ChatRequest(system, [ChatMessage("user", question)], **fields)  # type: ignore[arg-type]


async def heard_of(model: GuardedModel, request: ChatRequest) -> Heard:
    return await hear(model, request, Deadline.after(_SECONDS))


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_it_answers_and_counts_its_tokens(model: GuardedModel, stream: bool) -> None:
    incoming = await heard_of(model, asking("Say hello in one word.", stream=stream))
    assert "hello" in incoming.text.lower()
    assert incoming.end.finish is Finish.STOP
    assert 10 < incoming.end.query_tokens < 60
    assert 0 < incoming.end.response_tokens < 20


async def test_a_shared_beginning_is_read_once(model: GuardedModel) -> None:
    system = "You answer questions about this text.\n" + SENTENCES * 5
    for question in ("What trims the keeper?", "What darkens the prisms?"):
        end = (await heard_of(model, asking(question, system, max_tokens=8))).end
    assert end.cached_tokens > 50


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
async def test_a_schema_holds_it_to_claims_with_numbers(model: GuardedModel, stream: bool) -> None:
    system = f"Answer from these sentences, and give the numbers of those you used.\n{SENTENCES}"
    request = asking(
        "How often does the keeper trim the wick?", system, schema=CLAIMS, stream=stream
    )
    incoming = await heard_of(model, request)
    claims = json.loads(incoming.text)["claims"]
    assert claims
    assert all(set(claim) == {"text", "sentences"} for claim in claims)
    assert all(type(n) is int for claim in claims for n in claim["sentences"])
    assert model.form() is OutputForm.SCHEMA


async def test_its_log_probabilities_tell_true_from_false(model: GuardedModel) -> None:
    sentences = ("The keeper trims the wick of the lamp every four hours.",)
    told = ("Every four hours, the keeper trims the wick.", "The keeper lights no lamp.")
    judge = Judge(model, wait=_SECONDS)
    setting = Setting("What does the keeper do?")
    true, false = [(await judge.judge([JudgedClaim(text, sentences)], setting))[0] for text in told]
    assert true is not None
    assert false is not None
    assert true > false


async def test_a_limit_of_tokens_and_a_reader_who_leaves_end_a_reply(model: GuardedModel) -> None:
    counting = asking("Count from one to a hundred in words.", max_tokens=6)
    assert (await heard_of(model, counting)).end.finish is Finish.LENGTH
    reported = Heard().reported
    endless = asking("Count from one to a thousand in words.", max_tokens=900)
    reply = model.reply(endless, Deadline.after(_SECONDS), reported.append)
    async with aclosing(reply):
        await anext(reply)
    assert reported[0].finish is Finish.BROKEN
    assert (await heard_of(model, asking("Say hello in one word."))).text


async def test_a_tool_may_be_offered_to_it(model: GuardedModel) -> None:
    schema = {"type": "object", "properties": {"query_text": {"type": "string"}}}
    tool = Tool("retrieve", "Looks into the book.", {**schema, "required": ["query_text"]})
    end = (await heard_of(model, asking("Look up 'wick' in the book.", tools=[tool]))).end
    assert end.finish in (Finish.TOOL_CALLS, Finish.STOP, Finish.LENGTH)
    assert all(call.name == "retrieve" for call in end.calls)


async def test_the_server_says_how_long_its_context_is_and_refuses_more(
    model: GuardedModel,
) -> None:
    assert await model.ask_context() == CONTEXT
    await model.check()
    with pytest.raises(ProviderFailure, match="set `context`") as caught:
        await heard_of(model, asking("word " * 2 * CONTEXT))
    assert not caught.value.outage
