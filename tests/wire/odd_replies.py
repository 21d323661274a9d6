"""What models of one's own and the proxies before them really send, and what a reader sees of it.

`python -m tests.wire.odd_replies` asks the product each of them, from the official SDK at one end
to the text of an answer at the other, and prints the table of the handbook's page on models.
"""

import asyncio
import json
import logging
import re
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from aiohttp import web

from bot.services import Services
from bot.settings import AnswerSettings, Settings
from bot.wiring import open_services
from core.answering.agent import Agent
from tests.books import COVERED, LIGHTHOUSE, write_files
from tests.wire.answering import asking, ingest, secrets
from tests.wire.http_shell import HttpShell

Json = dict[str, Any]

TRIM = "The keeper trims the wick of the lamp every four hours."
SMOKE = (
    "An untrimmed wick smokes, and the soot darkens the prisms until ships no longer see the beam."
)
TAGS = "A model writes its thoughts between `<think>` and `</think>`, and ends with `<|im_end|>`."
ABOUT_TAGS = "Between which tags does a model write its thoughts, and how does it end?"
PAGE = f"# How models write\n\n## Tags and tokens\n\n{TAGS}\n"
_THOUGHT = 'Okay, the asker wants the wick. I could say {"a": 1}. Let me look at sentence 3.'
_SECONDS = AnswerSettings(first_sentence=20.0, whole=40.0)
_BLANKS_EVERY = 0.05
_WRITTEN_AT_ONCE = 50
"""Bytes: events end anywhere in what arrives."""


def form(*claims: tuple[str, str]) -> str:
    """Return an answer in JSON; instead of its number, a claim has a mark of `NUMBERS`."""
    written = [{"text": text, "sentences": [mark], "example": False} for text, mark in claims]
    said = json.dumps({"claims": written, "missing": "nothing"}, ensure_ascii=False)
    return re.sub(rf'"([{"".join(NUMBERS)}])"', r"\1", said)


NUMBERS = ("\ue000", "\ue001", "\ue002")
"""Stand for the numbers that the prompt gives to the sentences; each is in one piece."""
JSON = form((TRIM, NUMBERS[0]), (SMOKE, NUMBERS[1]))
LINES = f"{TRIM} [{NUMBERS[0]}]\n{SMOKE} [{NUMBERS[1]}]\n"
ON_TAGS = form((TAGS, NUMBERS[2]))


@dataclass(frozen=True)
class Raw:
    """One response of a server, as its bytes."""

    body: bytes
    status: int = 200
    kind: str = "text/event-stream"
    then: Literal["end", "stall", "blanks", "drop"] = "end"
    """What follows: the end, silence, blanks for ever, or a cut connection."""


@dataclass(frozen=True)
class Odd:
    """An odd reply, and what is to come of it."""

    name: str
    replies: tuple[Raw, ...]
    """One for each try; the last is sent again."""
    cause: str | None = None
    """What the log says, where there is no answer by the model; None: there is one."""
    question: str = COVERED
    sees: tuple[str, ...] = (TRIM, SMOKE)
    in_lines: bool = False
    """Whether the service takes no form in JSON."""
    stream: bool = True


def event(value: Any, end: str = "\n") -> bytes:
    return f"data: {json.dumps(value)}{end}{end}".encode()


def chunk(delta: Any, finish: Any = None, **more: Any) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice], **more}


USAGE = {"prompt_tokens": 900, "completion_tokens": 60, "total_tokens": 960}
DONE = b"data: [DONE]\n\n"


def cut(text: str, size: int = 7) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def stream(text: str, *, finish: Any = "stop", done: bool = True, size: int = 7) -> bytes:
    """Return a reply as a stream, its text in pieces that end anywhere."""
    deltas: list[Json] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in cut(text, size)]
    events = b"".join(event(chunk(delta)) for delta in deltas)
    events += event(chunk({}, finish))
    events += event({**chunk({}), "choices": [], "usage": USAGE})
    return events + (DONE if done else b"")


def says(name: str, text: str, **more: Any) -> Odd:
    """Return a reply whose text alone is odd."""
    raw = {key: more.pop(key) for key in ("finish", "done", "size") if key in more}
    return Odd(name, (Raw(stream(text, **raw)),), **more)


