"""Fetches a course's documents from the web, politely and without reaching inside."""

import asyncio
import contextlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import NamedTuple, Self

import httpx
from protego import Protego

from core.domain.errors import SourceUnavailable, UnsupportedDocument
from core.ingestion.refusal import LeftOut
from core.ingestion.sources.pinned import (
    WEB_PORTS,
    HttpReply,
    IPAddress,
    PinnedClient,
    Resolver,
    Target,
    UnknownHost,
    parse_target,
    resolve_with_system,
)
from core.ingestion.sources.sitemap import MAX_URLS, SitemapEntry, parse_sitemap, too_many_urls

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TRANSIENT = frozenset({408, 425, 429})
_LONGEST_CRAWL_DELAY = 10.0
_ROBOTS_MAX_BYTES = 500 * 1024


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document as its server delivered it."""

    url: str
    """Where it was found in the end, after redirects, without fragment."""
    body: bytes
    """Unpacked if it came compressed; empty when `not_modified`."""
    media_type: str
    """Lower case, without parameters; empty when the server named none."""
    etag: str | None = None
    last_modified: str | None = None
    not_modified: bool = False
    """Whether the document is still the one that `etag` or `last_modified` was given for."""


class Fetcher:
    """Fetches documents by http(s) for as long as it is entered.

    Each document is one request to a public address (see `PinnedClient`), or up to
    `max_redirects` more, every one checked like the first. robots.txt is honoured.

    Args:
        allowed_hosts: `host` or `host:port`, trusted to be on this machine or a private
            network; without a port, the usual two. `[::1]:8080` for IPv6.
        max_bytes: Largest document, both as sent and unpacked.
        timeout: Seconds for one document, politeness delays not counted.
        max_redirects: How many are followed for one document.
        user_agent: Sent to servers; its first word is looked for in robots.txt.
        delay: Least seconds between two requests to one host; a site's own Crawl-delay
            counts when it is longer, up to 10 seconds.
        resolver: Looks host names up.
        transport: Carries requests whose URL names the checked address.
    """

    def __init__(
        self,
        *,
        allowed_hosts: frozenset[str] = frozenset(),
        max_bytes: int = 50_000_000,
        timeout: float = 60.0,
        max_redirects: int = 3,
        user_agent: str = "Glossator",
        delay: float = 0.5,
        resolver: Resolver = resolve_with_system,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.max_bytes = max_bytes
        self._timeout = timeout
        self._max_redirects = max_redirects
        self._product = re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0]
        self._delay = delay
        self._client = PinnedClient(
            allowed_hosts=allowed_hosts,
            user_agent=user_agent,
            resolver=resolver,
            transport=transport,
        )
        self._robots: dict[str, Protego | None] = {}
        self._robots_locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._next_turns: dict[str, float] = {}

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.__aexit__(kind, error, traceback)

    async def fetch(
        self, url: str, *, etag: str | None = None, last_modified: str | None = None
    ) -> Fetched:
        """Return the document at `url`, or that it is unchanged.

        Args:
            url: Absolute, http or https.
            etag: Of the copy at hand, as an earlier `Fetched` gave it.
            last_modified: Likewise.

        Raises:
            UnsupportedDocument: It may not or cannot be fetched, now or later.
            SourceUnavailable: A later try may succeed.
        """
        headers = _conditions(etag, last_modified)
        target, reply = await self._follow(
            parse_target(url), headers, max_bytes=self.max_bytes, ask_robots=True
        )
        not_modified = reply.status == httpx.codes.NOT_MODIFIED and bool(headers)
        if not not_modified:
            _refuse_failure(target, reply.status)
        return Fetched(
            url=str(target.url),
            body=reply.body,
            media_type=reply.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
            etag=reply.headers.get("ETag"),
            last_modified=reply.headers.get("Last-Modified"),
            not_modified=not_modified,
        )

    async def reach(
        self, target: Target, headers: Mapping[str, str], *, max_bytes: int
    ) -> tuple[Target, HttpReply]:
        """Return what a program's interface answers, and where it was found after redirects.

        robots.txt is for pages, and is not asked.

        Raises:
            UnsupportedDocument: It may not or cannot be had, now or later.
            SourceUnavailable: A later try may succeed.
        """
        found, reply = await self._follow(target, headers, max_bytes=max_bytes, ask_robots=False)
        _refuse_failure(found, reply.status)
        return found, reply

    def trusts(self, target: Target) -> bool:
        """Return whether the operator trusts the target's host by name."""
        return self._client.trusts(target)

    async def checked_addresses(self, target: Target) -> Sequence[IPAddress]:
        """Return the addresses that the target may be reached at.

        Raises:
            UnsupportedDocument: One of them is not public.
            SourceUnavailable: There is none.
        """
        return await self._client.checked_addresses(target)

    async def _follow(
        self, target: Target, headers: Mapping[str, str], *, max_bytes: int, ask_robots: bool
    ) -> tuple[Target, HttpReply]:
        """Return the first reply that is no redirect, and where it came from."""
        clock = asyncio.get_running_loop()
        seconds_left = self._timeout
        for _ in range(self._max_redirects + 1):
            if ask_robots:
                await self._ask_robots(target)
            await self._wait_for_turn(target)
            started = clock.time()
            with _late(target):
                async with asyncio.timeout(seconds_left):
                    reply = await self._client.get(target, headers, max_bytes=max_bytes)
            seconds_left -= clock.time() - started
            if reply.status not in _REDIRECTS:
                return target, reply
            target = target.join(reply.headers.get("Location", ""))
        raise UnsupportedDocument(
            user_message=f"The address redirects more than {self._max_redirects} times."
        )

    async def _ask_robots(self, target: Target) -> None:
        async with self._robots_locks[target.origin]:
            if target.origin not in self._robots:
                self._robots[target.origin] = await self._read_robots(target)
        rules = self._robots[target.origin]
        if rules is None:
            raise SourceUnavailable(
                user_message=f"The robots.txt of “{target.host}” could not be read, "
                "so nothing is fetched from there for now."
            )
        if not rules.can_fetch(f"{target.origin}{target.path}", self._product):
            raise UnsupportedDocument(
                user_message=f"The robots.txt of “{target.host}” asks not to fetch this document."
            )

    async def _read_robots(self, target: Target) -> Protego | None:
        """Return the rules of the target's site, none when they cannot be had now."""
        try:
            _, reply = await self._follow(
                target.join("/robots.txt"), {}, max_bytes=_ROBOTS_MAX_BYTES, ask_robots=False
            )
        except UnknownHost:
            raise
        except SourceUnavailable:
            return None
        if _is_transient(reply.status):
            return None
        return Protego.parse(reply.body.decode("utf-8-sig", "replace"))

    async def _wait_for_turn(self, target: Target) -> None:
        clock = asyncio.get_running_loop()
        rules = self._robots.get(target.origin)
        wanted = (rules.crawl_delay(self._product) if rules else None) or 0.0
        delay = max(self._delay, min(wanted, _LONGEST_CRAWL_DELAY))
        turn = max(clock.time(), self._next_turns.get(target.host, 0.0))
        self._next_turns[target.host] = turn + delay
        await asyncio.sleep(turn - clock.time())


