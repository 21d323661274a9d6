"""The kinds of services that there are: an entry for each, and how its models are asked."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from core.domain.errors import ConfigurationError
from core.domain.telemetry import is_nearby
from core.providers.capabilities import SettingNames

if TYPE_CHECKING:
    from core.providers.collected import Wire
    from core.providers.embeddings.remote import RemoteEmbedder

OLLAMA = "http://127.0.0.1:11434/v1"
"""Where an Ollama is that was installed as it comes."""


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Where a service is, and how it knows us."""

    api_key: str | None = None
    base_url: str | None = None
    """None: the maker's own."""
    api_version: str = "v1beta"
    """Of Google's API."""
    project: str | None = None
    location: str | None = None
    """Of Google Cloud, both."""


class ServiceClient(ABC):
    """The connections to one service, which are opened at first use."""

    @abstractmethod
    def wire(self, model: str, thinking: Any = None) -> "Wire":
        """Return what speaks to a model; `thinking` None: it is not sent."""

    def embedder(self, model: str, dimensions: int, setting: str) -> "RemoteEmbedder":
        """Return an embedding model; its owner closes the connections.

        Args:
            model: As the service calls it.
            dimensions: Of its vectors.
            setting: What names the dimensions, for the operator.

        Raises:
            ConfigurationError: when the service has none.
        """
        raise ConfigurationError(
            f"The service of {model} has no models that embed: leave {setting} out, and embed "
            "with another model."
        )

    @abstractmethod
    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""


class Provider(ABC):
    """The entry of a kind of service; what a small one lacks has a default."""

    kind: ClassVar[str]
    """As `[models.NAME]` has it."""
    required: ClassVar[Sequence[str]] = ()
    """The keys of the table that have to be set."""
    shares_key: ClassVar[bool] = False
    """Whether the key of the model `gemini` is sent where a table has none of its own."""
    instead_of_key: ClassVar[str] = ""
    """What may be set in place of a key, after `, or PLACE.`; empty: nothing."""
    tells_context: ClassVar[bool] = False
    """Whether a server may tell how many tokens it reads, which `doctor` compares."""

    def rewritten(self, written: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a table as it is meant, such as with the usual address."""
        return written

    def needs_key(self, base_url: str | None) -> bool:
        """Return whether nothing is answered there without a key."""
        return False

    def is_near(self, base_url: str | None) -> bool:
        """Return whether a server of one's own is there, whose silence means that it reads."""
        return False

    def names(self, place: str, variable: str) -> SettingNames:
        """Return how the operator knows the settings of a model.

        Args:
            place: Of its table.
            variable: What the names of its variables begin with.
        """
        return SettingNames(f"{variable}__API_KEY", f"{place}.model", f"{place}.base_url")

    @abstractmethod
    def connect(
        self, address: ServiceAddress, names: SettingNames, timeout: float
    ) -> ServiceClient:
        """Return the connections to a service; an SDK is imported here and not before.

        Args:
            address: Of the service.
            names: How the operator knows its settings.
            timeout: Seconds between two reads at most.
        """


class GeminiProvider(Provider):
    """Google's API, by key."""

    kind = "gemini"
    shares_key = True

    def needs_key(self, base_url: str | None) -> bool:
        """Return True: there is none without."""
        return True

    def names(self, place: str, variable: str) -> SettingNames:
        """Return how the operator knows the settings of a model."""
        model = f"{place}.model and {place}.api_version"
        return SettingNames(f"{variable}__API_KEY", model, f"{place}.base_url")

    def connect(
        self, address: ServiceAddress, names: SettingNames, timeout: float
    ) -> ServiceClient:
        """Return the connections."""
        from core.providers.gemini import GeminiClient

        return GeminiClient(
            address.api_key,
            base_url=address.base_url,
            api_version=address.api_version,
            names=names,
            timeout=timeout,
        )


class VertexProvider(Provider):
    """Google Cloud's API, by project and with the credentials of this machine."""

    kind = "vertex"
    required = ("project", "location")

    def names(self, place: str, variable: str) -> SettingNames:
        """Return how the operator knows the settings of a model."""
        key = f"the credentials of Google Cloud, {place}.project and {place}.location"
        return SettingNames(key, f"{place}.model", f"{place}.base_url")

    def connect(
        self, address: ServiceAddress, names: SettingNames, timeout: float
    ) -> ServiceClient:
        """Return the connections."""
        from core.providers.gemini import GeminiClient

        return GeminiClient(
            None,
            base_url=address.base_url,
            api_version=address.api_version,
            project=address.project,
            location=address.location,
            names=names,
            timeout=timeout,
        )


class OpenAIProvider(Provider):
    """OpenAI's service, or any other that speaks chat completions, at its address."""

    kind = "openai"
    instead_of_key = "base_url for another service"
    tells_context = True

    def needs_key(self, base_url: str | None) -> bool:
        """Return whether it is OpenAI's own."""
        return base_url is None

    def is_near(self, base_url: str | None) -> bool:
        """Return whether the server is on this machine or in its network."""
        return is_nearby(base_url)

    def connect(
        self, address: ServiceAddress, names: SettingNames, timeout: float
    ) -> ServiceClient:
        """Return the connections."""
        from core.providers.openai import OpenAIClient

        return OpenAIClient(
            address.api_key, base_url=address.base_url, names=names, timeout=timeout
        )


class OllamaProvider(OpenAIProvider):
    """An Ollama, at its usual address or another: it speaks chat completions."""

    kind = "ollama"

    def rewritten(self, written: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the table of a service with chat completions."""
        address = written.get("base_url") or OLLAMA
        if isinstance(address, str) and "://" in address and not urlsplit(address).path.strip("/"):
            address = f"{address.rstrip('/')}/v1"  # as Ollama itself names its address
        return {**written, "kind": OpenAIProvider.kind, "base_url": address}


class MiniCheckProvider(OllamaProvider):
    """A model of Ollama that was trained to judge facts, and nothing else."""

    kind = "minicheck"

    def rewritten(self, written: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the table of a service with chat completions."""
        return super().rewritten({"model": "bespoke-minicheck", **written})


PROVIDERS: Mapping[str, Provider] = {
    one.kind: one
    for one in (
        GeminiProvider(),
        VertexProvider(),
        OllamaProvider(),
        MiniCheckProvider(),
        OpenAIProvider(),
    )
}
"""By kind; the last speaks to every service that has no entry of its own."""
