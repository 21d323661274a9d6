"""People at the playground's page, in a real browser, talk with the real bot and each other."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.wire import chromium
from tests.wire.playground.examples import PASSAGE, READING
from tests.wire.playground.running import Playground
from tests.wire.slack.state import Dispatch
from tests.wire.visitor import Visitor, a_picture, shown

_PROGRAM = chromium.installed()
pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(_PROGRAM is None, reason="no Chromium is installed"),
]

OFFLINE = "Does Glossator need the internet?"
OFFLINE_FACT = "no internet connection"
EDITION = "What is an edition?"
STANDS = "This passage stands"
CANNOT_SEE = "I can't read images"
_LAST = "#channel .timeline > article:last-child"
_REPLY = "#thread .timeline > article:last-child"
_FROM_BOT = "#thread article:has(.avatar.app)"


@pytest.fixture
async def playground(tmp_path: Path, models: Path) -> AsyncIterator[Playground]:
    """The playground with its bot, which is starting."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "models").symlink_to(models, target_is_directory=True)
    async with Playground(data_dir=data) as running:
        yield running


@pytest.fixture
async def idle(tmp_path: Path) -> AsyncIterator[Playground]:
    """The playground without a bot."""
    async with Playground(data_dir=tmp_path / "data", with_bot=False) as running:
        yield running


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A text file with a passage of the handbook."""
    path = tmp_path / "notes.md"
    path.write_text(f"# Notes\n\n{PASSAGE}\n", "utf-8")
    return path


async def test_people_talk_with_the_bot_on_both_platforms(
    playground: Playground, tmp_path: Path, notes: Path
) -> None:
    assert _PROGRAM is not None
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    async with chromium.opened(_PROGRAM, tmp_path / "profile", f"{playground.url}slack/") as tab:
        await tab.look(1280, 800)
        await tab.until(shown(".light.ready"), 180)
        visitor = Visitor(tab, pictures)
        await _open_the_tab_and_ask_a_prompt(visitor)
        await _follow_up_and_ask_where(visitor)
        await _quote_in_slack(visitor)
        await _forward_to(visitor, "Messages", "# study-group")
        await _attach(visitor, notes)
        await visitor.become("Ben")  # a person may ask six questions a minute
        await _paste_and_thank(visitor, "Messages")
        await _let_two_talk(visitor, "# study-group")
        await _add_a_reaction_and_take_it_back(visitor)
        await visitor.keep("slack-reacted")
        assert tab.problems == []

        await tab.call("Page.navigate", url=f"{playground.url}discord/")
        await tab.until("location.pathname === '/discord/'")
        await tab.until(shown(".light.ready"))
        await _forward_to(visitor, "Glossator", "# study-group")
        await _attach(visitor, notes)
        await visitor.become("Ben")
        await _paste_and_thank(visitor, "Glossator")
        await _let_two_talk(visitor, "# study-group")
        await _add_a_reaction_and_take_it_back(visitor)
        await visitor.keep("discord-reacted")
        assert tab.problems == []
    assert playground.slack.world.mistakes == []
    assert playground.discord.world.mistakes == []


async def _open_the_tab_and_ask_a_prompt(visitor: Visitor) -> None:
    """Find the greeting and the prompts in Slack's Messages tab, and choose one."""
    await visitor.go("Messages")
    await visitor.see("I answer from Glossator's handbook here.", "#channel .timeline")
    await visitor.tab.until(shown(".intro .card"), 120)
    assert 1 <= await visitor.count(".intro .card") <= 4
    await visitor.keep("slack-tab")
    prompt = (await visitor.read(".intro .card span")).strip()
    await visitor.tab.click(".intro .card")
    await visitor.see(prompt, _LAST)
    await visitor.tab.click(f"{_LAST} .thread-link")
    await visitor.tab.until(shown(f"{_REPLY} [data-component='gl:e']"))
    assert "[1]" in await visitor.read(_REPLY)
    await visitor.see(prompt, "#thread-title")


async def _follow_up_and_ask_where(visitor: Visitor) -> None:
    answers = await visitor.count(_FROM_BOT)
    await visitor.write(OFFLINE, in_thread=True)
    await visitor.see(OFFLINE_FACT, _REPLY)
    await visitor.tab.until(shown(f"{_REPLY} [data-component='gl:e']"))
    await visitor.write("where is that?", in_thread=True)
    await visitor.see("My last answer is from: ", _REPLY)
    await visitor.see("What it needs", _REPLY)
    assert await visitor.count(_FROM_BOT) == answers + 2
    await visitor.keep("slack-thread")


