"""Data folders and databases with the book in them, to copy for each part of a run."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import text

from bot.embedders import installed_model
from bot.settings import DatabaseSettings, Settings
from bot.wiring import ingest_handbook, open_services
from core.providers.embeddings.local import LocalEmbedder
from core.storage.database import create_engine
from tests.books import write_files
from tests.chaos.book import COURSE, COURSE_FILE, book
from tests.command_line import CommandLine, shell
from tests.postgres import PostgresServer

BUOYS = 400
"""More than any part of a run has questions."""
STAND_INS = {"STAND_INS": "tests.stand_ins"}


@dataclass(frozen=True)
class Template:
    """What a bot finds when it starts."""

    data: Path
    database: str | None
    """The name of a database of the server; None: it is a file in the data folder."""


class Templates:
    """Makes each template when it is first asked for."""

    def __init__(self, folder: Path, models: Path, postgres: PostgresServer | None) -> None:
        self._folder = folder
        self._models = models
        self._postgres = postgres
        self._made: dict[tuple[bool, bool], Template] = {}

    async def get(self, *, on_postgres: bool, stand_ins: bool) -> Template:
        """Return a template for this database, with or without stand-ins for the models."""
        kind = (on_postgres, stand_ins)
        if kind not in self._made:
            self._made[kind] = await self._make(*kind)
        return self._made[kind]

    async def copy_database(self, template: str, name: str) -> None:
        """Make a database of the server like another."""
        assert self._postgres is not None
        await administer(self._postgres, f"CREATE DATABASE {name} TEMPLATE {template}")

    async def _make(self, on_postgres: bool, stand_ins: bool) -> Template:
        name = f"template_{'pg' if on_postgres else 'sqlite'}_{'quick' if stand_ins else 'real'}"
        place = shell(self._folder / name, self._models)
        write_files(place.folder, {**book(BUOYS), "glossator.toml": COURSE_FILE})
        settings = dict(STAND_INS) if stand_ins else {}
        if on_postgres:
            assert self._postgres is not None
            await administer(self._postgres, f"CREATE DATABASE {name}")
            settings["DATABASE__URL"] = f"{self._postgres.url}{name}"
        await asyncio.to_thread(_ingest, place.setting(**settings))
        await _ingest_handbook(place, settings)
        return Template(place.data, name if on_postgres else None)


def _ingest(place: CommandLine) -> None:
    done = place.run("ingest", "--course", COURSE, timeout=600)
    assert done.code == 0, done.err


async def _ingest_handbook(place: CommandLine, settings: Mapping[str, str]) -> None:
    """Ingest what every bot brings up to date at its start."""
    url = settings.get("DATABASE__URL")
    opening = Settings(
        _env_file=None,
        data_dir=place.data,
        config=place.folder / "glossator.toml",
        stand_ins=settings.get("STAND_INS"),
        database=DatabaseSettings(url=SecretStr(url) if url else None),
    )
    async with open_services(opening) as opened:
        await ingest_handbook(opened)


async def administer(postgres: PostgresServer, statement: str) -> None:
    """Execute a statement outside of all transactions."""
    engine = create_engine(f"{postgres.url}postgres")
    try:
        once = engine.execution_options(isolation_level="AUTOCOMMIT")
        async with once.connect() as connection:
            await connection.execute(text(statement))
    finally:
        await engine.dispose()


async def make_models(folder: Path) -> Path:
    """Return a folder with the local embedding model, built when it is not there."""
    embedder = LocalEmbedder(installed_model(), folder)
    await embedder.warm_up()
    embedder.close()
    return folder
