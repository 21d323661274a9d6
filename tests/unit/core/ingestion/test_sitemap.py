"""A sitemap becomes the list of a course's documents."""

import gzip
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from core.domain.errors import SourceUnavailable, UnsupportedDocument
from core.ingestion.sources.fetch import MAX_SITEMAPS, Fetcher, read_sitemap
from core.ingestion.sources.sitemap import MAX_URLS, SitemapEntry, parse_sitemap
from tests.unit.core.ingestion.web import Site, page, serving

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
BOMBS = Path(__file__).parents[4] / ".." / "shared" / "attacks" / "xml-bombs"


def urlset(*locations: str) -> str:
    urls = "".join(f"<url><loc>{location}</loc></url>" for location in locations)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {NAMESPACE}>{urls}</urlset>'


def index(*locations: str) -> str:
    parts = "".join(f"<sitemap><loc>{location}</loc></sitemap>" for location in locations)
    return f"<sitemapindex {NAMESPACE}>{parts}</sitemapindex>"


def urls_of(body: bytes) -> list[str]:
    return [entry.url for entry in parse_sitemap(body, 1_000_000).entries]


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as site:
        yield site


@pytest.fixture
async def fetcher(site: Site) -> AsyncIterator[Fetcher]:
    trusted = frozenset({site.authority})
    async with Fetcher(allowed_hosts=trusted, max_bytes=10_000_000, delay=0) as fetcher:
        yield fetcher


async def test_documents_come_in_the_sitemaps_order_each_once(site: Site, fetcher: Fetcher) -> None:
    listed = [f"{site.url}/b", f"{site.url}/a?x=1&amp;y=2", f"{site.url}/b#part", f"{site.url}/ä"]
    site.routes["/sitemap.xml"] = page(urlset(*listed))
    entries = (await read_sitemap(fetcher, f"{site.url}/sitemap.xml")).entries
    assert [entry.url.removeprefix(site.url) for entry in entries] == [
        "/b",
        "/a?x=1&y=2",
        "/%C3%A4",
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2025-03-04", datetime(2025, 3, 4, tzinfo=UTC)),
        ("2025-03-04T10:00:00+02:00", datetime(2025, 3, 4, 8, tzinfo=UTC)),
        (" 2025-03-04T10:00:00Z\n", datetime(2025, 3, 4, 10, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("last week", None),
        ("", None),
    ],
)
def test_the_date_of_the_last_change_is_read_as_utc(written: str, read: datetime | None) -> None:
    xml = f"<urlset><url><loc>http://a.example/</loc><lastmod>{written}</lastmod></url></urlset>"
    assert parse_sitemap(xml.encode(), 1_000_000).entries == [
        SitemapEntry("http://a.example/", read)
    ]


def test_addresses_of_images_and_translations_are_no_documents() -> None:
    xml = f"""
    <urlset {NAMESPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
      <url><loc>
          http://a.example/page
        </loc>
        <image:image><image:loc>http://a.example/photo.png</image:loc></image:image>
        <xhtml:link xmlns:xhtml="http://www.w3.org/1999/xhtml" href="http://a.example/de"/>
      </url>
      <url><lastmod>2025-01-01</lastmod></url>
    </urlset>"""
    assert urls_of(xml.encode()) == ["http://a.example/page"]


def test_a_sitemap_may_use_a_namespace_prefix_or_another_encoding() -> None:
    prefixed = "<s:urlset xmlns:s='x'><s:url><s:loc>http://a.example/</s:loc></s:url></s:urlset>"
    latin = "<?xml version='1.0' encoding='ISO-8859-1'?><urlset><url><loc>http://a.example/ä</loc>"
    assert urls_of(prefixed.encode()) == ["http://a.example/"]
    assert urls_of(f"{latin}</url></urlset>".encode("latin-1")) == ["http://a.example/ä"]
    assert urls_of("\ufeff<urlset/>".encode()) == []


def test_a_plain_list_of_addresses_is_a_sitemap() -> None:
    text = "\ufeffhttp://a.example/1\r\n\r\n  https://a.example/2  \n"
    assert urls_of(text.encode()) == ["http://a.example/1", "https://a.example/2"]


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Not found</body></html>",
        b"<urlset><url><loc>http://a.example/</loc>",
        b"<urlset>&nbsp;</urlset>",
        b"<?xml version='1.0' encoding='no-such'?><urlset/>",
        b"<",
        b"# Tides\n\nThe tide rises twice a day.",
        b"\x00\x01\x02",
        gzip.compress(b"<urlset/>", mtime=0)[:-9],
        b"<urlset>" + b"<a>" * 100_000,
        b"<urlset><url>" + b"<a/>" * 100_000 + b"</url>",
    ],
)
def test_what_is_no_sitemap_is_refused(body: bytes) -> None:
    with pytest.raises(UnsupportedDocument):
        parse_sitemap(body, 1_000_000)


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">',
        '<!ENTITY b SYSTEM "file:///etc/hostname">',
        '<!ENTITY b SYSTEM "http://127.0.0.1/">',
        "<!ELEMENT urlset ANY>",
    ],
)
def test_a_sitemap_with_declarations_of_its_own_is_refused(declaration: str) -> None:
    xml = f"<!DOCTYPE urlset [{declaration}]><urlset/>"
    with pytest.raises(UnsupportedDocument):
        parse_sitemap(xml.encode(), 1_000_000)


