"""The keys prove to be whole, and to be those that the database was used with."""

import hashlib
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.database import upgrade
from bot.keys import (
    ENCRYPTION,
    NAMES,
    PSEUDONYM,
    KeyFileError,
    Sealer,
    flaw,
    kept_key,
    key_id,
    place_key,
    prove,
    read_key,
)
from bot.settings import Settings
from core.domain.errors import ConfigurationError, NoRoom
from core.storage.database import create_engine
from core.storage.installations import InstallationStore, Installed, KeyIds

TOKEN = "xoxb-a-token-that-nobody-may-see"


def key_of(drawn: bytes) -> bytes:
    """Return a key as a file holds it, with the checksum of what was drawn."""
    return drawn + hashlib.sha256(b"glossator key\0" + drawn).digest()[:16]


OLD, FOREIGN = key_of(bytes(range(1, 33))), key_of(bytes(range(33, 65)))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


@pytest.fixture
async def engine(settings: Settings) -> AsyncIterator[AsyncEngine]:
    engine = create_engine(settings.database_url)
    await upgrade(engine)
    yield engine
    await engine.dispose()


def with_keys(settings: Settings, *keys: str, name: str = ENCRYPTION) -> Settings:
    return settings.model_copy(update={f"{name}_key": SecretStr(",".join(keys))})


async def refusal(settings: Settings, engine: AsyncEngine) -> str:
    with pytest.raises(ConfigurationError) as caught:
        await prove(settings, engine, NAMES)
    return str(caught.value)


def test_every_cut_and_every_flipped_bit_of_a_key_is_noticed(tmp_path: Path) -> None:
    key = kept_key(tmp_path / "a.key")
    assert flaw(key) is None
    for length in [*range(48), 49, 4_096]:
        assert flaw((key * 100)[:length]), length
    for bit in range(len(key) * 8):
        flipped = bytearray(key)
        flipped[bit // 8] ^= 1 << bit % 8
        assert flaw(bytes(flipped)), bit


def test_a_key_that_is_placed_is_its_owners_and_replaces_another(tmp_path: Path) -> None:
    path = tmp_path / "a.key"
    place_key(path, OLD)
    key = kept_key(tmp_path / "b.key")
    place_key(path, key)
    assert read_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.key", "b.key"]


def test_a_key_that_finds_no_room_is_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoRoom):
        kept_key(tmp_path / "a.key")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyFileError, match=r"nowhere/a\.key cannot be written"):
        kept_key(tmp_path / "nowhere" / "a.key")


@pytest.mark.costly
async def test_keys_are_made_when_they_are_needed_and_noted(
    settings: Settings, engine: AsyncEngine
) -> None:
    assert await prove(settings, engine) == await prove(settings, engine)
    assert not list(settings.data_dir.glob("*.key"))
    keys = await prove(settings, engine, NAMES)
    assert await prove(settings, engine) == keys
    noted = {PSEUDONYM: key_id(keys.pseudonym), ENCRYPTION: key_id(keys.sealing[0])}
    assert await KeyIds(engine).all() == noted


@pytest.mark.costly
async def test_keys_of_before_are_taken_over_at_the_first_start(
    settings: Settings, engine: AsyncEngine
) -> None:
    for name in NAMES:
        (settings.data_dir / f"{name}.key").write_bytes(OLD)
    keys = await prove(settings, engine, NAMES)
    assert (keys.pseudonym, list(keys.sealing)) == (OLD, [OLD])
    assert await KeyIds(engine).all() == dict.fromkeys(NAMES, key_id(OLD))


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
async def test_a_command_that_does_not_need_a_key_notes_none_and_is_held_to_the_noted_one(
    settings: Settings, engine: AsyncEngine, name: str
) -> None:
    (settings.data_dir / f"{name}.key").write_bytes(OLD)
    set_elsewhere = with_keys(settings, "the-key-of-the-service", name=name)
    for needed in ([], [one for one in NAMES if one != name]):
        await prove(settings, engine, needed)
        assert name not in await KeyIds(engine).all()
    await prove(set_elsewhere, engine, [name])
    noted = await KeyIds(engine).all()
    assert noted[name] == key_id(b"the-key-of-the-service")
    with pytest.raises(ConfigurationError, match="is not the one"):
        await prove(settings, engine)
    await prove(set_elsewhere, engine)
    assert await KeyIds(engine).all() == noted


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (OLD[:7], "is 7 bytes long"),
        (OLD[:32] + bytes(16), "checksum is wrong"),
        (FOREIGN, "is not the one that this database was used with"),
        (None, "is missing"),
    ],
    ids=["empty", "cut", "altered", "foreign", "missing"],
)
async def test_a_key_that_is_not_whole_or_not_ours_stops_with_what_to_do(
    settings: Settings, engine: AsyncEngine, name: str, content: bytes | None, words: str
) -> None:
    await prove(settings, engine, NAMES)
    path = settings.data_dir / f"{name}.key"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    said = await refusal(settings, engine)
    assert words in said
    assert str(path) in said
    assert "Put the one of your last backup in its place." in said
    lost = "recognised as the user of before" if name == PSEUDONYM else "install the app again"
    assert lost in said
    assert f"run 'glossator db forget-key {name}'" in said
    path.unlink(missing_ok=True)
    await KeyIds(engine).forget(name)
    await prove(settings, engine, NAMES)


@pytest.mark.costly
@pytest.mark.parametrize("name", NAMES)
async def test_a_key_that_a_setting_gives_is_held_to_the_database_too(
    settings: Settings, engine: AsyncEngine, name: str
) -> None:
    first = with_keys(settings, "first-long-enough-key", name=name)
    await prove(first, engine, NAMES)
    said = await refusal(with_keys(settings, "another-long-enough-key", name=name), engine)
    assert f"The key in GLOSSATOR_{name.upper()}_KEY is not the one" in said
    assert ("put the new key before the old one" in said) is (name == ENCRYPTION)
    assert "first-long" not in said
    assert "another-long" not in said
    await prove(first, engine, NAMES)


@pytest.mark.costly
async def test_a_rotation_seals_every_token_again_so_that_the_old_key_can_go(
    settings: Settings, engine: AsyncEngine
) -> None:
    installed = Installed("T1", None, "U1", "B1", "chat:write", TOKEN, refresh_token=TOKEN)

    def store(keys: list[bytes]) -> InstallationStore:
        sealer = Sealer(keys)
        return InstallationStore(engine, "slack", seal=sealer.seal, unseal=sealer.unseal)

    kept = await prove(settings, engine, NAMES)
    await store(list(kept.sealing)).save(installed)
    for given in (["second-key-of-ours"], ["third-key-of-ours", "second-key-of-ours"]):
        keys = await prove(with_keys(settings, *given), engine, NAMES)
        assert await store([keys.sealing[0]]).find("T1") == installed
    (settings.data_dir / "encryption.key").unlink()
    alone = await prove(with_keys(settings, "third-key-of-ours"), engine, NAMES)
    assert await store(list(alone.sealing)).find("T1") == installed
    assert "is not the one" in await refusal(with_keys(settings, "second-key-of-ours"), engine)


@pytest.mark.costly
async def test_a_command_that_only_reads_gets_a_key_of_its_own_where_none_can_be_made(
    settings: Settings, engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoRoom):
        await prove(settings, engine, [PSEUDONYM])
    drawn = [await prove(settings, engine, [PSEUDONYM], needs_room=False) for _ in range(2)]
    assert len({keys.pseudonym for keys in drawn}) == 2
    assert await KeyIds(engine).all() == {}
