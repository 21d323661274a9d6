"""The message catalogues: gettext files, one folder a language, one file a subject."""

import io
import re
from functools import cache, cached_property
from gettext import GNUTranslations
from pathlib import Path

FALLBACK = "en"
"""The language that has every message."""

LANGUAGES = ("en", "de")
"""Languages with a folder under `locales`, as IETF primary tags."""

LOCALES = Path(__file__).parent / "locales"
_ID = re.compile(r'^msgid "([^"]+)"$', re.M)


class Subject:
    """The messages of one `.po` file, compiled in memory when one of them is looked up."""

    def __init__(self, file: Path) -> None:
        self._source = file.read_bytes()

    def ids(self) -> list[str]:
        """Return the ids of its messages; the file's header has none."""
        return _ID.findall(self._source.decode())

    @cached_property
    def translations(self) -> GNUTranslations:
        """The compiled messages, with the plural rule of the file's own header."""
        import polib  # only a process that shows a message pays for it

        read = polib.pofile(self._source.decode())
        return GNUTranslations(io.BytesIO(read.to_binary()))


class MessageCatalogue:
    """The messages of one language; no two subjects have the same id."""

    def __init__(self, language: str) -> None:
        self.language = language
        subjects = [Subject(file) for file in sorted((LOCALES / language).glob("*.po"))]
        self._subjects = {known: subject for subject in subjects for known in subject.ids()}

    def pattern(self, message_id: str, count: int | None = None) -> str | None:
        """Return the untranslated pattern of `message_id`, or None where it has none.

        `count` chooses the plural form; a message without plural forms ignores it.
        """
        subject = self._subjects.get(message_id)
        if subject is None:
            return None
        if count is not None:
            found = subject.translations.ngettext(message_id, message_id, count)
            if found != message_id:
                return found
        found = subject.translations.gettext(message_id)
        return None if found == message_id else found


@cache
def catalogue(language: str) -> MessageCatalogue:
    """Return the catalogue of `language`, one of `LANGUAGES`; read once in a process."""
    return MessageCatalogue(language)
