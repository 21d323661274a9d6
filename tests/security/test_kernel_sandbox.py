"""Machine code in the confinement of parsers and programs gets nowhere: the kernel refuses it."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import core
from core.domain.errors import UnsupportedDocument
from core.ingestion.sandbox import messages
from core.ingestion.sandbox import sandbox as parser_process
from core.ingestion.sandbox.kernel import Confinement, Held, of_program, python_folders
from core.ingestion.sandbox.messages import ParseJob
from core.ingestion.sandbox.sandbox import Sandbox, held_here
from core.ingestion.sources.git_program import GitProgram, find_git, limited
from tests.pandoc import FOUND, needs_pandoc

PYTHON = [os.path.realpath(sys.executable), "-I", "-S"]
"""A program of machine code that does what it is told."""
HELD = asyncio.run(held_here())
needs_landlock = pytest.mark.skipif(
    not HELD.files, reason="this kernel has no Landlock: it holds no files"
)
needs_seccomp = pytest.mark.skipif(
    not HELD.calls, reason="this kernel filters no calls, or this machine's are not known"
)
needs_both = pytest.mark.skipif(
    not all(HELD), reason=f"this kernel holds only {HELD}: see docs/security.md"
)

DEEDS = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
key, port, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]

def native(function, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, function)(*arguments)
    return "possible" if result >= 0 else os.strerror(ctypes.get_errno())

def connected(family=2):
    stream = libc.socket(family, 1, 0)
    if stream < 0:
        return os.strerror(ctypes.get_errno())
    host = struct.pack("=H", 2) + struct.pack(">H", port) + bytes((127, 0, 0, 1)) + bytes(8)
    return native("connect", stream, host, len(host))

def started():
    child = libc.fork()
    if child < 0:
        return os.strerror(ctypes.get_errno())
    if child == 0:
        libc.execv(b"/bin/true", (ctypes.c_char_p * 2)(b"true", None))
        os._exit(99)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "Permission denied" if code == 99 else "possible"

def executed():
    libc.execv(b"/bin/true", (ctypes.c_char_p * 2)(b"true", None))
    return os.strerror(ctypes.get_errno())

path = os.fsencode
say = lambda name, said: print(f"{name}: {said}", flush=True)
say("read a key", native("open", path(key), os.O_RDONLY))
say("read its own environment", native("open", b"/proc/self/environ", os.O_RDONLY))
say("read its parent's memory", native("open", path(f"/proc/{os.getppid()}/mem"), os.O_RDONLY))
say("list a folder", native("open", path(os.path.dirname(key)), os.O_RDONLY | os.O_DIRECTORY))
say("write", native("open", path(folder + "/new"), os.O_WRONLY | os.O_CREAT, 0o600))
say("change", native("open", path(key), os.O_WRONLY | os.O_TRUNC))
say("delete", native("unlink", path(key)))
say("connect", connected())
say("netlink", native("socket", 16, 3, 0))
say("trace its parent", native("ptrace", 0x4206, os.getppid(), None, None))
say("signal its parent", native("kill", os.getppid(), 0))
say("limit its parent", native("prlimit", os.getppid(), 7, None, ctypes.create_string_buffer(16)))
say("another user's namespace", native("unshare", 0x10000000))
say("mount", native("mount", b"none", path(folder), b"nofs", 0, None))
say("keys", native("syscall", {"x86_64": 250, "aarch64": 219}[os.uname().machine], 0, -3, 0))
say("start a program", started())
say("become a program", executed())
"""
REFUSED = frozenset({"Operation not permitted", "Permission denied"})


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "keys" / "id_ed25519"
    path.parent.mkdir()
    path.write_text("THE KEY")
    return path


def said(done: subprocess.CompletedProcess[str]) -> Mapping[str, str]:
    assert done.returncode == 0, done.stderr
    return dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)


def tried(command: Sequence[str], key: Path, port: int) -> Mapping[str, str]:
    arguments = [*command, "-c", DEEDS, str(key), str(port), str(key.parent)]
    environment = parser_process._environment()
    done = subprocess.run(
        arguments, capture_output=True, text=True, env=environment, timeout=60, check=False
    )
    found = said(done)
    for name, result in found.items():
        print(f"{name}: {result}")
    return found


