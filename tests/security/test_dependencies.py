"""What is installed is what was locked: by version, by hash, from the index alone."""

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from core.providers.embeddings.graph import WEIGHTS_SHA256

ROOT = Path(__file__).parents[2]
LOCKS = ("build", "runtime", "model", "dev", "audit")
_ENTRY = re.compile(
    r"^(?P<requirement>[^\s#-][^\\\n]*?)\s*\\\n(?P<hashes>(?:\s+--hash=\S+.*\n)+)", re.M
)
_HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
_COMMAND = re.compile(r"^PIP := .*$|^LOCKED := .*$|^\t@\$\(PIP\).*$", re.MULTILINE)


def text_of(lock: str) -> str:
    return (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")


def entries(lock: str) -> list[Requirement]:
    """Return what a lock file has installed."""
    return [Requirement(found["requirement"]) for found in _ENTRY.finditer(text_of(lock))]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_pinned_and_hashed_and_named_by_no_address(lock: str) -> None:
    text, found = text_of(lock), [*_ENTRY.finditer(text_of(lock))]
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    covered = sum(len(one.group().strip().splitlines()) for one in found)
    comments = sum(line.lstrip().startswith("#") for one in found for line in one[0].splitlines())
    assert covered - comments == len(lines), "each line is a requirement or one of its hashes"
    for one in found:
        requirement = Requirement(one["requirement"])
        assert requirement.url is None
        assert [spec.operator for spec in requirement.specifier] == ["=="]
        hashes = one["hashes"].split()
        assert all(_HASH.fullmatch(word) for word in hashes if word.startswith("--"))
    assert not re.search(r"://|git\+|--(?:extra-)?index|--find-links|--trusted", text)


def test_all_that_the_project_names_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = project["project"]["dependencies"]
    for lock, wanted in {
        "runtime": named,
        "dev": project["dependency-groups"]["dev"],
        "build": project["build-system"]["requires"],
    }.items():
        locked = {canonicalize_name(entry.name): entry for entry in entries(lock)}
        for line in wanted:
            requirement = Requirement(line)
            entry = locked[canonicalize_name(requirement.name)]
            [pin] = entry.specifier
            assert requirement.specifier.contains(pin.version, prereleases=True), line


def test_what_is_in_two_locks_has_one_version() -> None:
    pins: dict[tuple[str, str], set[str]] = {}
    for lock in ("runtime", "dev", "model"):
        for entry in entries(lock):
            key = (canonicalize_name(entry.name), str(entry.marker or ""))
            pins.setdefault(key, set()).add(str(entry.specifier))
    assert not {name: found for name, found in pins.items() if len(found) > 1}


def test_what_is_installed_is_what_is_locked() -> None:
    wrong, checked = [], 0
    for lock in ("runtime", "model", "dev"):
        for entry in entries(lock):
            if not _applies(entry.marker):
                continue
            [pin] = entry.specifier
            try:
                installed = version(entry.name)
            except PackageNotFoundError:
                wrong.append(f"{entry} is not installed")
                continue
            checked += 1
            if installed != pin.version:
                wrong.append(f"{entry} is installed as {installed}")
    if wrong and not Path(sys.prefix).is_relative_to(ROOT):
        pytest.skip(f"this environment is not the project's own: {wrong[0]}")
    assert not wrong
    print(f"dependencies: {checked} installed packages are those of the lock files")


@pytest.mark.costly
def test_every_extra_that_a_locked_package_asks_for_is_locked_with_it() -> None:
    """Some versions of pip pin an extra only where the lock names it."""
    locked = {
        canonicalize_name(entry.name): entry.extras
        for lock in ("runtime", "dev")
        for entry in entries(lock)
    }
    missing = []
    for name, extras in locked.items():
        if not _is_installed(name):
            continue
        for line in requires(name) or ():
            wanted = Requirement(line)
            asked = wanted.marker is None or any(
                wanted.marker.evaluate({"extra": extra}) for extra in {"", *extras}
            )
            if asked and wanted.extras - locked.get(canonicalize_name(wanted.name), set()):
                missing.append(f"{name} asks for {wanted}")
    assert not missing


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def test_make_installs_by_hash_and_builds_nothing() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = _COMMAND.findall(makefile)
    assert "LOCKED := --require-hashes --only-binary :all:" in commands
    installs = [line for line in commands if line.startswith("\t@$(PIP)")]
    assert installs
    for line in installs:
        own = line.endswith("--no-deps --no-build-isolation --editable .")
        assert own or "$(LOCKED) -r requirements/" in line or "$(LOCKED) --no-deps -r" in line


def _applies(marker: Marker | None) -> bool:
    return marker is None or marker.evaluate()


def test_packages_that_say_little_of_themselves_are_named_with_their_hashes() -> None:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    named = dict(re.findall(r"^\| `([a-z0-9-]+)` \S+ \|.*\| `([0-9a-f]{64})` \|$", page, re.M))
    little = set()
    for lock in ("runtime", "model"):
        for entry in entries(lock):
            if _is_installed(entry.name) and _applies(entry.marker) and _says_little(entry.name):
                little.add(canonicalize_name(entry.name))
    assert little == named.keys()
    locked = text_of("runtime") + text_of("model")
    assert all(f"--hash=sha256:{sum_}" in locked for sum_ in named.values())
    assert WEIGHTS_SHA256 in page


def _says_little(package: str) -> bool:
    """Return whether a package's description lacks its licence or an address."""
    said = metadata(package)
    classified = any(line.startswith("License ::") for line in said.get_all("Classifier") or ())
    has_licence = classified or said.get_all("License-Expression") or said.get_all("License")
    return not has_licence or not (said.get_all("Home-page") or said.get_all("Project-URL"))
