"""Opens services and their models by the kind of interface that they have."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from core.providers.manner import SettingNames

if TYPE_CHECKING:
    from core.providers.collected import Wire
    from core.providers.gemini import GeminiClient, ThinkingLevel
    from core.providers.openai import OpenAIClient

    Client = GeminiClient | OpenAIClient

Kind = Literal["gemini", "vertex", "openai"]
"""Google's API by key, Google Cloud's by project, or any service with chat completions."""


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Where a service is, and how it knows us."""

    kind: Kind
    api_key: str | None = None
    base_url: str | None = None
    """None: the maker's own."""
    api_version: str = "v1beta"
    """Of Google's API."""
    project: str | None = None
    location: str | None = None
    """Of Google Cloud, both."""


def connect(address: ServiceAddress, names: SettingNames, timeout: float) -> "Client":
    """Return the connections to a service, which are opened at first use.

    Args:
        address: Of the service.
        names: How the operator knows its settings.
        timeout: Seconds between two reads at most.
    """
    if address.kind == "openai":
        from core.providers.openai import OpenAIClient

        return OpenAIClient(
            address.api_key, base_url=address.base_url, names=names, timeout=timeout
        )
    from core.providers.gemini import GeminiClient

    return GeminiClient(
        address.api_key if address.kind == "gemini" else None,
        base_url=address.base_url,
        api_version=address.api_version,
        project=address.project if address.kind == "vertex" else None,
        location=address.location if address.kind == "vertex" else None,
        names=names,
        timeout=timeout,
    )


def wire_to(client: "Client", model: str, thinking: "ThinkingLevel | None") -> "Wire":
    """Return what speaks to a model of a service; `thinking` None: it is not sent."""
    from core.providers.openai import OpenAIClient

    if isinstance(client, OpenAIClient):
        from core.providers.openai import OpenAIWire

        return OpenAIWire(client, model, reasoning_effort=thinking)
    from core.providers.gemini import GeminiWire

    return GeminiWire(client, model, thinking_level=thinking)
