"""Fetching one document: what arrives, what is refused, and how politely."""

import asyncio
import gzip
import shutil
import ssl
import subprocess
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from core.domain.errors import BotError, SourceUnavailable, UnsupportedDocument
from core.ingestion.sources.fetch import Fetcher
from tests.pauses import passed_over
from tests.unit.core.ingestion.web import (
    Names,
    Site,
    page,
    redirect,
    serving,
    speaking,
)


def fetcher_of(
    site: Site | str,
    *,
    max_bytes: int = 1_000_000,
    timeout: float = 5.0,
    delay: float = 0.0,
    max_redirects: int = 3,
) -> Fetcher:
    authority = site if isinstance(site, str) else site.authority
    return Fetcher(
        allowed_hosts=frozenset({authority}),
        max_bytes=max_bytes,
        timeout=timeout,
        delay=delay,
        max_redirects=max_redirects,
        user_agent="Glossator/1.0",
    )


async def refusal_of(site: Site | str, path: str = "/", **limits: float) -> BotError:
    """Return the error that fetching `path` raises."""
    authority = site if isinstance(site, str) else site.authority
    async with fetcher_of(site, **limits) as fetcher:  # type: ignore[arg-type]
        with pytest.raises((UnsupportedDocument, SourceUnavailable)) as refusal:
            await fetcher.fetch(f"http://{authority}{path}")
    assert refusal.value.user_message.endswith(".")
    return refusal.value


async def test_a_document_arrives_with_what_its_server_says_about_it() -> None:
    answer = page(
        "tides", content_type="Text/HTML; charset=utf-8", etag='"7"', last_modified="yesterday"
    )
    async with serving({"/book?p=1": answer}) as site, fetcher_of(site) as fetcher:
        fetched = await fetcher.fetch(f"{site.url}/book?p=1#ebb")
    assert fetched.url == f"{site.url}/book?p=1"
    assert fetched.body == b"tides"
    assert fetched.media_type == "text/html"
    assert (fetched.etag, fetched.last_modified) == ('"7"', "yesterday")
    assert not fetched.not_modified
    assert site.requests[-1].headers["User-Agent"] == "Glossator/1.0"
    assert site.requests[-1].headers["Host"] == site.authority


async def test_an_unchanged_document_is_not_sent_again() -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        unchanged = request.headers.get("If-None-Match") == '"7"'
        return web.Response(status=304) if unchanged else page("tides", etag='"7"')

    async with serving({"/": answer}) as site, fetcher_of(site) as fetcher:
        first = await fetcher.fetch(site.url)
        again = await fetcher.fetch(site.url, etag=first.etag, last_modified="yesterday")
    assert (first.not_modified, again.not_modified, again.body) == (False, True, b"")
    assert site.requests[-1].headers["If-Modified-Since"] == "yesterday"
    assert "If-None-Match" not in site.requests[0].headers


async def test_an_etag_that_no_header_can_carry_is_left_out() -> None:
    async with serving({"/": page()}) as site, fetcher_of(site) as fetcher:
        assert (await fetcher.fetch(site.url, etag='"ä"')).body == b"tides"
    assert "If-None-Match" not in site.requests[-1].headers


@pytest.mark.parametrize("status", [204, 206, 304, 400, 401, 403, 404, 410, 418])
async def test_a_refusal_of_the_server_is_permanent(status: int) -> None:
    async with serving({"/": page("", status)}) as site:
        assert isinstance(await refusal_of(site), UnsupportedDocument)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
async def test_a_trouble_of_the_server_is_transient(status: int) -> None:
    async with serving({"/": page("", status)}) as site:
        assert isinstance(await refusal_of(site), SourceUnavailable)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_followed_up_to_the_limit(status: int) -> None:
    hops = {f"/{n}": redirect(f"/{n + 1}", status) for n in range(4)}
    async with serving({**hops, "/4": page("found")}) as site, fetcher_of(site) as fetcher:
        fetched = await fetcher.fetch(f"{site.url}/1")
        assert (fetched.url, fetched.body) == (f"{site.url}/4", b"found")
        with pytest.raises(UnsupportedDocument, match="more than 3 times"):
            await fetcher.fetch(f"{site.url}/0")


async def test_a_redirect_without_end_stops() -> None:
    async with serving({"/": redirect("/")}) as site:
        assert isinstance(await refusal_of(site), UnsupportedDocument)
        assert site.paths.count("/") == 4


async def test_a_document_of_exactly_the_limit_is_accepted() -> None:
    async with serving({"/": page("x" * 1000)}) as site, fetcher_of(site, max_bytes=1000) as f:
        assert len((await f.fetch(site.url)).body) == 1000


