"""The message catalogues: gettext files, one folder a language, one file a subject."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from gettext import GNUTranslations
from pathlib import Path

FALLBACK = "en"
"""The language that has every message."""

LANGUAGES = ("en", "de")
"""Languages with a folder under `locales`, as IETF primary tags."""

LOCALES = Path(__file__).parent / "locales"
_ID = re.compile(r'^msgid "([^"]+)"$', re.M)


@dataclass(frozen=True)
class Entry:
    """A message of a `.po` file, compiled in memory when it is looked up."""

    header: str
    """That of its file, which has the plural rule."""
    source: str

    @cached_property
    def translations(self) -> GNUTranslations:
        """The compiled message, with the plural rule of its file."""
        import polib  # only a process that shows a message pays for it

        read = polib.pofile(f"{self.header}\n\n{self.source}\n")
        return GNUTranslations(io.BytesIO(read.to_binary()))


def _entries(file: Path) -> Iterator[tuple[str, Entry]]:
    """Yield the messages of a file by their ids; a blank line stands between two."""
    header, *sources = file.read_text(encoding="utf-8").split("\n\n")
    for source in sources:
        if found := _ID.search(source):
            yield found[1], Entry(header, source)


class MessageCatalogue:
    """The messages of one language; no two files have the same id."""

    def __init__(self, language: str) -> None:
        self.language = language
        files = sorted((LOCALES / language).glob("*.po"))
        self._entries = {known: entry for file in files for known, entry in _entries(file)}

    def pattern(self, message_id: str, count: int | None = None) -> str | None:
        """Return the untranslated pattern of `message_id`, or None where it has none.

        `count` chooses the plural form; a message without plural forms ignores it.
        """
        entry = self._entries.get(message_id)
        if entry is None:
            return None
        if count is not None:
            found = entry.translations.ngettext(message_id, message_id, count)
            if found != message_id:
                return found
        found = entry.translations.gettext(message_id)
        return None if found == message_id else found


@cache
def catalogue(language: str) -> MessageCatalogue:
    """Return the catalogue of `language`, one of `LANGUAGES`; read once in a process."""
    return MessageCatalogue(language)
