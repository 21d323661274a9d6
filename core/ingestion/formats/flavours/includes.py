"""Opens the files that a page includes, within limits, and notes what of it is not read."""

import posixpath
from collections.abc import Callable

from core.ingestion.document import Omission

_MAX_DEPTH = 8
_MAX_CHARACTERS = 2_000_000


class Includes:
    """The included files of one page, and all that is left out of it.

    Args:
        read: gives the text of a file by its path relative to the page, or none.
    """

    def __init__(self, read: Callable[[str], str | None]) -> None:
        self._read = read
        self._left = _MAX_CHARACTERS
        self._warnings: dict[str, None] = {}
        self.omissions: list[Omission] = []

    def left_out(self, kind: str, line: int = 0, text: str = "") -> None:
        """Note an element that is not read, with the words that it held."""
        self.omissions.append(Omission(kind, f"line {line}" if line else "", len(text.split())))

    def value(self, path: str) -> str | None:
        """Return the text of a file of the course that may be missing, such as its settings."""
        return self._read(path)

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each file that was left out, in order."""
        return tuple(self._warnings)

    def warn(self, sentence: str) -> None:
        """Note something that was left out; the same sentence counts once."""
        self._warnings.setdefault(sentence)

    def text(self, path: str, chain: tuple[str, ...]) -> str | None:
        """Return the text of the file at `path`, with Unix line ends, or none with a warning.

        Args:
            path: relative to the page, as `resolved` gives it.
            chain: the files that are being included already, outermost first.
        """
        if path in chain:
            self.warn(f"The file {path} includes itself and was left out there.")
            return None
        if len(chain) >= _MAX_DEPTH:
            self.warn(f"The file {path} is included too deeply and was left out.")
            return None
        text = self._read(path)
        if text is None:
            self.warn(f"The included file {path} is missing.")
            return None
        self._left -= len(text) + 1
        if self._left < 0:
            self.warn(f"The included file {path} makes the page too long and was left out.")
            return None
        return text.replace("\r\n", "\n").removeprefix("\ufeff").removesuffix("\n")


def resolved(path: str, chain: tuple[str, ...]) -> str:
    """Return `path`, written in the last file of `chain`, relative to the page."""
    if not chain or path.startswith(("/", "@")):
        return path
    return posixpath.normpath(posixpath.join(posixpath.dirname(chain[-1]), path))
