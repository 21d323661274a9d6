"""Requests that are not Slack's: refused with a number, and nothing else comes of them."""

import json
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from tests.books import COVERED
from tests.wire.slack.callbacks import signed
from tests.wire.slack_bot import Trial, a_trial

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("slack_http"),
]

JSON = {"Content-Type": "application/json"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def trial(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trial]:
    folder = tmp_path_factory.mktemp("http")
    async with a_trial(one_course, folder, transport="http") as running:
        running.bot.passes_over = True
        yield running
        assert not rows(running)


def rows(trial: Trial) -> int:
    with closing(sqlite3.connect(trial.bot.folder / "data" / "glossator.db")) as db:
        count: int = db.execute("SELECT count(*) FROM inbox").fetchone()[0]
        return count


def event(trial: Trial) -> str:
    """Return a mention as Slack would deliver it."""
    world = trial.world
    return json.dumps(
        {
            "type": "event_callback",
            "team_id": world.workspace.id,
            "api_app_id": world.app.id,
            "event_id": "Ev0",
            "event": {
                "type": "app_mention",
                "user": world.owner.id,
                "text": f"<@{world.bot.id}> {COVERED}",
                "ts": "1700000000.000100",
                "channel": world.channel.id,
                "event_ts": "1700000000.000100",
            },
        }
    )


async def sent(trial: Trial, body: str | BytesIO, *headers: tuple[str, str]) -> int:
    """Post a request as it is, and return the status it gets."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{trial.bot.url}/slack/events", data=body, headers=[*headers]) as response,
    ):
        await response.read()
        return response.status


def properly(trial: Trial, body: str, at: float | None = None) -> list[tuple[str, str]]:
    """Return the headers of a request of Slack's."""
    stamp = str(int(time.time() if at is None else at))
    return [*signed(trial.world.app.signing_secret, body, stamp).items(), *JSON.items()]


async def test_a_body_that_was_changed_or_written_anew_is_refused(trial: Trial) -> None:
    body = event(trial)
    headers = properly(trial, body)
    assert await sent(trial, body.replace("lamp", "limp"), *headers) == 401
    assert await sent(trial, json.dumps(json.loads(body), indent=1), *headers) == 401


@pytest.mark.parametrize("seconds", [-301, -100_000, 301, 100_000])
async def test_a_request_of_another_time_is_refused(trial: Trial, seconds: int) -> None:
    body = event(trial)
    assert await sent(trial, body, *properly(trial, body, time.time() + seconds)) == 401


@pytest.mark.parametrize("stamp", ["", "abc", "1e9", "-1", "٣٣٣", "9" * 40, "0x10", "nan"])
async def test_a_garbled_time_is_refused(trial: Trial, stamp: str) -> None:
    body = event(trial)
    [_, signature, kind] = properly(trial, body)
    headers = (("X-Slack-Request-Timestamp", stamp), signature, kind)
    assert await sent(trial, body, *headers) == 401


@pytest.mark.parametrize("signature", ["", "v0=", "v0=ä", "v1=" + "0" * 64, "v0=" + "0" * 64])
async def test_a_garbled_signature_is_refused(trial: Trial, signature: str) -> None:
    body = event(trial)
    [stamp, _, kind] = properly(trial, body)
    assert await sent(trial, body, stamp, ("X-Slack-Signature", signature), kind) == 401


async def test_headers_that_are_missing_or_come_twice_are_refused(trial: Trial) -> None:
    body = event(trial)
    stamp, signature, kind = properly(trial, body)
    assert await sent(trial, body, kind) == 401
    assert await sent(trial, body, stamp, kind) == 401
    assert await sent(trial, body, stamp, stamp, signature, kind) == 401
    assert await sent(trial, body, stamp, signature, signature, kind) == 401


async def test_what_is_signed_is_never_refused_whatever_it_holds(trial: Trial) -> None:
    deep, long = "[" * 100_000, json.dumps({"text": "x" * 2_000_000})
    for body in ("", "{", "[]", "null", '"x"', "payload=%7B", deep, long):
        assert await sent(trial, BytesIO(body.encode()), *properly(trial, body)) == 200
    assert await sent(trial, "{}", *properly(trial, "{}")[:2], ("Content-Type", "a/b")) == 200


async def test_a_huge_body_is_refused_before_it_is_read(trial: Trial) -> None:
    async def much() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 1_000_000

    headers = {**dict(properly(trial, "x")), "Content-Length": "100000000"}
    async with aiohttp.ClientSession() as session:
        try:
            url = f"{trial.bot.url}/slack/events"
            async with session.post(url, data=much(), headers=headers) as response:
                assert response.status == 413
        except aiohttp.ClientError:  # it was closed on us while we were still sending
            pass
    assert await sent(trial, BytesIO(b"x" * 2_000_000), *properly(trial, "x")) == 401


async def test_other_paths_and_methods_are_not_there(trial: Trial) -> None:
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{trial.bot.url}/slack/events") as response:
            assert response.status == 405
        async with session.get(f"{trial.bot.url}/slack/install") as response:
            assert response.status == 404
