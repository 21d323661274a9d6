"""One guard that is taken out, and the tests that have to notice."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path


class Rotten(Exception):
    """A mutant no longer fits the code that it was written for."""


@dataclass(frozen=True)
class Mutant:
    """A small change of the product's source that takes one guard out."""

    name: str
    path: str
    """Of the source file, from the project's root."""
    old: str
    """The text that is replaced; it stands in the file exactly once."""
    new: str
    guards: str
    """What is no longer so without it."""
    tests: tuple[str, ...]
    """Which have to fail then, as `file::function`."""

    def changed(self, source: str) -> str:
        """Return the file's text without the guard.

        Raises:
            Rotten: when the text to replace does not stand there exactly once, or what comes of
                it is no Python.
        """
        found = source.count(self.old)
        if found != 1:
            raise Rotten(f"{self.name}: the text stands {found} times in {self.path}")
        changed = source.replace(self.old, self.new)
        try:
            compile(changed, self.path, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise Rotten(f"{self.name}: {error}") from error
        return changed

    def node_ids(self, root: Path) -> list[str]:
        """Return its tests as pytest names them.

        Raises:
            Rotten: when there is no such test.
        """
        return [_node_id(root, test) for test in self.tests]


def _node_id(root: Path, test: str) -> str:
    file, _, name = test.partition("::")
    known = _tests_of(root / file)
    if name not in known:
        raise Rotten(f"there is no test {test}")
    return f"{file}::{known[name]}"


@cache
def _tests_of(file: Path) -> dict[str, str]:
    """Return the tests of a file: each function's name, with its class in front."""
    if not file.is_file():
        return {}
    return dict(_functions(ast.parse(file.read_text(encoding="utf-8")).body))


def _functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}::")
