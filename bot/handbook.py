"""The built-in course: Glossator's own handbook."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bot.wiring import Services
from core.errors import ConfigurationError
from core.models import Course

if TYPE_CHECKING:
    from core.ingestion.report import IngestReport

COURSE = Course(course_id="handbook", title="Glossator's handbook")
_PLACES = (
    Path(__file__).resolve().parents[1] / "docs",
    Path(sys.prefix) / "share" / "glossator" / "handbook",
)
"""Where it lies in a checkout, and where an installation puts it."""


def handbook_folder() -> Path:
    """Return the folder of the handbook's pages.

    Raises:
        ConfigurationError: when the installation came without it.
    """
    for place in _PLACES:
        if place.is_dir():
            return place
    raise ConfigurationError(f"The handbook is missing: {_PLACES[-1]} does not exist.")


async def ingest_handbook(opened: Services) -> "IngestReport":
    """Bring the built-in course up to date; what is unchanged costs next to nothing."""
    from core.ingestion.sources import open_sources

    limits = opened.settings.ingest
    async with open_sources(
        [str(handbook_folder())],
        base_url=None,
        allowed_hosts=frozenset(),
        max_bytes=limits.max_megabytes * 1_000_000,
        user_agent=limits.user_agent,
    ) as readable:
        return await opened.ingestion(COURSE.course_id).run(COURSE, readable.sources)
