"""The composition root: builds what the settings ask for, and takes it down again."""

import os
import re
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from importlib.metadata import PackageNotFoundError, PackagePath, files
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from bot.course_file import read_course_file
from bot.database import make_current
from bot.embedders import Embedders, open_local
from bot.keys import prove
from bot.model_tables import read_tables
from bot.models import Models, check_contexts, check_named_models
from bot.services import DEMO, HANDBOOK, Services
from bot.settings import Settings
from core.domain import Course
from core.domain.disk import is_writable
from core.domain.errors import ConfigurationError
from core.index.base import VectorIndex
from core.storage.catalogue import Catalogue, Origins
from core.storage.database import create_engine, dispose, driver_url

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

    from core.ingestion.coverage import IngestReport, Progress


Result = TypeVar("Result")

_OURS = re.compile(
    r"glossator\.db.*|.*\.key|calibration\.json|index|models|repositories|locks|demo|lost\+found"
)
"""What lies in a data folder."""


class RunStep(Protocol):
    """Carries out a step that needs the database, and may try it again."""

    async def __call__(
        self, engine: "AsyncEngine", step: Callable[[], Awaitable[Result]]
    ) -> Result:
        """Return what the step gives."""
        ...


async def at_once(engine: "AsyncEngine", step: Callable[[], Awaitable[Result]]) -> Result:
    """Return what a step gives, tried once."""
    return await step()


@asynccontextmanager
async def open_services(
    settings: Settings,
    announce: Callable[[str], None] = lambda _: None,
    run_step: RunStep = at_once,
    *,
    keys: Collection[str] = (),
    needs_room: bool = True,
) -> AsyncIterator[Services]:
    """Open the database, index and models that the settings name; a provider at its first use.

    A fresh database gets its tables. `announce` is called with work that takes seconds, and
    `run_step` carries out each step that needs the database. `keys` are made where they are
    missing; those that are there must be the database's. Without `needs_room`, a disk that is
    full or read-only is only read.

    Raises:
        ConfigurationError: when a setting, the course file or the data folder is unusable.
        StoreError: when the database cannot be reached.
    """
    course_file = read_course_file(settings.config, required="config" in settings.model_fields_set)
    tables = read_tables(settings, course_file.models)
    check_named_models(settings, tables, course_file)
    check_contexts(settings, tables, course_file)
    async with AsyncExitStack() as closing:
        closing.callback(os.umask, os.umask(0o077))  # as it is from here on; then as it was
        make_data_dir(settings, needs_room=needs_room)
        engine = create_engine(
            settings.database_url,
            synchronous=settings.database.synchronous,
            needs_room=needs_room,
        )
        closing.push_async_callback(dispose, engine)
        index = open_index(settings)
        closing.push_async_callback(index.close)
        local = open_local(settings, announce)
        closing.callback(local.close)
        models = Models(settings, tables, closing)
        await run_step(engine, partial(make_current, engine))
        proving = partial(prove, settings, engine, keys, needs_room=needs_room)
        proved = await run_step(engine, proving)
        yield Services(
            settings,
            course_file,
            engine,
            Catalogue(engine, Origins.of(settings.data_dir)),
            index,
            Embedders(settings, course_file, local, models),
            models,
            proved,
        )


def open_index(settings: Settings) -> VectorIndex:
    """Return the index that the settings name; nothing is opened or asked yet.

    Raises:
        ConfigurationError: when the URL of a Qdrant server or its CA file is unusable.
    """
    qdrant = settings.qdrant
    if qdrant.url is None:
        from core.index.edge import EdgeIndex

        return EdgeIndex(settings.data_dir / "index")
    from core.index.qdrant import QdrantIndex, connect

    key = qdrant.api_key.get_secret_value() if qdrant.api_key else None
    return QdrantIndex(
        connect(qdrant.url, api_key=key, ca_file=qdrant.ca_file, timeout=qdrant.timeout),
        prefix=qdrant.prefix,
        replication_factor=qdrant.replication_factor,
        write_consistency_factor=qdrant.write_consistency_factor,
        shard_number=qdrant.shard_number,
    )


def make_data_dir(settings: Settings, *, needs_room: bool = True) -> None:
    """Create the data folder; what this process writes from now on is its owner's alone.

    What an earlier version left open there is closed to others, and so is the folder itself,
    whoever made it, unless it holds more than what is Glossator's.

    Raises:
        ConfigurationError: when it cannot be created, or is needed and cannot be written.
    """
    folder = settings.data_dir
    os.umask(0o077)
    try:
        for missing in reversed([f for f in (folder, *folder.parents) if not f.exists()]):
            missing.mkdir(exist_ok=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The data folder {folder} cannot be made ({error.strerror}): "
            "set GLOSSATOR_DATA_DIR to another."
        ) from error
    if needs_room and not is_writable(folder):
        raise ConfigurationError(
            f"The data folder {folder} cannot be written: set GLOSSATOR_DATA_DIR to another."
        )
    with suppress(OSError):
        _keep_private(settings)


