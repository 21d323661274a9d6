"""What every local server stands on: a port of the loopback address, and a list of mistakes."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Generic, Self, TypeVar

from aiohttp import web

Call = TypeVar("Call")
Answer = TypeVar("Answer")


class HttpShell:
    """Serves while it is entered; leaving it fails if a caller did what the real service cannot.

    With `port` 0, any free one is taken, and kept.
    """

    _ends_with_its_caller = False
    """Whether the work on a request ends when its caller goes away."""

    def __init__(self, *, mistakes: list[str], port: int = 0, megabytes: int = 32) -> None:
        self.origin = ""
        """Such as `http://127.0.0.1:4711`."""
        self._mistakes = mistakes
        self._port = port
        self._megabytes = megabytes
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()
        assert kind is not None or not self._mistakes, "\n".join(self._mistakes)

    async def start(self) -> None:
        """Listen; after `stop` on the same port as before."""
        app = web.Application(client_max_size=self._megabytes * 1024**2)
        self._register(app)
        self._runner = web.AppRunner(
            app,
            handler_cancellation=self._ends_with_its_caller,
            access_log=None,
            shutdown_timeout=0.1,
        )
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True).start()
        host, self._port = self._runner.addresses[0][:2]
        self.origin = f"http://{host}:{self._port}"

    async def stop(self) -> None:
        """Cut all connections and refuse new ones."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _register(self, app: web.Application) -> None:
        """Add the routes."""
        raise NotImplementedError


class ScriptedServer(HttpShell, Generic[Call, Answer]):
    """A service of models that say what a test scripted."""

    _ends_with_its_caller = True

    def __init__(self, api_key: str) -> None:
        super().__init__(mistakes=[])
        self.api_key = api_key
        self.requests: list[Call] = []
        """Every request that could be read, in order of arrival."""
        self.refusals: list[str] = []
        """The service's words to every request that was refused."""
        self._default: Callable[[Call], Answer] | None = None
        self._script: deque[Answer | Callable[[Call], Answer]] = deque()
        self._closing = asyncio.Event()

    def answer_with(self, model: Callable[[Call], Answer]) -> None:
        """Let `model` answer every call that nothing was scripted for."""
        self._default = model

    def script(self, *answers: Answer | Callable[[Call], Answer]) -> None:
        """Queue answers for the next calls, one each."""
        self._script.extend(answers)

    async def start(self) -> None:
        """Listen; after `stop` on the same port as before."""
        self._closing.clear()
        await super().start()

    async def stop(self) -> None:
        """Refuse connections from now on."""
        self._closing.set()
        await super().stop()

    def _register(self, app: web.Application) -> None:
        app.router.add_route("*", "/{rest:.*}", self._serve)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        raise NotImplementedError

    def _scripted(self, call: Call) -> Answer:
        """Return what the model says to a call."""
        answer = self._script.popleft() if self._script else self._default
        if answer is None:
            raise LookupError("nothing was scripted for this call")
        return answer(call) if callable(answer) else answer

    @contextmanager
    def _noting_failures(self) -> Iterator[None]:
        """Take a failure of the scripted model for a mistake of the test."""
        try:
            yield
        except Exception as error:
            self._mistakes.append(f"the scripted model failed: {error!r}")
            raise

    def _unknown(self, request: web.Request) -> None:
        self._mistakes.append(f"unknown endpoint: {request.method} {request.path_qs}")


def serve(server: HttpShell, about: Callable[[], Sequence[str]]) -> None:
    """Serve until Ctrl-C is pressed, and print first what there is to know."""

    async def work() -> None:
        async with server:
            print(*about(), sep="\n", flush=True)
            await asyncio.Event().wait()

    with suppress(KeyboardInterrupt):
        asyncio.run(work())
