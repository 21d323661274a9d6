"""What orchestrators and Prometheus are told over HTTP."""

import asyncio
import json
from collections.abc import Mapping

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bot.health import Check, Monitoring, PrometheusMeter, serving
from core.domain.errors import ConfigurationError, StoreError
from core.domain.telemetry import ACCEPTED, ACCEPTING, ANSWERED, COUNTED, RETRIEVING, TIMED


async def _fine() -> None:
    pass


async def _broken() -> None:
    raise StoreError("the password secret-4711 is wrong")


async def _pages(
    checks: Mapping[str, Check],
    meter: PrometheusMeter,
    *paths: str,
    phase: Mapping[str, str] | None = None,
) -> list[tuple[int, str]]:
    """Return the status and body of pages."""

    async def exposition() -> bytes:
        return meter.exposition()

    pages = list[tuple[int, str]]()
    async with (
        serving(Monitoring(checks, exposition, phase=lambda: phase), "127.0.0.1", 0) as port,
        aiohttp.ClientSession() as session,
    ):
        for path in paths:
            async with session.get(f"http://127.0.0.1:{port}{path}") as response:
                pages.append((response.status, await response.text()))
    return pages


async def test_a_bot_that_has_what_it_needs_is_ready() -> None:
    pages = await _pages({"database": _fine}, PrometheusMeter(), "/healthz", "/readyz")
    assert pages == [
        (200, '{"status": "ok"}'),
        (200, '{"status": "ok", "checks": {"database": "ok"}}'),
    ]


async def test_a_bot_without_its_database_lives_and_is_not_ready() -> None:
    checks = {"database": _broken, "index": _fine}
    pages = await _pages(checks, PrometheusMeter(), "/healthz", "/readyz")
    assert pages == [
        (200, '{"status": "ok"}'),
        (503, '{"status": "failing", "checks": {"database": "failing", "index": "ok"}}'),
    ]


async def test_a_bot_that_starts_says_what_it_does_and_not_that_anything_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    phase = {"status": "starting", "doing": "reading the handbook, 12 of 25 pages"}
    with caplog.at_level("INFO", logger="bot"):
        [page] = await _pages({"database": _broken}, PrometheusMeter(), "/readyz", phase=phase)
        assert page == (503, json.dumps(phase))
        assert caplog.messages == []
        await _pages({"database": _broken}, PrometheusMeter(), "/readyz")
    assert len(caplog.messages) == 1


async def test_a_check_that_does_not_end_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.health._PATIENCE", 0.05)
    [(status, _)] = await _pages({"index": lambda: asyncio.sleep(60)}, PrometheusMeter(), "/readyz")
    assert status == 503


async def test_every_measure_is_told_in_the_format_of_prometheus() -> None:
    meter = PrometheusMeter()
    for measure in COUNTED:
        meter.count(measure, *("x" for _ in measure.labels), amount=3)
    for measure in TIMED:
        meter.time(measure, *("x" for _ in measure.labels), seconds=0.03)
    meter.levels.queued.set(7)
    [(status, text)] = await _pages({}, meter, "/metrics")
    assert status == 200
    samples = {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }
    assert all(samples[f"glossator_{measure.name}_total"] == 3 for measure in COUNTED)
    assert all(samples[f"glossator_{measure.name}_sum"] == 0.03 for measure in TIMED)
    assert samples["glossator_queued_events"] == 7
    assert samples["process_resident_memory_bytes"] > 1_000_000


def test_labels_are_told_apart() -> None:
    meter = PrometheusMeter()
    meter.count(ACCEPTED, "discord", "new")
    meter.count(ACCEPTED, "slack", "known", amount=2)
    meter.time(ACCEPTING, "slack", seconds=0.2)
    text = meter.exposition().decode()
    assert 'glossator_events_accepted_total{outcome="new",platform="discord"} 1.0' in text
    assert 'glossator_events_accepted_total{outcome="known",platform="slack"} 2.0' in text
    assert 'glossator_accepting_seconds_bucket{le="0.1",platform="slack"} 0.0' in text
    assert 'glossator_accepting_seconds_bucket{le="0.25",platform="slack"} 1.0' in text


async def test_an_address_that_is_taken_is_told() -> None:
    async def nothing() -> bytes:
        return b""

    monitoring = Monitoring({}, nothing)
    async with serving(monitoring, "127.0.0.1", 0) as port:
        with pytest.raises(ConfigurationError, match="GLOSSATOR_MONITORING__PORT"):
            async with serving(monitoring, "127.0.0.1", port):
                pass


@pytest.mark.parametrize("names_courses", [False, True])
def test_a_course_is_named_only_where_that_is_asked_for(*, names_courses: bool) -> None:
    meter = PrometheusMeter(names_courses=names_courses)
    meter.count(ANSWERED, "law-of-the-sea", "extractive", "answered")
    meter.time(RETRIEVING, "law-of-the-sea", seconds=0.1)
    meter.time(RETRIEVING, "tides", seconds=0.1)
    page = meter.exposition().decode()
    assert ("law-of-the-sea" in page) == names_courses
    counted = sum(
        sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == "glossator_retrieving_seconds_count"
    )
    assert counted == 2
