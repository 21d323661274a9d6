"""What is installed under our names is ours."""

import os
import subprocess
import sys
from importlib.metadata import packages_distributions, version
from pathlib import Path

import pytest

from bot import __version__

pytestmark = pytest.mark.costly


@pytest.mark.costly
@pytest.mark.parametrize("package", ["bot", "adapters", "core", "migrations"])
def test_nobody_else_installs_a_package_of_our_names(package: str) -> None:
    owners = set(packages_distributions().get(package, ()))
    if not owners:
        pytest.skip("the project is not installed here")
    assert owners == {"glossator"}


def test_the_version_that_is_told_is_the_one_that_is_installed() -> None:
    if "bot" not in packages_distributions():
        pytest.skip("the project is not installed here")
    assert version("glossator") == __version__


@pytest.mark.costly
def test_the_installed_command_reads_a_book_that_lies_elsewhere(
    tmp_path: Path, models: Path
) -> None:
    command = Path(sys.executable).with_name("glossator")
    if not command.exists():
        pytest.skip("the project is not installed here")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "bees.md").write_text("# Bees\n\nA drone develops in 24 days.\n")
    (tmp_path / ".glossator").mkdir()
    (tmp_path / ".glossator" / "models").symlink_to(models, target_is_directory=True)
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(tmp_path)}
    for words in (["ingest", "book"], ["ask", "How many days does a drone develop?"]):
        done = subprocess.run(
            [str(command), *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "A drone develops in 24 days. [1]" in done.stdout
