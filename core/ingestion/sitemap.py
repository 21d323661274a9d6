"""Reads sitemap.xml: one address that stands for many documents."""

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field

from core.errors import UnsupportedDocument
from core.ingestion.fetch import Fetched, Fetcher
from core.ingestion.sitemap_format import MAX_URLS, SitemapEntry, parse_sitemap, too_many_urls
from core.ingestion.targets import WEB_PORTS, Target, parse_target

MAX_DEPTH = 3
MAX_SITEMAPS = 100

_log = logging.getLogger(__name__)


async def read_sitemap(fetcher: Fetcher, url: str) -> list[SitemapEntry]:
    """Return the documents that the sitemap at `url` lists, in its order, each once.

    Sitemaps of sitemaps, plain lists of addresses and gzip are read too. Addresses on
    another site than the sitemap's own are left out, with a warning in the log.

    Raises:
        UnsupportedDocument: It is no sitemap, is unsafe XML, is nested deeper than
            `MAX_DEPTH`, or has more than `MAX_SITEMAPS` parts or `MAX_URLS` addresses.
        SourceUnavailable: It, or one of its parts, could not be fetched now.
    """
    root = await fetcher.fetch(url)
    reading = _Reading(fetcher, _site(parse_target(root.url)), sitemaps={root.url})
    await reading.add(root, depth=1)
    reading.report()
    return list(reading.entries.values())


@dataclass(slots=True)
class _Reading:
    """One run over a sitemap and its parts."""

    fetcher: Fetcher
    site: str
    sitemaps: set[str]
    entries: dict[str, SitemapEntry] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)

    async def add(self, fetched: Fetched, depth: int) -> None:
        listed = await asyncio.to_thread(parse_sitemap, fetched.body, self.fetcher.max_bytes)
        for entry in listed.entries:
            if (url := self._on_site(entry.url)) is not None:
                self.entries.setdefault(url, SitemapEntry(url, entry.lastmod))
        if len(self.entries) > MAX_URLS:
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
        """Return `url` in its normal form if it belongs to the site, else note it."""
        try:
            target = parse_target(url)
        except UnsupportedDocument:
            self.left_out["malformed"] += 1
            return None
        if _site(target) != self.site:
            self.left_out[target.host] += 1
            return None
        return str(target.url)

    def report(self) -> None:
        if self.left_out:
            _log.warning(
                "The sitemap of %s lists %d addresses outside its site; they are left out (%s).",
                self.site,
                self.left_out.total(),
                ", ".join(f"{host}: {count}" for host, count in self.left_out.most_common(5)),
            )


def _site(target: Target) -> str:
    """Return what the addresses of one site share, be it http or https, with `www.` or not."""
    name = target.bracketed_host.removeprefix("www.")
    return name if target.port in WEB_PORTS.values() else f"{name}:{target.port}"
