"""A provider that sends whatever bytes it is given, from a thread of its own."""

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
def raw_gemini() -> Iterator[RawGemini]:
    """Serve on a free port of the loopback address."""
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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield state
    server.shutdown()
    server.server_close()
    thread.join()
