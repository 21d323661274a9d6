"""A git server on loopback: the real `git http-backend` over repositories that tests make."""

import asyncio
import os
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

_IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.org",
}


@dataclass(frozen=True, slots=True)
class Repository:
    """A bare repository whose objects are made one by one, sound or not."""

    folder: Path

    @classmethod
    def new(cls, folder: Path) -> "Repository":
        made = cls(folder)
        folder.mkdir(parents=True)
        made.git("init", "--bare", "--quiet", "--initial-branch=main", ".")
        return made

    def git(self, *arguments: str, data: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            input=data,
            capture_output=True,
            check=True,
            env={**os.environ, **_IDENTITY},
        )
        return done.stdout.decode().strip()

    def blob(self, data: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", data=data)

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """Make a tree of modes, names and objects, without a look at what the names are."""
        rows = [
            f"{mode} {name}".encode() + b"\0" + bytes.fromhex(object_)
            for mode, name, object_ in sorted(entries, key=lambda entry: entry[1])
        ]
        made = ("hash-object", "-t", "tree", "-w", "--stdin", "--literally")
        return self.git(*made, data=b"".join(rows))

    def files(self, files: Mapping[str, bytes | str]) -> list[tuple[str, str, str]]:
        """Return the entries of a tree for files, folders below included."""
        entries, folders = list[tuple[str, str, str]](), dict[str, dict[str, bytes | str]]()
        for path, data in files.items():
            top, _, rest = path.partition("/")
            if rest:
                folders.setdefault(top, {})[rest] = data
            else:
                raw = data.encode() if isinstance(data, str) else data
                entries.append(("100644", top, self.blob(raw)))
        entries += [("40000", name, self.tree(*self.files(own))) for name, own in folders.items()]
        return entries

    def commit(self, *entries: tuple[str, str, str], branch: str = "main") -> str:
        made = self.git("commit-tree", "-m", "An edition", self.tree(*entries))
        self.git("update-ref", f"refs/heads/{branch}", made)
        return made


@dataclass
class GitServer:
    """What the server was asked, and what it answers in place of git."""

    folder: Path
    port: int = 0
    requests: list[str] = field(default_factory=list)
    instead: dict[str, web.Response] = field(default_factory=dict)
    """Answers by the end of the path."""
    hanging: set[str] = field(default_factory=set)
    """Ends of paths that get no answer."""
    scheme: str = "http"
    on_request: Callable[[], object] = lambda: None
    """Called before a request is answered."""

    @property
    def authority(self) -> str:
        return f"127.0.0.1:{self.port}"

    def source(self, name: str, rest: str = "", host: str = "") -> str:
        """Return the name of a source in this server's repository."""
        return f"git+{self.scheme}://{host or self.authority}/{name}{rest}"

    @property
    def fetches(self) -> int:
        return sum(request.startswith("POST") for request in self.requests)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(f"{request.method} {request.path_qs}")
        self.on_request()
        last = request.path.rpartition("/")[2]
        if last in self.hanging:
            await asyncio.sleep(60)
        for ending, reply in self.instead.items():
            if f"{request.method} {last}" == ending:
                return web.Response(status=reply.status, headers=reply.headers, body=reply.body)
        return await self._backend(request)

    async def _backend(self, request: web.Request) -> web.StreamResponse:
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "PATH_INFO": request.path,
            "QUERY_STRING": request.query_string,
            "REQUEST_METHOD": request.method,
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }
        process = await asyncio.create_subprocess_exec(
            "git",
            "http-backend",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=environment,
        )
        out, _ = await process.communicate(await request.content.read())
        head, _, body = out.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(fields.pop("Status", "200").split()[0])
        return web.Response(status=status, headers=fields, body=body)


@asynccontextmanager
async def git_server(folder: Path, tls: ssl.SSLContext | None = None) -> AsyncIterator[GitServer]:
    """Serve the repositories below a folder."""
    server = GitServer(folder, scheme="https" if tls else "http")
    application = web.Application(client_max_size=1 << 28)
    application.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        await runner.cleanup()