@contextlib.contextmanager
def _late(target: Target) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise SourceUnavailable(
            user_message=f"“{target.host}” did not deliver the document in time."
        ) from error


def _conditions(etag: str | None, last_modified: str | None) -> dict[str, str]:
    conditions = {"If-None-Match": etag, "If-Modified-Since": last_modified}
    return {name: value for name, value in conditions.items() if value and value.isascii()}


def _is_transient(status: int) -> bool:
    return status in _TRANSIENT or status >= 500


def _refuse_failure(target: Target, status: int) -> None:
    if _is_transient(status):
        raise SourceUnavailable(
            user_message=f"“{target.host}” has a problem at the moment (HTTP {status})."
        )
    if status != httpx.codes.OK:
        raise UnsupportedDocument(
            user_message=f"“{target.host}” does not give out this document (HTTP {status})."
        )


MAX_DEPTH = 3
MAX_SITEMAPS = 100


class SitePages(NamedTuple):
    """What a sitemap lists: documents of its own site, and addresses that are none."""

    entries: list[SitemapEntry]
    left_out: list[LeftOut]


async def read_sitemap(fetcher: Fetcher, url: str) -> SitePages:
    """Return the documents that the sitemap at `url` lists, in its order, each once.

    Sitemaps of sitemaps, plain lists of addresses and gzip are read too. Addresses on
    another site than the sitemap's own are left out.

    Raises:
        UnsupportedDocument: It is no sitemap, is unsafe XML, is nested deeper than
            `MAX_DEPTH`, or has more than `MAX_SITEMAPS` parts or `MAX_URLS` addresses.
        SourceUnavailable: It, or one of its parts, could not be fetched now.
    """
    root = await fetcher.fetch(url)
    reading = _Reading(fetcher, _site(parse_target(root.url)), sitemaps={root.url})
    await reading.add(root, depth=1)
    return SitePages(list(reading.entries.values()), list(reading.left_out.values()))


@dataclass(slots=True)
class _Reading:
    """One run over a sitemap and its parts."""

    fetcher: Fetcher
    site: str
    sitemaps: set[str]
    entries: dict[str, SitemapEntry] = field(default_factory=dict)
    left_out: dict[str, LeftOut] = field(default_factory=dict)

    async def add(self, fetched: Fetched, depth: int) -> None:
        listed = await asyncio.to_thread(parse_sitemap, fetched.body, self.fetcher.max_bytes)
        for entry in listed.entries:
            if (url := self._on_site(entry.url)) is not None:
                self.entries.setdefault(url, SitemapEntry(url, entry.lastmod))
        if len(self.entries) + len(self.left_out) > MAX_URLS:
            raise too_many_urls()
        for sitemap in listed.sitemaps:
            url = self._on_site(sitemap)
            if url is not None and url not in self.sitemaps:
                await self._add_part(url, depth + 1)

    async def _add_part(self, url: str, depth: int) -> None:
        self.sitemaps.add(url)
        if depth > MAX_DEPTH or len(self.sitemaps) > MAX_SITEMAPS:
            raise UnsupportedDocument(
                user_message=f"The sitemap is nested more than {MAX_DEPTH} deep "
                f"or has more than {MAX_SITEMAPS} parts."
            )
        await self.add(await self.fetcher.fetch(url), depth)

    def _on_site(self, url: str) -> str | None:
        """Return `url` in its normal form if it is on the site, else note that it is not."""
        try:
            target = parse_target(url)
        except UnsupportedDocument:
            self._leave_out(url, "is no address that can be fetched")
            return None
        if _site(target) != self.site:
            self._leave_out(str(target.url), "is on another site than the sitemap")
            return None
        return str(target.url)

    def _leave_out(self, url: str, reason: str) -> None:
        # Whatever its suffix: a sitemap lists pages.
        self.left_out.setdefault(url, LeftOut(url, reason, True))


def _site(target: Target) -> str:
    """Return what the addresses of one site share, be it http or https, with `www.` or not."""
    name = target.bracketed_host.removeprefix("www.")
    return name if target.port in WEB_PORTS.values() else f"{name}:{target.port}"
