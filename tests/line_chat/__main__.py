"""`python -m tests.line_chat run`: the bot with one more platform, by its entry alone."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from bot import platforms
from bot.platforms import IdForm, Platform, PlatformSettings
from core.domain.i18n import Message
from core.storage.access import StaffKind
from tests.line_chat.adapter import PLATFORM, LineChat

if TYPE_CHECKING:
    from bot.build_discord import ChatServices


class LineSettings(PlatformSettings):
    """Where people come in."""

    port: int | None = None

    @property
    def is_set_up(self) -> bool:
        """Whether there is a port."""
        return self.port is not None


def build(chats: "ChatServices") -> LineChat:
    """Return the platform; nothing is opened yet."""
    from adapters.actions.settings import PlatformTerms
    from adapters.chat.acceptor import Acceptor

    async def shown(_: Any, named: Any) -> str:
        return str(named.id)

    terms = PlatformTerms(Message("tenant-server"), shown)
    does = chats.doing(PLATFORM, str, terms, {})
    settings = cast("LineSettings", chats.opened.settings.platform(PLATFORM))
    return LineChat(
        chats.desk,
        Acceptor(chats.wake, chats.meter),
        does.commands,
        does.presses,
        port=settings.port or 0,
    )


def check(_: Any) -> Iterator[Any]:
    """Find nothing: there is no account."""
    yield from ()


_NAME = IdForm(r"\w+", "this is no name")
LINE: Platform[Any] = Platform(
    name=PLATFORM,
    settings=LineSettings,
    set_up_by="GLOSSATOR_LINE__PORT",
    tokens={},
    channel=_NAME,
    tenant=_NAME,
    named_tenant=_NAME,
    staff={"people": (StaffKind.PERSON, _NAME)},
    adapter="tests.line_chat.__main__:build",
    doctor="tests.line_chat.__main__:check",
)

if __name__ == "__main__":
    cast("dict[str, Any]", platforms.PLATFORMS)[PLATFORM] = LINE
    from bot.cli import main

    main()
