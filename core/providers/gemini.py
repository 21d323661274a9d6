"""One Gemini model by Google's SDK: what it is asked, and its replies piece by piece."""

import asyncio
import importlib
import logging
import re
import warnings
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, cast

from core.providers.base import ChatMessage, ChatRequest, Finish, OutputForm, Role, ToolCall
from core.providers.capabilities import (
    TRANSIENT,
    Capabilities,
    ProviderFailure,
    SettingNames,
    name_in,
    seconds_to_wait,
    transport_errors,
)
from core.providers.collected import Delta, Wire, true_count, true_odds
from core.providers.services import ServiceClient

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client
    from google.genai.errors import APIError
    from google.genai.models import AsyncModels
    from google.genai.types import (
        Candidate,
        Content,
        GenerateContentConfigDict,
        GenerateContentResponse,
        Part,
    )

    from core.providers.embeddings.remote import GeminiEmbedder

logger = logging.getLogger(__name__)


NAMES = SettingNames(
    "GLOSSATOR_MODELS__GEMINI__API_KEY",
    "models.gemini.model and models.gemini.api_version",
    "models.gemini.base_url",
)
"""Of the model that a key alone sets up."""
_KEY_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})
_KEY_INVALID = "API_KEY_INVALID"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
_KEY = re.compile(r"AIza[\w-]+|(?<=api_key:)[\w.-]+")
"""How Google's keys are written, and how its errors name them."""
_GOOGLE = ".googleapis.com"
_DETAIL = 300


@contextmanager
def gemini_errors(model: str, names: SettingNames = NAMES) -> Iterator[None]:
    """Turn all that the SDK lets through into ProviderFailure.

    Its own exceptions are left out of the chain: they hold whole answers, and Google's words
    at times name the key.

    Args:
        model: Whom the request goes to.
        names: What the operator may mend.
    """
    from google.auth.exceptions import GoogleAuthError, TransportError
    from google.genai.errors import APIError

    with transport_errors(model, names, _GOOGLE):
        try:
            yield
        except APIError as error:
            raise _refused(error, model, names) from None
        except GoogleAuthError as error:
            detail = f"{model} is not reached: check {names.key}"
            raise ProviderFailure(detail, transient=isinstance(error, TransportError)) from None


def _refused(error: "APIError", model: str, names: SettingNames) -> ProviderFailure:
    reasons = [name_in(detail.get("reason")) for detail in _details(error)]
    answer = " ".join(filter(None, [str(error.code), name_in(error.status), *reasons]))
    detail = f"{model} answered {answer}"
    if error.code in _KEY_REFUSED or _KEY_INVALID in reasons:
        return ProviderFailure(f"{detail}: check {names.key} and what it may use")
    if error.code == HTTPStatus.NOT_FOUND:
        return ProviderFailure(f"{detail}: there is no such model; check {names.model}")
    if error.code in TRANSIENT:
        return ProviderFailure(detail, transient=True, retry_after=_retry_after(error))
    said = _KEY.sub("(a key)", str(error.message))
    logger.debug("%s said: %.*r", detail, _DETAIL, said)
    fields = tuple(_fields(error))
    text = f"{detail}: it does not accept {', '.join(fields) or 'the request'}"
    return ProviderFailure(text, outage=False, rejected=True, fields=fields)


def _details(error: "APIError") -> list[dict[str, Any]]:
    """Return the objects that Google adds to an error."""
    body: Any = error.details
    inner = body.get("error", body) if isinstance(body, dict) else None
    return _objects(inner.get("details")) if isinstance(inner, dict) else []


def _fields(error: "APIError") -> Iterator[str]:
    """Yield the names of the fields that Google complains of, never their values."""
    for detail in _details(error):
        for violation in _objects(detail.get("fieldViolations")):
            if field := name_in(violation.get("field")):
                yield field


def _objects(values: Any) -> list[dict[str, Any]]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []


