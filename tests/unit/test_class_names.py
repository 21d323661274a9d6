"""A public class name has one meaning in the product."""

import ast
from collections import defaultdict

import pytest

from tests.command_line import ROOT

PRODUCT = ("bot", "adapters", "core")
PLATFORMS = ("adapters/discord", "adapters/slack")


def classes_in(source: str) -> list[str]:
    """Return the public names that a module defines as classes or types, at its top."""
    tree = ast.parse(source)
    return [
        node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def double_meanings(files: dict[str, str]) -> dict[str, list[str]]:
    """Return the names that several files define, given each file's text by its path.

    The packages of platforms mirror one another: each may define a name, once.
    """
    homes = defaultdict[str, list[str]](list)
    for path, source in files.items():
        for name in classes_in(source):
            homes[name].append(path)
    return {name: sorted(found) for name, found in homes.items() if not _is_one(found)}


def _is_one(paths: list[str]) -> bool:
    """Whether each of `paths` belongs to a platform of its own, or there is one alone."""
    platforms = {"/".join(path.split("/")[:2]) for path in paths} & set(PLATFORMS)
    return len(paths) == 1 or len(platforms) == len(paths)


@pytest.mark.costly
def test_no_public_class_name_of_the_product_has_two_meanings() -> None:
    files = {
        file.relative_to(ROOT).as_posix(): file.read_text("utf-8")
        for package in PRODUCT
        for file in (ROOT / package).rglob("*.py")
    }
    assert double_meanings(files) == {}


@pytest.mark.parametrize(
    ("paths", "is_double"),
    [
        (("core/a.py", "core/b.py"), True),
        (("core/a.py", "adapters/slack/a.py"), True),
        (("adapters/discord/a.py", "adapters/discord/b.py"), True),
        (("adapters/discord/x/a.py", "adapters/slack/b.py"), False),
    ],
)
def test_a_name_of_two_homes_is_found(paths: tuple[str, str], is_double: bool) -> None:
    found = double_meanings(dict.fromkeys(paths, "class Place: ...\nclass _Own: ...\n"))
    assert list(found) == (["Place"] if is_double else [])