def _keep_private(settings: Settings) -> None:
    """Close what is Glossator's in the data folder, and the database's file, to other accounts."""
    entries = [*settings.data_dir.iterdir()]
    ours = [entry for entry in entries if _OURS.fullmatch(entry.name)]
    if len(ours) == len(entries):
        _close_to_others(settings.data_dir)
    with suppress(ConfigurationError):  # which whoever opens the database tells
        address = driver_url(settings.database_url)
        if address.get_backend_name() == "sqlite":
            ours += [Path(f"{address.database}{end}") for end in ("", "-wal", "-shm", ".run.lock")]
    for entry in ours:
        _close_to_others(entry)


def _close_to_others(path: Path) -> None:
    """Take a file or a folder, with all that lies in it, from everybody but its owner.

    Below a folder that is closed already nobody else can look, and nothing is looked at there.
    What is another account's stays as it is.
    """
    try:
        found = path.lstat()
    except OSError:
        return
    if os.name == "nt":  # there, a new file is closed or open as its folder is
        return
    is_folder = stat.S_ISDIR(found.st_mode)
    if found.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(found.st_mode)):
        return
    if not found.st_mode & 0o077:
        return
    with suppress(OSError):  # a disk that is only for reading
        path.chmod(stat.S_IMODE(found.st_mode) & 0o700)
        for entry in path.iterdir() if is_folder else ():
            _close_to_others(entry)


SOURCE = "glossator://handbook"
"""What its pages are called as a source, wherever this installation has them: a data folder made
by one installation is opened by another."""
_DEMO_SOURCE = "glossator://demo"
_CHECKOUT = Path(__file__).resolve().parents[1]
_INSTALLED = "share/glossator"
"""The folder of an installation that has the pages of the built-in courses."""


def handbook_folder() -> Path:
    """Return the folder of the handbook's pages, in a checkout or an installation.

    Raises:
        ConfigurationError: when the installation came without it.
    """
    if found := _pages("docs", "handbook"):
        return found
    raise ConfigurationError("The handbook is missing: install Glossator again.")


def demo_folder() -> Path:
    """Return the folder of the course about tides that the demo asks.

    Raises:
        ConfigurationError: when the installation came without it.
    """
    if found := _pages("demo", "demo"):
        return found
    raise ConfigurationError("The demo's course is missing: install Glossator again.")


def _pages(in_checkout: str, as_installed: str) -> Path | None:
    """Return the folder whose first page is `index.md`, of a checkout or else an installation."""
    folder = _CHECKOUT / in_checkout
    if (folder / "index.md").is_file():
        return folder
    first = f"{_INSTALLED}/{as_installed}/index.md"
    for file in _installed_files():  # whatever the folder before it is
        if file.as_posix().endswith(first):
            return Path(str(file.locate())).resolve().parent
    return None


def _installed_files() -> Sequence[PackagePath]:
    try:
        return files("glossator") or ()
    except PackageNotFoundError:
        return ()


async def ingest_handbook(
    opened: Services, progress: "Progress" = lambda *_: None
) -> "IngestReport":
    """Bring the built-in course up to date; what is unchanged costs next to nothing.

    Its pages are all that the course consists of: what earlier versions stored as the pages of
    another folder is theirs no more.
    """
    return await _ingest_pages(opened, HANDBOOK, handbook_folder(), SOURCE, progress)


async def ingest_demo(opened: Services) -> "IngestReport":
    """Bring the course that the demo asks up to date."""
    return await _ingest_pages(opened, DEMO, demo_folder(), _DEMO_SOURCE)


async def _ingest_pages(
    opened: Services,
    course: Course,
    folder: Path,
    called: str,
    progress: "Progress" = lambda *_: None,
) -> "IngestReport":
    from core.ingestion.sources.sources import open_sources

    limits = opened.settings.ingest
    async with open_sources(
        [str(folder)],
        base_url=None,
        allowed_hosts=frozenset(),
        max_bytes=limits.max_megabytes * 1_000_000,
        user_agent=limits.user_agent,
        called=called,
    ) as readable:
        return await opened.ingestion(course.course_id).run(
            course, readable.sources, listed=(), progress=progress
        )