def _retry_after(error: "APIError") -> float | None:
    """Return the seconds that the service asks to wait: by header, or by RetryInfo."""
    headers = getattr(error.response, "headers", None) or {}
    waits = [seconds_to_wait(headers.get("retry-after"))]
    for detail in _details(error):
        delay = _DURATION.fullmatch(str(detail.get("retryDelay")))
        waits.append(float(delay[1]) if delay else None)
    return max((wait for wait in waits if wait is not None), default=None)


GOOGLE = "https://generativelanguage.googleapis.com"
_LEAST = 10.0
"""Seconds: the service reads our time-out in a header, and refuses fewer."""
_BUILT_LATE = (
    "Content",
    "Part",
    "Tool",
    "FunctionDeclaration",
    "Candidate",
    "GenerateContentConfig",
    "GenerateContentResponse",
)


logging.getLogger("google_genai.types").setLevel(logging.ERROR)
# Where a schema is asked for, the SDK reads each piece as JSON and warns of a piece that is none.


class GeminiClient(ServiceClient):
    """The connections to one Gemini API, opened at first use."""

    def __init__(
        self,
        api_key: str | None,
        *,
        base_url: str | None = None,
        api_version: str = "v1beta",
        project: str | None = None,
        location: str | None = None,
        names: SettingNames = NAMES,
        timeout: float = 40.0,
    ) -> None:
        """Speak to Google's own API, or to what is at `base_url`.

        Args:
            api_key: Google's; None: the credentials of this machine are those of Google Cloud.
            base_url: Of another API of that kind; None: Google's.
            api_version: Of the API; Google Cloud has its own.
            project: Of Google Cloud, for its Vertex AI.
            location: Of the same.
            names: How the operator knows these settings.
            timeout: Seconds between two reads at most; who asks keeps shorter limits.
        """
        self.names = names
        self._api_key = api_key
        self._base_url = base_url or (GOOGLE if project is None else None)
        self._project, self._location = project, location
        self._api_version = api_version
        self._timeout = max(timeout, _LEAST)
        self._opening = asyncio.Lock()
        self._opened: tuple[Client, httpx2.AsyncClient] | None = None

    async def models(self) -> "AsyncModels":
        """Return the SDK's calls; the first time it takes about a second."""
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open)
        return self._opened[0].aio.models

    async def load(self) -> None:
        """Load the SDK, without a look at key or credentials."""
        await asyncio.to_thread(importlib.import_module, "google.genai")

    def wire(self, model: str, thinking: Any = None) -> "GeminiWire":
        """Return what speaks to a model; `thinking` None: it is not sent."""
        return GeminiWire(self, model, thinking_level=thinking)

    def embedder(self, model: str, dimensions: int, setting: str) -> "GeminiEmbedder":
        """Return an embedding model; its owner closes the connections."""
        from core.providers.embeddings.remote import GeminiEmbedder

        return GeminiEmbedder(
            self, model=model, dimensions=dimensions, names=self.names, setting=setting
        )

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        if self._opened is None:
            return
        client, http = self._opened
        self._opened = None
        await client.aio.aclose()
        client.close()
        await http.aclose()

    def _open(self) -> "tuple[Client, httpx2.AsyncClient]":
        import httpx2
        from google import genai
        from google.genai import types

        from core.providers.http import measure_gemini, open_http

        # A word that the SDK does not know, such as a new finish reason, is no news to anybody.
        warnings.filterwarnings("ignore", r".* is not a valid \w+", UserWarning, r"google\.genai\.")
        # What the SDK builds at first use would hold up the event loop there.
        for name in _BUILT_LATE:
            getattr(types, name).model_rebuild()
        context = httpx2.create_ssl_context()
        # With aiohttp about, the SDK would use that, and its timeout is one for the whole answer.
        http = open_http(measure_gemini, context, self._timeout)
        options = types.HttpOptions(
            base_url=self._base_url,
            api_version=self._api_version if self._project is None else "v1beta1",
            timeout=round(1_000 * self._timeout),
            httpx_async_client=http,
            # Else the SDK reads the machine's certificates again, twice.
            client_args={"verify": context},
            async_client_args={"verify": context, "ssl": context},
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        if self._project is None:
            return genai.Client(enterprise=False, api_key=self._api_key, http_options=options), http
        cloud = genai.Client(
            enterprise=True, project=self._project, location=self._location, http_options=options
        )
        return cloud, http


ThinkingLevel = Literal["minimal", "low", "medium", "high"]
_ROLES: dict[Role, str] = {"user": "user", "assistant": "model"}


def config_of(
    request: ChatRequest, capabilities: Capabilities, thinking_level: ThinkingLevel | None
) -> "GenerateContentConfigDict":
    """Return all but model and messages."""
    from google.genai.types import ThinkingLevel as Level

    config: GenerateContentConfigDict = {
        "system_instruction": request.system,
        "max_output_tokens": request.max_tokens,
        # The SDK would make calls of its own, which nothing counts.
        "automatic_continuation": False,
        "automatic_function_calling": {"disable": True},
    }
    if request.temperature is not None:
        config["temperature"] = request.temperature
    if thinking_level is not None:
        config["thinking_config"] = {"thinking_level": Level(thinking_level.upper())}
    if request.tools:
        config["tools"] = [{"function_declarations": _declarations(request)}]
    if request.schema is not None and capabilities.form is not OutputForm.LINES:
        config["response_mime_type"] = "application/json"
        if capabilities.form is OutputForm.SCHEMA:
            config["response_json_schema"] = dict(request.schema.json)
    if request.top_logprobs:
        config["response_logprobs"] = True
        config["logprobs"] = request.top_logprobs
    return config


def contents_of(request: ChatRequest) -> list[Any]:
    """Return the conversation, oldest first."""
    return [_content(message) for message in request.messages]


def _content(message: ChatMessage) -> Any:
    if message.original is not None:
        return message.original
    return {"role": _ROLES[message.role], "parts": _parts(message)}


def _parts(message: ChatMessage) -> Sequence[dict[str, Any]]:
    text = [{"text": message.text}] if message.text or not message.results else []
    results = [
        {
            "function_response": {
                "id": result.call.id,
                "name": result.call.name,
                "response": {**result.content},
            }
        }
        for result in message.results
    ]
    return [*text, *results]


def _declarations(request: ChatRequest) -> list[Any]:
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters_json_schema": dict(tool.parameters),
        }
        for tool in request.tools
    ]


