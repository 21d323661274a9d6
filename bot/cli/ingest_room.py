"""Says whether the disks have room for what is about to be ingested."""

from pathlib import Path

from bot.settings import Settings
from core.disk.space import INDEX_RESERVE
from core.disk.space import check_room as check_disks
from core.index.embedded.marker import OPTIMIZE_ABOVE
from core.ingestion.edition.footprint import Footprint
from core.storage.database_url import driver_url

_COPIES = 3
"""How often a large collection is on the disk while its graph is built."""


def check_room(settings: Settings, course_id: str, needed: Footprint) -> None:
    """Return when there is room for an edition, next to the one that it replaces.

    A Qdrant server and a PostgreSQL server look after their own disks.

    Raises:
        NoRoom: naming the folder, what is needed there and what is free.
    """
    needs: dict[Path, int] = {}
    if settings.qdrant.url is None:
        index = settings.data_dir.absolute() / "index"
        copies = _COPIES if needed.chunks > OPTIMIZE_ABOVE else 1
        needs[index] = copies * needed.index + INDEX_RESERVE
    address = driver_url(settings.database_url)
    if address.get_backend_name() == "sqlite":
        needs[Path(address.database or "").absolute().parent] = needed.database
    check_disks(needs, f"The course {course_id}")