def sends(name: str, *bodies: bytes, **more: Any) -> Odd:
    """Return a reply whose bytes are odd."""
    raw = {key: more.pop(key) for key in ("status", "kind", "then") if key in more}
    return Odd(name, tuple(Raw(body, **raw) for body in bodies), **more)


def deltas(*values: Any, first: bytes = b"", last: Any = "stop") -> bytes:
    return first + b"".join(event(chunk(one)) for one in values) + event(chunk({}, last)) + DONE


def whole(message: Json, finish: Any = "stop") -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"id": "c", "object": "chat.completion", "choices": [choice]}).encode()


def failing(name: str, status: int, **more: Any) -> Odd:
    """Return a service that is overloaded once."""
    error = json.dumps({"error": {"message": "busy", "type": "overloaded_error"}}).encode()
    return Odd(name, (Raw(error, status, "application/json"), Raw(stream(JSON))), **more)


def _search(arguments: Any, index: Any = 0, name: Any = "call_1") -> Json:
    function = {"name": "retrieve", "arguments": arguments}
    return {"tool_calls": [{"index": index, "id": name, "type": "function", "function": function}]}


CALL = '{"name": "retrieve", "arguments": {"query_text": "trim the wick"}}'
CHANNELS = "<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant<|channel|>final"
ERROR = {"error": {"message": "slot unavailable", "type": "server_error", "code": 500}}
HTML = b"<!DOCTYPE html>\n<html><body><h1>Sign in to the network</h1></body></html>\n"
ONLY_THOUGHT = "thought and wrote no answer"


def _thinking() -> Iterator[Odd]:
    for opens, closes in (
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<thought>", "</thought>"),
        ("<reasoning>", "</reasoning>"),
        ("<seed:think>", "</seed:think>"),
        ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"),
        ("<|begin_of_thought|>", "<|end_of_thought|>"),
        ("<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|inner_prefix|>", "<|inner_suffix|>"),
        ("<|channel>thought\n", "<channel|>"),
        ('<details type="reasoning" done="true">', "</details>"),
        ("Here is my thought process: ", "Here is my response:"),
    ):
        yield says(f"thinking in {opens.strip()}", f"{opens}\n{_THOUGHT}\n{closes}\n\n{JSON}")
    yield says(
        "thinking in <think>, then lines", f"<think>{_THOUGHT}</think>\n{LINES}", in_lines=True
    )
    yield says("an empty <think></think>", f"<think>\n\n</think>\n\n{LINES}", in_lines=True)
    yield says("an unopened </think>", f"{_THOUGHT}\n</think>\n\n{JSON}")
    yield says(
        "an unopened </think>, then lines", f"{_THOUGHT}\n</think>\n\n{LINES}", in_lines=True
    )
    yield says("an unopened </think> behind a draft", f"So: {JSON}\nGood.\n</think>\n\n{JSON}")
    yield says("an unclosed <think>", f"<think>{_THOUGHT} {JSON}", cause=ONLY_THOUGHT)
    yield says(
        "a <think> that the limit cuts", f"<think>{_THOUGHT}", finish="length", cause=ONLY_THOUGHT
    )
    yield says("tags one letter at a time", f"<think>{_THOUGHT}</think>{JSON}</s>", size=1)
    yield says("the whole reply in one piece", f"{_THOUGHT}</think>{LINES}<|im_end|>", size=9_999)
    yield says("two thoughts", f"<think>a</think>\n<think>b</think>{JSON}")
    yield says(
        "a thought amid the answer",
        f"{LINES.splitlines()[0]}\n<think>hm</think>\n{LINES.splitlines()[1]}\n",
        in_lines=True,
    )
    yield says(
        "a thought inside of the JSON", JSON.replace("The keeper", "<think>hm</think>The keeper")
    )
    yield says(
        "a thought ended inside of the JSON", JSON.replace("The keeper", "So. <\\/think>The keeper")
    )
    yield says(
        "<answer> around it", f"<think>{_THOUGHT}</think><answer>{LINES}</answer>", in_lines=True
    )
    yield says("channels", CHANNELS.format(thought=_THOUGHT) + f"<|message|>{JSON}<|return|>")
    yield says(
        "channels that name the form",
        CHANNELS.format(thought=_THOUGHT) + f" <|constrain|>json<|message|>{JSON}",
    )
    yield says(
        "channels whose first mark is gone",
        f"{_THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{JSON}<|return|>",
    )
    yield says(
        "channels whose marks are gone",
        f"analysis{_THOUGHT.replace('Okay', 'We')}assistantfinal{JSON}".replace(
            "analysisWe", "analysisWe"
        ),
    )
    for name in ("reasoning_content", "reasoning"):
        thoughts = [{name: piece, "content": None} for piece in cut(_THOUGHT)]
        yield sends(f"thinking in {name}", deltas(*thoughts, *({"content": p} for p in cut(JSON))))
    yield sends(
        "only reasoning_content", deltas({"reasoning_content": _THOUGHT}), cause=ONLY_THOUGHT
    )


