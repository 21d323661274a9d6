"""What Discord refuses, as the bot's own errors: for now or for good, and with its number."""

import discord

from core.errors import DeliveryError

UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
UNKNOWN_WEBHOOK = 10015
UNKNOWN_INTERACTION = 10062
NO_ACCESS = 50001
NO_PERMISSION = 50013
INVALID_TOKEN = 50027
THREAD_ARCHIVED = 50083
NO_HISTORY = 160002
THREAD_EXISTS = 160004
THREAD_LOCKED = 160005
NOT_A_MEMBER = frozenset({10004, 10007, 10013, NO_ACCESS})
"""Unknown Guild, Unknown Member, Unknown User, Missing Access."""
TOKEN_IS_DEAD = frozenset({UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION, INVALID_TOKEN})
CHANNEL_IS_CLOSED = frozenset({UNKNOWN_CHANNEL, NO_ACCESS, NO_PERMISSION})

_LATER = frozenset({401, 408, 429})
_MINUTE = 60.0
_ADVICE = {
    UNKNOWN_CHANNEL: "the channel is gone",
    NO_ACCESS: "give the bot 'View Channel' there",
    NO_PERMISSION: (
        "give the bot 'Send Messages', 'Send Messages in Threads', 'Create Public Threads', "
        "'Attach Files' and 'Read Message History' there"
    ),
    50007: "the user takes no direct messages",
    THREAD_LOCKED: "the thread is locked, and the bot has not 'Manage Threads' there",
}


class Refused(DeliveryError):
    """Discord refused a request; `code` is its JSON error code, 0 where it gave none."""

    def __init__(
        self, detail: str, *, code: int, permanent: bool, retry_after: float | None = None
    ) -> None:
        self.code = code
        super().__init__(detail, permanent=permanent, retry_after=retry_after)


def refused(error: discord.HTTPException) -> Refused:
    """Return an exception of discord.py as the bot's own error, without the texts sent."""
    detail = f"Discord answered {error.status}, error code {error.code}"
    if advice := _ADVICE.get(error.code):
        detail = f"{detail}: {advice}"
    wait = None
    if error.status in _LATER and error.code != INVALID_TOKEN:
        wait = _retry_after(error)
    elif error.status < 500:
        return Refused(detail, code=error.code, permanent=True)
    return Refused(detail, code=error.code, permanent=False, retry_after=wait)


def _retry_after(error: discord.HTTPException) -> float:
    header = error.response.headers.get("Retry-After", "")
    return float(header) if header.replace(".", "", 1).isdigit() else _MINUTE
