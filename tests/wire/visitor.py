"""A person at the playground's page: types, clicks, pastes, and reads what stands there."""

import json
import struct
import zlib
from pathlib import Path

from tests.wire.chromium import Tab

_WIDTH, _HEIGHT = 160, 90


def shown(selector: str) -> str:
    """Return an expression that tells whether anything a selector finds can be seen."""
    found = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return f"{found}.some((each) => (each.closest('select') ?? each).checkVisibility())"


class Visitor:
    """Somebody who uses one platform's page, by its own controls alone."""

    def __init__(self, tab: Tab, pictures: Path) -> None:
        self.tab = tab
        self._pictures = pictures

    async def see(self, text: str, within: str, seconds: float = 40.0) -> None:
        """Wait until a text stands in the last visible element that a selector finds."""
        await self.tab.until(f"({_text_of(within)}).includes({json.dumps(text)})", seconds)

    async def read(self, within: str) -> str:
        """Return what stands in the last visible element that a selector finds."""
        await self.tab.until(shown(within))
        return str(await self.tab.value(_text_of(within)))

    async def count(self, selector: str) -> int:
        """Return how many visible elements a selector finds."""
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        return int(await self.tab.value(f"{found}.filter((each) => each.checkVisibility()).length"))

    async def write(self, text: str, *, in_thread: bool = False) -> None:
        """Type a message and send it; names after an @ are chosen as they are typed."""
        await self.tab.click("#write-in-thread" if in_thread else "#write")
        await self.tab.type(text)
        await self.tab.enter()
        box = "#thread" if in_thread else "#channel"
        await self.see(text.removeprefix("> ").split("\n")[-1], f"{box} .timeline")

    async def go(self, place: str) -> None:
        """Open a place of the list by its name."""
        await self._choose("#channels .place-link", place)

    async def become(self, name: str) -> None:
        """Be this person from now on."""
        if name in await self.read("#people .person:has(:checked)"):
            return
        await self.tab.value("document.querySelector('#people .person').dataset.before = ''")
        await self._choose("#people .person", name)
        await self.tab.until("!document.querySelector('#people [data-before]')")

    async def menu(self, message: str, entry: str) -> None:
        """Choose an entry of a message's menu."""
        await self.tab.click(f"{message} > .tools [aria-label=More]")
        await self._choose("[role=menuitem]", entry)

    async def press(self, within: str, label: str, *, last: bool = False) -> None:
        """Press the first button with a label, or the last one, inside what a selector finds."""
        await self._choose(f"{within} button", label, last=last)

    async def command(self, name: str) -> None:
        """Use a slash command of Discord's without options."""
        await self.tab.click("#write")
        await self.tab.type(name)
        await self.tab.until(shown("[role=option]"))
        await self.tab.enter()
        await self.see(name, "#channel .composer .above")
        await self.tab.click("#channel .send")

    async def react(self, message: str, name: str) -> None:
        """Add a reaction to a message."""
        await self.tab.click(f"{message} > .tools [aria-label='Add a reaction']")
        await self._choose("[role=menuitem]", name)

    async def forward(self, message: str, place: str) -> None:
        """Forward a message to a place, chosen by the first letters of its name."""
        await self.menu(message, "Forward")
        await self.tab.until("document.activeElement.matches('dialog select')")
        for letter in place:
            await self.tab.press(letter, ord(letter.upper()), letter)
        chosen = "document.querySelector('dialog select').selectedOptions[0].textContent"
        assert await self.tab.value(chosen) == place
        await self.keep("forward")
        await self.tab.click("dialog .primary")
        await self.see(f"Forwarded to {place}.", "#toast")

    async def keep(self, name: str) -> None:
        """Keep what the window shows as a picture."""
        (self._pictures / f"{name}.png").write_bytes(await self.tab.screenshot())

    async def _choose(self, selector: str, text: str, *, last: bool = False) -> None:
        """Click the element that a selector finds and that has a text as one of its lines."""
        which = "findLastIndex" if last else "findIndex"
        found = f"[...document.querySelectorAll({json.dumps(selector)})]"
        is_line = f"(line) => line.replace(/^[^A-Za-z#]+/, '') === {json.dumps(text)}"
        number = await self.tab.until(
            f"{found}.{which}((each) => each.checkVisibility()"
            f" && each.innerText.split('\\n').some({is_line})) + 1"
        )
        await self.tab.value(f"{found}[{number - 1}].setAttribute('data-chosen', '')")
        await self.tab.click("[data-chosen]")
        await self.tab.value(
            "document.querySelector('[data-chosen]')?.removeAttribute('data-chosen')"
        )


def a_picture() -> bytes:
    """Return a small PNG with a shading."""
    rows = (
        b"\0" + bytes(v for x in range(_WIDTH) for v in (60 + x, 140, 200 - y))
        for y in range(_HEIGHT)
    )
    head = struct.pack(">IIBBBBB", _WIDTH, _HEIGHT, 8, 2, 0, 0, 0)
    parts = (_part(b"IHDR", head), _part(b"IDAT", zlib.compress(b"".join(rows))), _part(b"IEND"))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _part(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _text_of(selector: str) -> str:
    found = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return f"({found}.filter((each) => each.checkVisibility()).pop()?.innerText ?? '')"
