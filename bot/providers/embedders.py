"""Decides which embedding model a course is ingested with, and which it is searched with."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bot.course_file import CourseFile
from bot.providers.models import Models
from bot.providers.offline_model import (
    TOKENIZER,
    install_if_missing,
    model_place,
    refuse_to_install,
)
from bot.providers.stand_ins import LOUDLY, load_stand_ins
from bot.providers.tables import BY_KEY, GEMINI_EMBEDDING, HOW_TO_SET_A_KEY, LOCAL, ModelTable
from bot.settings import Settings
from core.embeddings.base import Embedder, OfflineEmbedder
from core.embeddings.local import LocalEmbedder
from core.embeddings.whole_words import WholeWords
from core.errors import ConfigurationError

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Embedders:
    """The embedding models there are."""

    settings: Settings
    course_file: CourseFile
    local: OfflineEmbedder
    """Checks answers and writes extractive ones, whatever model a course is searched with."""
    models: Models

    def of_course(self, course_id: str) -> Embedder:
        """Return the model that a course is to be ingested with.

        Raises:
            ConfigurationError: naming what to set, when the model is not available.
        """
        wanted = self.course_file.embedding(course_id) or self.settings.embedding.provider
        if wanted == LOCAL:
            return self.local
        return self.models.embedder(wanted, *meant(self.models.tables, wanted))

    def named(self, name: str, course_id: str) -> Embedder:
        """Return the model that a course's edition was embedded with, whatever is configured now.

        Raises:
            ConfigurationError: naming what to set, when the model is not available.
        """
        if name == self.local.name:
            return self.local
        preferred = self.course_file.embedding(course_id) or self.settings.embedding.provider
        return self.models.embedder(*embedding_model(self.models.tables, name, preferred))


def meant_model(
    settings: Settings,
    tables: Mapping[str, ModelTable],
    course_file: CourseFile,
    course_id: str,
) -> str:
    """Return the name of the model that the next ingestion embeds a course with."""
    wanted = course_file.embedding(course_id) or settings.embedding.provider
    if wanted == LOCAL:
        return LocalEmbedder.name
    model, dimensions = meant(tables, wanted)
    return f"{model}/{dimensions}"


def meant(tables: Mapping[str, ModelTable], wanted: str) -> tuple[str, int]:
    """Return the model and the dimensions of a table that embeds, or that a key would set up."""
    table = tables.get(wanted) or BY_KEY[wanted]
    assert table.dimensions is not None  # as `check_named_models` saw
    return table.model, table.dimensions


def embedding_model(
    tables: Mapping[str, ModelTable], name: str, preferred: str
) -> tuple[str, str, int]:
    """Return the table, the model and the dimensions that an edition's embedding model has.

    Args:
        tables: Every model by its name.
        name: Of the edition's embedding model, `MODEL/DIMENSIONS`.
        preferred: The table that the course is embedded with now: it wins where several fit.

    Raises:
        ConfigurationError: naming what to set, when the model is not available.
    """
    model, _, dimensions = name.rpartition("/")
    if not model or not dimensions.isdecimal():
        raise ConfigurationError(
            f"This course was embedded with {name}, which this version does not have: "
            "ingest it again."
        )
    for table in sorted(tables, key=lambda table: table != preferred):
        described = tables[table]
        if described.dimensions is not None and (described.model, dimensions) == (
            model,
            str(described.dimensions),
        ):
            return table, model, described.dimensions
    if GEMINI_EMBEDDING not in tables:
        raise ConfigurationError(
            f"This course was embedded with {model}: {HOW_TO_SET_A_KEY}, or ingest it again."
        )
    return GEMINI_EMBEDDING, model, int(dimensions)


def open_local(
    settings: Settings,
    announce: Callable[[str], None] = lambda _: None,
    *,
    may_install: bool = True,
) -> OfflineEmbedder:
    """Return the offline model, or what stands in for it; it is loaded at first use.

    Where it is not installed, its first use fetches it, or raises ConfigurationError without
    `may_install`.
    """
    if settings.stand_ins is not None:
        logger.warning(LOUDLY, settings.stand_ins)
        return load_stand_ins(settings.stand_ins).open_embedder()
    place = model_place(settings)
    prepare = partial(install_if_missing, place, announce)
    return LocalEmbedder(
        place.weights,
        place.ready,
        threads=settings.embedding.threads,
        announce=announce,
        prepare=prepare if may_install else partial(refuse_to_install, place),
    )


def whole_words(settings: Settings) -> WholeWords:
    """Return the words of the offline model's vocabulary; none where it is not installed."""
    if settings.stand_ins is not None:
        return WholeWords(Path())
    return WholeWords(model_place(settings).weights / TOKENIZER)
