"""The text of a file that came with a message, fetched from the platform's own servers."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from adapters.context.message_parts import MOST_BYTES
from core.ingestion.formats.decoding import decode_text, looks_like_text

logger = logging.getLogger(__name__)

_TIMEOUT = aiohttp.ClientTimeout(total=5)


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file as the platform's server gave it."""

    data: bytes
    is_page: bool
    """Whether the server says that it is HTML."""
    is_elsewhere: bool = False
    """Whether the server sends us to another address in its place."""

    @property
    def text(self) -> str | None:
        """What it says; None: it is no text."""
        data = self.data
        if not looks_like_text(data):
            return None
        if b"\0" in data and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            return None
        return decode_text(data).text


async def fetched(
    session: aiohttp.ClientSession,
    url: str,
    headers: Mapping[str, str] | None = None,
    *,
    most: int = MOST_BYTES,
) -> FetchedFile | None:
    """Return a file; None when it is too large, or cannot be had now.

    Redirects are not followed: a file that lies elsewhere is not the platform's.

    Args:
        most: The bytes that it may have.
    """
    try:
        async with session.get(
            url, headers=headers, timeout=_TIMEOUT, allow_redirects=False
        ) as answer:
            is_page = answer.content_type in ("text/html", "application/xhtml+xml")
            if answer.status // 100 == 3:
                return FetchedFile(b"", is_page, is_elsewhere=True)
            if answer.status != 200:
                logger.info("a file cannot be had: status %d", answer.status)
                return None
            data = await _bounded(answer.content, most)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        logger.info("a file cannot be had: %s", type(error).__name__)
        return None
    return FetchedFile(data, is_page) if data is not None else None


async def fetched_text(session: aiohttp.ClientSession, url: str) -> str | None:
    """Return the text of a file that anybody may fetch; None as of `fetched`, or it is no text."""
    file = await fetched(session, url)
    return file.text if file is not None and not file.is_elsewhere else None


async def _bounded(content: aiohttp.StreamReader, most: int) -> bytes | None:
    """Return all of a body of at most so many bytes; None of a longer one."""
    data = bytearray()
    async for piece in content.iter_chunked(16_384):
        data += piece
        if len(data) > most:
            return None
    return bytes(data)
