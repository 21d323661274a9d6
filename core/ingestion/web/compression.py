"""Unpacks gzip without letting a small file grow into a huge one."""

import gzip
import io
import zlib

from core.errors import UnsupportedDocument

GZIP_MAGIC = b"\x1f\x8b"


def gunzip(packed: bytes, max_bytes: int) -> bytes:
    """Return what `packed` holds, at most `max_bytes`; never builds more than that.

    Raises:
        UnsupportedDocument: It holds more, or is damaged.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            content = file.read(max_bytes + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnsupportedDocument(user_message="The compressed document is damaged.") from error
    if len(content) > max_bytes:
        raise too_large(max_bytes)
    return content


def too_large(max_bytes: int) -> UnsupportedDocument:
    """Return the refusal of a document that exceeds `max_bytes`."""
    limit = f"{max_bytes / 1_000_000:,.0f} MB" if max_bytes >= 1_000_000 else f"{max_bytes:,} bytes"
    return UnsupportedDocument(user_message=f"The document is larger than {limit}.")
