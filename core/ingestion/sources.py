"""What the words on the command line stand for: files, folders, globs, pages and sitemaps."""

import asyncio
import glob
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import urljoin, urlsplit

from core.errors import IngestionError, SourceUnavailable, UnsupportedDocument
from core.ingestion.fetch import Fetcher
from core.ingestion.formats.registry import SUPPORTED_SUFFIXES
from core.ingestion.passages import Placement
from core.ingestion.sandbox import ParseJob
from core.ingestion.sitemap import read_sitemap
from core.ingestion.sites import Site, detect_site
