"""Decides whether a document is the one that was ingested, without parsing it."""

import hashlib

from core.ingestion.chunks.passages import Placement

_SEPARATOR = "\x1f"


def digest_of(data: bytes, place: Placement, *facts: str) -> str:
    """Return a digest of a document's bytes and of all else that its chunks are made from."""
    described = (place.title or "", place.module or "", place.url or "", *facts)
    digest = hashlib.sha256(_SEPARATOR.join(described).encode())
    digest.update(data)
    return digest.hexdigest()
