"""A headless Chromium, driven over its DevTools protocol."""

import asyncio
import base64
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
)
_LISTENING = re.compile(r"DevTools listening on (ws://\S+)")


def installed() -> str | None:
    """Return the program's path; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Tab:
    """One page, with its console watched."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.problems: list[str] = []
        """Exceptions, failed loads and violations of the page's policy."""
        self._socket = socket
        self._sent = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._contexts: dict[str, int] = {}
        """Where scripts of a frame run, by the frame's id."""
        self._frame: dict[str, int] = {}
        self._offset = (0.0, 0.0)
        self._choosers: asyncio.Queue[int] = asyncio.Queue()
        """The inputs for which the browser asks to choose files."""
        self._listening = asyncio.create_task(self._listen())

    async def call(self, method: str, **params: Any) -> Any:
        """Use one method of the protocol."""
        self._sent += 1
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[self._sent] = answer
        await self._socket.send_json({"id": self._sent, "method": method, "params": params})
        return await asyncio.wait_for(answer, 60)

    async def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """Set the size of the window and the colours that the reader prefers."""
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])

    @asynccontextmanager
    async def within(self, name: str) -> AsyncIterator[None]:
        """Look and click inside a frame, by its element's id."""
        frame, left, top = await self.until(
            f"""(() => {{
                const frame = document.getElementById({json.dumps(name)});
                if (!frame?.contentDocument) return null;
                const box = frame.getBoundingClientRect();
                const href = frame.contentWindow.location.href;
                const there = frame.contentDocument.readyState === "complete";
                return there && href !== "about:blank" && [href, box.left, box.top];
            }})()"""
        )
        tree = await self.call("Page.getFrameTree")
        children = [child["frame"] for child in tree["frameTree"]["childFrames"]]
        [frame_id] = [child["id"] for child in children if child["url"] == frame]
        self._frame, self._offset = {"contextId": self._contexts[frame_id]}, (left, top)
        try:
            yield
        finally:
            self._frame, self._offset = {}, (0.0, 0.0)

    async def value(self, expression: str) -> Any:
        """Return what a JavaScript expression is, awaited."""
        answer = await self.call(
            "Runtime.evaluate",
            expression=expression,
            awaitPromise=True,
            returnByValue=True,
            **self._frame,
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    async def until(self, expression: str, seconds: float = 40.0) -> Any:
        """Wait until an expression is true and return its value."""
        try:
            async with asyncio.timeout(seconds):
                while not (value := await self.value(expression)):  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            text = await self.value("document.body.innerText")
            raise AssertionError(f"never true: {expression}\n{text}") from None
        return value

    async def press(self, key: str, code: int, text: str = "") -> None:
        """Press and release one key."""
        shared = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        await self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **shared)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    async def enter(self) -> None:
        """Press Enter."""
        await self.press("Enter", 13, "\r")

    async def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        await self.call("Input.insertText", text=text)

    async def click(self, selector: str) -> None:
        """Click in the middle of the last visible element that a selector finds, once it rests."""
        middle = await self.until(
            f"""(async () => {{
                const shown = [...document.querySelectorAll({json.dumps(selector)})]
                  .filter((each) => each.checkVisibility()).pop();
                if (!shown) return null;
                shown.scrollIntoView({{ block: "nearest" }});
                const before = shown.getBoundingClientRect();
                await new Promise((resolve) => setTimeout(resolve, 50));
                const box = shown.getBoundingClientRect();
                const moved = box.top !== before.top || box.left !== before.left;
                if (moved || !shown.isConnected) return null;
                return [box.left + box.width / 2, box.top + box.height / 2];
            }})()"""
        )
        x, y = (at + off for at, off in zip(middle, self._offset, strict=True))
        where = {"x": x, "y": y, "button": "left", "clickCount": 1}
        await self.call("Input.dispatchMouseEvent", type="mousePressed", **where)
        await self.call("Input.dispatchMouseEvent", type="mouseReleased", **where)

    async def attach(self, selector: str, *files: Path) -> None:
        """Click what opens the window to choose files, and choose some."""
        await self.call("Page.setInterceptFileChooserDialog", enabled=True)
        await self.click(selector)
        node = await asyncio.wait_for(self._choosers.get(), 10)
        paths = [str(file) for file in files]
        await self.call("DOM.setFileInputFiles", files=paths, backendNodeId=node)

    async def paste_picture(self, png: bytes) -> None:
        """Put a picture into the clipboard, and paste it where the focus is."""
        await self._paste("image/png", png)

    async def paste_text(self, text: str) -> None:
        """Put a text into the clipboard, and paste it where the focus is."""
        await self._paste("text/plain", text.encode())

    async def screenshot(self) -> bytes:
        """Return what the window shows, as a PNG."""
        answer = await self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(answer["data"])

    async def _paste(self, kind: str, content: bytes) -> None:
        allowed = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        await self.call("Browser.grantPermissions", permissions=allowed)
        await self.call("Page.bringToFront")
        what, encoded = json.dumps(kind), json.dumps(base64.b64encode(content).decode())
        await self.value(
            f"""(async () => {{
                const bytes = Uint8Array.from(atob({encoded}), (each) => each.charCodeAt(0));
                const part = new Blob([bytes], {{ type: {what} }});
                await navigator.clipboard.write([new ClipboardItem({{ [{what}]: part }})]);
            }})()"""
        )
        pressed = {"key": "v", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": 2}
        await self.call("Input.dispatchKeyEvent", type="keyDown", commands=["paste"], **pressed)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    async def close(self) -> None:
        """Let go of the page."""
        self._listening.cancel()
        await self._socket.close()

    async def _listen(self) -> None:
        async for frame in self._socket:
            said = frame.json()
            if "id" in said:
                answer = self._waiting.pop(said["id"])
                if "error" in said:
                    answer.set_exception(AssertionError(said["error"]))
                else:
                    answer.set_result(said["result"])
            elif said["method"] == "Runtime.executionContextCreated":
                context = said["params"]["context"]
                self._contexts[context["auxData"]["frameId"]] = context["id"]
            elif said["method"] == "Page.fileChooserOpened":
                self._choosers.put_nowait(said["params"]["backendNodeId"])
            elif said["method"] in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(said["params"]))


@asynccontextmanager
async def opened(program: str, profile: Path, url: str) -> AsyncIterator[Tab]:
    """Start a browser with a fresh profile, and open one page."""
    process = await asyncio.create_subprocess_exec(
        program,
        *_FLAGS,
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    draining = None
    try:
        address = await asyncio.wait_for(_address(process), 30)
        assert process.stderr is not None
        draining = asyncio.create_task(process.stderr.read())
        async with aiohttp.ClientSession() as session:
            tab = await _tab(session, address)
            try:
                for domain in ("Page", "Runtime", "Log"):
                    await tab.call(f"{domain}.enable")
                await tab.call("Page.navigate", url=url)
                yield tab
            finally:
                await tab.close()
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
        if draining is not None:
            await draining


async def _address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if found := _LISTENING.search(line.decode(errors="replace")):
            return found[1]
    raise AssertionError("the browser ended")


async def _tab(session: aiohttp.ClientSession, address: str) -> Tab:
    host = address.split("/")[2]
    async with session.get(f"http://{host}/json/list") as response:
        pages = [each for each in await response.json() if each["type"] == "page"]
    socket = await session.ws_connect(pages[0]["webSocketDebuggerUrl"], max_msg_size=0)
    return Tab(socket)
