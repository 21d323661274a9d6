"""The text of a file that came with a message, fetched from the platform's own servers."""

import logging
from collections.abc import Mapping

import aiohttp

from adapters.context.message_parts import MOST_BYTES
from core.ingestion.formats.decoding import decode_text, looks_like_text

logger = logging.getLogger(__name__)

_TIMEOUT = aiohttp.ClientTimeout(total=5)


async def fetched_text(
    session: aiohttp.ClientSession, url: str, headers: Mapping[str, str] | None = None
) -> str | None:
    """Return the text of a file; None when it is none, too large, or cannot be had now.

    Redirects are not followed: a file that lies elsewhere is not the platform's.
    """
    try:
        async with session.get(
            url, headers=headers, timeout=_TIMEOUT, allow_redirects=False
        ) as answer:
            if answer.status != 200:
                logger.info("a file cannot be had: status %d", answer.status)
                return None
            data = await _bounded(answer.content)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        logger.info("a file cannot be had: %s", type(error).__name__)
        return None
    if data is None or not _is_text(data):
        return None
    return decode_text(data).text


async def _bounded(content: aiohttp.StreamReader) -> bytes | None:
    """Return all of a body of at most 100,000 bytes; None of a longer one."""
    data = bytearray()
    async for piece in content.iter_chunked(16_384):
        data += piece
        if len(data) > MOST_BYTES:
            return None
    return bytes(data)


def _is_text(data: bytes) -> bool:
    if not looks_like_text(data):
        return False
    return b"\0" not in data or data[:2] in (b"\xff\xfe", b"\xfe\xff")
