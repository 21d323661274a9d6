"""Opens what speaks to Gemini, each part when it is first asked for."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from bot.courses import CourseFile
from bot.settings import FOREIGN_KEYS, GeminiSettings
from core.budgets.pricing import Prices
from core.errors import ConfigurationError
from core.models import EXTRACTIVE

if TYPE_CHECKING:
    from core.embeddings.gemini import GeminiEmbedder
    from core.generation.model import ModelGenerator
    from core.providers.gemini.client import GeminiClient
    from core.providers.guarded import GuardedModel

HOW_TO_SET_A_KEY = f"set GLOSSATOR_GEMINI__API_KEY (or {' or '.join(FOREIGN_KEYS)})"


class Gemini:
    """One client, shared by all that speak to Gemini; closed with the stack it is given."""

    def __init__(self, settings: GeminiSettings, closing: AsyncExitStack) -> None:
        self._settings = settings
        self._closing = closing
        self._chats: dict[str, GuardedModel] = {}

    @cached_property
    def client(self) -> "GeminiClient":
        """The connections, opened at first use.

        Raises:
            ConfigurationError: naming what to set, when there is no usable key.
        """
        from core.providers.gemini.client import GeminiClient

        settings = self._settings
        client = GeminiClient(
            _usable_key(settings), base_url=settings.base_url, api_version=settings.api_version
        )
        self._closing.push_async_callback(client.aclose)
        return client

    @cached_property
    def generator(self) -> "ModelGenerator":
        """The writer of answers.

        Raises:
            ConfigurationError: naming what to set, when there is no usable key.
        """
        from core.generation.model import ModelGenerator

        settings = self._settings
        self.chat(settings.model)  # names a missing key now
        return ModelGenerator(
            lambda model: self.chat(model or settings.model),
            repair_model=settings.repair_model,
            stream=settings.stream,
            repair_timeout=settings.first_token_timeout,
        )

    def chat(self, model: str) -> "GuardedModel":
        """Return one of the models that write; it and its circuit breaker are everybody's.

        Raises:
            ConfigurationError: naming what to set, when there is no usable key.
        """
        from core.providers.gemini.wire import GeminiWire
        from core.providers.guarded import GuardedModel
        from core.providers.pacing import Timeouts

        if model not in self._chats:
            settings = self._settings
            self._chats[model] = GuardedModel(
                GeminiWire(self.client, model, thinking_level=settings.thinking_level),
                timeouts=Timeouts(settings.first_token_timeout, settings.silence_timeout),
            )
        return self._chats[model]

    def left_alone(self) -> Mapping[str, bool]:
        """Return of each model asked so far whether its circuit breaker is open."""
        return {name: model.breaker.is_open for name, model in self._chats.items()}

    def embedder(self, model: str, dimensions: int) -> "GeminiEmbedder":
        """Return one of Gemini's embedding models.

        Raises:
            ConfigurationError: naming what to set, when there is no usable key.
        """
        from core.embeddings.gemini import GeminiEmbedder

        return GeminiEmbedder(self.client, model=model, dimensions=dimensions)


def models_in_use(settings: GeminiSettings, course_file: CourseFile) -> list[str]:
    """Return the models that may write answers and mend them, each once."""
    of_courses = [course_file.configuration(name).model_name for name in course_file.tables]
    named = [settings.model, settings.repair_model, *of_courses]
    return list(dict.fromkeys(model for model in named if model and model != EXTRACTIVE))


def prices(settings: GeminiSettings) -> Prices:
    """Return what the models cost, as far as it is set."""
    return Prices(settings.input_price, settings.output_price, settings.prices)


def _usable_key(settings: GeminiSettings) -> str:
    if settings.api_key is None:
        raise ConfigurationError(f"Gemini needs a key: {HOW_TO_SET_A_KEY}.")
    key = settings.api_key.get_secret_value().strip()
    if not key or not key.isascii() or not key.isprintable():
        raise ConfigurationError(
            f"The key of Gemini has characters that no key has: {HOW_TO_SET_A_KEY} again."
        )
    return key
