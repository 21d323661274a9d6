"""`python -m tests.wire.playground.screenshots`: pictures of both platforms for the handbook."""

import argparse
import asyncio
import base64
import io
import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from tests.wire import chromium
from tests.wire.playground.running import OWN_DATA, Playground
from tests.wire.playground.staff_loop import COVERED, LOOPS, StaffLoop
from tests.wire.visitor import Visitor, shown

BOTH, DESKTOP, PHONE = (1280, 890), (1080, 780), (360, 780)
LOOKS = [(size, dark) for dark in (False, True) for size in (DESKTOP, PHONE)]
_READY = "[...document.querySelectorAll('.light.ready')].length > 0"
_START = 600.0
"""Seconds in which a bot that begins with nothing is ready, on a busy machine as well."""
_NEAR = "How many students failed the exam?"
_IN_THE_HANDBOOK = ("queue", "reply", "verify", "checked")
"""Steps of the loop that the handbook shows, two in a row."""
_COLOURS = 256


async def taken(folder: Path, models: Path) -> list[Path]:
    """Write the pictures and return the files: both platforms, each alone, and the staff's loop.

    Args:
        models: Where the embedding model lies ready, if it does.
    """
    program = chromium.installed()
    if program is None:
        sys.exit(
            "screenshots: there is no Chromium; install it, such as by `apt-get install chromium`"
        )
    async with _fresh(models) as playground:
        pictures = {"playground": await _both(program, playground.url)}
    async with _fresh(models) as playground:
        for platform, ask in (("discord", _ask_on_discord), ("slack", _ask_on_slack)):
            async with opened(program, f"{playground.url}{platform}/") as tab:
                await tab.look(*DESKTOP)
                await tab.until(_READY, _START)
                await ask(tab)
                shots = [await _shot(tab, size, dark=dark) for size, dark in LOOKS]
            width, height = DESKTOP[0] + PHONE[0] + 36, 2 * DESKTOP[1] + 36
            pictures[f"card-{platform}"] = await _composed(program, shots, width, height)
    for loop in LOOPS:  # each in its own: what staff answer in one is shown in the other, too
        async with _fresh(models) as playground:
            shots = await _loop(program, playground.url, loop)
        width, height = 2 * DESKTOP[0] + 36, 2 * DESKTOP[1] + 36
        pictures[f"staff-{loop.platform}"] = await _composed(program, shots, width, height)
    return [_written(folder / f"{name}.png", picture) for name, picture in pictures.items()]


async def _both(program: str, url: str) -> bytes:
    """Return a picture of one question on both platforms side by side."""
    async with opened(program, url) as tab:
        await tab.look(*BOTH)
        for platform in ("discord", "slack"):
            async with tab.within(platform):
                await tab.until(_READY, _START)
                await tab.click("#write")
                await tab.type(f"@Glossator {COVERED}")
                await tab.enter()
                await tab.click("#channel .thread-link")
                await tab.until(shown('#thread [data-component^="gl:e"]'))
                await tab.value("document.activeElement.blur()")
                await tab.value("document.querySelector('#thread .timeline').scrollTop = 0")
        await asyncio.sleep(0.5)
        return await tab.screenshot()


async def _loop(program: str, url: str, loop: type[StaffLoop]) -> list[bytes]:
    """Go through the staff's loop, print how long it took, and return pictures of its steps."""
    platform = loop.platform
    with TemporaryDirectory() as place:
        async with opened(program, f"{url}{platform}/") as tab:
            await tab.look(*DESKTOP)
            await tab.until(_READY, _START)
            began = time.monotonic()
            await loop(Visitor(tab, Path(place))).go_through()
            took = time.monotonic() - began
            print(f"The staff's loop on {platform.title()}, two students and staff: {took:.0f} s")
        return [(Path(place) / f"{platform}-{step}.png").read_bytes() for step in _IN_THE_HANDBOOK]