async def test_a_document_that_announces_too_much_is_refused_at_once() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n"
    async with speaking(head, pause=30) as authority:
        error = await refusal_of(authority, max_bytes=1000)
    assert isinstance(error, UnsupportedDocument)
    assert error.user_message == "The document is larger than 1,000 bytes."


async def test_a_document_without_an_announced_end_is_cut_off_at_the_limit() -> None:
    sent = 0

    async def flood(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while sent < 50_000_000:
            await response.write(b"x" * 10_000)
            sent += 10_000
        return response

    async with serving({"/": flood}) as site:
        assert isinstance(await refusal_of(site), UnsupportedDocument)
    assert sent < 20_000_000


async def test_a_compressed_document_is_unpacked() -> None:
    packed = web.Response(body=gzip.compress(b"tides"), headers={"Content-Encoding": "gzip"})
    async with serving({"/": packed}) as site, fetcher_of(site) as fetcher:
        assert (await fetcher.fetch(site.url)).body == b"tides"
    assert site.requests[-1].headers["Accept-Encoding"] == "gzip"


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (gzip.compress(bytes(30_000_000), mtime=0), "gzip"),
        (gzip.compress(b"tides", mtime=0)[:-9], "gzip"),
        (b"tides", "gzip"),
        (b"tides", "br"),
        (gzip.compress(gzip.compress(b"tides", mtime=0), mtime=0), "gzip, gzip"),
    ],
    ids=["bomb", "cut short", "not compressed", "another compression", "twice compressed"],
)
async def test_a_compression_that_is_no_plain_gzip_is_refused(body: bytes, encoding: str) -> None:
    packed = web.Response(body=body, headers={"Content-Encoding": encoding})
    async with serving({"/": packed}) as site:
        assert isinstance(await refusal_of(site), UnsupportedDocument)


async def test_a_body_that_only_drips_runs_out_of_time() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
    async with speaking(head, *[b"x"] * 1000, pause=0.05) as authority:
        error = await refusal_of(authority, timeout=0.3)
    assert isinstance(error, SourceUnavailable)
    assert "in time" in error.user_message


async def test_the_time_of_a_document_includes_its_redirects() -> None:
    async def slow(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.25)
        return redirect(f"{request.path}x")

    routes = {f"/{'x' * n}": slow for n in range(10)}
    async with serving(routes) as site:
        error = await refusal_of(site, timeout=0.4, max_redirects=9)
    assert isinstance(error, SourceUnavailable)
    assert len(site.requests) < 5


