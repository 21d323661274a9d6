"""Nothing inside is ever reached: every wrong address is refused before a connection."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain.errors import SourceUnavailable, UnsupportedDocument
from core.ingestion.sources.fetch import Fetcher
from tests.unit.core.ingestion.web import (
    OTHER_PUBLIC,
    PUBLIC,
    Internet,
    Names,
    Sentinel,
    Site,
    page,
    redirect,
    serving,
    watching,
)

ATTACKS = Path(__file__).parents[4] / ".." / "shared" / "attacks" / "ssrf" / "urls.jsonl"


@pytest.fixture
async def sentinel() -> AsyncIterator[Sentinel]:
    async with watching() as sentinel:
        yield sentinel


@pytest.fixture
async def book() -> AsyncIterator[Site]:
    async with serving({"/": page("tides")}) as site:
        yield site


@pytest.fixture
def internet(book: Site, sentinel: Sentinel) -> Internet:
    """A web on which `PUBLIC` is the book's server and all else leads to the sentinel."""
    return Internet({PUBLIC: book}, sentinel)


def fetcher_for(internet: Internet, names: Names, *allowed_hosts: str) -> Fetcher:
    return Fetcher(
        resolver=names, transport=internet, delay=0, allowed_hosts=frozenset(allowed_hosts)
    )


async def test_a_public_name_is_fetched_from_the_address_that_was_checked(
    internet: Internet, book: Site
) -> None:
    names = Names({"book.example": [[PUBLIC]]})
    async with fetcher_for(internet, names) as fetcher:
        fetched = await fetcher.fetch("https://Book.example./#top")
    assert fetched.body == b"tides"
    assert fetched.url == "https://book.example/"
    assert [request.url.host for request in internet.requests] == [PUBLIC, PUBLIC]
    assert internet.requests[-1].extensions["sni_hostname"] == "book.example"
    assert book.requests[-1].headers["Host"] == "book.example"


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.7"],
        ["169.254.169.254"],
        ["::1"],
        ["fe80::1%2"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        [PUBLIC, "127.0.0.1"],
        ["127.0.0.1", PUBLIC],
        [PUBLIC, PUBLIC, "fd00::1"],
    ],
)
async def test_a_name_with_any_address_inside_is_refused(
    addresses: list[str], internet: Internet, sentinel: Sentinel
) -> None:
    async with fetcher_for(internet, Names({"trap.example": [addresses]})) as fetcher:
        with pytest.raises(UnsupportedDocument, match="not public") as refusal:
            await fetcher.fetch("http://trap.example/")
    assert internet.requests == []
    assert sentinel.connections == 0
    assert refusal.value.user_message == (
        "“trap.example” is not on the public internet, so it is not fetched; to trust it, add "
        '"trap.example" to the list GLOSSATOR_INGEST__ALLOWED_HOSTS.'
    )


@pytest.mark.parametrize("public_answers", [0, 1, 2, 3])
async def test_a_name_server_that_changes_its_mind_gains_nothing(
    public_answers: int, internet: Internet, sentinel: Sentinel
) -> None:
    answers = [[PUBLIC]] * public_answers + [["127.0.0.1"]]
    async with fetcher_for(internet, Names({"rebind.test": answers})) as fetcher:
        for _ in range(4):
            with contextlib.suppress(UnsupportedDocument):
                await fetcher.fetch("http://rebind.test/")
    assert [request.url.host for request in internet.requests] == [PUBLIC] * public_answers
    assert sentinel.connections == 0


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:7f00:1]/",
        "//localhost/",
        "http://inside.example/",
        "http://169.254.169.254/latest/meta-data/",
        "http://book.example:8080/",
        "http://me@book.example/",
        "file:///etc/hosts",
        "gopher://127.0.0.1/",
        "/\\127.0.0.1",
        "",
    ],
)
async def test_a_redirect_to_the_inside_is_not_followed(
    location: str, internet: Internet, book: Site, sentinel: Sentinel
) -> None:
    names = Names({"book.example": [[PUBLIC]], "inside.example": [["192.168.0.1"]]})
    book.routes |= {"/": redirect("/next", 301), "/next": redirect(location)}
    async with fetcher_for(internet, names) as fetcher:
        with pytest.raises(UnsupportedDocument):
            await fetcher.fetch("http://book.example/")
    assert sentinel.connections == 0


async def test_a_redirect_from_https_to_http_is_not_followed(
    internet: Internet, book: Site
) -> None:
    book.routes["/"] = redirect("http://book.example/plain")
    async with fetcher_for(internet, Names({"book.example": [[PUBLIC]]})) as fetcher:
        with pytest.raises(UnsupportedDocument, match="not encrypted"):
            await fetcher.fetch("https://book.example/")
    assert book.paths == ["/robots.txt", "/"]


async def test_robots_txt_is_no_way_inside(
    internet: Internet, book: Site, sentinel: Sentinel
) -> None:
    book.routes["/robots.txt"] = redirect("http://127.0.0.1/admin")
    async with fetcher_for(internet, Names({"book.example": [[PUBLIC]]})) as fetcher:
        with pytest.raises(UnsupportedDocument):
            await fetcher.fetch("http://book.example/")
    assert sentinel.connections == 0


async def test_a_second_address_is_tried_when_the_first_does_not_answer(
    book: Site, sentinel: Sentinel
) -> None:
    async with serving() as gone:
        pass
    internet = Internet({PUBLIC: book, OTHER_PUBLIC: gone}, sentinel)
    names = Names({"book.example": [[OTHER_PUBLIC, PUBLIC]]})
    async with fetcher_for(internet, names) as fetcher:
        assert (await fetcher.fetch("http://book.example/")).body == b"tides"


