"""Notices when a file changes that pages of a site may include."""

import hashlib
import os
from pathlib import Path

from core.ingestion.account.survey import files_below
from core.ingestion.sites.site import Site

_SEPARATOR = "\x1f"
_LARGE = 1_000_000
"""Bytes: what is larger is data and hardly a part of a page, and reading it takes long."""
_NEVER_INCLUDED = frozenset(
    ".png .jpg .jpeg .gif .svg .webp .ico .bmp .mp3 .mp4 .webm .mov .zip .gz .woff .woff2 .ttf "
    ".pdf .docx .pptx .pyc".split()
)
"""No page includes the text of these, so a change of them changes no page."""


def digest_of_assets(site: Site) -> str:
    """Return a digest of the files that pages may include: the same wherever the folder lies.

    Large files are told by size and time.
    """
    pages = {page.path for page in site.pages}
    facts = []
    for folder in site.include_roots:
        root = (site.folder / folder).resolve()
        if not root.is_relative_to(site.folder):
            continue
        for path in sorted(files_below(root)):
            if path.suffix.lower() in _NEVER_INCLUDED:
                continue
            if path.relative_to(site.folder).as_posix() in pages:
                continue
            try:
                status = path.stat()
                state = _state_of_large(status) if status.st_size > _LARGE else _digest(path)
            except OSError:  # a link that leads nowhere
                continue
            facts.append(_SEPARATOR.join((path.relative_to(site.folder).as_posix(), state)))
    return hashlib.sha256("\n".join(facts).encode(errors="surrogateescape")).hexdigest()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _state_of_large(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns}"
