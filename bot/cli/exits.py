"""Exit codes, and which failure ends with which."""

import re
from enum import IntEnum

from core.domain.errors import (
    BotError,
    ConfigurationError,
    IngestionBusy,
    IngestionError,
    NoRoom,
    RequestError,
    ServiceError,
    SourceUnavailable,
    StoreDamaged,
    StoreUnwritable,
    UnusableBackup,
)


class Exit(IntEnum):
    """The codes that this program ends with, from 64 on those of sysexits.h."""

    OK = 0
    USAGE = 2
    INCOMPLETE = 3
    """A file could not be read, and others went in."""
    BAD_INPUT = 65
    UNAVAILABLE = 69
    CONFIGURATION = 78
    INTERRUPTED = 130


class UsageError(BotError):
    """The command line names something that is not there; the text says what."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, user_message=detail)


class BadInput(BotError):
    """A file is missing, or what stands in it cannot be used; the text says which."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, user_message=detail)


_CODES: tuple[tuple[type[BotError], Exit], ...] = (
    (UsageError, Exit.USAGE),
    (BadInput, Exit.BAD_INPUT),
    (RequestError, Exit.USAGE),
    (ConfigurationError, Exit.CONFIGURATION),
    (IngestionBusy, Exit.UNAVAILABLE),
    (SourceUnavailable, Exit.UNAVAILABLE),
    (IngestionError, Exit.BAD_INPUT),
    (UnusableBackup, Exit.BAD_INPUT),
    (StoreDamaged, Exit.BAD_INPUT),
    (ServiceError, Exit.UNAVAILABLE),
)


_DAMAGED = (
    "The database file is damaged, and stays so ({reason}): stop Glossator, move the file away "
    "with those next to it that end in -wal and -shm, and run 'glossator restore' on your last "
    "backup, as 'glossator help running' says under 'Backups'."
)
_UNWRITABLE = (
    "Nothing can be written to the database ({reason}): its disk is full, or is only for reading. "
    "Free some room there, and try again."
)


_NO_UUID = re.compile(r"Input should be a valid UUID.*")
_NO_ID = "this is no {thing}'s id, which looks like 61364e8f-2762-4e61-a03b-7de98d1166c0; {where}."
_SESSION = ("session", "'glossator sessions list' lists yours")
_VERIFIED = ("verified answer", "'glossator verified list COURSE' lists them")


def sentence_of_usage(message: str, command: str, file: str | None = None) -> str:
    """Return what is said of a command line that cannot be understood, and where to read on.

    Args:
        message: What the library says of it.
        command: What was typed up to there, such as `glossator ask`.
        file: What was typed that begins as an option does, and is a file or folder.
    """
    if file is not None:
        return f"{file} begins as an option does: write ./{file} for the file of that name."
    sentence = " ".join(message.split()).replace("Value error, ", "")
    if _NO_UUID.search(sentence):
        thing, where = _VERIFIED if " verified" in command else _SESSION
        return _NO_UUID.sub(_NO_ID.format(thing=thing, where=where), sentence)
    return f"{sentence} (see '{command} --help')"


def exit_code(error: BotError) -> Exit:
    """Return the exit code of a failure."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), Exit.UNAVAILABLE)


def sentence_for(error: BotError) -> str:
    """Return what the operator reads: the detail where it was written for people."""
    if isinstance(error, ConfigurationError):
        return str(error)
    if isinstance(error, StoreDamaged):
        return _DAMAGED.format(reason=error)
    if isinstance(error, StoreUnwritable):
        return _UNWRITABLE.format(reason=error)
    if isinstance(error, NoRoom):
        return str(error)
    if isinstance(error, ServiceError) and str(error) != error.user_message:
        return f"{error.user_message} ({error})"
    return error.user_message