async def _quote_in_slack(visitor: Visitor) -> None:
    await visitor.go("# questions")
    await visitor.menu(_LAST, "Quote")
    await visitor.tab.until("document.activeElement.value?.startsWith('> ')")
    await visitor.tab.type("@Glossator Where is this from?")
    await visitor.tab.enter()
    await _answered(visitor, STANDS)


async def _forward_to(visitor: Visitor, tab: str, source: str) -> None:
    """Forward the embed of another app to the bot."""
    await visitor.go(source)
    await visitor.see(READING, "#channel .timeline > article")
    await visitor.forward("#channel .timeline > article", "Glossator")
    await visitor.go(tab)
    await visitor.see(READING, "#channel .forwarded")
    await _answered(visitor, STANDS)
    await visitor.keep(f"{await _platform(visitor)}-forwarded")


async def _attach(visitor: Visitor, notes: Path) -> None:
    """Ask about a text file."""
    await visitor.tab.attach("#channel .attach", notes)
    await visitor.see("notes.md", "#channel .attached")
    await visitor.write("Where is this from?")
    await visitor.see("notes.md", "#channel .timeline .file")
    await _answered(visitor, STANDS)


async def _paste_and_thank(visitor: Visitor, tab: str) -> None:
    """Ask about a picture from the clipboard, and thank for the answer."""
    await visitor.go(tab)
    await visitor.tab.click("#write")
    await visitor.tab.paste_picture(a_picture())
    await visitor.see("image.png", "#channel .attached")
    await visitor.keep(f"{await _platform(visitor)}-attached")
    await visitor.tab.enter()
    loaded = "[...document.querySelectorAll('#channel .picture')].some((one) => one.naturalWidth)"
    await visitor.tab.until(loaded)
    await _answered(visitor, CANNOT_SEE)
    await visitor.write("thank you!")
    await visitor.tab.until(shown(f"{_LAST} .reaction"))
    assert (await visitor.read(f"{_LAST} .reaction")).split() == ["👍", "1"]


async def _let_two_talk(visitor: Visitor, place: str) -> None:
    """Ask with one person, and let two talk below the answer: the bot stays out of it."""
    await visitor.go(place)
    await visitor.write(f"@Glossator {EDITION}")
    await visitor.tab.click("#channel .thread-link")
    await visitor.see("edition", f"{_FROM_BOT}:has([data-component])")
    answers = await visitor.count(_FROM_BOT)
    await visitor.write("@Maya did you get that?", in_thread=True)
    await visitor.become("Maya")
    await visitor.see("@Maya did you get that?", "#thread")
    await visitor.write("When does a reader see the new edition?", in_thread=True)
    await visitor.become("Ben")
    await visitor.write("when it is live I think", in_thread=True)
    await visitor.write("@Glossator thank you!", in_thread=True)
    await visitor.tab.until(shown(f"{_REPLY} .reaction"))
    assert await visitor.count("#thread .reaction") == 1
    assert await visitor.count(_FROM_BOT) == answers
    await visitor.keep(f"{await _platform(visitor)}-two-people")


async def _add_a_reaction_and_take_it_back(visitor: Visitor) -> None:
    pill = f"{_LAST} .reaction"
    await visitor.react(_LAST, "Heart")
    assert (await visitor.read(f"{pill}[aria-pressed=true]")).split() == ["❤️", "1"]
    await visitor.become("Maya")
    await visitor.tab.click(f"{pill}[aria-pressed=false]")
    assert (await visitor.read(f"{pill}[aria-pressed=true]")).split() == ["❤️", "2"]
    await visitor.tab.click(pill)
    assert (await visitor.read(f"{pill}[aria-pressed=false]")).split() == ["❤️", "1"]


async def _answered(visitor: Visitor, text: str) -> None:
    """Find a text in the answer to the last message: in its thread, or below it."""
    if await _platform(visitor) == "discord":
        await visitor.see(text, _LAST)
        return
    await visitor.tab.click(f"{_LAST} .thread-link")
    await visitor.see(text, _REPLY)


async def _platform(visitor: Visitor) -> str:
    return str(await visitor.tab.value("location.pathname.split('/')[1]"))


