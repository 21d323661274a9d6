"""`python -m tests.wire.playground.screenshots`: pictures of both platforms for the handbook."""

import argparse
import asyncio
import base64
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.wire import chromium
from tests.wire.playground.running import OWN_DATA, Playground

DESKTOP, PHONE = (1080, 780), (360, 780)
LOOKS = [(size, dark) for dark in (False, True) for size in (DESKTOP, PHONE)]
_READY = "[...document.querySelectorAll('.light.ready')].length > 0"
_COVERED = "Does Glossator need the internet?"
_NEAR = "How many students failed the exam?"


async def taken(folder: Path, models: Path) -> list[Path]:
    """Write a picture of each platform, and return the files.

    Args:
        models: Where the embedding model lies ready, if it does.
    """
    program = chromium.installed()
    if program is None:
        sys.exit("screenshots: install Chromium, such as by `apt-get install chromium`")
    files = []
    async with _fresh(models) as playground:
        for platform, ask in (("discord", _ask_on_discord), ("slack", _ask_on_slack)):
            async with opened(program, f"{playground.url}{platform}/") as tab:
                await tab.look(*DESKTOP)
                await tab.until(_READY, 180)
                await ask(tab)
                shots = [await _shot(tab, size, dark=dark) for size, dark in LOOKS]
            files.append(folder / f"card-{platform}.png")
            files[-1].write_bytes(await _composed(program, shots))
    return files


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
    for question, wanted in ((_NEAR, "gl:w:"), (_COVERED, "gl:e:")):
        await tab.click("#write")
        await tab.type("/as")
        await tab.until(_shown("[role=option]"))
        await tab.enter()
        await tab.until("document.activeElement.matches('.command input')")
        await tab.type(question)
        await tab.enter()
        await tab.until(_shown(f'#channel [data-component^="{wanted}"]'))
    await tab.click('#channel [data-component^="gl:e:"]')
    await tab.until(_shown(".ephemeral blockquote"))


async def _ask_on_slack(tab: chromium.Tab) -> None:
    """Ask two questions below one message, and leave their thread open."""
    await tab.click("#write")
    await tab.type(f"@Glossator {_NEAR}")
    await tab.enter()
    await tab.click("#channel .thread-link")
    await tab.until(_shown('#thread [data-component^="gl:w"]'))
    await tab.click("#write-in-thread")
    await tab.type(f"@Glossator {_COVERED}")
    await tab.enter()
    await tab.until(_shown('#thread [data-component="gl:e"]'))


def _shown(selector: str) -> str:
    """Return an expression that is true when something that a selector finds is visible."""
    found = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return f"{found}.some((each) => each.checkVisibility())"


async def _shot(tab: chromium.Tab, size: tuple[int, int], *, dark: bool) -> bytes:
    await tab.look(*size, dark=dark)
    await tab.value("document.querySelectorAll('.timeline').forEach(e => e.scrollTop = 1e6)")
    await asyncio.sleep(0.5)
    return await tab.screenshot()


async def _composed(program: str, shots: Sequence[bytes]) -> bytes:
    """Return one picture of all: the desktop beside the phone, light above dark."""
    width, height = DESKTOP[0] + PHONE[0] + 36, 2 * DESKTOP[1] + 36
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