_FINISHES = {"STOP": Finish.STOP, "MAX_TOKENS": Finish.LENGTH}


class GeminiWire(Wire):
    """Speaks to one model through a client, which its owner closes."""

    def __init__(
        self, client: GeminiClient, model: str, *, thinking_level: ThinkingLevel | None = None
    ) -> None:
        """`thinking_level`: how much the model thinks; None: its own choice."""
        self._client = client
        self._model = model
        self._thinking_level = thinking_level

    @property
    def model(self) -> str:
        """The model, as it is named to the service."""
        return self._model

    async def deltas(
        self, request: ChatRequest, capabilities: Capabilities
    ) -> AsyncGenerator[Delta, None]:
        """Yield the pieces of one reply; closing it closes the connection."""
        asked: dict[str, Any] = {
            "model": self._model,
            "contents": contents_of(request),
            "config": config_of(request, capabilities, self._thinking_level),
        }
        said = _Said()
        with gemini_errors(self._model, self._client.names):
            models = await self._client.models()
            if not request.stream:
                yield said.delta(await models.generate_content(**asked))
                return
            stream = await models.generate_content_stream(**asked)
            pieces = cast("AsyncGenerator[GenerateContentResponse, None]", stream)
            try:
                async for piece in pieces:
                    yield said.delta(piece)
            finally:
                await self._cut_off(pieces)

    async def probe(self) -> bool:
        """Have a few words counted, which costs nothing."""
        with gemini_errors(self._model, self._client.names):
            models = await self._client.models()
            await models.count_tokens(model=self._model, contents="Is anybody there?")
        return True

    async def ask_context(self) -> int | None:
        """Return the input limit that the service gives for the model."""
        with gemini_errors(self._model, self._client.names):
            models = await self._client.models()
            about = await models.get(model=self._model)
        return true_count(about.input_token_limit)

    async def open(self) -> None:
        """Load the SDK, which takes about a second."""
        await self._client.load()
        with gemini_errors(self._model, self._client.names):
            await self._client.models()

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        await self._client.aclose()

    async def _cut_off(self, pieces: AsyncGenerator[object, None]) -> None:
        """Close a stream and its connection now.

        The SDK nests generators and closes only the outermost, which leaves the connection to
        the garbage collector. A read that is cut off at once ends them all, from the innermost
        on.
        """
        with suppress(ProviderFailure), gemini_errors(self._model, self._client.names):
            async with asyncio.timeout(0):
                while await anext(pieces, None) is not None:
                    pass


