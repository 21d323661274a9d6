"""The SQL side of installations: where workspaces let the bot in, with sealed tokens."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import LargeBinary, Text, delete, select, update
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from core.domain import now
from core.domain.errors import StoreError
from core.storage.database import Base, UtcDateTime, insert_into, reading, write, writing


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


class InstallStates:
    """Secrets that are good for a while, in every process that has the same key.

    A user who asks for one leaves no trace. One is good again within its life: the browser that it
    was given to has to show it, and the platform's code that comes with it is good once.
    """

    def __init__(self, keys: Sequence[bytes], life: timedelta) -> None:
        """Prepare to sign.

        Args:
            keys: The first signs; all are good.
        """
        self._keys = keys
        self._life = life

    def issue(self, moment: datetime | None = None) -> str:
        """Return a fresh secret."""
        content = f"{int((moment or now()).timestamp())}.{secrets.token_urlsafe(24)}"
        return f"{content}.{_signature(self._keys[0], content)}"

    def is_good(self, state: str, moment: datetime | None = None) -> bool:
        """Return whether a secret is one that was issued not too long ago."""
        content, _, signature = state.rpartition(".")
        signed = (_signature(key, content) for key in self._keys)
        if not any(hmac.compare_digest(signature.encode(), one.encode()) for one in signed):
            return False
        age = (moment or now()).timestamp() - int(content.partition(".")[0])
        return age <= self._life.total_seconds()


def _signature(key: bytes, content: str) -> str:
    return hmac.new(key, b"glossator install\0" + content.encode(), hashlib.sha256).hexdigest()


class KeyIdRow(Base):
    """The id of the key that was in use last, by what the key is for."""

    __tablename__ = "key_ids"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    key_id: Mapped[str] = mapped_column(Text)
    noted_at: Mapped[datetime] = mapped_column(UtcDateTime)


class KeyIds:
    """The ids of the keys of one database.

    Every method raises StoreError when the database fails.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def all(self) -> dict[str, str]:
        """Return the ids, by what each key is for."""
        async with reading(self._engine) as db:
            rows = await db.execute(select(KeyIdRow.name, KeyIdRow.key_id))
            return {row.name: row.key_id for row in rows}

    async def note(self, name: str, key_id: str) -> None:
        """Keep an id, in place of an earlier one."""
        values = {"key_id": key_id, "noted_at": now()}
        insert = insert_into(self._engine, KeyIdRow).values(name=name, **values)
        upsert = insert.on_conflict_do_update(index_elements=["name"], set_=values)
        await write(self._engine, lambda db: db.execute(upsert).rowcount)

    async def forget(self, name: str) -> bool:
        """Delete an id; return whether there was one."""
        gone = delete(KeyIdRow).where(KeyIdRow.name == name).returning(KeyIdRow.name)
        return await write(self._engine, lambda db: db.scalar(gone)) is not None
