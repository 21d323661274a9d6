"""A library to ingest books into."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.library import BOOK, Library, open_library


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    """An empty library of this test's own, with a book beside it in the folder `book`."""
    async with open_library(tmp_path) as library:
        library.write(BOOK)
        yield library
