"""A parsed document reaches no network and no file but those of its course."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.ingestion.sandbox import sandbox as parser_process
from core.ingestion.sandbox.messages import ParseJob
from core.ingestion.sandbox.sandbox import Sandbox
from core.ingestion.sites.site import include_reader


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course's folder with a file beside it that no page may read."""
    (tmp_path / "secret.txt").write_text("SECRET")
    root = tmp_path / "course"
    (root / "src" / "parts").mkdir(parents=True)
    (root / "src" / "parts" / "one.md").write_text("Included text.")
    (root / "shared.md").write_text("Shared text.")
    (root / ".env").write_text("SECRET")
    (root / "src" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "src" / "folder").symlink_to(tmp_path)
    (root / "src" / "large.md").write_text("SECRET" * 200_000)
    return root


async def included(root: Path | None, path: str, dialect: str = "mdbook") -> str:
    mark = '--8<-- "' + path + '"' if dialect == "mkdocs" else "{{#include " + path + "}}"
    reader = None if root is None else include_reader(root, "src/page.md", (".",), dialect)
    job = ParseJob(f"Before.\n\n{mark}\n".encode(), "src/page.md", None, dialect, reader)
    async with Sandbox() as box:
        document = await box.parse(job)
    return " ".join(block.text for block in document.blocks)


@pytest.mark.costly
async def test_a_page_includes_files_of_its_course(course: Path) -> None:
    assert "Included text." in await included(course, "parts/one.md")
    assert "Shared text." in await included(course, "../shared.md")
    assert "Shared text." in await included(course, "shared.md", "mkdocs")


async def test_nothing_is_included_without_a_root(course: Path) -> None:
    text = await included(None, str(course / "shared.md"))
    assert "Shared text." not in text


@pytest.mark.costly
@pytest.mark.parametrize(
    "path",
    [
        "../../secret.txt",
        "link.txt",
        "folder/secret.txt",
        "../.env",
        "large.md",
        "/etc/hostname",
        "/../secret.txt",
        "parts",
        "missing.md",
        "parts/../../../secret.txt",
        "a\0b",
        "x/" * 1_500 + "secret.txt",
    ],
)
async def test_a_page_cannot_include_what_is_not_its_courses(course: Path, path: str) -> None:
    assert "SECRET" not in await included(course, path)


FORBIDDEN = """
import os, sys
from pathlib import Path
from core.ingestion.sandbox.child import AuditHook, limit_resources
import socket, subprocess
import http.client, urllib.request
target = Path(sys.argv[1])
attempts = {
    "socket": lambda: socket.socket(),
    "connection": lambda: socket.create_connection(("127.0.0.1", 9)),
    "lookup": lambda: socket.getaddrinfo("localhost", 80),
    "url": lambda: urllib.request.urlopen("http://127.0.0.1:9/"),
    "local file as url": lambda: urllib.request.urlopen(target.as_uri()),
    "process": lambda: subprocess.run(["true"]),
    "shell": lambda: os.system("true"),
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "fork": lambda: os.fork(),
    "ctypes": lambda: __import__("ctypes").CDLL(None),
    "write": lambda: open(target.with_name("new.txt"), "w"),
    "append": lambda: os.open(target, os.O_APPEND | os.O_WRONLY),
    "delete": lambda: target.unlink(),
    "rename": lambda: target.rename("elsewhere"),
    "folder": lambda: os.mkdir(target.with_name("folder")),
    "signal": lambda: os.kill(os.getppid(), 0),
    "read": lambda: target.read_bytes(),
    "read passwords": lambda: open("/etc/passwd"),
    "read environment": lambda: open("/proc/self/environ"),
}
hook = AuditHook()
hook.install()
limit_resources()
with hook.loading_libraries():
    attempts["ctypes"]()
for name, attempt in attempts.items():
    try:
        attempt()
    except PermissionError:
        continue
    except OSError as error:
        print(name, error)
        continue
    print(name, "was possible")
"""


def test_network_processes_and_files_are_refused_in_the_child(tmp_path: Path) -> None:
    target = tmp_path / "file.txt"
    target.write_text("text")
    done = subprocess.run(
        [sys.executable, "-P", "-c", FORBIDDEN, str(target)],
        capture_output=True,
        text=True,
        env=parser_process._environment(),
        cwd=tmp_path,
    )
    assert done.stderr == ""
    assert done.stdout in {"", "url <urlopen error socket.__new__ is not allowed>\n"}
