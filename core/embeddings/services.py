"""Opens embedding models by the kind of interface that their service has."""

from core.embeddings.gemini import GeminiEmbedder
from core.embeddings.openai import OpenAIEmbedder
from core.embeddings.remote import RemoteEmbedder
from core.providers.failures import SettingNames
from core.providers.gemini.client import GeminiClient
from core.providers.openai.client import OpenAIClient


def embedder_at(
    client: GeminiClient | OpenAIClient,
    model: str,
    dimensions: int,
    names: SettingNames,
    setting: str,
) -> RemoteEmbedder:
    """Return an embedding model of a service, whose owner closes the connections.

    Args:
        client: The connections.
        model: As the service calls it.
        dimensions: Of its vectors.
        names: How the operator knows its settings.
        setting: What names the dimensions, for the operator.
    """
    if isinstance(client, OpenAIClient):
        return OpenAIEmbedder(client, model=model, dimensions=dimensions, setting=setting)
    return GeminiEmbedder(client, model=model, dimensions=dimensions, names=names, setting=setting)
