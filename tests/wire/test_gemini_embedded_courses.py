"""Courses that are embedded with Gemini: ingested, searched, moved, and searched in an outage."""

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from core.domain.i18n import text
from tests.books import COVERED, COVERED_FACT, LIGHTHOUSE, write_files
from tests.command_line import CommandLine, shell
from tests.wire.gemini_faults import UNAVAILABLE
from tests.wire.gemini_server import EMBED, GeminiServer
from tests.wire.gemini_shell import (
    SECRET,
    answered,
    book_shell,
    describing,
    finished,
    finished_here,
    speaking_to,
)

pytestmark = pytest.mark.costly


@pytest.fixture
async def server() -> AsyncIterator[GeminiServer]:
    async with GeminiServer(api_key=SECRET) as server:
        yield server


async def test_a_course_moves_to_geminis_embeddings_and_back(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    local = speaking_to(server, await asyncio.to_thread(book_shell, tmp_path, models))
    local = local.setting(GENERATOR="extractive")
    remote = local.setting(
        EMBEDDING__PROVIDER="gemini_embedding", MODELS__GEMINI_EMBEDDING__DIMENSIONS="256"
    )

    async def ingested(command_line: CommandLine) -> tuple[Any, Any]:
        done = await finished_here(command_line, "ingest", "arden", "--json")
        assert done.code == 0, done.err
        return done.json["embedded"], done.json["chunks"]

    embedded, chunks = await ingested(remote)
    assert embedded == chunks > 0
    assert {call.method for call in server.requests} == set(EMBED)
    assert await ingested(remote) == (0, chunks)

    server.requests.clear()
    for command_line in (remote, local):
        answer = await answered(command_line)
        assert COVERED_FACT in answer.response_text
        [*_, call] = server.requests
        [asked] = call.body["requests"]
        assert (asked["taskType"], asked["outputDimensionality"]) == ("RETRIEVAL_QUERY", 256)
    done = await finished_here(local, "courses", "--json")
    assert done.json[0]["edition"]["embedding_model"] == "gemini-embedding-2/256"

    server.requests.clear()
    assert await ingested(local) == (0, chunks)  # the local vectors are remembered
    assert COVERED_FACT in (await answered(local)).response_text
    assert server.requests == []


async def test_each_course_is_embedded_as_its_own_table_says(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    write_files(tmp_path / "arden", LIGHTHOUSE)
    command_line = describing(
        speaking_to(server, shell(tmp_path, models)),
        '[courses.near]\nsources = ["arden"]\nembedding = "local"\n'
        '[courses.far]\nsources = ["arden"]\nembedding = "gemini_embedding"\n',
    )
    done = await finished_here(command_line, "ingest")
    assert done.code == 0, done.err
    courses = (await finished_here(command_line, "courses", "--json")).json
    models_by_course = {row["course_id"]: row["edition"]["embedding_model"] for row in courses}
    assert models_by_course == {"near": "all-MiniLM-L6-v2", "far": "gemini-embedding-2/768"}


async def test_an_ingestion_that_gemini_refuses_ends_with_69_and_the_old_text_stays(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    command_line = speaking_to(server, await asyncio.to_thread(book_shell, tmp_path, models))
    remote = command_line.setting(
        EMBEDDING__PROVIDER="gemini_embedding", MODELS__GEMINI__API_KEY="wrong-key"
    )
    done = await finished_here(remote, "ingest", "arden")
    assert done.code == 69
    assert "gemini-embedding-2" in done.sentence
    assert "GLOSSATOR_MODELS__GEMINI__API_KEY" in done.sentence
    assert "wrong-key" not in done.sentence
    answer = await answered(command_line, "--generator", "extractive")
    assert COVERED_FACT in answer.response_text


async def test_a_course_is_still_searched_while_geminis_embeddings_are_down(
    tmp_path: Path, models: Path, server: GeminiServer
) -> None:
    write_files(tmp_path / "arden", LIGHTHOUSE)
    command_line = speaking_to(server, shell(tmp_path, models)).setting(
        EMBEDDING__PROVIDER="gemini_embedding", GENERATOR="extractive"
    )
    assert (await finished_here(command_line, "ingest", "arden")).code == 0
    server.fail(UNAVAILABLE, math.inf, EMBED)
    done = await finished(command_line, "ask", COVERED)
    assert done.code == 0
    assert COVERED_FACT in done.out
    assert text("notice-searched-by-words") in done.out
    [line] = done.err.splitlines()
    assert "gemini-embedding-2" in line