async def test_a_name_server_that_never_answers_runs_out_of_time() -> None:
    async def silent(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    async with Fetcher(resolver=silent, timeout=0.2, delay=0) as fetcher:
        with pytest.raises(SourceUnavailable):
            await fetcher.fetch("http://book.example/")


@pytest.mark.parametrize(
    "words",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["silence", "ssh", "short", "two lengths", "endless length", "huge header", "bad chunk"],
)
async def test_a_server_that_speaks_no_proper_http_is_a_transient_trouble(words: bytes) -> None:
    async with speaking(words) as authority:
        assert isinstance(await refusal_of(authority), SourceUnavailable)


async def test_a_port_where_nobody_listens_is_a_transient_trouble() -> None:
    async with serving() as site:
        pass
    assert isinstance(await refusal_of(site), SourceUnavailable)


async def test_a_name_that_leads_nowhere_is_a_transient_trouble() -> None:
    async def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    for resolver in (unknown, Names({"gone.example": [[]]})):
        async with Fetcher(resolver=resolver, delay=0) as fetcher:
            with pytest.raises(SourceUnavailable, match=r"gone\.example” could not be looked up"):
                await fetcher.fetch("http://gone.example/")


async def test_what_robots_txt_forbids_is_not_asked_for() -> None:
    robots = page("User-agent: *\nDisallow: /draft")
    routes = {"/robots.txt": robots, "/": redirect("/draft"), "/a": page(), "/draft": page()}
    async with serving(routes) as site, fetcher_of(site) as fetcher:
        assert (await fetcher.fetch(f"{site.url}/a")).body == b"tides"
        for path in ("/draft", "/"):
            with pytest.raises(UnsupportedDocument, match="asks not to"):
                await fetcher.fetch(f"{site.url}{path}")
    assert site.paths == ["/robots.txt", "/a", "/"]


@pytest.mark.parametrize(
    ("rules", "path", "is_allowed"),
    [
        ("User-agent: *\nDisallow: /\nAllow: /book/\nDisallow: /book/draft", "/book/a", True),
        ("User-agent: *\nDisallow: /\nAllow: /book/\nDisallow: /book/draft", "/book/draft", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: GLOSSATOR\nDisallow: /x", "/book/a", True),
        ("User-agent: glossatorious\nDisallow: /", "/book/a", True),
        ("User-agent: 1.0\nDisallow: /", "/book/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/a.pdf", False),
        ("<html>Disallow: / is not here</html>", "/book/a", True),
        ("User-agent: *\nDisallow: /" + "*a" * 2_000 + "b$", "/book/a", True),
    ],
)
async def test_the_rules_for_the_first_word_of_the_user_agent_are_kept(
    rules: str, path: str, is_allowed: bool
) -> None:
    routes = {"/robots.txt": page(rules), path: page()}
    async with (
        serving(routes) as site,
        fetcher_of(site) as fetcher,
    ):
        if is_allowed:
            assert (await fetcher.fetch(f"{site.url}{path}")).body == b"tides"
        else:
            with pytest.raises(UnsupportedDocument, match="asks not to"):
                await fetcher.fetch(f"{site.url}{path}")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_without_a_robots_txt_everything_is_allowed(status: int) -> None:
    routes = {"/robots.txt": page("User-agent: *\nDisallow: /", status), "/": page()}
    async with serving(routes) as site, fetcher_of(site) as fetcher:
        assert (await fetcher.fetch(site.url)).body == b"tides"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_while_robots_txt_is_out_of_order_nothing_is_fetched(status: int) -> None:
    async with serving({"/robots.txt": page("", status), "/": page()}) as site:
        async with fetcher_of(site) as fetcher:
            for _ in range(2):
                with pytest.raises(SourceUnavailable, match=r"robots\.txt"):
                    await fetcher.fetch(site.url)
        assert site.paths == ["/robots.txt"]


async def test_robots_txt_is_read_once_however_many_ask_at_once() -> None:
    async with serving({"/": page()}) as site, fetcher_of(site) as fetcher:
        await asyncio.gather(*(fetcher.fetch(site.url) for _ in range(5)))
    assert site.paths.count("/robots.txt") == 1
    assert site.paths.count("/") == 5


async def test_requests_to_one_host_keep_their_distance() -> None:
    async with serving({"/": page()}) as site, fetcher_of(site, delay=0.2) as fetcher:
        with passed_over() as pauses:
            await asyncio.gather(*(fetcher.fetch(site.url) for _ in range(4)))
    turns = sorted(pause.until for pause in pauses)
    assert [after - before for before, after in pairwise(turns)] == pytest.approx(
        [0.2] * (len(turns) - 1), abs=0.05
    )
    assert len(turns) >= 3


async def test_the_delay_a_site_asks_for_is_kept() -> None:
    robots = page("User-agent: glossator\nCrawl-delay: 0.4")
    async with serving({"/robots.txt": robots, "/": page()}) as site, fetcher_of(site) as fetcher:
        await fetcher.fetch(site.url)
        with passed_over() as pauses:
            await fetcher.fetch(site.url)
            await fetcher.fetch(site.url)
    first, second = (pause.until for pause in pauses)
    assert second - first == pytest.approx(0.4, abs=0.05)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A file with a key and its certificate, for the name `book.test` alone."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificate, is not here")
    pem, key = tmp_path / "book.pem", tmp_path / "key.pem"
    command = (
        f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        f"-subj /CN=book -addext subjectAltName=DNS:book.test -keyout {key} -out {pem}"
    )
    subprocess.run(command.split(), check=True, capture_output=True)
    pem.write_bytes(pem.read_bytes() + key.read_bytes())
    return pem


async def test_a_certificate_is_checked_for_the_name_behind_the_address(certificate: Path) -> None:
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(certificate)
    client_side = ssl.create_default_context(cafile=str(certificate))
    async with (
        serving({"/": page()}, server_side) as site,
        Fetcher(
            allowed_hosts=frozenset({f"book.test:{site.port}", f"other.test:{site.port}"}),
            resolver=Names({"book.test": [["127.0.0.1"]], "other.test": [["127.0.0.1"]]}),
            transport=httpx.AsyncHTTPTransport(verify=client_side, trust_env=False),
            delay=0,
        ) as fetcher,
    ):
        fetched = await fetcher.fetch(f"https://book.test:{site.port}/")
        assert fetched.body == b"tides"
        with pytest.raises(SourceUnavailable):
            await fetcher.fetch(f"https://other.test:{site.port}/")
    assert {request.headers["Host"] for request in site.requests} == {f"book.test:{site.port}"}
