"""A Qdrant server by TLS: who is trusted, and what the operator reads when nobody is."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from bot.cli.exits import Exit
from core.domain.errors import ConfigurationError, VectorIndexError
from core.index.qdrant import QdrantIndex, connect
from tests.books import write_files
from tests.chaos.book import COURSE, COURSE_FILE, book, fact_about, name_of, question_about
from tests.chaos.templates import STAND_INS
from tests.command_line import CommandLine, Finished, shell
from tests.wire.certificates import Authority
from tests.wire.discord_bot import a_trial
from tests.wire.qdrant_interface import check, published
from tests.wire.qdrant_server import QdrantServer

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("qdrant_tls"),
]

KEY = "a-very-secret-key"
REFUSED = (
    "Qdrant's certificate is refused (unable to get local issuer certificate): "
    "check the URL and GLOSSATOR_QDRANT__CA_FILE."
)


@dataclass(frozen=True)
class Library:
    """A shell whose course lies on a server that is reached by TLS alone."""

    place: CommandLine
    server: QdrantServer
    ours: Authority
    others: Authority

    async def run(self, *arguments: str, **settings: str) -> Finished:
        """Run a command with other settings than the right ones."""
        chosen = self.place.setting(**settings)
        return await asyncio.to_thread(chosen.run, *arguments)

    async def doctor(self, **settings: str) -> str:
        """Return what `glossator doctor` says of the index."""
        done = await self.run("doctor", **settings)
        assert KEY[1:] not in done.out + done.err
        [line] = [line for line in done.out.splitlines() if line[6:].startswith("index ")]
        return line

    def index(self, url: str = "", ca_file: Path | None = None) -> QdrantIndex:
        """Return an index on this server, or at another URL."""
        return QdrantIndex(connect(url or self.server.url, api_key=KEY, ca_file=ca_file))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def library(models: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Library]:
    folder = tmp_path_factory.mktemp("tls")
    ours, others = Authority(folder, "ours"), Authority(folder, "others")
    async with QdrantServer(api_key=KEY, tls=ours.server()) as server:
        place = shell(folder, models).setting(
            **STAND_INS,
            QDRANT__URL=server.url,
            QDRANT__API_KEY=KEY,
            QDRANT__CA_FILE=str(ours.file),
            QDRANT__REPLICATION_FACTOR="3",
            QDRANT__WRITE_CONSISTENCY_FACTOR="2",
            QDRANT__SHARD_NUMBER="4",
        )
        write_files(folder, {**book(40), "glossator.toml": COURSE_FILE})
        done = await asyncio.to_thread(place.run, "ingest", "--course", COURSE)
        assert done.code == 0, done.err
        yield Library(place, server, ours, others)


async def test_a_course_is_asked_over_tls_with_a_key(library: Library) -> None:
    done = await library.run("ask", question_about(name_of(1)))
    assert done.code == 0, done.err
    assert fact_about(name_of(1)) in done.out
    line = await library.doctor()
    assert line.startswith("ok")
    assert "1 collection at the Qdrant URL" in line


async def test_a_collection_gets_the_copies_and_shards_that_are_set(library: Library) -> None:
    whole = "/collections/{collection_name}"
    created = [r.body for r in library.server.requests if (r.method, r.path) == ("PUT", whole)]
    assert created
    names = ("replication_factor", "write_consistency_factor", "shard_number")
    for body in created:
        assert [body[name] for name in names] == [3, 2, 4]


@published
async def test_every_request_of_the_commands_fits_the_published_interface(
    library: Library,
) -> None:
    await library.run("ingest", "--course", COURSE)
    await library.run("ask", question_about(name_of(2)))
    await library.run("doctor")
    assert len({(request.method, request.path) for request in library.server.requests}) >= 10
    for request in library.server.requests:
        check(request)


async def test_an_authority_that_signed_nothing_is_told_by_the_doctor(library: Library) -> None:
    line = await library.doctor(QDRANT__CA_FILE=str(library.others.file))
    assert line.startswith("FAIL")
    assert REFUSED in line


async def test_a_wrong_key_is_told_by_the_doctor(library: Library) -> None:
    line = await library.doctor(QDRANT__API_KEY=KEY[1:])
    assert line.startswith("FAIL")
    assert "Qdrant answered 401: the API key is missing, wrong or lacks the right." in line


async def test_a_bot_that_trusts_another_authority_tells_asker_and_operator(
    library: Library, tmp_path: Path
) -> None:
    settings = {
        **STAND_INS,
        "QDRANT__URL": library.server.url,
        "QDRANT__API_KEY": KEY,
        "QDRANT__CA_FILE": str(library.others.file),
    }
    async with a_trial(library.place.data, tmp_path, settings=settings) as trial:
        answer = await trial.ask(trial.user(), trial.channel(), question_about(name_of(1)))
        assert VectorIndexError.user_message in answer.text
        told = [line for line in trial.bot.log.splitlines() if REFUSED in line]
        assert told
        assert all(line.startswith("WARNING") for line in told), told
        assert KEY not in trial.bot.log


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "cannot be read (No such file or directory)"), ("hello", "holds no certificate")],
)
async def test_a_ca_file_that_is_none_is_refused_before_anything_is_asked(
    library: Library, tmp_path: Path, content: str | None, reason: str
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    done = await library.run("ask", question_about(name_of(1)), QDRANT__CA_FILE=str(file))
    assert done.code == Exit.CONFIGURATION
    assert f"GLOSSATOR_QDRANT__CA_FILE: {file} {reason}" in done.sentence


async def test_a_ca_file_for_a_url_without_tls_is_refused(library: Library) -> None:
    with pytest.raises(ConfigurationError, match="CA_FILE is of no use"):
        library.index("http://127.0.0.1:6333", library.ours.file)


async def test_a_certificate_for_another_host_is_refused(library: Library) -> None:
    port = urlsplit(library.server.url).port
    index = library.index(f"https://localhost:{port}", library.ours.file)
    with pytest.raises(VectorIndexError, match=r"certificate is refused \(Hostname mismatch"):
        await index.collections()
    await index.close()


async def test_the_authorities_of_python_s_own_variable_are_trusted_too(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(library.ours.file))
    index = library.index()
    assert await index.collections()
    await index.close()


async def test_https_to_a_server_without_tls_is_told(library: Library) -> None:
    async with QdrantServer() as plain:
        index = library.index(plain.url.replace("http", "https"))
        with pytest.raises(VectorIndexError, match=r"by TLS .*: is its URL really https"):
            await index.collections()
        await index.close()


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://qdrant.example.org", "https://qdrant.example.org:6333"),
        ("https://qdrant.example.org:443", "https://qdrant.example.org:443"),
        ("http://localhost", "http://localhost:6333"),
    ],
)
async def test_a_url_without_a_port_means_qdrant_s_own(url: str, asked: str) -> None:
    client = connect(url)
    assert client.http.collections_api.api_client.host == asked
    await client.close()


@pytest.mark.parametrize(
    "url",
    ["qdrant.example.org:6333", "localhost", "ftp://h", "http:///h", "https://user:secret@h:6333"],
)
async def test_a_url_without_a_scheme_or_a_host_or_with_a_user_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="must look like") as refusal:
        connect(url)
    assert "secret" not in str(refusal.value)


async def test_a_key_that_is_sent_in_the_clear_is_warned_of_however_the_url_is_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    await connect("HTTP://127.0.0.1:6333", api_key="key").close()
    assert "without encryption" in caplog.text
