"""Asks any server of the OpenAI chat completions for a judge's short replies."""

from collections.abc import Mapping
from typing import Any

import httpx

from core.errors import GenerationError
from core.grounding.judge.model import ShortReply

_LIKELIEST = 10
_PATIENCE = 600.0
"""Seconds; a measurement waits for a slow machine."""


class OpenAiWire:
    """Short completions over `BASE_URL/chat/completions`, without retries."""

    def __init__(self, base_url: str, model: str, key: str = "") -> None:
        """Ask `model` at `base_url`, which ends with `/v1` as a rule."""
        self.model = model
        head = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.AsyncClient(base_url=base_url, headers=head, timeout=_PATIENCE)

    async def complete(
        self, system: str, user: str, *, tokens: int, schema: Mapping[str, Any] | None = None
    ) -> ShortReply:
        """Return the reply.

        Raises:
            GenerationError: when the server does not answer with one.
        """
        said = [("system", system)] if system else []
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": text} for role, text in (*said, ("user", user))],
            "max_tokens": tokens,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": _LIKELIEST,
        }
        if schema is not None:
            form = {"name": "grades", "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        try:
            response = await self._client.post("/chat/completions", json=body)
            response.raise_for_status()
            choice = response.json()["choices"][0]
        except (httpx.HTTPError, ValueError, KeyError, IndexError) as error:
            raise GenerationError(f"the server gave no completion: {error!r}") from error
        told = ((choice.get("logprobs") or {}).get("content") or [{}])[0]
        first = {one["token"]: one["logprob"] for one in told.get("top_logprobs", ())}
        return ShortReply(choice["message"]["content"], first)
