"""What is installed under our names is ours."""

from importlib.metadata import packages_distributions, version

import pytest

from bot import __version__


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