def _tokens() -> Iterator[Odd]:
    for token in (
        "<|im_end|>",
        "<end_of_turn>",
        "</s>",
        "<|eot_id|>",
        "<|endoftext|>",
        "<|end|>",
        "<｜end▁of▁sentence｜>",
        "[/INST]",
        "<|reserved_special_token_7|>",
        "<eos>",
        "<turn|>",
    ):
        yield says(f"{token} at the end", LINES.rstrip() + token, in_lines=True)
    yield says("<|im_end|> behind the JSON", JSON + "<|im_end|>")
    yield says("a token inside of the JSON", JSON.replace("beam.", "beam.<|im_end|>"))
    yield says(
        "a header of Llama's",
        f"<|start_header_id|>assistant<|end_header_id|>\n\n{LINES}<|eot_id|>",
        in_lines=True,
    )
    yield says("a header of Qwen's", f"<|im_start|>assistant\n{JSON}<|im_end|>")
    yield says(
        "a header of Gemma's", f"<start_of_turn>model\n{LINES}<end_of_turn>\n", in_lines=True
    )
    yield says(
        "the next question, too",
        f"{LINES}<|im_end|>\n<|im_start|>user\nAnd the bell?",
        in_lines=True,
    )
    yield says(
        "the next question of Mistral's",
        f"{LINES}[INST] And the bell? [/INST] It rings.",
        in_lines=True,
    )
    yield says(
        "a token amid the answer",
        LINES.replace("\n", "<|reserved_special_token_7|>\n", 1),
        in_lines=True,
    )
    yield says("tags that the answer is about", ON_TAGS, question=ABOUT_TAGS, sees=(TAGS,))
    yield says(
        "tags in lines that are about them",
        f"{TAGS} [{NUMBERS[2]}]<|im_end|>",
        question=ABOUT_TAGS,
        sees=(TAGS,),
        in_lines=True,
    )
    yield says(
        "a thought before tags that it is about",
        f"<think>{TAGS}\n</think>{ON_TAGS}",
        question=ABOUT_TAGS,
        sees=(TAGS,),
    )


def _form() -> Iterator[Odd]:
    yield says("JSON in a fence", f"```json\n{JSON}\n```")
    yield says(
        "JSON in a fence between words",
        f"Here is the JSON:\n\n```json\n{JSON}\n```\nI hope that this helps!",
    )
    yield says("JSON between words", f"Sure! {JSON} Let me know.")
    yield says("JSON twice", f"{JSON}\n{JSON}")
    yield says("ids as strings", re.sub("([\ue000\ue001])", r'"[\1]"', JSON))
    yield says("ids with a point", re.sub("([\ue000\ue001])", r"\1.0", JSON))
    yield says("a bare list", JSON.partition(": ")[2].rpartition(', "missing"')[0])
    yield says("JSON cut by blanks until the limit", JSON + " " * 400, finish="length")
    yield sends(
        "blanks for ever after the last bracket",
        stream(JSON).partition(event(chunk({}, "stop")))[0],
        then="blanks",
    )
    yield sends(
        "silence after the last bracket",
        stream(JSON).partition(event(chunk({}, "stop")))[0],
        then="stall",
    )
    yield sends("JSON and no end", stream(JSON).partition(event(chunk({}, "stop")))[0])