def _written(file: Path, picture: bytes) -> Path:
    """Write a picture with few colours: all that a page of text needs."""
    with Image.open(io.BytesIO(picture)) as image:
        few = image.convert("RGB").quantize(
            _COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
        few.save(file, optimize=True)
    return file


@asynccontextmanager
async def _fresh(models: Path) -> AsyncIterator[Playground]:
    """Yield a playground whose bot knows nothing yet but the handbook."""
    with TemporaryDirectory() as place:
        _link(models, Path(place) / "models")
        async with Playground(data_dir=Path(place)) as playground:
            yield playground


def _link(models: Path, place: Path) -> None:
    if models.is_dir():
        place.symlink_to(models.absolute(), target_is_directory=True)


@asynccontextmanager
async def opened(program: str, url: str) -> AsyncIterator[chromium.Tab]:
    """Yield a page in a browser that knows nothing yet."""
    with TemporaryDirectory() as profile:
        async with chromium.opened(program, Path(profile), url) as tab:
            yield tab


async def _ask_on_discord(tab: chromium.Tab) -> None:
    """Ask two questions, and look at the evidence of the first."""
    for number, question in enumerate((_NEAR, COVERED), start=1):
        await tab.click("#write")
        await tab.type("/as")
        await tab.until(shown("[role=option]"))
        await tab.enter()
        await tab.until("document.activeElement.matches('.command input')")
        await tab.type(question)
        await tab.enter()
        await tab.until(_answered("#channel", number))
    await tab.click('#channel .timeline > article:last-child [data-component^="gl:e:"]')
    await tab.until(shown(".ephemeral blockquote"))


async def _ask_on_slack(tab: chromium.Tab) -> None:
    """Ask two questions below one message, and leave their thread open."""
    await tab.click("#write")
    await tab.type(f"@Glossator {_NEAR}")
    await tab.enter()
    await tab.click("#channel .thread-link")
    await tab.until(_answered("#thread", 1))
    await tab.click("#write-in-thread")
    await tab.type(f"@Glossator {COVERED}")
    await tab.enter()
    await tab.until(_answered("#thread", 2))


def _answered(place: str, number: int) -> str:
    """Return what holds in the page once so many answers stand there with their buttons."""
    answers = json.dumps(f"{place} article:has(.avatar.app):has([data-component])")
    return f"document.querySelectorAll({answers}).length >= {number}"


async def _shot(tab: chromium.Tab, size: tuple[int, int], *, dark: bool) -> bytes:
    await tab.look(*size, dark=dark)
    await _look_at_the_answer(tab)
    await asyncio.sleep(0.5)
    return await tab.screenshot()


async def _look_at_the_answer(tab: chromium.Tab) -> None:
    """Scroll to the last answer that has evidence, with its question above it where it fits."""
    evidence = json.dumps('[data-component^="gl:e"]')
    await tab.value(
        f"""(() => {{
            const found = [...document.querySelectorAll({evidence})];
            const answer = found.findLast((each) => each.checkVisibility()).closest("article");
            const timeline = answer.closest(".timeline");
            const question = answer.previousElementSibling ?? answer;
            const room = timeline.clientHeight - answer.offsetHeight - question.offsetHeight;
            const first = room > -60 ? question : answer;
            timeline.scrollTop = first.offsetTop - 8;
        }})()"""
    )


async def _composed(program: str, shots: Sequence[bytes], width: int, height: int) -> bytes:
    """Return one picture of all, from left to right and from top to bottom."""
    urls = [f"data:image/png;base64,{base64.b64encode(shot).decode()}" for shot in shots]
    images = "".join(f"<img src='{url}'>" for url in urls)
    style = "margin:12px;display:flex;flex-wrap:wrap;gap:12px;background:#888"
    async with opened(program, "about:blank") as tab:
        await tab.look(width, height)
        await tab.value(f"document.body.style = {style!r}")
        await tab.value(f"void (document.body.innerHTML = {images!r})")
        await tab.until("[...document.images].every(image => image.complete)")
        return await tab.screenshot()


def main() -> None:
    """Read the command line and take the pictures."""
    parser = argparse.ArgumentParser(prog="screenshots", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("docs"), help="where they are written")
    parser.add_argument(
        "--models", type=Path, default=OWN_DATA / "models", help="where the model lies ready"
    )
    given = parser.parse_args()
    for file in asyncio.run(taken(given.folder, given.models)):
        print(f"{file}: {file.stat().st_size // 1_000} kB")


if __name__ == "__main__":
    main()
