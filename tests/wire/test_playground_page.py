"""The playground's page in a real browser, with the real bot behind it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.wire import chromium
from tests.wire.playground.running import Playground
from tests.wire.playground.screenshots import taken

_PROGRAM = chromium.installed()
pytestmark = [
    pytest.mark.costly,
    pytest.mark.skipif(_PROGRAM is None, reason="no Chromium is installed"),
]
_EVIDENCE = '#channel [data-component^="gl:e:"]'


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


def _shown(selector: str) -> str:
    found = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return f"{found}.some((each) => (each.closest('select') ?? each).checkVisibility())"


def _keep(picture: bytes, path: Path) -> None:
    path.write_bytes(picture)
    assert picture.startswith(b"\x89PNG")


async def test_a_visitor_asks_looks_at_the_evidence_quotes_and_follows_up(
    playground: Playground, tmp_path: Path
) -> None:
    assert _PROGRAM is not None
    async with chromium.opened(_PROGRAM, tmp_path / "profile", f"{playground.url}discord/") as tab:
        await tab.look(1280, 800)
        await tab.until(_shown(".intro"))
        _keep(await tab.screenshot(), tmp_path / "empty.png")
        await tab.until(_shown(".light.ready"), 120)

        answer = await _ask(tab, "Does Glossator need the internet?")
        assert "no internet connection" in answer
        assert "[1]" in answer
        assert "› What it needs" in answer
        assert "used /ask" in answer
        await _look_at_the_evidence(tab)
        _keep(await tab.screenshot(), tmp_path / "evidence.png")
        await _say_why_it_was_not_helpful(tab)
        await _quote_and_follow_up(tab)
        _keep(await tab.screenshot(), tmp_path / "thread.png")

        await tab.click("#people [value]:not(:checked)")
        await tab.until(f"!{_shown('.ephemeral')} && {_shown('#channel .thread-link')}")
        await _explain_a_passage_by_keyboard(tab)
        await tab.click("#close-thread")
        for dark in (False, True):
            await tab.look(360, 740, dark=dark)
            name = f"phone-{'dark' if dark else 'light'}.png"
            _keep(await tab.screenshot(), tmp_path / name)
        assert await tab.value("document.documentElement.scrollWidth") == 360
        assert tab.problems == []


async def _ask(tab: chromium.Tab, question: str) -> str:
    await tab.click("#write")
    await tab.type("/as")
    await tab.until(_shown("[role=option]"))
    await tab.enter()
    await tab.until("document.activeElement.matches('.command input')")
    await tab.type(question)
    await tab.enter()
    await tab.until(_shown(_EVIDENCE))
    return str(
        await tab.value(f"document.querySelector('{_EVIDENCE}').closest('article').innerText")
    )


async def _look_at_the_evidence(tab: chromium.Tab) -> None:
    await tab.click(_EVIDENCE)
    await tab.until(_shown(".ephemeral blockquote"))
    assert "Only you can see this" in await tab.value(
        "document.querySelector('.ephemeral').innerText"
    )


async def _say_why_it_was_not_helpful(tab: chromium.Tab) -> None:
    await tab.click('#channel [data-component^="gl:n:"]')
    await tab.until(_shown("dialog textarea"))
    await tab.type("Too short")
    await tab.click("dialog .primary")
    await tab.until("document.querySelector('#channel .timeline').innerText.includes('Thank')")


async def _quote_and_follow_up(tab: chromium.Tab) -> None:
    await tab.click("#channel .thread-link")
    await tab.until(_shown("#thread .starter"))
    await tab.click("#write-in-thread")
    await tab.type("> Glossator works offline\nWhy is that?")
    await tab.enter()
    await tab.until(_shown('#thread article:not(.starter) [data-component^="gl:q:"]'))


async def _explain_a_passage_by_keyboard(tab: chromium.Tab) -> None:
    await tab.value("document.querySelector('#channel .tools [aria-label=More]').focus()")
    await tab.enter()
    await tab.until(_shown("[role=menu]"))
    for _ in range(5):
        if await tab.value("document.activeElement.innerText") == "Explain this passage":
            break
        await tab.press("ArrowDown", 40)
    await tab.enter()
    await tab.until("document.body.innerText.includes('Editions are switched at once')")


_SAMPLES = {
    "**bold** *lean* _lean_ __under__ ~~gone~~": (
        "<p><strong>bold</strong> <em>lean</em> <em>lean</em> <u>under</u> <s>gone</s></p>"
    ),
    "snake_case_name and 2 * 3 * 4": "<p>snake_case_name and 2 * 3 * 4</p>",
    r"\*plain\* \[1]": "<p>*plain* [1]</p>",
    "a `code **x**` b": "<p>a <code>code **x**</code> b</p>",
    "-# small [1]\ntext": "<small>small [1]</small><p>text</p>",
    "> one\n> two\nthree": "<blockquote><p>one\ntwo</p></blockquote><p>three</p>",
    "# Big\n- a\n  - b\n1. c": (
        '<h3>Big</h3><ul><li>a<ul><li>b</li></ul></li></ul><ol start="1"><li>c</li></ol>'
    ),
    "<@7> <@8>": (
        '<p><span class="mention">@Ann</span> <span class="mention">@Somebody</span></p>'
    ),
    "<img src=x onerror=alert(1)>": "<p>&lt;img src=x onerror=alert(1)&gt;</p>",
    "[x](javascript:alert(1))": "<p>[x](javascript:alert(1))</p>",
    "||<b>hid</b>||": (
        '<p><button type="button" class="spoiler" aria-label="Show the spoiler">'
        "&lt;b&gt;hid&lt;/b&gt;</button></p>"
    ),
}


async def test_the_dialect_of_markdown_is_shown_as_discord_shows_it(
    idle: Playground, tmp_path: Path
) -> None:
    assert _PROGRAM is not None
    async with chromium.opened(_PROGRAM, tmp_path / "profile", f"{idle.url}discord/") as tab:
        await tab.until(_shown("article"))
        shown = await tab.value(
            f"""(async () => {{
                const {{ markdown }} = await import("/markdown/discord.js");
                const names = {{ person: (id) => id === "7" ? "Ann" : "Somebody" }};
                return {json.dumps(list(_SAMPLES))}.map((text) => {{
                    const place = document.createElement("div");
                    place.append(...markdown(text, names));
                    return place.innerHTML;
                }});
            }})()"""
        )
        assert shown == list(_SAMPLES.values())


_LINKS = {
    "[a › b](<https://book.example/x#y>)": "https://book.example/x#y",
    "see https://book.example/a.": "https://book.example/a",
    "<https://book.example/a?b=1>": "https://book.example/a?b=1",
}


async def test_links_open_apart_and_give_nothing_away(idle: Playground, tmp_path: Path) -> None:
    assert _PROGRAM is not None
    async with chromium.opened(_PROGRAM, tmp_path / "profile", f"{idle.url}discord/") as tab:
        await tab.until(_shown("article"))
        links = await tab.value(
            f"""(async () => {{
                const {{ markdown }} = await import("/markdown/discord.js");
                return {json.dumps(list(_LINKS))}.map((text) => {{
                    const link = markdown(text, {{}})[0].querySelector("a");
                    return [link.href, link.target, link.rel];
                }});
            }})()"""
        )
        apart = ["_blank", "noopener noreferrer nofollow"]
        assert links == [[url, *apart] for url in _LINKS.values()]


QUESTION = "Does Glossator need the internet?"
_ON_DISCORD = ("[data-component^='gl:e:']", ".text p", ".text small")
_ON_SLACK = ("[data-component='gl:e']", ".block.text p", ".notes p")


def _said(evidence: str, text: str, notes: str) -> str:
    """Return what reads an answer: its prose, and the footnotes below it.

    A zero-width space keeps Slack from making a link of a file's name.
    """
    return f"""(() => {{
        const answer = document.querySelector("#thread {evidence}").closest("article");
        const lines = (selector) => [...answer.querySelectorAll(selector)]
          .flatMap((each) => each.innerText.replaceAll("\u200b", "").split("\\n"));
        const notes = lines("{notes}").filter((line) => line.startsWith("["));
        return {{ text: lines("{text}"), notes }};
    }})()"""


async def test_both_platforms_give_the_same_answer_side_by_side(
    playground: Playground, tmp_path: Path
) -> None:
    assert _PROGRAM is not None
    async with chromium.opened(_PROGRAM, tmp_path / "profile", playground.url) as tab:
        await tab.look(1280, 800)
        said = []
        for name, where in (("discord", _ON_DISCORD), ("slack", _ON_SLACK)):
            async with tab.within(name):
                await tab.until(_shown("#bot-badge .light.ready"), 120)
                await _mention(tab, QUESTION)
                await tab.click("#channel .thread-link")
                await tab.until(_shown(f"#thread {where[0]}"))
                said.append(await tab.value(_said(*where)))
        _keep(await tab.screenshot(), tmp_path / "both.png")
        on_discord, on_slack = said
        assert on_discord == on_slack
        assert any("no internet connection" in line for line in on_discord["text"])
        assert on_discord["notes"]

        async with tab.within("slack"):
            await _use_slack(tab)
        await tab.look(360, 740)
        await tab.until(f"{_shown('#discord')} && !{_shown('#slack')}")
        await tab.click("#shown label:last-child")
        await tab.until(f"{_shown('#slack')} && !{_shown('#discord')}")
        _keep(await tab.screenshot(), tmp_path / "phone-slack.png")
        async with tab.within("slack"):
            assert await tab.value("document.documentElement.scrollWidth") == 360
        assert tab.problems == []


async def _mention(tab: chromium.Tab, question: str) -> None:
    await tab.click("#write")
    await tab.type(f"@Glossator {question}")
    await tab.enter()
    await tab.until(_shown("#channel .thread-link"))


async def _use_slack(tab: chromium.Tab) -> None:
    """Look at the evidence, vote, ask on, explain a passage, ask in private and look at Home."""
    await tab.click("#thread [data-component='gl:e']")
    await tab.until(_shown("dialog blockquote"))
    await tab.click("dialog .secondary")
    await tab.until(f"!{_shown('dialog')}")
    await tab.click("#thread [data-component^='gl:vote=gl:n']")
    await tab.click("dialog textarea")
    await tab.type("Too short")
    await tab.click("dialog .primary")
    await tab.until("document.querySelector('dialog')?.innerText.includes('Thank')")
    await tab.click("dialog .secondary")
    await tab.until(f"!{_shown('dialog')}")
    await tab.click("#write-in-thread")
    await tab.type("> Glossator works offline\nWhy is that?")
    await tab.enter()
    await tab.until(_shown('#thread [data-component="gl:q"]'))
    await tab.click("#close-thread")
    await _explain_in_slack(tab)
    await tab.click("#write")
    await tab.type(f"/ask private {QUESTION}")
    await tab.enter()
    await tab.until(_shown('.ephemeral [data-component="gl:s"]'))
    await tab.click("#open-sidebar")
    await tab.until("document.querySelector('#sidebar').getBoundingClientRect().left === 0")
    await tab.click("#channels ul:last-of-type > li:first-child .place-link")
    await tab.until("document.querySelector('#home').innerText.includes('My recent threads')")


async def _explain_in_slack(tab: chromium.Tab) -> None:
    await tab.value("document.querySelector('#channel .tools [aria-label=More]').focus()")
    await tab.enter()
    await tab.until(_shown("[role=menu]"))
    for _ in range(5):
        if await tab.value("document.activeElement.innerText") == "Explain this passage":
            break
        await tab.press("ArrowDown", 40)
    await tab.enter()
    await tab.click("dialog .primary")
    await tab.until(f"!{_shown('dialog')}")
    await tab.until("document.querySelectorAll('#channel .thread-link').length === 2")


_SLACK_SAMPLES = {
    "mrkdwn": {
        "*bold* _lean_ ~gone~ `a &lt; b`": (
            "<p><strong>bold</strong> <em>lean</em> <s>gone</s> <code>a &lt; b</code></p>"
        ),
        "a &amp; b &lt;@U7&gt; <@U7> snake_case_name": (
            '<p>a &amp; b &lt;@U7&gt; <span class="mention">@Ann</span> snake_case_name</p>'
        ),
        "&gt; one\ntwo": "<blockquote><p>one</p></blockquote><p>two</p>",
        "<javascript:alert(1)|x>": "<p>&lt;javascript:alert(1)|x&gt;</p>",
    },
    "standard": {
        "**bold** *lean* __bold__ ~~gone~~ \\*plain\\*": (
            "<p><strong>bold</strong> <em>lean</em> <strong>bold</strong> <s>gone</s> *plain*</p>"
        ),
        "1. a\n2. b &amp; c": '<ol start="1"><li>a</li><li>b &amp; c</li></ol>',
        "<img src=x onerror=alert(1)>": "<p>&lt;img src=x onerror=alert(1)&gt;</p>",
        "[x](javascript:alert(1))": "<p>[x](javascript:alert(1))</p>",
    },
}


async def test_slacks_dialects_are_shown_as_slack_shows_them(
    idle: Playground, tmp_path: Path
) -> None:
    assert _PROGRAM is not None
    async with chromium.opened(_PROGRAM, tmp_path / "profile", f"{idle.url}slack/") as tab:
        await tab.until(_shown("article"))
        for dialect, samples in _SLACK_SAMPLES.items():
            shown = await tab.value(
                f"""(async () => {{
                    const read = (await import("/markdown/slack.js")).{dialect};
                    const names = {{ person: (id) => id === "U7" ? "Ann" : "Somebody" }};
                    return {json.dumps(list(samples))}.map((text) => {{
                        const place = document.createElement("div");
                        place.append(...read(text, names));
                        return place.innerHTML;
                    }});
                }})()"""
            )
            assert shown == list(samples.values())


@pytest.mark.slow
async def test_the_command_takes_a_picture_of_each_platform(tmp_path: Path, models: Path) -> None:
    files = await taken(tmp_path, models)
    names = ("playground", "card-discord", "card-slack", "staff-discord", "staff-slack")
    assert [file.stem for file in files] == [*names]
    for file in files:
        picture = file.read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert 30_000 < len(picture) < 300_000
