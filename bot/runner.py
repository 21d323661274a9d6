"""`glossator run`: keeps the chat platforms and the worker going until it is asked to stop."""

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.course_file import read_course_file
from bot.health import Monitoring, serving
from bot.keys import NAMES as KEYS
from bot.log import tell_progress
from bot.model_tables import read_tables
from bot.models import chosen_generator
from bot.process import Bot, Result, Starting, StoppedWhileStarting, is_only_process, once_there
from bot.services import Services, missing_text
from bot.settings import Settings
from bot.wiring import ingest_handbook, open_services
from core.domain.errors import (
    BotError,
    IngestionBusy,
    StoreDamaged,
    StoreDataError,
    StoreError,
    StoreUnwritable,
    VectorIndexError,
)
from core.domain.telemetry import NO_METER, Meter
from core.storage.database import reserved

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from bot.health import Health

logger = logging.getLogger(__name__)


_COLLECTED_EVERY = 20_000
"""Objects more than before after which Python looks for cycles; 700 by its own setting."""


def leave_in_peace() -> None:
    """Keep the cycle collector away from what is there for good: modules, classes, the model.

    It would go through all of that again and again, for 75 to 150 ms each time, in which no
    event is accepted.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTED_EVERY)


_SWITCH_INTERVAL = 0.002
"""Seconds that a busy thread keeps the interpreter while another one waits for it.

The thread that writes to the database gives it up with every statement; next to a busy event loop
it would wait 5 ms for it each time, by Python's own setting, and so would the askers.
"""


async def run_bot(settings: Settings, announce: Callable[[str], None]) -> None:
    """Answer on every platform that the settings name, until SIGTERM or SIGINT.

    Raises:
        ConfigurationError: when a setting is unusable, or every platform refuses our credentials.
    """
    _check(settings)
    sys.setswitchinterval(_SWITCH_INTERVAL)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.set_exception_handler(_log_unawaited)
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # Windows: Ctrl-C interrupts instead
            loop.add_signal_handler(signal_number, stop.set)
    async with _watching(settings, stop) as (meter, watch):
        with suppress(StoppedWhileStarting):
            await _run(settings, announce, stop, meter, watch)


def _check(settings: Settings) -> None:
    """Raise ConfigurationError for what needs no look at the database."""
    for name in settings.platforms():
        settings.platform(name).check()
    course_file = read_course_file(settings.config, required="config" in settings.model_fields_set)
    chosen_generator(settings, read_tables(settings, course_file.models))


async def _run(
    settings: Settings,
    announce: Callable[[str], None],
    stop: asyncio.Event,
    meter: Meter,
    watch: "Health | None",
) -> None:
    """Start, however long the database keeps us waiting, and answer until `stop` is set."""

    async def run_step(engine: "AsyncEngine", step: Callable[[], Awaitable[Result]]) -> Result:
        return await once_there(engine, step, stop)

    show = watch.begin_with if watch is not None else lambda _: None
    starting = Starting(announce, show, tell_progress)
    starting.begin("opening the database and the index")
    async with AsyncExitStack() as running:
        async with starting.told():
            services = open_services(settings, starting.announce, run_step, keys=KEYS)
            opened = await running.enter_async_context(services)
            _open_judges(opened)
            starting.begin("reading the handbook")
            prepare = partial(_prepare_courses, opened, starting)
            has_handbook = await once_there(opened.engine, prepare, stop)
            starting.begin("loading the embedding model")
            await opened.warm_up()
        announce("Starting; stop with Ctrl-C.")
        async with is_only_process(opened.engine), reserved(opened.engine) as holding:
            bot = Bot(opened, holding, meter)
            leave_in_peace()
            if watch is not None:
                watch.begin(bot.watched(), has_handbook=has_handbook)
            await bot.run_until(stop, announce)


def _open_judges(opened: Services) -> None:
    """Open the judge of every course, and that of all others, before anybody asks.

    Raises:
        ConfigurationError: when the key of a judge's model cannot be sent.
    """
    for course_id in ("", *opened.course_file.tables):
        opened.judge(course_id)


async def _prepare_courses(opened: Services, starting: Starting) -> bool:
    """Check that the course file names known courses; return whether the handbook is up to date.

    Raises:
        ConfigurationError: when the course file names a course that there is not.
        StoreError: when the database fails.
    """
    has_handbook = await _prepare_handbook(opened, starting)
    known = await opened.catalogue.courses()
    with suppress(VectorIndexError):  # who asks is answered that it is away
        held = await opened.index.collections()
        for course, edition in known:
            if edition is not None and not edition.collections <= held:
                logger.warning("%s", missing_text(course.course_id))
    opened.course_file.check_channels([course.course_id for course, _ in known])
    return has_handbook


async def _prepare_handbook(opened: Services, starting: Starting) -> bool:
    """Bring the handbook up to date, and return whether it is: no course's answers wait for it.

    Raises:
        StoreError: when the database's server is away, which is waited for.
    """
    try:
        await ingest_handbook(opened, starting.read)
    except IngestionBusy:
        logger.info("another process ingests the handbook")
    except Exception as error:
        lasts = isinstance(error, StoreUnwritable | StoreDamaged | StoreDataError)
        is_file = opened.engine.dialect.name == "sqlite"
        if isinstance(error, StoreError) and not (lasts or is_file):
            raise
        trace = None if isinstance(error, BotError) else error
        logger.warning("the handbook cannot be brought up to date: %s", error, exc_info=trace)
        return False
    return True


@asynccontextmanager
async def _watching(
    settings: Settings, stop: asyncio.Event
) -> "AsyncIterator[tuple[Meter, Health | None]]":
    """Serve the pages of the monitoring while the block lasts, if anybody wants them.

    Raises:
        ConfigurationError: when its address cannot be used.
    """
    host, port = settings.monitoring.host, settings.monitoring.port
    if port is None:
        yield NO_METER, None
        return
    from bot.health import Health, PrometheusMeter

    meter = PrometheusMeter(names_courses=settings.monitoring.courses)
    watch = Health(meter, settings.platforms(), stop)
    pages = Monitoring(
        watch.readiness(), watch.exposition, watch.alive, watch.asides(), watch.phase
    )
    async with serving(pages, host, port) as bound:
        logger.info("monitoring at http://%s:%d", host, bound)
        yield meter, watch


def _log_unawaited(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log a failure that was not awaited; of a broken connection there is little to say.

    A database driver whose connecting is cancelled leaves a future that no one but it
    knows of, and that fails when the connection is closed.
    """
    error = context.get("exception")
    if isinstance(error, ConnectionError) and context["message"].startswith("Future exception"):
        logger.info("a connection broke for which nobody waited: %s", error)
    else:
        loop.default_exception_handler(context)
