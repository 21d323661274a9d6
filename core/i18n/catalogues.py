"""The message catalogues: gettext files, one folder a language, one file a subject."""

import io
from functools import cache
from gettext import GNUTranslations
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

FALLBACK = "en"
"""The language that has every message."""

LANGUAGES = ("en", "de")
"""Languages with a folder under `locales`, as IETF primary tags."""

LOCALES = Path(__file__).parent / "locales"


class Catalogue:
    """The messages of one language, compiled in memory from its `.po` files."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._translations = _compiled(language)

    def pattern(self, message_id: str, count: int | None = None) -> str | None:
        """Return the untranslated pattern of `message_id`, or None where it has none.

        `count` chooses the plural form; a message without plural forms ignores it.
        """
        if count is not None:
            found = self._translations.ngettext(message_id, message_id, count)
            if found != message_id:
                return found
        found = self._translations.gettext(message_id)
        return None if found == message_id else found


@cache
def catalogue(language: str) -> Catalogue:
    """Return the catalogue of `language`, one of `LANGUAGES`; read once in a process."""
    return Catalogue(language)


def _compiled(language: str) -> GNUTranslations:
    # Babel costs 20 ms to import, so only a process that shows a message pays for it. Its own
    # data of a language would cost 10 ms more: the plural rule is the one of the first file.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    whole: Catalog | None = None
    for file in sorted((LOCALES / language).glob("*.po")):
        with file.open("rb") as lines:
            subject = read_po(lines, abort_invalid=True)
        whole = whole or subject
        for message in subject if subject is not whole else ():
            if message.id:
                whole[message.id if isinstance(message.id, str) else message.id[0]] = message
    assert whole is not None, "a language has messages"
    compiled = io.BytesIO()
    write_mo(compiled, whole)
    compiled.seek(0)
    return GNUTranslations(compiled)
