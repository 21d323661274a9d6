"""Whether the scanned pages of a course are recognised, and what is missing where they are not."""

from dataclasses import dataclass

from core.ingestion.formats.pdf.scans import PagePicture
from core.ingestion.recognition.languages import tesseract_name
from core.ingestion.recognition.tesseract import Tesseract, find_tesseract
from core.system_packages import how_to_install_tesseract

_FAILURES = 3
"""So many pages in a row that cannot be recognised, and no further one of a document is tried."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """How the scanned pages of a course's documents are read."""

    tesseract: Tesseract | None = None
    """None: they are not."""
    language: str = "eng"
    """As tesseract calls it."""
    most_pages: int = 0
    """Of one document."""
    missing: str = ""
    """Where they are not recognised: why, and what is to be done."""

    def facts(self, data: bytes) -> tuple[str, ...]:
        """Return what the text of a document depends on besides its bytes, if it has scans."""
        if self.tesseract is None or b"%PDF-" not in data[:1024]:
            return ()
        return ("recognised", self.language, str(self.most_pages))

    def pages(self) -> "PageReader":
        """Return what reads the pages of one document."""
        return PageReader(self)


class PageReader:
    """Reads the scanned pages of one document, and gives up after failures in a row."""

    def __init__(self, recognition: Recognition) -> None:
        self._recognition = recognition
        self._left = recognition.most_pages
        self._failed = 0

    async def read(self, picture: PagePicture) -> bytes:
        """Return the lines of text on a page as hOCR; empty where it cannot be recognised."""
        tesseract = self._recognition.tesseract
        if tesseract is None or self._left == 0 or self._failed == _FAILURES:
            return b""
        self._left -= 1
        said = await tesseract.read(picture, self._recognition.language)
        self._failed = 0 if said else self._failed + 1
        return said


async def find_recognition(language: str, most_pages: int) -> Recognition:
    """Return how this machine reads the scanned pages of a course; see `recognition_with`."""
    return recognition_with(await find_tesseract(), language, most_pages)


def recognition_with(tesseract: Tesseract | None, language: str, most_pages: int) -> Recognition:
    """Return how the scanned pages of a course are read with the tesseract of this machine.

    Args:
        language: of the course's book, a BCP 47 tag.
        most_pages: of one document; 0: none are recognised.
    """
    if most_pages == 0:
        return Recognition(
            missing="GLOSSATOR_INGEST__MAX_RECOGNISED_PAGES is 0, so scans are not recognised"
        )
    name = tesseract_name(language)
    if tesseract is None:
        how = how_to_install_tesseract(name)
        return Recognition(missing=f"to recognise scans, install the program tesseract {how}")
    if name not in tesseract.languages:
        data = f"tesseract's data of the course's language, {name},"
        how = how_to_install_tesseract(name, is_there=True)
        return Recognition(missing=f"to recognise scans, install {data} {how}")
    return Recognition(tesseract, name, most_pages)
