"""One model of chat completions: what it is asked, and its replies piece by piece."""

import asyncio
import json
import logging
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from core.providers.base import ChatMessage, ChatRequest, Finish, OutputForm, ToolCall
from core.providers.capabilities import (
    TRANSIENT,
    Capabilities,
    ProviderFailure,
    SettingNames,
    name_in,
    seconds_to_wait,
    transport_errors,
)
from core.providers.collected import Delta, true_count, true_odds
from core.providers.services import ServiceClient

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    from core.providers.embeddings.remote import OpenAIEmbedder

logger = logging.getLogger(__name__)


_LONGEST = 20_000
"""Bytes of the arguments of one call; ours have about a hundred."""
_MOST_OBJECTS = 500


class CallParts:
    """Calls that grow while a reply arrives."""

    def __init__(self) -> None:
        self._ids: dict[int, str | None] = {}
        self._names: dict[int, str | None] = {}
        self._arguments: dict[int, list[str]] = {}

    def add(self, index: Any, call_id: Any, function: Any) -> None:
        """Take up a piece of the call with that index, if it has one."""
        number = self._number(index, _text(call_id))
        self._ids[number] = self._ids.get(number) or _text(call_id)
        if function is None:
            self._names.setdefault(number, None)
            return
        self._names[number] = self._names.get(number) or _text(field_of(function, "name"))
        # Some servers give the arguments as the object itself.
        given = field_of(function, "arguments")
        text = given if isinstance(given, str) else json.dumps(given)
        self._arguments.setdefault(number, []).append("" if given is None else text)

    def _number(self, index: Any, call_id: str | None) -> int:
        """Return which call a piece belongs to; without an index, a new id begins another."""
        if isinstance(index, str) and index.isdecimal():
            return int(index)
        if type(index) is int:
            return index
        latest = max(self._ids, default=-1)
        is_new = latest < 0 or (call_id is not None and call_id != self._ids[latest])
        return latest + 1 if is_new else latest

    def whole(self) -> Iterator[ToolCall]:
        """Yield the calls in order; what is no JSON object has no arguments."""
        for number in sorted(self._ids):
            arguments = _object("".join(self._arguments.get(number, ())))
            yield ToolCall(self._ids[number], self._names.get(number), arguments)


def field_of(value: Any, name: str) -> Any:
    """Return a field of an object, as the SDK or plain JSON has it; None: there is none."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _text(value: Any) -> str | None:
    """Return a name or an id, which some servers give as a number."""
    value = str(value) if type(value) is int else value
    return value if isinstance(value, str) and value else None


def _object(text: str) -> Mapping[str, Any] | None:
    # Loads the library of the connections, which is there as soon as a call has come.
    from core.providers.http import ReplyLimits, ReplyMeter

    limits = ReplyLimits(_LONGEST, objects=_MOST_OBJECTS)
    if ReplyMeter(limits).exceeded_by(text.encode("utf-8", "replace")) is not None:
        return None
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


OPENAI = "https://api.openai.com/v1"
_NO_KEY = "none"
"""Is sent where no key is set: servers of one's own ask for none, and the SDK insists on one."""


