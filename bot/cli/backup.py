"""`glossator backup` and `glossator restore`: all that is stored, in one file."""

import os
from pathlib import Path

from adapters.markdown.printable import on_one_line
from bot.backup.restoring import restore as restore_backup
from bot.backup.saving import back_up
from bot.cli.context import services
from bot.cli.exits import Exit, UsageError
from bot.keyring.keys import NAMES, given, setting_of
from bot.log import configure_logging, tell
from bot.settings import Settings, load_settings
from core.backup.manifest import Manifest

_THERE = "There is a file {path} already: name another one, or replace it with --force."


async def backup(path: Path, *, with_index: bool, force: bool) -> int:
    """Write everything that is stored to a file; only with `force` in place of another.

    Raises:
        UsageError: when there is a file, which stays as it is.
    """
    if not force:
        _check_is_free(path)
    async with services(needs_room=False) as opened:
        manifest = await back_up(opened, path, with_text=with_index)
        kept = _given(opened.settings)
    print(on_one_line(f"Backed up to {path}: {_summary(manifest)}."))
    for name in kept:
        tell(f"The key in {name} is not in the backup: keep it yourself.")
    _say_what_lacks(manifest)
    return Exit.OK


def _check_is_free(path: Path) -> None:
    if os.path.lexists(path) and not path.is_dir():
        raise UsageError(_THERE.format(path=path))


async def restore(path: Path, *, force: bool) -> int:
    """Restore everything from a file."""
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    manifest = await restore_backup(settings, path, force=force)
    print(
        f"Restored the backup of {manifest.made_at:%Y-%m-%d %H:%M} UTC: {_summary(manifest)}. "
        "Run 'glossator doctor'."
    )
    _say_what_lacks(manifest)
    return Exit.OK


def _summary(manifest: Manifest) -> str:
    chunks = sum(edition.chunks for edition in manifest.editions if edition.has_text)
    courses = {edition.course_id for edition in manifest.editions}
    keys = ", ".join(manifest.keys) or "none"
    return (
        f"{_counted(len(courses), 'course')} with {_counted(chunks, 'chunk')}, "
        f"{_counted(manifest.rows('sessions'), 'conversation')}, keys: {keys}"
    )


def _say_what_lacks(manifest: Manifest) -> None:
    lacking = [edition.course_id for edition in manifest.editions if not edition.has_text]
    for course_id in dict.fromkeys(lacking):
        tell(
            f"The text of {course_id} is not in the backup: after a restoration, run "
            f"'glossator ingest' for it."
        )


def _given(settings: Settings) -> list[str]:
    return [setting_of(name) for name in NAMES if given(settings, name)]


def _counted(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
