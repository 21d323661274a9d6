"""The embedder of services like OpenAI's: how a course gets a model of its own language."""

from collections.abc import Sequence
from typing import Any

from core.embeddings.remote import RemoteEmbedder
from core.providers.openai.client import OpenAIClient
from core.providers.openai.failures import openai_errors


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds with one model that a service offers under `/v1/embeddings`."""

    def __init__(
        self, client: OpenAIClient, *, model: str, dimensions: int, setting: str, **limits: Any
    ) -> None:
        """Ask through a client, which its owner closes; `limits` are those of RemoteEmbedder."""
        super().__init__(model, dimensions, setting=setting, **limits)
        self._client = client

    async def warm_up(self) -> None:
        """Load the library now instead of at the first question."""
        await self._client.sdk()

    async def vectors(self, texts: Sequence[str], *, are_questions: bool) -> list[list[float]]:
        """Return one vector a text from one request, or raise ProviderFailure.

        Only OpenAI's own service is asked for a length: others have models of one length, and
        some refuse the field.
        """
        more: dict[str, Any] = {"dimensions": self._dimensions} if self._client.is_own else {}
        with openai_errors(self._client, self._model):
            sdk = await self._client.sdk()
            reply = await sdk.embeddings.create(
                model=self._model, input=list(texts), encoding_format="float", **more
            )
            found = sorted(reply.data, key=lambda one: one.index)
            if [one.index for one in found] != list(range(len(texts))):
                raise ValueError("not one vector a text")
            return [list(one.embedding) for one in found]