@needs_both
def test_machine_code_in_the_parsers_process_is_refused_by_the_kernel(
    key: Path, listener: socket.socket
) -> None:
    port, folder = listener.getsockname()[1], str(key.parent)
    held = "from core.ingestion.sandbox import child; import ctypes; child.hold()\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", held + DEEDS, str(key), str(port), folder],
        capture_output=True,
        text=True,
        env=parser_process._environment(),
        check=False,
    )
    found = said(done)
    print(*(f"{name}: {result}" for name, result in found.items()), sep="\n")
    assert len(found) == 17
    assert {name for name, result in found.items() if result not in REFUSED} == set()
    assert key.read_text() == "THE KEY"


def test_without_confinement_the_same_code_reads_writes_and_connects(
    key: Path, listener: socket.socket
) -> None:
    """Else the test above would prove nothing."""
    found = tried(PYTHON, key, listener.getsockname()[1])
    allowed = {name for name, result in found.items() if result == "possible"}
    assert {"read a key", "write", "connect", "start a program", "signal its parent"} <= allowed


@needs_both
def test_a_program_that_converts_reads_no_other_file_and_reaches_no_network(
    key: Path, listener: socket.socket
) -> None:
    folders = python_folders(core.__path__)
    command = limited(PYTHON, of_program(PYTHON[0], more=folders))
    found = tried(command, key, listener.getsockname()[1])
    assert {name for name, result in found.items() if result not in REFUSED} == set()


@needs_both
def test_git_reaches_one_port_and_one_folder(
    key: Path, tmp_path: Path, listener: socket.socket
) -> None:
    """What runs in git's place is refused the other ports, files and programs."""
    repository, port = tmp_path / "repository", listener.getsockname()[1]
    repository.mkdir()
    program = GitProgram(PYTHON[0], "", str(tmp_path / "none"), 1 << 20)
    allowed = program._confined(repository, port)
    allowed = allowed._replace(read=(*allowed.read, *python_folders(core.__path__)))
    found = tried(limited(PYTHON, allowed), key, port)
    assert found["connect"] == "possible"
    assert {name for name, result in found.items() if result not in REFUSED} == {"connect"}
    with socket.create_server(("127.0.0.1", 0)) as other:
        found = tried(limited(PYTHON, allowed), key, other.getsockname()[1])
    assert {name for name, result in found.items() if result not in REFUSED} == set()
    written = subprocess.run(
        [*limited(PYTHON, allowed), "-c", "open('new', 'w').write('object')"],
        cwd=repository,
        check=False,
    )
    assert written.returncode == 0
    assert (repository / "new").read_text() == "object"


@needs_landlock
async def test_gits_own_command_cannot_read_beside_its_repository(
    key: Path, tmp_path: Path
) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    git = await find_git(1 << 30)
    await git.run("init", "--bare", "--quiet", "--template=", ".", repository=repository)
    inside = repository / "inside"
    inside.write_text("words")
    hashed = await git.run("hash-object", "--", "inside", repository=repository)
    assert len(hashed.read_text().strip()) == 40
    with pytest.raises(Exception, match=r"Permission denied|could not open"):
        await git.run("hash-object", "--", str(key), repository=repository)


LUA = """
local function can(name, deed) io.stderr:write(name .. ": " .. tostring(pcall(deed)) .. "\\n") end
function Pandoc(document)
  can("read", function() assert(io.open("KEY", "r")) end)
  can("write", function() assert(io.open("FOLDER/new", "w")) end)
  can("start", function() assert(os.execute("ls")) end)
  can("fetch", function() assert(pandoc.mediabag.fetch("http://127.0.0.1:PORT/")) end)
  can("think", function() assert(1 == 1) end)
end
"""


@needs_both
@needs_pandoc
def test_pandoc_itself_is_refused_what_a_filter_wants(
    key: Path, tmp_path: Path, listener: socket.socket
) -> None:
    assert FOUND is not None
    folder = tmp_path / "filter"
    folder.mkdir()
    code = LUA.replace("KEY", str(key)).replace("FOLDER", str(key.parent))
    (folder / "a.lua").write_text(code.replace("PORT", str(listener.getsockname()[1])))
    allowed = of_program(FOUND.path, more=[str(folder)])
    done = _pandoc(["-f", "markdown", "--lua-filter", str(folder / "a.lua")], b"Words.", allowed)
    assert dict(line.split(": ") for line in done.stderr.decode().splitlines()) == {
        **dict.fromkeys(("read", "write", "start", "fetch"), "false"),
        "think": "true",
    }


