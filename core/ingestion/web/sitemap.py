"""Reads sitemap.xml: one address that stands for many documents."""

import asyncio
from dataclasses import dataclass, field
from typing import NamedTuple

from core.errors import UnsupportedDocument
from core.ingestion.account.left_out import LeftOut
from core.ingestion.web.fetch import Fetched, Fetcher
from core.ingestion.web.sitemap_format import MAX_URLS, SitemapEntry, parse_sitemap, too_many_urls
from core.ingestion.web.targets import WEB_PORTS, Target, parse_target

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