def _wire() -> Iterator[Odd]:
    words = [{"content": piece} for piece in cut(JSON)]
    parts = [{"content": [{"type": "text", "text": piece}]} for piece in cut(JSON)]
    thinking = {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}
    good = deltas(*words)
    yield sends("content as parts", deltas(thinking, *parts))
    yield sends("delta null", deltas(None, *words, None))
    yield sends(
        "choices empty, null and absent",
        deltas(
            *words,
            first=event({"choices": []})
            + event({"choices": None})
            + event({"id": "x"})
            + event(None)
            + event(7),
        ),
    )
    yield sends(
        "events without data",
        good.replace(b"\n\n", b"\n\nretry: 3000\n\ndata:\n\n: ping\n\nevent: ping\n\nid: 4\n\n"),
    )
    yield sends("[DONE] missing", good.removesuffix(DONE))
    yield sends("finish_reason null at the end", deltas(*words, last=None))
    yield sends(
        "finish_reason null behind lines",
        deltas(*({"content": piece} for piece in cut(LINES)), last=None),
        in_lines=True,
    )
    yield sends("finish_reason eos_token", deltas(*words, last="eos_token"))
    yield sends(
        "finish_reason in every piece", b"".join(event(chunk(one, "stop")) for one in words) + DONE
    )
    yield sends("a byte order mark", b"\xef\xbb\xbf" + good)
    yield sends("CRLF", good.replace(b"\n", b"\r\n"))
    yield sends("CR", good.replace(b"\n", b"\r"))
    yield sends("no blank behind data:", good.replace(b"data: ", b"data:"))
    yield sends(
        "lines of JSON without data:",
        good.replace(b"data: ", b"").replace(b"[DONE]", b""),
        kind="application/x-ndjson",
    )
    yield sends("bytes that are no UTF-8", b": \xff\xfe\n" + good)
    yield sends(
        "the whole message in a stream",
        event({**chunk(None), "choices": [{"message": {"content": JSON}, "finish_reason": "stop"}]})
        + DONE,
    )
    yield sends(
        "no stream, though one was asked for",
        whole({"role": "assistant", "content": JSON}),
        kind="application/json",
    )
    yield sends("a stream, though none was asked for", good, stream=False)
    yield sends(
        "logprobs and usage of other shapes",
        deltas(
            *words,
            first=event(chunk({}, None, usage={"prompt_tokens": "many"}))
            + event({**chunk({}), "choices": [{"delta": {}, "logprobs": {"tokens": ["a"]}}]}),
        ),
    )
    yield Odd(
        "a call whose arguments are an object",
        (Raw(deltas(_search({"query_text": "trim the wick"}), last="tool_calls")), Raw(good)),
    )
    yield Odd(
        "a call with its index and id as others",
        (Raw(deltas(_search('{"query_text": "wick"}', "0", 7))), Raw(good)),
    )
    yield Odd(
        "a call without an index", (Raw(deltas(_search('{"query_text": "wick"}', None))), Raw(good))
    )
    yield Odd(
        "a call in <tool_call>", (Raw(stream(f"<tool_call>\n{CALL}\n</tool_call>")), Raw(good))
    )
    yield Odd(
        "a call in a channel",
        (
            Raw(
                stream(
                    "<|channel|>commentary to=functions.retrieve <|constrain|>json<|message|>"
                    '{"query_text": "wick"}<|call|>'
                )
            ),
            Raw(good),
        ),
    )


