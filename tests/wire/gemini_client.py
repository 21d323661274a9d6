"""Google's own SDK, set up as the product does, against the local Gemini."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from google import genai
from google.genai import types

from tests.wire.gemini_server import GeminiServer

MODEL = "gemini-3.8-flash"
EMBEDDING_MODEL = "gemini-embedding-2"
RETRIEVE = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="retrieve",
            description="Looks into the book.",
            parameters_json_schema={
                "type": "object",
                "properties": {"query_text": {"type": "string"}},
            },
        )
    ]
)


@asynccontextmanager
async def connected(
    server: GeminiServer, *, key: str = "test-key", version: str = "v1beta", timeout_ms: int = 5_000
) -> AsyncIterator[genai.Client]:
    async with httpx2.AsyncClient(verify=False) as http:
        options = types.HttpOptions(
            base_url=server.url,
            api_version=version,
            timeout=timeout_ms,
            httpx_async_client=http,
            client_args={"verify": False},
            async_client_args={"ssl": False},
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        client = genai.Client(api_key=key, http_options=options)
        yield client
        await client.aio.aclose()


def config(**options: Any) -> types.GenerateContentConfig:
    manual = types.AutomaticFunctionCallingConfig(disable=True)
    return types.GenerateContentConfig(automatic_function_calling=manual, **options)


async def unary(
    client: genai.Client, contents: Any = "Why?", **options: Any
) -> types.GenerateContentResponse:
    return await client.aio.models.generate_content(
        model=MODEL, contents=contents, config=config(**options)
    )


async def streamed(
    client: genai.Client, contents: Any = "Why?", **options: Any
) -> list[types.GenerateContentResponse]:
    stream = await client.aio.models.generate_content_stream(
        model=MODEL, contents=contents, config=config(**options)
    )
    return [chunk async for chunk in stream]


async def embedded(client: genai.Client, *texts: str, **options: Any) -> list[list[float]]:
    response = await client.aio.models.embed_content(
        model=EMBEDDING_MODEL,
        contents=[types.Content(parts=[types.Part(text=text)]) for text in texts],
        config=types.EmbedContentConfig(**options),
    )
    return [embedding.values or [] for embedding in response.embeddings or []]


def parts(response: types.GenerateContentResponse) -> list[types.Part]:
    candidates = response.candidates or []
    content = candidates[0].content if candidates else None
    return (content.parts if content else None) or []


def text(*responses: types.GenerateContentResponse) -> str:
    return "".join(part.text or "" for one in responses for part in parts(one) if not part.thought)


def finish(response: types.GenerateContentResponse) -> str | None:
    """Return the finish reason, or what else says why there is no answer."""
    if response.prompt_feedback and response.prompt_feedback.block_reason:
        return f"blocked: {response.prompt_feedback.block_reason.value}"
    if not response.candidates:
        return "no candidates"
    reason = response.candidates[0].finish_reason
    return reason.value if reason else None


async def posted(
    server: GeminiServer,
    body: Any,
    *,
    method: str = "generateContent",
    model: str = MODEL,
    version: str = "v1beta",
    headers: dict[str, str] | None = None,
) -> httpx2.Response:
    """Return the answer to a request that no SDK would make."""
    given = {"x-goog-api-key": "test-key"} if headers is None else headers
    url = f"{server.url}/{version}/models/{model}:{method}"
    async with httpx2.AsyncClient(verify=False) as http:
        if isinstance(body, bytes):
            return await http.post(url, content=body, headers=given)
        return await http.post(url, json=body, headers=given)


def says(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


QUESTION = says("user", "Why?")
