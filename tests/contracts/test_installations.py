"""Where the bot is installed, on every database: tokens sealed."""

from dataclasses import replace

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.keys import Sealer
from core.domain import now
from core.domain.errors import StoreError
from core.storage.channels import Panels, Place
from core.storage.installations import InstallationRow, InstallationStore, Installed

TOKEN = "xoxb-a-very-secret-token"
ARDEN = Installed("T1", None, "U1", "B1", "chat:write", TOKEN)


def a_store(engine: AsyncEngine, key: bytes = b"key", platform: str = "slack") -> InstallationStore:
    sealer = Sealer([key])
    return InstallationStore(engine, platform, seal=sealer.seal, unseal=sealer.unseal)


async def test_an_installation_is_kept_replaced_and_removed(engine: AsyncEngine) -> None:
    store = a_store(engine)
    assert await store.find("T1") is None
    await store.save(ARDEN)
    assert await store.find("T1") == ARDEN
    later = replace(ARDEN, token="xoxb-2", refresh_token="xoxe-1", expires_at=now())
    await store.save(later)
    assert await store.find("T1") == later
    assert await store.places() == ["T1"]
    found = await store.find("T1")
    assert found is not None
    await store.save(ARDEN)
    assert not await store.remove(found), "it was installed anew"
    assert await store.find("T1") == ARDEN
    again = await store.find("T1")
    assert again is not None
    assert await store.remove(again)
    assert await store.remove(again), "it is gone already"
    assert await store.find("T1") is None


async def test_platforms_and_places_are_apart(engine: AsyncEngine) -> None:
    await a_store(engine).save(ARDEN)
    await a_store(engine).save(replace(ARDEN, place="T2"))
    assert await a_store(engine, platform="teams").places() == []
    second = await a_store(engine).find("T2")
    assert second is not None
    await a_store(engine, platform="teams").remove(second)
    assert await a_store(engine).places() == ["T1", "T2"]
    await a_store(engine).remove(second)
    assert await a_store(engine).places() == ["T1"]


async def test_no_token_lies_open_in_the_database(engine: AsyncEngine) -> None:
    await a_store(engine).save(replace(ARDEN, refresh_token=TOKEN))
    async with engine.connect() as connection:
        row = (await connection.execute(select(InstallationRow))).one()
    assert TOKEN not in repr(tuple(row))
    with pytest.raises(StoreError, match="unknown key"):
        await a_store(engine, key=b"another").find("T1")


async def test_a_panel_is_beside_the_channel_that_was_looked_at_last(engine: AsyncEngine) -> None:
    panels, here = Panels(engine), Place("slack", "T1", "D1:1.2")
    assert await panels.beside(here) is None
    await panels.note(here, "C1")
    await panels.note(here, "C2")
    assert await panels.beside(here) == "C2"
    assert await panels.beside(replace(here, workspace="T2")) is None
    await panels.note(here, None)
    assert await panels.beside(here) is None