class OpenAIClient(ServiceClient):
    """The connections to one service, opened at first use."""

    def __init__(
        self,
        api_key: str | None,
        *,
        base_url: str | None = None,
        names: SettingNames,
        timeout: float = 40.0,
    ) -> None:
        """Speak to OpenAI's own API, or to what is at `base_url`.

        Args:
            api_key: None: the server asks for none.
            base_url: Of another service, up to and including `/v1`; None: OpenAI's.
            names: How the operator knows these settings.
            timeout: Seconds between two reads at most; who asks keeps shorter limits.
        """
        self.names = names
        self.base_url = base_url or OPENAI
        self._api_key = api_key or _NO_KEY
        self._timeout = timeout
        self._opening = asyncio.Lock()
        self._opened: tuple[AsyncOpenAI, httpx2.AsyncClient] | None = None

    @property
    def authorization(self) -> dict[str, str]:
        """The header that a request without the SDK needs."""
        return {"authorization": f"Bearer {self._api_key}"}

    @property
    def is_own(self) -> bool:
        """Whether this is OpenAI's service, and not one that is like it."""
        return self.base_url == OPENAI

    async def sdk(self) -> "AsyncOpenAI":
        """Return the SDK's calls; the first time it takes most of a second."""
        return (await self._open())[0]

    async def http(self) -> "httpx2.AsyncClient":
        """Return the connections, for what the SDK has no call for."""
        return (await self._open())[1]

    def without_key(self, text: str) -> str:
        """Return a text in which the key does not stand."""
        return text.replace(self._api_key, "(a key)")

    def wire(self, model: str, thinking: Any = None) -> "OpenAIWire":
        """Return what speaks to a model; `thinking` None: it is not sent."""
        return OpenAIWire(self, model, reasoning_effort=thinking)

    def embedder(self, model: str, dimensions: int, setting: str) -> "OpenAIEmbedder":
        """Return an embedding model; its owner closes the connections."""
        from core.providers.embeddings.remote import OpenAIEmbedder

        return OpenAIEmbedder(self, model=model, dimensions=dimensions, setting=setting)

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        if self._opened is None:
            return
        _, http = self._opened
        self._opened = None
        await http.aclose()

    async def _open(self) -> "tuple[AsyncOpenAI, httpx2.AsyncClient]":
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._connect)
        return self._opened

    def _connect(self) -> "tuple[AsyncOpenAI, httpx2.AsyncClient]":
        import httpx2
        from openai import AsyncOpenAI
        from openai.types.chat import ChatCompletion, ChatCompletionChunk

        from core.providers.http import measure_completions, open_http, put_into_events

        # What the SDK builds at first use would hold up the event loop there.
        for built in (ChatCompletion, ChatCompletionChunk):
            built.model_rebuild()
        context = httpx2.create_ssl_context()
        http = open_http(measure_completions, context, self._timeout, put_into_events)
        sdk = AsyncOpenAI(
            api_key=self._api_key,
            # All that is left out the SDK takes from variables of the environment.
            admin_api_key="",
            webhook_secret="",
            organization="",
            project="",
            base_url=self.base_url,
            timeout=self._timeout,
            max_retries=0,
            http_client=http,
        )
        sdk.organization = sdk.project = None  # an empty one would be sent
        return sdk, http


_OWN_HOSTS = ".openai.com"
_KEY_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_REJECTED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY})
_SPENT = "insufficient_quota"
_FILTERED = "content_filter"
_TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
"""OpenAI's code, and llama.cpp's type of error."""
_FIELDS = re.compile(
    r"response_format|json_schema|logprobs|temperature|max_tokens|max_completion_tokens|"
    r"stream_options|tool_choice|tools?\b"
)
"""What we send that a service may not take, as its errors name it."""
_KEY = re.compile(r"\b(?:sk|pk|xai|gsk)[-_][\w*-]{4,}")
"""How keys of such services begin, some of which their errors show in part."""
_DETAIL = 300


@contextmanager
def openai_errors(client: "OpenAIClient", model: str) -> Iterator[None]:
    """Turn all that the SDK lets through into ProviderFailure.

    Its own exceptions are left out of the chain: they hold whole requests and answers.
    """
    from openai import APIConnectionError, APIError, APIStatusError

    with transport_errors(model, client.names, _OWN_HOSTS):
        try:
            yield
        except APIStatusError as error:
            raise _refused(error, client, model) from None
        except APIConnectionError as error:
            # What really happened is known as for every other provider.
            raise (error.__cause__ or TimeoutError()) from None
        except APIError as error:  # in the midst of a stream
            said = client.without_key(str(error.message))
            raise broken(error.body, model, said) from None


def broken(body: Any, model: str, message: str) -> ProviderFailure:
    """Return the failure that an error object stands for, which came instead of a reply.

    `message`: what the service says besides, without the key.
    """
    said = " ".join(_names(body)) or "an error"
    logger.debug("%s said: %.*r", model, _DETAIL, _KEY.sub("(a key)", message))
    return ProviderFailure(f"{model} answered {said} in the midst of its answer", transient=True)


def _refused(error: "APIStatusError", client: "OpenAIClient", model: str) -> ProviderFailure:
    names, status = _names(error.body), error.status_code
    detail = " ".join([f"{model} answered", str(status), *names])
    if status in _KEY_REFUSED:
        return ProviderFailure(f"{detail}: check {client.names.key} and what it may use")
    if _SPENT in names:
        return ProviderFailure(f"{detail}: the account has no credit left")
    if status == HTTPStatus.NOT_FOUND:
        check = f"check {client.names.model}, and that {client.names.base_url} ends in /v1"
        return ProviderFailure(f"{detail}: there is no such model; {check}")
    if status in TRANSIENT:
        wait = seconds_to_wait(error.response.headers.get("retry-after"))
        return ProviderFailure(detail, transient=True, retry_after=wait)
    if _FILTERED in names:
        return ProviderFailure(f"{model} refused the prompt ({_FILTERED})", outage=False)
    if not _TOO_LONG.isdisjoint(names):
        hint = "the prompt is longer than its context; set `context` to what the server has"
        return ProviderFailure(f"{detail}: {hint}", outage=False)
    said = _KEY.sub("(a key)", client.without_key(str(error.message)))
    logger.debug("%s said: %.*r", detail, _DETAIL, said)
    fields = tuple(_fields(error))
    text = f"{detail}: it does not accept {', '.join(fields) or 'the request'}"
    return ProviderFailure(text, outage=False, rejected=status in _REJECTED, fields=fields)


