"""The command that installs a program on this system: git, pandoc or tesseract."""

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class PackageManager:
    """How a system installs a program, and what it calls what we need."""

    command: str
    tesseract: str
    data: str
    """Tesseract's data of one language; `{}` is its code, if each language is a package."""
    git: str = "git"
    pandoc: str = "pandoc"
    dashed: bool = False
    """Whether `chi_sim` is written `chi-sim`."""
    comes_with: frozenset[str] = field(default_factory=lambda: frozenset({"eng"}))
    """The languages that the program's own package has."""
    needs_root: bool = True
    is_rolling: bool = False
    """Whether its packages are the newest versions."""


_APT = PackageManager("apt-get install", "tesseract-ocr", "tesseract-ocr-{}", dashed=True)
_DNF = PackageManager("dnf install", "tesseract", "tesseract-langpack-{}")
_APK = PackageManager(
    "apk add", "tesseract-ocr", "tesseract-ocr-data-{}", comes_with=frozenset[str]()
)
_PACMAN = PackageManager(
    "pacman -S",
    "tesseract",
    "tesseract-data-{}",
    pandoc="pandoc-cli",
    comes_with=frozenset[str](),
    is_rolling=True,
)
_ZYPPER = PackageManager("zypper install", "tesseract-ocr", "tesseract-ocr-traineddata-{}")
_BREW = PackageManager(
    "brew install", "tesseract", "tesseract-lang", needs_root=False, is_rolling=True
)
# Its installer asks for the languages.
_WINGET = PackageManager(
    "winget install --interactive",
    "UB-Mannheim.TesseractOCR",
    "UB-Mannheim.TesseractOCR",
    git="Git.Git",
    pandoc="JohnMacFarlane.Pandoc",
    needs_root=False,
    is_rolling=True,
)
_BY_DISTRIBUTION: Mapping[str, PackageManager] = {
    "debian": _APT,
    "ubuntu": _APT,
    "fedora": _DNF,
    "rhel": _DNF,
    "centos": _DNF,
    "alpine": _APK,
    "arch": _PACMAN,
    "suse": _ZYPPER,
    "opensuse": _ZYPPER,
}
"""By the `ID` or `ID_LIKE` of os-release; others name one of these in `ID_LIKE`."""


def manager_of(system: str, release: Mapping[str, str]) -> PackageManager | None:
    """Return the package manager of a system; none where it is not known.

    Args:
        system: what `platform.system()` says.
        release: the fields of its os-release file, if it has one.
    """
    if system == "Darwin":
        return _BREW
    if system == "Windows":
        return _WINGET
    names = [release.get("ID", ""), *release.get("ID_LIKE", "").split()]
    return next((_BY_DISTRIBUTION[name] for name in names if name in _BY_DISTRIBUTION), None)


def how_to_install_git(manager: PackageManager | None = None) -> str:
    """Return what follows "install git": the command of this system, if it is known.

    Args:
        manager: of another system than this.
    """
    found = manager or _of_this_system()
    return _run(found, [found.git]) if found else _OF_NO_KNOWN_SYSTEM


def how_to_install_tesseract(
    language: str, *, is_there: bool = False, manager: PackageManager | None = None
) -> str:
    """Return what follows "install tesseract": the command that brings a language along.

    Args:
        language: as tesseract calls it: `deu`.
        is_there: whether the program is, so that only the language's data is missing.
        manager: of another system than this.
    """
    found = manager or _of_this_system()
    if found is None:
        return _OF_NO_KNOWN_SYSTEM
    packages = [] if is_there else [found.tesseract]
    if is_there or language not in found.comes_with:
        packages.append(found.data.format(language.replace("_", "-") if found.dashed else language))
    return _run(found, list(dict.fromkeys(packages)))


def how_to_install_pandoc(*, newest: bool, manager: PackageManager | None = None) -> str:
    """Return the command that installs pandoc: this system's, else that of its Python package.

    Args:
        newest: whether a version is needed that many systems do not have yet.
        manager: of another system than this.
    """
    found = manager or _of_this_system()
    if found is not None and (found.is_rolling or not newest):
        return _command(found, [found.pandoc])
    home = PurePath(sys.prefix)
    if "pipx" in home.parts:
        return f"pipx inject {home.name} {_PANDOC_WHEEL}"
    is_tool = home.parts[-3:-1] == ("uv", "tools")
    return f"uv tool install {home.name} --with {_PANDOC_WHEEL}" if is_tool else _BY_PIP


_PANDOC_WHEEL = "pypandoc_binary"
_BY_PIP = f"pip install {_PANDOC_WHEEL}"
_OF_NO_KNOWN_SYSTEM = "with the package manager of this system"


def _of_this_system() -> PackageManager | None:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        release = {}
    return manager_of(platform.system(), release)


def _run(manager: PackageManager, packages: list[str]) -> str:
    return f"with '{_command(manager, packages)}'"


def _command(manager: PackageManager, packages: list[str]) -> str:
    may = not manager.needs_root or getattr(os, "geteuid", lambda: 0)() == 0
    sudo = "" if may or shutil.which("sudo") is None else "sudo "
    return f"{sudo}{manager.command} {' '.join(packages)}"