@pytest.mark.skipif(not BOMBS.exists(), reason="the collection of XML bombs is not here")
def test_every_collected_bomb_is_refused() -> None:
    bombs = sorted(BOMBS.glob("*.xml"))
    assert bombs
    for bomb in bombs:
        with pytest.raises(UnsupportedDocument):
            parse_sitemap(bomb.read_bytes(), 1_000_000)


@pytest.mark.costly
def test_more_addresses_than_a_sitemap_may_have_are_refused() -> None:
    locations = [f"http://a.example/{n}" for n in range(MAX_URLS + 1)]
    assert len(urls_of(urlset(*locations[1:]).encode())) == MAX_URLS
    for body in (urlset(*locations), index(*locations), "\n".join(locations)):
        with pytest.raises(UnsupportedDocument, match="50,000"):
            parse_sitemap(body.encode(), 10_000_000)


async def test_only_documents_of_the_same_site_are_kept_and_the_others_named(
    site: Site, fetcher: Fetcher
) -> None:
    foreign = ["http://other.example/", "http://127.0.0.1/", "http://169.254.169.254/", "ftp://a/"]
    site.routes["/sitemap.xml"] = page(urlset(f"{site.url}/a", *foreign, "http://other.example/b"))
    entries, left_out = await read_sitemap(fetcher, f"{site.url}/sitemap.xml")
    assert [entry.url for entry in entries] == [f"{site.url}/a"]
    assert [left.path for left in left_out] == [*foreign, "http://other.example/b"]
    assert all(left.reason and left.is_missed for left in left_out)


async def test_the_parts_of_an_index_are_read_each_once(site: Site, fetcher: Fetcher) -> None:
    packed = gzip.compress(urlset(f"{site.url}/2").encode())
    site.routes |= {
        "/all.xml": page(index(f"{site.url}/some.xml", f"{site.url}/more.xml.gz")),
        "/some.xml": page(index(f"{site.url}/1.xml", f"{site.url}/all.xml", f"{site.url}/1.xml")),
        "/1.xml": page(urlset(f"{site.url}/1")),
        "/more.xml.gz": web.Response(body=packed, content_type="application/gzip"),
    }
    entries = (await read_sitemap(fetcher, f"{site.url}/all.xml")).entries
    assert [entry.url for entry in entries] == [f"{site.url}/1", f"{site.url}/2"]
    assert site.paths == ["/robots.txt", "/all.xml", "/some.xml", "/1.xml", "/more.xml.gz"]


async def test_a_part_on_another_site_is_never_asked_for(site: Site, fetcher: Fetcher) -> None:
    async with serving({"/x.xml": page(urlset())}) as other:
        site.routes["/all.xml"] = page(index(f"{other.url}/x.xml"))
        assert (await read_sitemap(fetcher, f"{site.url}/all.xml")).entries == []
        assert other.requests == []


async def test_an_index_nested_too_deep_is_refused(site: Site, fetcher: Fetcher) -> None:
    for n in range(4):
        site.routes[f"/{n}.xml"] = page(index(f"{site.url}/{n + 1}.xml"))
    site.routes["/3.xml"] = page(urlset(f"{site.url}/found"))
    assert len((await read_sitemap(fetcher, f"{site.url}/1.xml")).entries) == 1
    with pytest.raises(UnsupportedDocument, match="3 deep"):
        await read_sitemap(fetcher, f"{site.url}/0.xml")


@pytest.mark.costly
async def test_an_index_of_too_many_parts_is_refused(site: Site, fetcher: Fetcher) -> None:
    parts = [f"/{n}.xml" for n in range(MAX_SITEMAPS)]
    site.routes |= {part: page(urlset()) for part in parts}
    site.routes["/all.xml"] = page(index(*(f"{site.url}{part}" for part in parts)))
    with pytest.raises(UnsupportedDocument, match="100 parts"):
        await read_sitemap(fetcher, f"{site.url}/all.xml")


async def test_a_missing_part_fails_the_whole_so_that_nothing_seems_deleted(
    site: Site, fetcher: Fetcher
) -> None:
    site.routes |= {
        "/all.xml": page(index(f"{site.url}/1.xml", f"{site.url}/2.xml")),
        "/1.xml": page(urlset(f"{site.url}/1")),
        "/2.xml": page("", 503),
    }
    with pytest.raises(SourceUnavailable):
        await read_sitemap(fetcher, f"{site.url}/all.xml")


@pytest.mark.costly
async def test_a_sitemap_that_unpacks_to_a_flood_is_refused(site: Site, fetcher: Fetcher) -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 30_000_000)
    site.routes["/sitemap.xml.gz"] = web.Response(body=bomb)
    with pytest.raises(UnsupportedDocument, match="larger than 10 MB"):
        await read_sitemap(fetcher, f"{site.url}/sitemap.xml.gz")