@pytest.mark.parametrize("url", ["http://book.example:8080/", "http://book.example:0/"])
async def test_an_unusual_port_is_refused(url: str, internet: Internet) -> None:
    async with fetcher_for(internet, Names({})) as fetcher:
        with pytest.raises(UnsupportedDocument, match="80 and 443"):
            await fetcher.fetch(url)


async def test_a_host_that_is_allowed_without_its_port_is_told_how_to_write_both(
    internet: Internet,
) -> None:
    async with fetcher_for(internet, Names({}), "book.example") as fetcher:
        with pytest.raises(UnsupportedDocument) as refusal:
            await fetcher.fetch("http://book.example:8080/")
    assert refusal.value.user_message == (
        "“book.example” is allowed without a port, so on 80 and 443 alone; to trust it, add "
        '"book.example:8080" to the list GLOSSATOR_INGEST__ALLOWED_HOSTS.'
    )


async def test_trust_in_one_port_is_no_trust_in_another(sentinel: Sentinel, book: Site) -> None:
    async with Fetcher(allowed_hosts=frozenset({book.authority}), delay=0) as fetcher:
        assert (await fetcher.fetch(book.url)).body == b"tides"
        for inside in (f"127.0.0.1:{sentinel.port}", f"localhost:{book.port}", "127.0.0.1"):
            with pytest.raises(UnsupportedDocument):
                await fetcher.fetch(f"http://{inside}/")
    assert sentinel.connections == 0


async def test_a_host_trusted_without_a_port_is_trusted_on_the_usual_ones_only(
    internet: Internet, sentinel: Sentinel
) -> None:
    names = Names({"wiki.school.internal": [["10.0.0.8"]]})
    async with fetcher_for(internet, names, "Wiki.School.internal") as fetcher:
        with pytest.raises(UnsupportedDocument, match="80 and 443"):
            await fetcher.fetch("http://wiki.school.internal:8080/")
        assert sentinel.connections == 0
        with pytest.raises(SourceUnavailable):
            await fetcher.fetch("http://wiki.school.internal/")
    assert sentinel.connections == 1


async def test_a_trusted_host_may_still_not_be_a_metadata_service(internet: Internet) -> None:
    names = Names({"wiki.example": [["169.254.169.254"]]})
    async with fetcher_for(internet, names, "wiki.example", "169.254.169.254") as fetcher:
        for url in ("http://wiki.example/", "http://169.254.169.254/"):
            with pytest.raises(UnsupportedDocument, match="not public"):
                await fetcher.fetch(url)
    assert internet.requests == []


async def test_proxies_of_the_environment_are_ignored(
    monkeypatch: pytest.MonkeyPatch, book: Site, sentinel: Sentinel
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{sentinel.port}")
    async with Fetcher(allowed_hosts=frozenset({book.authority}), delay=0) as fetcher:
        assert (await fetcher.fetch(book.url)).body == b"tides"
    assert sentinel.connections == 0


async def test_cookies_are_not_kept(book: Site) -> None:
    book.routes["/"] = page("tides", set_cookie="visitor=7; Path=/")
    async with Fetcher(allowed_hosts=frozenset({book.authority}), delay=0) as fetcher:
        await fetcher.fetch(book.url)
        await fetcher.fetch(book.url)
    assert all("Cookie" not in request.headers for request in book.requests)


WHERE_NAMES_LEAD = {
    "localhost": [["127.0.0.1"]],
    "localtest.me": [["127.0.0.1"]],
    "metadata.google.internal": [["169.254.169.254"]],
    "rebind.test": [[PUBLIC, "127.0.0.1"]],
    "textbook.edu": [[PUBLIC]],
}


def attacks() -> list[dict[str, str]]:
    if not ATTACKS.exists():
        return []
    return [json.loads(line) for line in ATTACKS.read_text("utf-8").splitlines() if line.strip()]


@pytest.mark.skipif(not ATTACKS.exists(), reason="the collection of attacks is not here")
async def test_every_collected_attack_is_refused_without_a_connection(
    internet: Internet, sentinel: Sentinel
) -> None:
    cases = attacks()
    assert all(case["expect"].startswith("refused before connect") for case in cases)
    reached = []
    for case in cases:
        async with fetcher_for(internet, Names(dict(WHERE_NAMES_LEAD))) as fetcher:
            try:
                await fetcher.fetch(case["url"])
            except UnsupportedDocument:
                continue
            reached.append(case["url"])
    assert reached == []
    assert internet.requests == []
    assert sentinel.connections == 0


@pytest.mark.costly
@pytest.mark.skipif(not ATTACKS.exists(), reason="the collection of attacks is not here")
async def test_every_collected_attack_is_refused_as_a_redirect_too(
    internet: Internet, book: Site, sentinel: Sentinel
) -> None:
    for case in attacks():
        location = case["url"].encode("ascii", "ignore").decode()
        book.routes["/"] = redirect(location)
        names = Names({**WHERE_NAMES_LEAD, "book.example": [[PUBLIC]]})
        async with fetcher_for(internet, names) as fetcher:
            with pytest.raises(UnsupportedDocument):
                await fetcher.fetch("http://book.example/")
    assert {request.url.host for request in internet.requests} == {PUBLIC}
    assert sentinel.connections == 0
