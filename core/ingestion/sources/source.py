"""What ingestion asks of a source, and what a source says of each of its documents."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

from core.ingestion.account.left_out import LeftOut
from core.ingestion.chunks.passages import Placement
from core.ingestion.document import ParsedDocument
from core.ingestion.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from core.ingestion.git.repositories import Repositories
    from core.ingestion.web.fetch import Fetcher


class SourceDocument(Protocol):
    """One document of a source."""

    @property
    def place(self) -> Placement:
        """What the source knows about it besides its text."""
        ...

    async def read(self) -> None:
        """Fetch its bytes, before anything else.

        Raises:
            IngestionError: when they cannot be had; the reason follows the document's name.
        """
        ...

    def fingerprint(self) -> str:
        """Return a digest of all that its chunks are made from."""
        ...

    async def parse(self) -> ParsedDocument:
        """Return its blocks.

        Raises:
            UnsupportedDocument: the reason follows the document's name.
        """
        ...


class Source(Protocol):
    """Where documents come from; ingesting it again replaces just its own documents."""

    @property
    def name(self) -> str:
        """The same in every run: an absolute path, a glob, a URL, or the name that it was given."""
        ...

    @property
    def warnings(self) -> Sequence[str]:
        """What could not be read; complete once `documents` has returned."""
        ...

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """Its files that are no documents; complete once `documents` has returned."""
        ...

    async def documents(self) -> list[SourceDocument]:
        """Return its documents in reading order.

        Raises:
            IngestionError: when the source as a whole cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class SourceReader:
    """What the sources of one run read with."""

    sandbox: Sandbox
    max_bytes: int
    """Of one document."""
    fetcher: "Fetcher | None" = None
    """None where all sources are files."""
    repositories: "Repositories | None" = None
    """None where no source is a git repository."""

    @property
    def web(self) -> "Fetcher":
        """The one that fetches a source of the web."""
        assert self.fetcher is not None
        return self.fetcher


def published_at(base_url: str | None, path: str) -> str | None:
    """Return the address of a page below `base_url`, or none without one."""
    if base_url is None:
        return None
    return urljoin(base_url if base_url.endswith("/") else f"{base_url}/", path)
