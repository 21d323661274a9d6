"""The embedder that asks Gemini, for courses that prefer it to the local model."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.embeddings.remote import RemoteEmbedder
from core.providers.failures import SettingNames
from core.providers.gemini.client import GeminiClient
from core.providers.gemini.failures import NAMES, gemini_errors

if TYPE_CHECKING:
    from google.genai.types import ContentDict

_QUERY = "RETRIEVAL_QUERY"
_PASSAGE = "RETRIEVAL_DOCUMENT"
_NAMES = SettingNames(
    NAMES.key,
    "models.gemini_embedding.model and models.gemini_embedding.api_version",
    "models.gemini_embedding.base_url",
)


class GeminiEmbedder(RemoteEmbedder):
    """Embeds with one of Google's models."""

    def __init__(
        self,
        client: GeminiClient,
        *,
        model: str = "gemini-embedding-2",
        dimensions: int = 768,
        names: SettingNames = _NAMES,
        setting: str = "models.gemini_embedding.dimensions",
        **limits: Any,
    ) -> None:
        """Ask through a client, which its owner closes; `limits` are those of RemoteEmbedder."""
        super().__init__(model, dimensions, setting=setting, **limits)
        self._client = client
        self._names = names

    async def warm_up(self) -> None:
        """Load the library now instead of at the first question."""
        await self._client.load()

    async def vectors(self, texts: Sequence[str], *, are_questions: bool) -> list[list[float]]:
        """Return one vector a text from one request, or raise ProviderFailure."""
        # One content a text: plain strings are merged into a single vector.
        contents: list[ContentDict] = [{"parts": [{"text": text}]} for text in texts]
        purpose = _QUERY if are_questions else _PASSAGE
        with gemini_errors(self._model, self._names):
            models = await self._client.models()
            response = await models.embed_content(
                model=self._model,
                contents=contents,
                config={"task_type": purpose, "output_dimensionality": self._dimensions},
            )
            return [embedding.values or [] for embedding in response.embeddings or []]
