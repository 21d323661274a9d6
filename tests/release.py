"""`make dist`: the files of a release, built, looked through and tried as a user installs them.

    python -m tests.release [--tag v0.2.0]

The source archive and the wheel are built into `dist/`, the wheel from the archive alone. Then the
wheel is installed into an environment of its own, with what it requires, and runs the demo.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Collection
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.metadata import Metadata

from bot import __version__
from tests.command_line import ROOT

PACKAGES = frozenset({"bot", "adapters", "core", "migrations"})
_DATA = ("handbook", "docs"), ("demo", "demo")
"""The folders of pages, as installed and in the checkout."""


class Refused(Exception):
    """What has to be put right before a release."""


def check_version(tag: str | None, changelog: str) -> None:
    """See that the changelog knows the version, and for a tag also the day of its release.

    Raises:
        Refused: when one of them says otherwise.
    """
    found = re.search(rf"^## {re.escape(__version__)} \((.+)\)$", changelog, re.M)
    if found is None:
        raise Refused(f"CHANGELOG.md has no heading for {__version__}.")
    if tag is None:
        return
    if tag != f"v{__version__}":
        raise Refused(f"The tag {tag} is not that of the version, v{__version__}.")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", found[1]):
        raise Refused(f"CHANGELOG.md says of {__version__}: {found[1]}; give it its date.")


def check_wheel(wheel: Path) -> None:
    """See that a wheel holds the packages and pages of this checkout, and valid metadata.

    Raises:
        Refused: when it does not, or holds anything else.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = f"glossator-{__version__}.dist-info"
        metadata = Metadata.from_email(archive.read(f"{info}/METADATA"), validate=True)
    if str(metadata.version) != __version__ or not metadata.description:
        raise Refused("The metadata lack the version or the description.")
    if (missing := {f"{info}/licenses/LICENSE"} - names) or (missing := _pages() - names):
        raise Refused(f"The wheel lacks {', '.join(sorted(missing)[:5])}.")
    tops = {name.split("/")[0] for name in names}
    if other := tops - PACKAGES - {info, f"glossator-{__version__}.data"}:
        raise Refused(f"The wheel holds {', '.join(sorted(other))} besides the packages.")
    code = {
        path.relative_to(ROOT).as_posix() for top in PACKAGES for path in (ROOT / top).rglob("*.py")
    }
    if lacking := code - names:
        raise Refused(f"The wheel lacks {', '.join(sorted(lacking)[:5])}.")


def _pages() -> set[str]:
    """Return the files of the handbook and the demo's course as a wheel names them."""
    base = f"glossator-{__version__}.data/data/share/glossator"
    return {
        f"{base}/{installed}/{page.relative_to(ROOT / folder).as_posix()}"
        for installed, folder in _DATA
        for page in [*(ROOT / folder).glob("*.md"), *(ROOT / folder).glob("pictures/*.svg")]
    }


def build(folder: Path) -> Collection[Path]:
    """Build both files of the last commit anew into a folder, and return them."""
    shutil.rmtree(folder, ignore_errors=True)
    uv = Path(sys.executable).with_name("uv")
    with TemporaryDirectory() as clean:
        source = Path(clean) / "source"
        _run("git", "clone", "--quiet", "--depth", "1", f"file://{ROOT}", str(source), at=ROOT)
        options = ["--quiet", "--no-build-isolation", "--python", sys.executable]
        _run(str(uv), "build", *options, "--out-dir", str(folder), at=source)
    return sorted(path for path in folder.iterdir() if path.name != ".gitignore")


def try_it(wheel: Path, folder: Path) -> None:
    """Install a wheel into an empty environment as a user does, and run the demo there."""
    venv.create(folder / "environment", with_pip=True)
    python = folder / "environment" / "bin" / "python"
    _run(str(python), "-m", "pip", "install", "--quiet", str(wheel), at=folder)
    command = str(python.with_name("glossator"))
    for words in (["--version"], ["model", "install"], ["demo"]):
        print(f"$ glossator {' '.join(words)}", flush=True)
        _run(command, *words, at=folder)


def _run(*words: str, at: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GLOSSATOR_")}
    done = subprocess.run(words, cwd=at, env=environment, check=False)
    if done.returncode:
        raise Refused(f"{' '.join(words)} failed.")


def main(arguments: list[str]) -> int:
    """Make the files of a release and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.release")
    parser.add_argument("--tag", help="the tag that is released")
    tag = parser.parse_args(arguments).tag
    try:
        check_version(tag, (ROOT / "CHANGELOG.md").read_text("utf-8"))
        files = build(ROOT / "dist")
        [wheel] = [file for file in files if file.suffix == ".whl"]
        check_wheel(wheel)
        with TemporaryDirectory() as folder:
            try_it(wheel, Path(folder))
    except Refused as refusal:
        print(f"No release: {refusal}", file=sys.stderr)
        return 1
    for file in files:
        print(f"Ready: dist/{file.name}, {file.stat().st_size / 1_000_000:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