def _failures() -> Iterator[Odd]:
    for status in (409, 425, 429, 503, 524, 529):
        yield failing(f"status {status} once", status)
    yield Odd("an error in the stream once", (Raw(event(ERROR)), Raw(stream(JSON))))
    yield sends(
        "an error amid the answer",
        stream(LINES).partition(event(chunk({}, "stop")))[0] + event(ERROR),
        cause="answered 500 server_error",
        in_lines=True,
    )
    yield sends(
        "an error without data:",
        b"error: " + json.dumps(ERROR["error"] | {"object": "error"}).encode() + b"\n\n",
        cause="answered 500 server_error",
    )
    yield sends(
        "an error under status 200",
        json.dumps(ERROR).encode(),
        kind="application/json",
        cause="answered 500 server_error",
    )
    yield sends("a web page under status 200", HTML, kind="text/html", cause="web page")
    yield sends("a web page as a stream", HTML, cause="web page")
    yield sends(
        "a web page amid the stream",
        stream(LINES).partition(event(chunk({}, "stop")))[0] + HTML,
        cause="web page",
        in_lines=True,
    )
    yield sends(
        "a web page under status 502", HTML, status=502, kind="text/html", cause="answered 502"
    )
    yield sends("nothing", b"", cause="broke off")
    yield sends("nothing but [DONE]", DONE, cause="broke off")
    yield says("only tokens", "<|im_start|>assistant\n<|im_end|>", cause="wrote nothing")
    yield sends(
        "a connection cut amid lines",
        stream(LINES)[:900],
        then="drop",
        cause="broke",
        in_lines=True,
    )
    yield sends(
        "finish_reason abort",
        deltas({"content": "The"}, last="abort"),
        cause="broke off its answer .abort.",
    )


ODD: tuple[Odd, ...] = (*_thinking(), *_tokens(), *_form(), *_wire(), *_failures())


class OddServer(HttpShell):
    """Serves the model `m0`, `m1` ... of each odd reply on a free port of the loopback address."""

    def __init__(self, odd: Sequence[Odd] = ODD) -> None:
        super().__init__(mistakes=[])
        self._odd = odd
        self._tries = [0] * len(odd)
        self._closing = asyncio.Event()

    def url(self, number: int) -> str:
        return f"{self.origin}/m{number}/v1"

    async def stop(self) -> None:
        self._closing.set()
        await super().stop()

    def _register(self, app: web.Application) -> None:
        app.router.add_post("/m{number}/v1/chat/completions", self._serve)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        number, asked = int(request.match_info["number"]), await request.json()
        odd = self._odd[number]
        form = asked.get("response_format", {})
        if odd.in_lines and form:
            error = {"message": "no response_format here", "param": "response_format"}
            return web.json_response({"error": error}, status=400)
        if asked.get("logprobs"):  # it is to judge, in a word
            odds = {"token": "yes", "logprob": -0.01, "top_logprobs": []}
            body = json.loads(whole({"content": "yes"}))
            body["choices"][0]["logprobs"] = {"content": [odds]}
            return web.json_response(body)
        if form.get("json_schema", {}).get("name", "answer") != "answer":  # or by grades
            claims = re.findall(r"^Claim(?: \d+)? \(", _read(asked), re.MULTILINE)
            grades = json.dumps({"grades": [10] * max(1, len(claims))})
            return web.json_response(json.loads(whole({"content": grades})))
        raw = odd.replies[min(self._tries[number], len(odd.replies) - 1)]
        self._tries[number] += 1
        response = web.StreamResponse(status=raw.status, headers={"Content-Type": raw.kind})
        await response.prepare(request)
        body = _numbered(raw.body, asked)
        for place in range(0, len(body), _WRITTEN_AT_ONCE):
            await response.write(body[place : place + _WRITTEN_AT_ONCE])
        return await self._go_on(request, response, raw)

    async def _go_on(
        self, request: web.Request, response: web.StreamResponse, raw: Raw
    ) -> web.StreamResponse:
        if raw.then == "drop" and request.transport is not None:
            request.transport.close()
        if raw.then == "stall":
            await self._closing.wait()
        while raw.then == "blanks" and not self._closing.is_set():
            await response.write(event(chunk({"content": "\n  "})))
            await asyncio.sleep(_BLANKS_EVERY)
        return response


def _read(asked: Json) -> str:
    return "\n".join(str(message.get("content")) for message in asked["messages"])