@needs_both
@needs_pandoc
@pytest.mark.parametrize(
    ("name", "includes"),
    [
        ("rst", ".. include:: {}\n\n.. csv-table:: t\n   :file: {}\n"),
        ("org", '#+INCLUDE: "{}"\n'),
        ("latex", "\\input{{{}}}\\include{{{}}}\n"),
        ("asciidoc", "include::{}[]\n"),
    ],
)
def test_pandoc_without_its_own_sandbox_includes_nothing(
    key: Path, name: str, includes: str
) -> None:
    assert FOUND is not None
    text = (includes.format(key, key) + "\nWords.\n").encode()
    free = subprocess.run(
        [FOUND.path, "-f", name, "-t", "plain"], input=text, capture_output=True, check=False
    )
    done = _pandoc(["-f", name, "-t", "plain"], text, of_program(FOUND.path))
    print(name, "free:", b"THE KEY" in free.stdout, "held:", done.stderr.decode()[:200])
    assert b"THE KEY" not in done.stdout


def _pandoc(
    arguments: Sequence[str], text: bytes, allowed: Confinement
) -> subprocess.CompletedProcess[bytes]:
    assert FOUND is not None
    command = [*limited([FOUND.path, *arguments], allowed)]
    return subprocess.run(
        command, input=text, capture_output=True, check=False, env={"LC_ALL": "C.UTF-8"}
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rst", ".. include:: {0}\n\n.. csv-table:: t\n   :file: {0}\n"),
        ("b.rst", ".. raw:: html\n   :file: {0}\n\n.. literalinclude:: {0}\n"),
        ("a.tex", "\\input{{{0}}} \\include{{{0}}} \\verbatiminput{{{0}}} \\openin5={0}\n"),
        ("a.md", "{{{{#include {0}}}}}\n\n--8<-- \"{0}\"\n\n![a]({0})\n"),
        ("a.qmd", "{{{{< include {0} >}}}}\n"),
        ("a.ipynb", '{{"cells":[{{"cell_type":"markdown","source":["![a]({0})"]}}]}}'),
        ("a.html", '<iframe src="file://{0}"></iframe><object data="{0}"></object>'),
    ],
)  # fmt: skip
async def test_no_document_brings_in_a_file_of_the_machine(key: Path, name: str, text: str) -> None:
    dialect = "quarto" if name.endswith("qmd") else "mdbook"
    body = text.format(key).encode() + (b"" if name.endswith("ipynb") else b"\n\nWords.\n")
    async with Sandbox() as box:
        try:
            document = await box.parse(ParseJob(body, name, dialect=dialect))
        except UnsupportedDocument:
            return
    assert "THE KEY" not in " ".join(block.text for block in document.blocks)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@needs_both
async def test_the_parsers_process_says_itself_that_it_is_held() -> None:
    async with Sandbox() as box:
        await box.parse(ParseJob(b"Demand falls.", "good.txt"))
        assert box._child is not None
        assert box._child.held == Held(True, True, True)
        path = Path(f"/proc/{box._child._process.pid}/status")
        status = await asyncio.to_thread(path.read_text)
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


async def test_what_the_kernel_does_not_hold_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = messages.read_ready
    monkeypatch.setattr(
        parser_process, "read_ready", lambda body: real(body)._replace(files=False, calls=False)
    )
    async with Sandbox() as box:
        await box.parse(ParseJob(b"Demand falls.", "good.txt"))
        await box._stop()
        await box.parse(ParseJob(b"Demand falls.", "good.txt"))
    [told] = [record.getMessage() for record in caplog.records if "kernel" in record.getMessage()]
    assert "(files, calls)" in told


def test_a_working_folder_is_no_folder_of_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "module.py").touch()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "data").mkdir()
    (tmp_path / ".env").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    found = [each for each in python_folders([]) if each.startswith(str(tmp_path))]
    assert sorted(map(os.path.basename, found)) == ["module.py", "package"]
