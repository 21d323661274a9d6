"""A PostgreSQL server with the book of buoys in it, for bots whose models are stand-ins."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.chaos.templates import STAND_INS, Template, Templates
from tests.postgres import PostgresServer, postgres_server


@dataclass(frozen=True)
class BookOnPostgres:
    """A server, a data folder to copy, and the settings of a bot over both."""

    server: PostgresServer
    template: Template

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a bot that is watched, and whose work is taken over soon."""
        return {
            **STAND_INS,
            "DATABASE__URL": f"{self.server.url}{self.template.database}",
            "MONITORING__PORT": "0",
            "PSEUDONYM_KEY": "the same for all",
            "ENCRYPTION_KEY": "the same for all, too",
            "INBOX__LEASE": "4",
        }


@asynccontextmanager
async def book_on_postgres(folder: Path, models: Path) -> AsyncIterator[BookOnPostgres]:
    """Give a server while the block lasts; the test is skipped where none can be run."""
    serving = postgres_server()
    try:
        server = serving.__enter__()
    except RuntimeError as reason:
        pytest.skip(str(reason))
    try:
        template = await Templates(folder, models, server).get(on_postgres=True, stand_ins=True)
        yield BookOnPostgres(server, template)
    finally:
        serving.__exit__(None, None, None)
