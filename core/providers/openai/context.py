"""What a server says of its models: which it has, and how many tokens it gives one.

Local ones cut what is longer, and say nothing.

Where they say it, looked up on 2026-11-25: vLLM and SGLang give `max_model_len` in /v1/models;
OpenRouter `context_length` and Groq `context_window` there; LM Studio `loaded_context_length` in
/api/v0/models; llama.cpp `default_generation_settings.n_ctx` (of one slot) in /props of the server;
Ollama `context_length` of a model that is loaded in /api/ps (4,096 below 24 GiB of video memory
unless OLLAMA_CONTEXT_LENGTH or `num_ctx` says otherwise; what its /api/show tells is the most that
the model could have, and `num_ctx` where the model's file sets it).
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from core.providers.failures import ProviderFailure
from core.providers.openai.failures import openai_errors
from core.providers.wire import true_count

if TYPE_CHECKING:
    from core.providers.openai.client import OpenAIClient

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
