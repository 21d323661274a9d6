"""The page of the architecture draws the way that a question really takes."""

import ast
import re
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.bench.touched.questions import Way, at_terminal, on_discord
from tests.command_line import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
_STEP = re.compile(r"^\| [^|]+ \| `([^`]+\.py)` \| `([^`]+)` \|$", re.M)
_FILE = re.compile(r"`((?:adapters|bot|core)/[^`\s]*)`")

Call = tuple[str, str]


def steps_below(heading: str) -> Sequence[Call]:
    """Return the file and function of each row of the table below a heading."""
    _, _, below = PAGE.partition(f"\n## {heading}\n")
    return _STEP.findall(below.partition("\n## ")[0])


def functions_of(file: str) -> set[str]:
    """Return the qualified names of a file's functions and methods."""
    found = set[str]()

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                found.add(f"{prefix}{child.name}")
            elif isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")

    visit(ast.parse((ROOT / file).read_text("utf-8")), "")
    return found


WAYS = {"Inside the core": at_terminal, "Around it, on Discord": on_discord}


@pytest.mark.parametrize("heading", WAYS)
def test_every_step_is_a_function_of_the_product(heading: str) -> None:
    steps = steps_below(heading)
    assert len(steps) >= 10
    for file, function in steps:
        assert function in functions_of(file), file


def test_every_file_and_folder_that_is_named_exists() -> None:
    assert [one for one in _FILE.findall(PAGE) if not (ROOT / one).exists()] == []


def test_the_drawing_names_rooms_that_there_are() -> None:
    drawing = PAGE.partition("```text\n")[2].partition("```")[0]
    for room in ("discord", "slack", "chat", "chat/delivery"):
        assert room.rpartition("/")[2] in drawing
        assert (ROOT / "adapters" / room).is_dir()
    for room in ("storage/inbox", "answering", "retrieval", "index"):
        assert room in drawing
        assert (ROOT / "core" / room).is_dir()
    for room in ("writers", "grounding"):
        assert room in drawing
        assert (ROOT / "core" / "answering" / room).is_dir()


@pytest.mark.costly
@pytest.mark.parametrize("heading", WAYS)
async def test_a_question_takes_the_steps_in_their_order(
    heading: str, one_course: Path, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    ask: Callable[[Path, Path], Coroutine[Any, Any, Way]] = WAYS[heading]
    way = await ask(one_course, tmp_path)
    steps = steps_below(heading)
    assert [step for step in way.calls if step in set(steps)] == steps
    figure(f"{heading}: a question touches {len(way.files)} files")