def _names(body: Any) -> list[str]:
    """Return the code and the type of an error, as far as they are names or numbers."""
    body = body if isinstance(body, dict) else {}
    given = [body.get("code"), body.get("status"), body.get("type")]
    named = [str(one) if type(one) is int else name_in(one) for one in given]
    return [name for name in dict.fromkeys(named) if name is not None]


def _fields(error: "APIStatusError") -> Iterator[str]:
    """Yield what the service says it does not take: the field named, else those in its words."""
    body: Any = error.body if isinstance(error.body, dict) else {}
    if (field := name_in(body.get("param"))) is not None:
        yield field
        return
    yield from dict.fromkeys(_FIELDS.findall(str(error.message)[: 10 * _DETAIL]))


_KEYS = ("loaded_context_length", "max_model_len", "context_length", "context_window")
_NUM_CTX = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)
_SECONDS = 3.0


async def ask_context(client: "OpenAIClient", model: str) -> int | None:
    """Return the tokens that one call of a model may have; None: the server does not say."""
    if client.is_own:
        return None
    server = client.base_url.rstrip("/").removesuffix("/v1")
    for path in (f"{server}/api/ps", f"{client.base_url.rstrip('/')}/models"):
        listed = await _get(client, model, path)
        if (found := next(_of_model(listed, model), None)) is not None:
            return found
    props = await _get(client, model, f"{server}/props")
    settings = props.get("default_generation_settings")
    if isinstance(settings, dict) and (found := true_count(settings.get("n_ctx"))) is not None:
        return found
    shown = await _get(client, model, f"{server}/api/show", {"model": model})
    if set_by_file := _NUM_CTX.search(str(shown.get("parameters"))):
        return int(set_by_file[1])
    listed = await _get(client, model, f"{server}/api/v0/models")
    return next(_of_model(listed, model), None)


async def list_models(client: "OpenAIClient") -> list[str]:
    """Return the names of the models that a service lists; empty where it lists none."""
    listed = (await _get(client, "", f"{client.base_url.rstrip('/')}/models")).get("data")
    entries = listed if isinstance(listed, list) else []
    names = (entry.get("id") for entry in entries if isinstance(entry, dict))
    return [name for name in names if isinstance(name, str) and name.isprintable()]


def _of_model(listed: dict[str, Any], model: str) -> Iterator[int]:
    """Yield what a list of models says of this one."""
    entries = listed.get("data") or listed.get("models")
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, dict) or not _is_named(entry, model):
            continue
        for key in _KEYS:
            if entry.get(key) and (found := true_count(entry[key])) is not None:
                yield found


def _is_named(entry: dict[str, Any], model: str) -> bool:
    names = {entry.get(key) for key in ("id", "name", "model")}
    return bool(names & {model, f"{model}:latest"})


async def _get(
    client: "OpenAIClient", model: str, url: str, body: dict[str, str] | None = None
) -> dict[str, Any]:
    """Return the object that stands at an address of the server; empty: none does."""
    http, method = await client.http(), "GET" if body is None else "POST"
    with suppress(ProviderFailure), openai_errors(client, model):
        reply = await http.request(
            method, url, json=body, headers=client.authorization, timeout=_SECONDS
        )
        value = reply.json() if reply.is_success else {}
        return value if isinstance(value, dict) else {}
    return {}


