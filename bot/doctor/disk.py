"""What `glossator doctor` says about the room on the disks."""

from collections.abc import Iterator

from bot.cli.exits import Exit
from bot.doctor.findings import Finding, warning
from bot.health.disks import Level, disks
from bot.settings import Settings

_READ_ONLY = "questions are answered, but nothing is stored"
_LOW = "free some room, before nothing can be stored"


def check_disks(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each disk that is written to."""
    for disk in disks(settings):
        if disk.is_read_only:
            yield warning("disk", f"{disk}: {_READ_ONLY}")
        elif disk.level is Level.ENOUGH:
            yield Finding("disk", str(disk))
        elif disk.level is Level.LOW:
            yield warning("disk", f"{disk}: {_LOW}")
        else:
            yield Finding("disk", f"{disk}: {_LOW}", Exit.UNAVAILABLE)
