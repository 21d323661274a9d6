"""Measures what each test costs the processor, and fails one that costs much and is not marked.

A test's cost is the CPU time of this process and of the children that it waited for, from the
set-up of its own fixtures to their end. What a module or a whole run shares counts for itself.
`--costs FILE` writes one line a test: seconds, then its name.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

MARKS = ("costly", "slow")
"""Who bears one of these may cost what it does."""
_LIMIT = "cpu_limit"
_COST = "cpu seconds"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(_LIMIT, "CPU seconds that fail a test without a mark", default="0")
    parser.addoption("--costs", type=Path, help="write the CPU seconds of each test to this file")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Meter(float(config.getini(_LIMIT))), "cost of tests")
    file = config.getoption("--costs")
    if file is not None and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(_Ledger(file), "ledger of costs")


class _Meter:
    """Measures where the tests run."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._shared = 0.0
        self._sharing = 0
        self._since = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        self._since, self._shared = _spent(), 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Iterator[object | None]:
        if fixturedef.scope == "function":
            return (yield)
        # Finalizers run last in, first out: these two are around the fixture's own.
        fixturedef.addfinalizer(self._end)
        self._begin()
        try:
            return (yield)
        finally:
            self._end()
            fixturedef.addfinalizer(self._begin)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        result = yield
        cost = _spent() - self._since - self._shared
        item.user_properties.append((_COST, cost))
        if self._limit and cost > self._limit and not any(map(item.get_closest_marker, MARKS)):
            pytest.fail(
                f"takes {cost:.1f} s of CPU, more than {self._limit:g}: "
                "make it cheaper, or mark it costly",
                pytrace=False,
            )
        return result

    def _begin(self) -> None:
        if self._sharing == 0:
            self._shared -= _spent()
        self._sharing += 1

    def _end(self) -> None:
        self._sharing -= 1
        if self._sharing == 0:
            self._shared += _spent()


class _Ledger:
    """Writes down what the tests cost, whichever process they ran in."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._costs: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, cost in report.user_properties:
            if name == _COST and isinstance(cost, float):
                self._costs[report.nodeid] = cost

    def pytest_sessionfinish(self) -> None:
        dearest = sorted(self._costs.items(), key=lambda one: -one[1])
        self._file.write_text("".join(f"{cost:.3f}\t{name}\n" for name, cost in dearest))


def _spent() -> float:
    """Return the CPU seconds of this process and of the children that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
