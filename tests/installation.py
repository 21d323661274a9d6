"""An installation of the wheel outside of the checkout, and what it takes in size and memory.

    python -m tests.installation FOLDER     the size of the environment in a folder

The packages it needs come from the environment that runs the tests: those alone that the wheel
requires.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.command_line import ROOT

MEGABYTE = 1_000_000
_OF_PYTHON = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
"""What an environment may have before anything is installed; those of uv and pipx have it not."""
_SOURCES = ("bot", "adapters", "core", "migrations", "docs", "demo", "pyproject.toml", "README.md")
_AT_WORK = """\
import sys
from bot.cli import main
code = main(sys.argv[1:])
with open("/proc/self/status") as status:
    [line] = [line for line in status if line.startswith("VmRSS:")]
print(code, line.split()[1])
"""


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this source tree, and return its file."""
    source = folder / "source"
    source.mkdir()
    for name in (*_SOURCES, "LICENSE"):
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, source / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, source / name)
    _pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(source))
    [wheel] = folder.glob("*.whl")
    return wheel


def install_wheel(wheel: Path, folder: Path) -> Path:
    """Make an environment with the wheel and what it requires, and return its command."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    packages = Path(found.stdout.strip())
    for required in _required():
        _link(required, packages)
    _pip("--python", str(python), "install", "--no-deps", "--no-index", str(wheel))
    return folder / "bin" / "glossator"


def size(folder: Path) -> float:
    """Return what the files of an environment take on the disk, in MB, the model's among them.

    Compiled bytecode counts; Python itself does not, nor does pip.
    """
    packages = [*folder.glob("lib/python*/site-packages")]
    counted = [*folder.glob("share/glossator"), *(p for s in packages for p in s.iterdir())]
    places = (place for place in counted if not place.name.startswith(_OF_PYTHON))
    return sum(path.stat().st_blocks * 512 for path in _files(places)) / MEGABYTE


def memory_of_an_answer(command: Path, folder: Path, *words: str) -> float:
    """Return the resident memory, in MB, of the process that has run `glossator WORDS`."""
    python = command.with_name("python")
    done = subprocess.run(
        [python, "-c", _AT_WORK, *words],
        cwd=folder,
        env={"PATH": "", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    code, kilobytes = done.stdout.splitlines()[-1].split()
    assert code == "0", done.stdout + done.stderr
    return int(kilobytes) * 1024 / MEGABYTE


def _required() -> Iterator[Distribution]:
    """Yield what the project requires, and what that requires in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    open_, seen = _applying(project["dependencies"], set()), set()
    while open_:
        wanted = open_.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key not in seen:
            seen.add(key)
            found = distribution(wanted.name)
            yield found
            open_ += _applying(found.requires or (), wanted.extras)


def _applying(lines: Iterable[str], extras: set[str]) -> list[Requirement]:
    """Return the requirements that hold on this machine, with some of their extras."""
    wanted = [Requirement(line) for line in lines]
    return [
        one
        for one in wanted
        if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in {"", *extras})
    ]


def _link(required: Distribution, packages: Path) -> None:
    """Put a distribution's files into an environment; each is a second name of the same file."""
    site = Path(sysconfig.get_path("purelib"))
    for file in required.files or ():
        place = packages / file
        if ".." not in file.parts and (site / file).exists() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                place.hardlink_to(site / file)
            except OSError:  # another file system
                shutil.copyfile(site / file, place)


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_file():
            yield place
        for found, _, names in os.walk(place):
            yield from (Path(found, name) for name in names)


def _pip(*words: str) -> None:
    command = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *words)
    subprocess.run(command, check=True, capture_output=True, text=True)


if __name__ == "__main__":
    print(f"{size(Path(sys.argv[1])):,.0f} MB")
