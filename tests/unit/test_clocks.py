"""No test asserts how long something took by the clock on the wall: a busy machine fails it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = {"time.monotonic", "time.perf_counter", "time.time", "monotonic", "perf_counter"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def timed_asserts(source: str) -> Iterator[int]:
    """Yield the lines of asserts that compare what a function reckons from a clock."""
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, Function):
            known = _reckoned_in(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Assert) and _compares_time(node.test, known):
                    yield node.lineno


def _reckoned_in(function: Function) -> set[str]:
    """Return the variables that get their values from a clock, directly or not."""
    known: set[str] = set()
    while True:
        more = known | {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign)
            for target, value in _pairs(node.targets[0], node.value)
            if isinstance(target, ast.Name) and _is_timed(value, known)
        }
        if more == known:
            return known
        known = more


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


def _compares_time(test: ast.expr, known: set[str]) -> bool:
    return any(
        isinstance(node, ast.Compare)
        and isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        and _is_timed(node, known)
        for node in ast.walk(test)
    )


def _is_timed(value: ast.expr, known: set[str]) -> bool:
    return not isinstance(value, ast.Await | ast.Lambda) and any(
        (isinstance(node, ast.Name) and node.id in known)
        or (isinstance(node, ast.Call) and _is_clock(ast.unparse(node.func)))
        for node in ast.walk(value)
    )


def _is_clock(called: str) -> bool:
    return called in CLOCKS or called == "loop.time" or called.endswith("loop().time")


@pytest.mark.costly
def test_no_assert_is_about_the_time_that_something_took() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.py"))}
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path, source in sources.items()
        if any(
            clock in source for clock in ("monotonic(", "perf_counter(", "time.time(", ").time(")
        )
        for line in timed_asserts(source)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("began = time.monotonic()\n assert time.monotonic() - began < 3", [3]),
        ("began = loop.time()\n took = loop.time() - began\n assert took < 3", [4]),
        ("began = time.process_time()\n assert time.process_time() - began < 3", []),
        ("until = time.monotonic() + 3\n done = await work(until)\n assert done", []),
    ],
)
def test_asserts_on_clocks_are_found(body: str, lines: list[int]) -> None:
    assert list(timed_asserts(f"async def test():\n {body}")) == lines
