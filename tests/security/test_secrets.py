"""The installation's own keys: pseudonyms, seals, the key file, and what is refused without."""

import stat
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.keys import Pseudonyms, Sealer, kept_key
from bot.platforms import SlackSettings
from core.domain.errors import ConfigurationError, StoreError

TOKEN = "xoxb-a-token-that-nobody-may-see"


def test_a_pseudonym_needs_the_key_and_tells_places_apart() -> None:
    ours, others = Pseudonyms(b"ours"), Pseudonyms(b"others")
    here = ours.of("slack", "T1", "U1")
    assert here == ours.of("slack", "T1", "U1")
    elsewhere = {
        others.of("slack", "T1", "U1"),
        ours.of("slack", "T2", "U1"),
        ours.of("discord", "T1", "U1"),
        ours.of("slack", "T1", "U2"),
    }
    assert len({here, *elsewhere}) == 5
    assert "U1" not in here


def test_what_is_sealed_shows_nothing_and_opens_with_its_keys_alone() -> None:
    sealed = Sealer([b"old"]).seal(TOKEN)
    assert TOKEN.encode() not in sealed
    assert Sealer([b"new", b"old"]).unseal(sealed) == TOKEN
    with pytest.raises(StoreError) as caught:
        Sealer([b"new"]).unseal(sealed)
    assert TOKEN not in str(caught.value)


def test_a_kept_key_is_its_owners_alone_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "key"
    key = kept_key(path)
    assert len(key) == 48
    assert path.read_bytes() == key
    assert kept_key(path) == key
    assert [file.name for file in tmp_path.iterdir()] == ["key"]
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_slack_over_http_is_refused_without_a_signing_secret() -> None:
    settings = SlackSettings(bot_token=SecretStr(TOKEN), transport="http")
    with pytest.raises(ConfigurationError, match="SIGNING_SECRET"):
        settings.check()
    settings.model_copy(update={"signing_secret": SecretStr("s")}).check()
