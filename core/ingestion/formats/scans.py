"""The tesseract of this machine: whether there is one, what it knows, and what a picture says."""

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from core.ingestion.sandbox.kernel import of_program
from core.ingestion.sources.git_program import limited, run_program
from core.ingestion.system_packages import how_to_install_tesseract

MOST_PIXELS = 12_000_000
"""Of a page: A4 at 300 dots an inch has 8.7 million."""


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page in shades of grey, a byte a pixel, row by row from the top."""

    width: int
    height: int
    dpi: int
    """Pixels an inch, 72 points."""
    pixels: bytes


@dataclass(frozen=True, slots=True)
class Scans:
    """How pages without text are read while a document is parsed."""

    read: Callable[[PagePicture], bytes]
    """Returns the lines of text on a page as hOCR; empty where it cannot be recognised."""
    most_pages: int
    """Of one document; 0: none are recognised."""
    missing: str
    """Where none are: why, and what is to be done; it follows what says that there is no text."""
    loading: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered while the library that draws pages is loaded, before the first one is drawn."""


UNREAD = Scans(lambda picture: b"", 0, "")
"""Pages without text are named, and not read."""


_KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "TESSDATA_PREFIX")
_MEMORY_BYTES = 1 << 30
_PROCESSOR_SECONDS = 60
"""For one page; most take a few."""
_SECONDS = 600.0
"""For one page, on a machine that is busy with other work."""
_SECONDS_TO_SAY = 20.0
_MOST_BYTES = 4_000_000
"""Of what tesseract says of one page."""
_LANGUAGE = re.compile(r"[A-Za-z][\w/-]*")


@dataclass(frozen=True, slots=True)
class Tesseract:
    """A tesseract that can be started."""

    path: str
    version: str
    languages: tuple[str, ...]
    """Of which it has data, as it calls them: `deu`, `eng`, `osd` ..."""

    async def read(self, picture: PagePicture, language: str) -> bytes:
        """Return the lines of text on a picture as hOCR; empty where that fails.

        The program gets a header written here and the bare pixels, no file of anyone's. It may
        use 1 GiB of memory and 60 s of processor time, and write no file.
        """
        command = (self.path, "stdin", "stdout", "-l", language, "--dpi", str(picture.dpi))
        code, said = await _run_program(
            _held([*command, "-c", "tessedit_create_hocr=1"]),
            (b"P5 %d %d 255\n" % (picture.width, picture.height), picture.pixels),
            _SECONDS,
        )
        return said if code == 0 and len(said) <= _MOST_BYTES else b""


async def find_tesseract() -> Tesseract | None:
    """Return the tesseract of this machine; none where there is none that can be started."""
    path = shutil.which("tesseract")
    if path is None:
        return None
    _, named = await _run_program(_held([path, "--version"]), (), _SECONDS_TO_SAY)
    code, listed = await _run_program(_held([path, "--list-langs"]), (), _SECONDS_TO_SAY)
    version = re.search(r"tesseract v?(\d[\w.-]*)", named.decode(errors="replace"))
    if version is None or code != 0:
        return None
    lines = listed.decode(errors="replace").splitlines()
    return Tesseract(path, version[1], tuple(filter(_LANGUAGE.fullmatch, lines)))


async def _run_program(
    command: Sequence[str], given: Sequence[bytes], seconds: float
) -> tuple[int, bytes]:
    """Return the exit code and the output of a program, of which too much is cut off.

    The code is -1 where it cannot be started, takes too long or says too much.
    """
    said = await run_program(
        command, given, seconds=seconds, most_bytes=_MOST_BYTES, environment=_environment()
    )
    return (-1 if said.code is None else said.code), said.output


def _held(command: Sequence[str]) -> Sequence[str]:
    """Return the command that runs tesseract under limits, with its data for all it may read."""
    data = filter(None, [os.environ.get("TESSDATA_PREFIX")])
    return limited(
        command,
        of_program(command[0], more=data),
        AS=_MEMORY_BYTES,
        CPU=_PROCESSOR_SECONDS,
        FSIZE=0,
    )


def _environment() -> dict[str, str]:
    """Return what tesseract needs to run: one thread, and nothing of ours."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C", "OMP_THREAD_LIMIT": "1"}


_NAMES: Mapping[str, str] = dict(
    pair.split("=")
    for pair in (
        "af=afr am=amh ar=ara as=asm az=aze be=bel bg=bul bn=ben bo=bod br=bre bs=bos ca=cat "
        "co=cos cs=ces cy=cym da=dan de=deu dv=div dz=dzo el=ell en=eng eo=epo es=spa et=est "
        "eu=eus fa=fas fi=fin fo=fao fr=fra fy=fry ga=gle gd=gla gl=glg gu=guj he=heb hi=hin "
        "hr=hrv ht=hat hu=hun hy=hye id=ind is=isl it=ita iu=iku ja=jpn jv=jav ka=kat kk=kaz "
        "km=khm kn=kan ko=kor ku=kmr ky=kir la=lat lb=ltz lo=lao lt=lit lv=lav mi=mri mk=mkd "
        "ml=mal mn=mon mr=mar ms=msa mt=mlt my=mya nb=nor ne=nep nl=nld nn=nor no=nor oc=oci "
        "or=ori pa=pan pl=pol ps=pus pt=por qu=que ro=ron ru=rus sa=san sd=snd si=sin sk=slk "
        "sl=slv sq=sqi sr=srp su=sun sv=swe sw=swa ta=tam te=tel tg=tgk th=tha ti=tir tl=fil "
        "to=ton tr=tur tt=tat ug=uig uk=ukr ur=urd uz=uzb vi=vie yi=yid yo=yor zh=chi_sim "
    ).split()
)
"""By ISO 639-1; almost all are those of ISO 639-2/T."""
_TRADITIONAL = frozenset({"hant", "tw", "hk", "mo"})
"""Scripts and regions of Chinese that is written in traditional characters."""


def tesseract_name(language: str) -> str:
    """Return what tesseract calls the language of a BCP 47 tag: `de-AT` is `deu`.

    A tag of three letters, and one that is not known, stay as they are.
    """
    first, *others = language.lower().split("-")
    if first == "zh" and _TRADITIONAL.intersection(others):
        return "chi_tra"
    if first == "sr" and "latn" in others:
        return "srp_latn"
    return _NAMES.get(first, first)


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
