"""Loads fakes in place of the models, which only a source tree with its tests has."""

import importlib
from typing import TYPE_CHECKING, Protocol, cast

from core.errors import ConfigurationError

if TYPE_CHECKING:
    from core.embeddings.base import OfflineEmbedder
    from core.generation.base import Generator

LOUDLY = "GLOSSATOR_STAND_INS is set: answers come from %s, which is for tests. Unset it."


class StandIns(Protocol):
    """What a module of stand-ins offers."""

    def open_embedder(self) -> "OfflineEmbedder":
        """Return what takes the place of the offline embedding model."""
        ...

    def open_generator(self) -> "Generator":
        """Return what takes the place of the writer of answers."""
        ...


def load_stand_ins(module: str) -> StandIns:
    """Return the stand-ins of a module.

    Raises:
        ConfigurationError: when this installation has none, as one from a wheel.
    """
    try:
        return cast("StandIns", importlib.import_module(module))
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"GLOSSATOR_STAND_INS names {module}, which is for tests and not installed: unset it."
        ) from error