class _Said:
    """What a model has said so far in Google's own form, to be shown to it again unchanged."""

    def __init__(self) -> None:
        self._content: Content | None = None
        self._parts: list[Part] = []

    def delta(self, piece: "GenerateContentResponse") -> Delta:
        """Return what a piece says, in every provider's words."""
        usage = dict(_usage(piece))
        blocked = piece.prompt_feedback.block_reason if piece.prompt_feedback else None
        if blocked is not None:
            why = name_in(blocked.value) or "for no known reason"
            return Delta(finish=Finish.REFUSED, detail=f"refused the prompt ({why})", **usage)
        if not piece.candidates:
            return Delta(is_alive=False, **usage)
        candidate = piece.candidates[0]
        parts = (candidate.content.parts if candidate.content else None) or []
        self._content = self._content or candidate.content
        self._parts += [part for part in parts if _says_something(part)]
        finish, detail = _ending(candidate)
        return Delta(
            text="".join(part.text or "" for part in parts if not part.thought),
            thoughts="".join(part.text or "" for part in parts if part.thought),
            calls=tuple(_calls(parts)),
            finish=finish,
            detail=detail,
            logprobs=tuple(_logprobs(candidate)),
            original=self._original() if finish is Finish.STOP else None,
            parts=len(parts),
            is_alive=finish is not None or bool(parts),
            **usage,
        )

    def _original(self) -> "Content | None":
        content = self._content
        return None if content is None else content.model_copy(update={"parts": self._parts})


def _ending(candidate: "Candidate") -> tuple[Finish | None, str | None]:
    """Return how a reply ended and what is to be said of it; None: it has not."""
    if candidate.finish_reason is None:
        return None, None
    reason = candidate.finish_reason.value
    finish = _FINISHES.get(reason, Finish.REFUSED) if isinstance(reason, str) else Finish.REFUSED
    if finish is not Finish.REFUSED:
        return finish, None
    return finish, f"stopped ({name_in(reason) or 'for no known reason'})"


def _calls(parts: Sequence["Part"]) -> Iterator[ToolCall]:
    for part in parts:
        if (call := part.function_call) is not None:
            yield ToolCall(call.id, call.name, call.args)


def _usage(piece: "GenerateContentResponse") -> Iterator[tuple[str, Any]]:
    """Yield the counts, which are given for the whole reply so far."""
    usage = piece.usage_metadata
    if usage is None:
        return
    if usage.prompt_token_count is not None:
        yield (
            "query_tokens",
            true_count(usage.prompt_token_count, usage.tool_use_prompt_token_count),
        )
    yield "cached_tokens", true_count(usage.cached_content_token_count)
    yield (
        "response_tokens",
        true_count(usage.candidates_token_count, usage.thoughts_token_count),
    )


def _logprobs(candidate: "Candidate") -> Iterator[Mapping[str, float]]:
    """Yield for each token the likeliest."""
    result = candidate.logprobs_result
    for step in (result.top_candidates if result else None) or ():
        yield true_odds((one.token, one.log_probability) for one in step.candidates or ())


def _says_something(part: "Part") -> bool:
    """Return whether the service takes a part back: it refuses text that is empty."""
    return part.text != "" or part.thought_signature is not None
