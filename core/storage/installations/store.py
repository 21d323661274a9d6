"""The SQL side of installations: where workspaces let the bot in, with sealed tokens."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import LargeBinary, Text, delete, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.errors import StoreError
from core.models import now
from core.storage.database import Base, UtcDateTime, insert_into, reading, writing


class InstallationRow(Base):
    """A workspace, or a whole organisation, that the bot is installed in."""

    __tablename__ = "installations"

    platform: Mapped[str] = mapped_column(Text, primary_key=True)
    place: Mapped[str] = mapped_column(Text, primary_key=True)
    organisation: Mapped[str | None] = mapped_column(Text)
    bot_user: Mapped[str] = mapped_column(Text)
    bot: Mapped[str] = mapped_column(Text)
    scopes: Mapped[str] = mapped_column(Text)
    token: Mapped[bytes] = mapped_column(LargeBinary)
    refresh_token: Mapped[bytes | None] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    installed_at: Mapped[datetime] = mapped_column(UtcDateTime)


@dataclass(frozen=True, slots=True)
class Installed:
    """What the bot is in a workspace, and its token there."""

    place: str
    """The workspace's id, or the organisation's where the bot is installed in all of it."""
    organisation: str | None
    bot_user: str
    """The bot's user id."""
    bot: str
    """The id that the bot's messages carry, where that is another one."""
    scopes: str
    """Separated by commas."""
    token: str
    refresh_token: str | None = None
    expires_at: datetime | None = None
    installed_at: datetime | None = field(default=None, compare=False)
    """When it was kept; known of what the store returns."""


class InstallationStore:
    """The installations of one platform; safe for any number of processes at once.

    Every method raises StoreError when the database fails.
    """

    def __init__(
        self,
        engine: AsyncEngine,
        platform: str,
        *,
        seal: Callable[[str], bytes],
        unseal: Callable[[bytes], str],
    ) -> None:
        """Prepare to use the table.

        Args:
            seal: Encrypts a token.
            unseal: Decrypts it; raises StoreError when it cannot.
        """
        self._engine = engine
        self._platform = platform
        self._seal = seal
        self._unseal = unseal

    async def save(self, installed: Installed) -> None:
        """Keep an installation, in place of an earlier one in the same place."""
        refresh = installed.refresh_token
        values = {
            "organisation": installed.organisation,
            "bot_user": installed.bot_user,
            "bot": installed.bot,
            "scopes": installed.scopes,
            "token": self._seal(installed.token),
            "refresh_token": self._seal(refresh) if refresh else None,
            "expires_at": installed.expires_at,
            "installed_at": now(),
        }
        insert = insert_into(self._engine, InstallationRow).values(
            platform=self._platform, place=installed.place, **values
        )
        key = ["platform", "place"]
        async with writing(self._engine) as db:
            await db.execute(insert.on_conflict_do_update(index_elements=key, set_=values))

    async def renew(self, before: Installed, after: Installed) -> bool:
        """Keep the tokens that were given for older ones; return whether these were still kept.

        They are not when the bot was taken out meanwhile, or another process was quicker.
        """
        row, refresh = InstallationRow, after.refresh_token
        unchanged = (
            row.platform == self._platform,
            row.place == before.place,
            row.expires_at == before.expires_at,
        )
        renewed = update(row).where(*unchanged).returning(row.place)
        tokens = {
            "token": self._seal(after.token),
            "refresh_token": self._seal(refresh) if refresh else None,
            "expires_at": after.expires_at,
        }
        async with writing(self._engine) as db:
            return await db.scalar(renewed.values(**tokens)) is not None

    async def find(self, place: str) -> Installed | None:
        """Return the installation in a place; None: there is none."""
        async with reading(self._engine) as db:
            row = await db.get(InstallationRow, (self._platform, place))
            if row is None:
                return None
            return Installed(
                place=row.place,
                organisation=row.organisation,
                bot_user=row.bot_user,
                bot=row.bot,
                scopes=row.scopes,
                token=self._unseal(row.token),
                refresh_token=self._unseal(row.refresh_token) if row.refresh_token else None,
                expires_at=row.expires_at,
                installed_at=row.installed_at,
            )

    async def remove(self, installed: Installed) -> bool:
        """Delete an installation that was found, and its tokens with it.

        Return whether it is gone: one that was made again in its place meanwhile is kept.
        """
        row = InstallationRow
        here = (row.platform == self._platform, row.place == installed.place)
        async with writing(self._engine) as db:
            await db.execute(delete(row).where(*here, row.installed_at == installed.installed_at))
            return await db.scalar(select(row.place).where(*here)) is None

    async def places(self) -> list[str]:
        """Return the ids of all places."""
        row = InstallationRow
        async with reading(self._engine) as db:
            return [*await db.scalars(select(row.place).where(row.platform == self._platform))]


async def seal_again(
    engine: AsyncEngine, seal: Callable[[str], bytes], unseal: Callable[[bytes], str]
) -> int:
    """Seal all tokens with the newest key, and return how many could not be opened before.

    Raises:
        StoreError: when the database fails; then all are as before.
    """
    row, lost = InstallationRow, 0
    async with writing(engine) as db:
        for kept in await db.scalars(select(row)):
            try:
                kept.token = seal(unseal(kept.token))
                if kept.refresh_token is not None:
                    kept.refresh_token = seal(unseal(kept.refresh_token))
            except StoreError:
                lost += 1
    return lost