async def test_a_session_shows_what_is_done_its_title_and_a_way_to_stop_it(
    idle: Playground, tmp_path: Path
) -> None:
    assert _PROGRAM is not None
    world, incoming = idle.slack.world, list[str]()
    world.listen(lambda dispatch: incoming.append(dispatch.name))
    async with chromium.opened(_PROGRAM, tmp_path / "profile", f"{idle.url}slack/") as tab:
        await tab.look(1280, 800)
        await tab.until(shown("article"))
        visitor = Visitor(tab, tmp_path)
        await visitor.write(f"@Glossator {EDITION}")
        asked = world.messages[-1]
        await _set_status(idle, asked.ts, "processing", title=EDITION)
        await visitor.see("Glossator is working on it", _LAST)
        await visitor.keep("slack-working")
        await tab.click(f"{_LAST} .stop")
        await world.until(lambda: "agent_session_stopped" in incoming)
        await _set_status(idle, asked.ts, "active")
        await tab.until(f"!{shown('.stop')}")
        assert tab.problems == []


async def test_tables_and_menus_of_the_app_are_shown_on_slack(
    idle: Playground, tmp_path: Path
) -> None:
    assert _PROGRAM is not None
    world, chosen = idle.slack.world, list[str]()

    def hear(dispatch: Dispatch) -> None:
        actions = dispatch.payload.get("actions") or []
        chosen.extend(each["selected_option"]["value"] for each in actions)

    world.listen(hear)
    rows = [[{"type": "raw_text", "text": text} for text in row] for row in _TABLE]
    blocks = [{"type": "table", "rows": rows}, {"type": "actions", "elements": [_MENU]}]
    async with chromium.opened(_PROGRAM, tmp_path / "profile", f"{idle.url}slack/") as tab:
        await tab.look(1280, 800)
        await tab.until(shown("article"))
        await _as_the_app(idle, "chat.postMessage", channel=world.channel.id, blocks=blocks)
        visitor = Visitor(tab, tmp_path)
        assert (await visitor.read(f"{_LAST} table")).split() == ["Oil", "Smoke", "rape", "little"]
        await visitor.keep("slack-table")
        assert tab.problems == []
        await tab.value(f"document.querySelector('{_LAST} select').focus()")
        await tab.press("b", ord("B"), "b")
        await world.until(lambda: chosen == ["biology"])


_TABLE = (("Oil", "Smoke"), ("rape", "little"))
_MENU = {
    "type": "static_select",
    "action_id": "course",
    "placeholder": {"type": "plain_text", "text": "Choose a course"},
    "options": [
        {"text": {"type": "plain_text", "text": name.title()}, "value": name}
        for name in ("arden", "biology")
    ],
}


async def _set_status(idle: Playground, thread: str, status: str, **more: str) -> None:
    """Set the status of a thread's session, as the app does."""
    where = {"channel_id": idle.slack.world.channel.id, "thread_ts": thread}
    await _as_the_app(idle, "agents.sessions.setStatus", **where, status=status, **more)


async def _as_the_app(idle: Playground, method: str, **body: Any) -> None:
    """Call a method of Slack's Web API with the app's token."""
    head = {"Authorization": f"Bearer {idle.slack.world.installation.token}"}
    async with (
        aiohttp.ClientSession(headers=head) as session,
        session.post(f"{idle.slack.server.api_url}{method}", json=body) as response,
    ):
        answer = await response.json()
        assert answer["ok"], answer


async def test_a_paste_that_is_too_long_for_a_message_becomes_a_file_on_discord(
    idle: Playground, tmp_path: Path
) -> None:
    assert _PROGRAM is not None
    async with chromium.opened(_PROGRAM, tmp_path / "profile", f"{idle.url}discord/") as tab:
        await tab.until(shown("article"))
        await tab.click("#write")
        await tab.paste_text("long " * 500)
        visitor = Visitor(tab, tmp_path)
        await visitor.see("message.txt", "#channel .attached")
        await tab.enter()
        await visitor.see("message.txt", f"{_LAST} .file")
        sent = [message for message in idle.discord.world.messages.values() if message.attachments]
        assert sent[-1].attachments[0].content == b"long " * 500
        assert sent[-1].attachments[0].content_type == "text/plain; charset=utf-8"
        assert tab.problems == []
