"""A bot on each database in front of the local Slack, measured one after the other."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.storage.database import create_engine, reading
from core.storage.inbox.rows import InboxRow, is_waiting
from tests.chaos.templates import STAND_INS, Template, Templates, make_models
from tests.postgres import PostgresServer, postgres_server
from tests.wire.slack import Limits
from tests.wire.slack_bot import Trial, a_trial

POSTGRESQL, SQLITE = "PostgreSQL", "SQLite"
_PATIENCE = 30.0


class Figures(Protocol):
    """What was measured; its text is printed."""

    @property
    def are_good(self) -> bool:
        """Whether they are as promised."""
        ...


async def on_each(
    databases: Sequence[str],
    measure: Callable[[Trial, AsyncEngine], Awaitable[Figures]],
    *,
    settings: Mapping[str, str],
    limits: Limits,
    by_oauth: bool = False,
) -> bool:
    """Measure a bot on each database, print its figures, and return whether all are good."""
    good = True
    serving = postgres_server() if POSTGRESQL in databases else nullcontext()
    with TemporaryDirectory(prefix="glossator-soak-") as name, serving as server:
        folder = Path(name)
        templates = Templates(folder, await make_models(folder / "models"), server)
        for database in databases:
            template = await templates.get(on_postgres=database == POSTGRESQL, stand_ins=True)
            place = folder / f"on-{database}"
            async with running(
                template, place, server, settings=settings, limits=limits, by_oauth=by_oauth
            ) as (trial, engine):
                figures = await measure(trial, engine)
            load, good = os.getloadavg()[0], good and figures.are_good
            missed = "" if figures.are_good else "; missed"
            print(f"{database}: {figures}; load {load:.1f}{missed}", flush=True)
    return good


@asynccontextmanager
async def running(
    template: Template,
    folder: Path,
    server: PostgresServer | None,
    *,
    settings: Mapping[str, str],
    limits: Limits,
    by_oauth: bool = False,
) -> AsyncIterator[tuple[Trial, AsyncEngine]]:
    """Let a bot with stand-ins run on a template's database, and give an engine for it."""
    url = f"sqlite:///{folder / 'data' / 'glossator.db'}"
    given = {**STAND_INS, **settings}
    if template.database is not None:
        assert server is not None
        url = given["DATABASE__URL"] = f"{server.url}{template.database}"
    engine = create_engine(url)
    try:
        async with a_trial(
            template.data, folder, settings=given, limits=limits, by_oauth=by_oauth
        ) as trial:
            yield trial, engine
    finally:
        await engine.dispose()


async def all_acknowledged(trial: Trial) -> None:
    """Wait until no attempt to deliver an event waits for its acknowledgement."""
    deliveries = trial.world.history.deliveries
    async with asyncio.timeout(_PATIENCE):
        while any(  # noqa: ASYNC110 - what is watched has no event
            d.acked_at is None and d.failure is None for d in deliveries[-1_000:]
        ):
            await asyncio.sleep(0.1)


async def waiting(engine: AsyncEngine) -> int:
    """Return how many events wait for their answers."""
    async with reading(engine) as db:
        return await db.scalar(select(func.count()).select_from(InboxRow).where(is_waiting())) or 0