def _numbered(body: bytes, asked: Json) -> bytes:
    """Return the bytes with the numbers that the prompt gives to the sentences cited."""
    prompt = _read(asked)
    for mark, sentence in zip(NUMBERS, (TRIM, SMOKE, TAGS), strict=True):
        start = re.escape(" ".join(sentence.split()[:4])).replace(r"\ ", r"\s+")
        if (found := re.search(rf"\[(\d+)\]\s+{start}", prompt)) is not None:
            for written in (json.dumps(mark)[1:-1], mark):
                body = body.replace(written.encode(), found[1].encode())
    return body


@dataclass(frozen=True)
class Seen:
    """What came of an odd reply."""

    text: str
    by_model: bool
    log: str
    seconds: float


class _Log(logging.Handler):
    """Keeps what is logged as a warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.addFilter(logging.Filter("core"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@dataclass(frozen=True)
class OddHouse:
    """Services over a course of the lighthouse, and the server of the odd replies."""

    services: Services
    odd: Sequence[Odd] = ODD
    _log: _Log = field(default_factory=_Log)

    async def ask(self, number: int) -> Seen:
        """Return what a reader sees who asks the model of that number."""
        agent: Agent = self.services.agent(f"m{number}")
        began = time.monotonic()
        self._log.lines.clear()
        logging.getLogger().addHandler(self._log)
        try:
            answer = await agent.answer(asking(self.odd[number].question))
        finally:
            logging.getLogger().removeHandler(self._log)
        by_model = answer.model_name == "local-model"
        seconds = time.monotonic() - began
        return Seen(answer.response_text, by_model, " | ".join(self._log.lines), seconds)


@asynccontextmanager
async def open_odd_house(folder: Path, models: Path | None = None) -> AsyncIterator[OddHouse]:
    """Open a house in which each odd reply is the only one of a model of its own.

    `models`: the folder with the graph of the embedding model; None: it is built.
    """
    write_files(folder / "arden", {**LIGHTHOUSE, "models.md": PAGE})
    (folder / "glossator.toml").write_text('[courses.arden]\nsources = ["arden"]\n')
    (folder / "data").mkdir(mode=0o700)
    if models is not None:
        (folder / "data" / "models").symlink_to(models, target_is_directory=True)
    async with OddServer() as server:
        table = {"kind": "openai", "model": "local-model"}
        tables = {
            f"m{number}": secrets(
                {**table, "base_url": server.url(number), "stream": str(odd.stream)}
            )
            for number, odd in enumerate(ODD)
        }
        settings = Settings(
            _env_file=None,
            data_dir=folder / "data",
            config=folder / "glossator.toml",
            answer=_SECONDS,
            models=tables,
        )
        async with open_services(settings) as services:
            await ingest(services, folder, "arden")
            yield OddHouse(services)


def is_right(odd: Odd, seen: Seen) -> bool:
    """Return whether a reader sees what is meant, and the log the cause of a failure."""
    if odd.cause is not None:
        return not seen.by_model and re.search(odd.cause, seen.log) is not None
    rest = " ".join(re.sub(r"\[\d+\]", " ", seen.text).split())
    for sentence in odd.sees:
        if sentence not in rest:
            return False
        rest = rest.replace(sentence, "", 1)
    return seen.by_model and not rest.strip()


def row(odd: Odd, seen: Seen) -> str:
    """Return a line of the table of what a reader sees."""
    if seen.by_model:
        what = "the answer" if is_right(odd, seen) else f"**{seen.text!r}**"
    else:
        said = re.search(odd.cause or "$^", seen.log)
        what = f"the book's passage; log: `{said.group() if said else seen.log[-160:]}`"
    return f"| `{odd.name.replace('|', chr(92) + '|')}` | {what} |"


async def _print_table() -> int:
    wrong = 0
    with TemporaryDirectory() as folder:
        async with open_odd_house(Path(folder)) as house:
            print("| what the model or a proxy sends | what a reader sees |\n|---|---|")
            slowest = 0.0
            for number, odd in enumerate(ODD):
                seen = await house.ask(number)
                slowest = max(slowest, seen.seconds)
                wrong += not is_right(odd, seen)
                print(row(odd, seen), flush=True)
    print(f"\n{len(ODD) - wrong} of {len(ODD)} as meant; the slowest took {slowest:.1f} s.")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(asyncio.run(_print_table())))
