"""Measures what each test costs the processor, and fails one that costs much and is not marked.

A test's cost is the CPU time of this process and of the children that it waited for, from the
set-up of its own fixtures to their end. What a module shares counts for the test that makes or
ends it; what a whole run shares counts for no test. `--costs FILE` writes a line for each test
and each shared fixture: its seconds and its name.
"""

import os
import re
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

MARKS = ("costly", "slow")
"""Who bears one of these may cost what it does."""
_LIMIT = "cpu_limit"
_COSTS = "cpu seconds"
_ALL_COSTLY = re.compile(r"^(?:pytestmark = |    )pytest\.mark\.costly,?$", re.MULTILINE)
"""In a module's own list of marks, which is indented as a list is."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini(_LIMIT, "CPU seconds that fail a test without a mark; 0: none", default="0")
    parser.addoption("--costs", type=Path, help="write what each test costs to this file")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Meter(float(config.getini(_LIMIT))), "cost of tests")
    file = config.getoption("--costs")
    if file is not None and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(_Ledger(file), "ledger of costs")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file whose tests are all costly where none of them is to run."""
    if "not costly" not in str(config.getoption("markexpr")) or collection_path.suffix != ".py":
        return None
    source = collection_path.read_text(encoding="utf-8")
    return (bool(_ALL_COSTLY.search(source)) and "mark.essential" not in source) or None


class _Meter:
    """Measures where the tests run."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._since = 0.0
        self._shared = dict[str, float]()
        """Seconds by what the running test made or ended for others, too."""
        self._sharing = list[float]()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        self._since, self._shared = _spent(), {}
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        where = fixturedef.baseid if fixturedef.scope in {"module", "class"} else ""
        name = f"{where} {fixturedef.argname}"

        def begin() -> None:
            self._sharing.append(_spent())

        def end() -> None:
            spent = _spent() - self._sharing.pop()
            if not self._sharing:
                self._shared[name] = self._shared.get(name, 0.0) + spent

        # Finalizers run last in, first out: these two are around the fixture's own.
        fixturedef.addfinalizer(end)
        begin()
        try:
            return (yield)
        finally:
            end()
            fixturedef.addfinalizer(begin)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, None, None]:
        result = yield
        own = _spent() - self._since - sum(self._shared.values())
        item.user_properties.append((_COSTS, {item.nodeid: own, **self._shared}))
        for_run = sum(cost for name, cost in self._shared.items() if name.startswith(" "))
        cost = _spent() - self._since - for_run
        if self._limit and cost > self._limit and not any(map(item.get_closest_marker, MARKS)):
            pytest.fail(
                f"takes {cost:.1f} s of CPU, more than {self._limit:g}: "
                "make it cheaper, or mark it costly",
                pytrace=False,
            )
        return result


class _Ledger:
    """Writes down what the tests cost, whichever process they ran in."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._costs = Counter[str]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, costs in report.user_properties:
            if name == _COSTS and report.when == "teardown" and isinstance(costs, dict):
                self._costs.update(costs)

    def pytest_sessionfinish(self) -> None:
        lines = (f"{cost:.3f}\t{name.strip()}\n" for name, cost in self._costs.most_common())
        self._file.write_text("".join(lines))


def _spent() -> float:
    """Return the CPU seconds of this process and of the children that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
