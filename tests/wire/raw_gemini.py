"""A provider that sends whatever bytes it is given, from a thread of its own."""

import gc
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from typing import Any


@dataclass
class RawGemini:
    """What is sent to every call, and how many calls came."""

    url: str = ""
    api_key: str = "test-key"
    body: Iterable[bytes] = ()
    headers: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    every: float = 0.0
    """Seconds between two pieces."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Keep the collector of garbage away while the block lasts."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report what went wrong, unless the client has hung up, as it may."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def raw_gemini() -> Iterator[RawGemini]:
    """Serve on a free port of the loopback address.

    The collector stays away: it comes in whichever thread allocates, and in one of the server's it
    would finish asynchronous generators that the event loop is still running.
    """
    with uncollected(), _serving() as state:
        yield state


@contextmanager
def _serving() -> Iterator[RawGemini]:
    state = RawGemini()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            state.calls += 1
            asked = self.rfile.read(int(self.headers.get("content-length", 0)))
            streams = "streamGenerateContent" in self.path or b'"stream":true' in asked
            kind = "text/event-stream" if streams else "application/json"
            self.send_response(200)
            self.send_header("transfer-encoding", "chunked")
            for name, value in {"content-type": kind, **state.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for piece in chain(state.body, [b""]):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    if state.every:
                        time.sleep(state.every)
            except OSError:
                self.close_connection = True  # the client has read enough

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = _Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
