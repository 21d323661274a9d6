"""No module of the adapters finds a way to a course around the rule of who may read it."""

import ast
import inspect
from pathlib import Path

import pytest

from adapters.chat.course_directory import CourseDirectory
from core.storage.access import Reader

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "adapters").rglob("*.py"))
LOOKUPS = {
    "turn_of": {
        "actions/answers.py",
        "actions/staff.py",
        "actions/verified.py",
        "chat/arrivals.py",
        "chat/delivery/delivery.py",
        "chat/question_context.py",
    },
    "all_of_request": {"actions/answers.py", "actions/staff.py"},
    "by_message": {
        "actions/answers.py",
        "actions/verified.py",
        "chat/arrivals.py",
        "chat/front_desk.py",
    },
    "of_key": {
        "actions/answers.py",
        "actions/staff.py",
        "chat/delivery/delivery.py",
        "chat/front_desk.py",
    },
    "pending_request": {"actions/answers.py"},
    "first_question": {"slack/home.py"},
    "latest_of": {"chat/question_context.py", "slack/home.py"},
}
"""Methods by which a stored turn or event is found, and the files that check whose it is."""
TELLS_NO_COURSE = {"tenants_with_courses", "organised_with", "is_owned_by"}


def imported(tree: ast.Module) -> set[str]:
    found = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    plain = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    return {*found, *(alias.name for node in plain for alias in node.names)}


@pytest.mark.costly
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_the_guide_alone_reads_the_catalogue(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    if file.name != "course_directory.py":
        assert not {name for name in imported(tree) if name.startswith("core.storage.catalogue")}
    called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    path = file.relative_to(ROOT / "adapters").as_posix()
    for lookup, files in LOOKUPS.items():
        assert lookup not in called or path in files, f"{lookup} in {path}"
    if file.name != "course_directory.py":
        assert "_all" not in called


def test_every_method_of_the_guide_that_tells_of_courses_is_given_its_reader() -> None:
    methods = inspect.getmembers(CourseDirectory, inspect.iscoroutinefunction)
    for name, method in methods:
        if name == "_all" or name in TELLS_NO_COURSE:
            continue
        _, first, *_ = inspect.signature(method).parameters.values()
        assert first.annotation is Reader, name
    assert {name for name, _ in methods} >= {"courses", "mark", "sections_like", "titles"}
