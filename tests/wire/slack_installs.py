"""Somebody who lets the bot into workspaces, and what the bot's tables hold of them."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import aiohttp

from tests.wire.slack import Workspace
from tests.wire.slack_bot import Trial

_LINK = re.compile(r'<a href="([^"]+)"')


class Browser:
    """Somebody who installs the app, with the cookies they were given."""

    def __init__(self, trial: Trial, cookie: str = "") -> None:
        self._trial = trial
        self.cookie = cookie

    async def get(self, path: str) -> tuple[int, str]:
        """Open a page of the bot's, and return its status and text."""
        headers = {"Cookie": self.cookie}
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.get(f"{self._trial.bot.url}{path}", headers=headers) as response,
        ):
            given = response.headers.get("Set-Cookie", "")
            self.cookie = given.partition(";")[0] or self.cookie
            return response.status, await response.text()

    async def allow(self, workspace: Workspace) -> str:
        """Let the app into a workspace; return the path that Slack sends the browser to."""
        _, page = await self.get("/slack/install")
        found = _LINK.search(page)
        assert found is not None
        url = found[1].replace("&amp;", "&")
        back = await self._trial.world.allow(url, workspace)
        return back.removeprefix("http://127.0.0.1")


async def install(trial: Trial, workspace: Workspace) -> None:
    browser = Browser(trial)
    status, _ = await browser.get(await browser.allow(workspace))
    assert status == 200


def tables(folder: Path) -> dict[str, list[str]]:
    """Return every row of every table of a bot's database, as texts in a fixed order."""
    with closing(sqlite3.connect(folder / "data" / "glossator.db")) as db:
        names = [n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {
            name: sorted(_text(row) for row in db.execute(f'SELECT * FROM "{name}"'))
            for name in names
            if not name.startswith("sqlite_")
        }


def tables_but_cursors(folder: Path) -> dict[str, list[str]]:
    """Return what `tables` does, without how far was heard, which a bot that lives notes."""
    return {name: rows for name, rows in tables(folder).items() if name != "inbox_cursors"}


def rows_with(found: dict[str, list[str]], *needles: str) -> list[str]:
    """Return the rows in which one of these texts stands, each behind its table's name."""
    return [
        f"{table}: {row}"
        for table, rows in found.items()
        for row in rows
        if any(needle in row for needle in needles)
    ]


def _text(row: tuple[object, ...]) -> str:
    return " | ".join(_readable(row))


def _readable(row: tuple[object, ...]) -> Iterator[str]:
    for value in row:
        yield value.hex() if isinstance(value, bytes) else str(value)
