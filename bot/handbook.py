"""The built-in course: Glossator's own handbook."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, PackagePath, files
from pathlib import Path
from typing import TYPE_CHECKING

from bot.services import Services
from core.errors import ConfigurationError
from core.models import Course

if TYPE_CHECKING:
    from core.ingestion.report import IngestReport, Progress

COURSE = Course(course_id="handbook", title="Glossator's handbook")
SOURCE = "glossator://handbook"
"""What its pages are called as a source, wherever this installation has them: a data folder made
by one installation is opened by another."""
_CHECKOUT = Path(__file__).resolve().parents[1] / "docs"
_INSTALLED = "share/glossator/handbook/index.md"
"""How the list of installed files ends with its first page, whatever the folder before it is."""


def handbook_folder() -> Path:
    """Return the folder of the handbook's pages, in a checkout or an installation.

    Raises:
        ConfigurationError: when the installation came without it.
    """
    if _CHECKOUT.is_dir():
        return _CHECKOUT
    for file in _installed_files():
        if file.as_posix().endswith(_INSTALLED):
            return Path(str(file.locate())).resolve().parent
    raise ConfigurationError("The handbook is missing: install Glossator again.")


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
    from core.ingestion.sources.opening import open_sources

    limits = opened.settings.ingest
    async with open_sources(
        [str(handbook_folder())],
        base_url=None,
        allowed_hosts=frozenset(),
        max_bytes=limits.max_megabytes * 1_000_000,
        user_agent=limits.user_agent,
        called=SOURCE,
    ) as readable:
        return await opened.ingestion(COURSE.course_id).run(
            COURSE, readable.sources, listed=(), progress=progress
        )
