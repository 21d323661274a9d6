"""Promised times are asserted as they are on a quiet machine, and are longer only on a busy one."""

import os

import pytest

from tests.wire.pace import BUSY, STILL, slowness


@pytest.mark.parametrize(
    ("load", "times"), [(0.0, 1.0), (STILL * 0.99, 1.0), (STILL, BUSY), (5.0, BUSY)]
)
def test_only_a_busy_machine_has_more_time(
    monkeypatch: pytest.MonkeyPatch, load: float, times: float
) -> None:
    cores = os.cpu_count() or 1
    monkeypatch.setattr(os, "getloadavg", lambda: (load * cores, 9.0, 9.0))
    assert slowness() == times