def body_of(request: ChatRequest, capabilities: Capabilities) -> dict[str, Any]:
    """Return the fields of a request, without the model."""
    body: dict[str, Any] = {
        "messages": list(_messages(request)),
        capabilities.max_tokens: request.max_tokens,
        "stream": request.stream,
    }
    if request.stream and capabilities.usage_in_streams:
        body["stream_options"] = {"include_usage": True}
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema is not None and capabilities.form is OutputForm.JSON:
        body["response_format"] = {"type": "json_object"}
    elif request.schema is not None and capabilities.form is OutputForm.SCHEMA:
        schema = {"name": request.schema.name, "schema": dict(request.schema.json), "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _messages(request: ChatRequest) -> Iterator[dict[str, Any]]:
    """Yield the conversation, oldest first; each result of a tool is a message of its own."""
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        for number, result in enumerate(message.results):
            yield {
                "role": "tool",
                "tool_call_id": _id(result.call, number),
                "content": json.dumps(dict(result.content), ensure_ascii=False),
            }
        if not message.results:
            yield _said(message)


def _said(message: ChatMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        said["tool_calls"] = [
            {
                "id": _id(call, number),
                "type": "function",
                "function": {
                    "name": call.name or "",
                    "arguments": json.dumps(dict(call.arguments or {})),
                },
            }
            for number, call in enumerate(message.calls)
        ]
    return said


def _id(call: ToolCall, number: int) -> str:
    """Return what a call is known by; some servers give it no name."""
    return call.id or f"call_{number}"


_FINISHES = (
    (re.compile(r"length|max|limit"), Finish.LENGTH),
    (re.compile(r"tool|function"), Finish.TOOL_CALLS),
    (re.compile(r"filter|safety|refus|recitation|prohibit|block"), Finish.REFUSED),
    (re.compile(r"stop|eos|end|complete|done|load"), Finish.STOP),
)
"""How servers say why a reply ended: "stop", "eos_token", "end_turn", "COMPLETE", "max_tokens"."""
_FAILED = re.compile(r"error|abort|fail|resource|cancel|overload")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""Where services put what a model thinks: it is a sign of life, and never shown."""
_NO_REASON = ("", "null", "none")


class OpenAIWire:
    """Speaks to one model through a client, which its owner closes."""

    has_logprobs = True

    def __init__(
        self, client: OpenAIClient, model: str, *, reasoning_effort: str | None = None
    ) -> None:
        """`reasoning_effort`: how much the model thinks; None: not sent."""
        self._client = client
        self._model = model
        self._more = {} if reasoning_effort is None else {"reasoning_effort": reasoning_effort}

    @property
    def model(self) -> str:
        """The model, as it is named to the service."""
        return self._model

    @property
    def tells_thoughts(self) -> bool:
        """Whether the service keeps what a model thinks out of its text; OpenAI's own does."""
        return self._client.is_own

    async def deltas(
        self, request: ChatRequest, capabilities: Capabilities
    ) -> AsyncGenerator[Delta, None]:
        """Yield the pieces of one reply; closing it closes the connection."""
        sdk = await self._client.sdk()
        body = {"model": self._model, **body_of(request, capabilities), **self._more}
        said = _Said(self._model)
        with openai_errors(self._client, self._model):
            reply: Any = await sdk.chat.completions.create(**body)
            if isinstance(reply, str):  # a stream, though none was asked for
                for delta in _at_once(said, reply):
                    yield delta
                return
            if not request.stream:
                yield said.whole(reply)
                return
            async with reply:
                async for chunk in reply:
                    yield said.delta(chunk)
            if getattr(reply.response.stream, "is_done", False) and said.is_unfinished:
                yield said.done()

    async def probe(self) -> bool:
        """Return that nothing is cheaper here than a short reply."""
        return False

    async def ask_context(self) -> int | None:
        """Return how many tokens the server gives the model, where it says so."""
        return await ask_context(self._client, self._model)

    async def open(self) -> None:
        """Load the SDK, which takes most of a second."""
        await self._client.sdk()

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        await self._client.aclose()


def _at_once(said: "_Said", events: str) -> Iterator[Delta]:
    """Yield what a stream says that was read at once."""
    from openai.types.chat import ChatCompletionChunk

    for value in objects_in(events):
        if value.get("error"):
            raise broken(value["error"], said.model, "")
        yield said.delta(ChatCompletionChunk.construct(**value))
    if "[DONE]" in events and said.is_unfinished:
        yield said.done()


class _Said:
    """What a model has said so far of its calls, which come in pieces."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.is_unfinished = False
        """Whether something was said, and not why that was all."""
        self._calls = CallParts()
        self._refusal = False

    def delta(self, chunk: "ChatCompletionChunk") -> Delta:
        """Return what a piece of a stream says; what is of no known form says nothing."""
        usage = _usage(field_of(chunk, "usage"))
        choices = field_of(chunk, "choices")
        if not isinstance(choices, list) or not choices or choices[0] is None:
            self._check(chunk)
            return Delta(is_alive=False, **usage)
        # A server that does not stream sends the whole message.
        said = field_of(choices[0], "delta") or field_of(choices[0], "message")
        return self._piece(choices[0], said, usage)

    def whole(self, reply: "ChatCompletion") -> Delta:
        """Return what a reply says that came in one piece."""
        choices = field_of(reply, "choices")
        if not choices:
            self._check(reply)
        return self._piece(choices[0], field_of(choices[0], "message"), _usage(reply.usage))

    def done(self) -> Delta:
        """Return that the service said that nothing follows, and not why."""
        return self._piece(None, None, {}, reason="stop")

    def _check(self, reply: Any) -> None:
        """Raise what an error object stands for that came instead of a reply."""
        error = field_of(reply, "error") or (
            reply.to_dict() if field_of(reply, "object") == "error" else None
        )
        if error:
            raise broken(error, self.model, "")

    def _piece(self, choice: Any, said: Any, usage: dict[str, Any], *, reason: Any = None) -> Delta:
        text, thoughts = _text_of(field_of(said, "content"))
        if said is None and isinstance(legacy := field_of(choice, "text"), str):
            text = legacy
        for name in _THOUGHTS:
            thoughts += "".join(_text_of(field_of(said, name)))
        calls = self._take_calls(said)
        self._refusal = self._refusal or bool(field_of(said, "refusal"))
        finish, detail = self._ending(reason or field_of(choice, "finish_reason"))
        is_alive = bool(text or thoughts or calls)
        self.is_unfinished = finish is None and (self.is_unfinished or is_alive)
        return Delta(
            text=text,
            thoughts=thoughts,
            calls=tuple(self._calls.whole()) if finish else (),
            finish=finish,
            detail=detail,
            logprobs=tuple(_logprobs(field_of(choice, "logprobs"))),
            is_alive=is_alive or finish is not None,
            parts=1 + calls,
            **usage,
        )

    def _take_calls(self, said: Any) -> int:
        """Take up calls of tools; return how many pieces of them there were."""
        calls = field_of(said, "tool_calls")
        calls = calls if isinstance(calls, list) else []
        for place, call in enumerate(calls):
            if call is not None:
                index = field_of(call, "index")
                is_whole = index is None and len(calls) > 1
                function = field_of(call, "function")
                self._calls.add(place if is_whole else index, field_of(call, "id"), function)
        if (function := field_of(said, "function_call")) is not None:
            self._calls.add(0, None, function)
        return len(calls)

    def _ending(self, reason: Any) -> tuple[Finish | None, str | None]:
        """Return how a reply ended and what is to be said of it; None: it has not."""
        if reason is None or (isinstance(reason, str) and reason.casefold() in _NO_REASON):
            return None, None
        if self._refusal:
            return Finish.REFUSED, "refused to answer"
        told = reason.casefold() if isinstance(reason, str) else ""
        named = name_in(reason) or "for no known reason"
        if _FAILED.search(told):
            raise ProviderFailure(f"{self.model} broke off its answer ({named})", transient=True)
        found = next((finish for form, finish in _FINISHES if form.search(told)), Finish.REFUSED)
        return found, f"stopped ({named})" if found is Finish.REFUSED else None


def _text_of(content: Any) -> tuple[str, str]:
    """Return what a content says and what in it is thinking: a text, or parts of several kinds."""
    if content is None or content == "":
        return "", ""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list | dict):
        raise TypeError("a text is no text")
    said, thought = "", ""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            said += part
            continue
        kind = str(field_of(part, "type"))
        if "think" in kind or "reason" in kind:
            thought += "".join("".join(_text_of(field_of(part, key))) for key in (kind, "text"))
        elif isinstance(text := field_of(part, "text"), str):
            said += text
    return said, thought


def _usage(usage: Any) -> dict[str, Any]:
    """Return what a service counts, which it does for the whole reply so far."""
    if usage is None:
        return {}
    details = field_of(usage, "prompt_tokens_details")
    return {
        # A server that does not count says 0.
        "query_tokens": true_count(field_of(usage, "prompt_tokens")) or None,
        "cached_tokens": true_count(field_of(details, "cached_tokens")),
        "response_tokens": true_count(field_of(usage, "completion_tokens")) or None,
    }


def _logprobs(logprobs: Any) -> Iterator[Mapping[str, float]]:
    """Yield for each token the likeliest."""
    for step in field_of(logprobs, "content") or ():
        tops = field_of(step, "top_logprobs") or ()
        likeliest = true_odds((field_of(one, "token"), field_of(one, "logprob")) for one in tops)
        yield likeliest or true_odds([(field_of(step, "token"), field_of(step, "logprob"))])


def objects_in(events: str) -> Iterator[dict[str, Any]]:
    """Yield what the events of a stream hold that is read at once."""
    for line in events.splitlines():
        data = line.removeprefix("data:").strip()
        if data == line:
            continue
        with suppress(ValueError):
            if isinstance(value := json.loads(data), dict):
                yield value
