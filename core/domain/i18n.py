"""The message catalogues: gettext files, one folder a language, one file a subject."""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from gettext import GNUTranslations
from pathlib import Path
from typing import overload

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


_language: ContextVar[str] = ContextVar("language", default=FALLBACK)


def language_of(locale: str | None) -> str:
    """Return the catalogue that serves `locale`, such as "de-AT" or "de_DE"; else the fallback."""
    primary = (locale or "").replace("_", "-").split("-")[0].lower()
    return primary if primary in LANGUAGES else FALLBACK


def current_language() -> str:
    """Return the language that `text` uses in this task."""
    return _language.get()


@contextmanager
def use_locale(locale: str | None) -> Iterator[None]:
    """Show messages in the language of `locale` within the block, and in tasks started there."""
    token = _language.set(language_of(locale))
    try:
        yield
    finally:
        _language.reset(token)


_terms: ContextVar[Mapping[str, str] | None] = ContextVar("terms", default=None)
_USUAL = {
    "ask_command": "/ask",
    "glossator_command": "/glossator",
    "course_command": "/course",
}


def current_terms() -> Mapping[str, str]:
    """Return what stands for each term's placeholder in this task."""
    return _terms.get() or _USUAL


@contextmanager
def use_terms(terms: Mapping[str, str]) -> Iterator[None]:
    """Show messages with these terms within the block, and in tasks started there."""
    token = _terms.set({**_USUAL, **terms})
    try:
        yield
    finally:
        _terms.reset(token)


def text(message_id: str, /, **values: object) -> str:
    """Return the message `message_id` in the current language, with its `{names}` filled in.

    The names of commands, such as `{ask_command}`, are filled in by themselves. A value named
    `count` chooses the plural form. A language that lacks the message gives the English one.

    Raises:
        LookupError: no catalogue has `message_id`.
    """
    return _text_in(current_language(), message_id, values)


def _text_in(language: str, message_id: str, values: Mapping[str, object]) -> str:
    count = values.get("count")
    number = count if isinstance(count, int) else None
    for wanted in (language, FALLBACK):
        pattern = catalogue(wanted).pattern(message_id, number)
        if pattern is not None:
            shown = {name: in_language(value, language) for name, value in values.items()}
            return pattern.format(**{**current_terms(), **shown})
    raise LookupError(f"no catalogue has the message {message_id!r}")


@dataclass(frozen=True, slots=True)
class Message:
    """A message to be shown later, perhaps to several people in their own languages."""

    id: str
    values: Mapping[str, object] = field(default_factory=dict)

    def in_language(self, language: str) -> str:
        """Return the sentence in `language`."""
        return _text_in(language, self.id, self.values)

    def renderings(self) -> frozenset[str]:
        """Return the sentence in every language, to recognise one that was stored."""
        return frozenset(self.in_language(language) for language in LANGUAGES)

    def __str__(self) -> str:
        return text(self.id, **self.values)


@overload
def in_language(value: Message | str, language: str) -> str: ...
@overload
def in_language(value: object, language: str) -> object: ...
def in_language(value: object, language: str) -> object:
    """Return a message in a language; what is no message stays as it is."""
    return value.in_language(language) if isinstance(value, Message) else value


_MONTHS = (
    Message("date-jan"),
    Message("date-feb"),
    Message("date-mar"),
    Message("date-apr"),
    Message("date-may"),
    Message("date-jun"),
    Message("date-jul"),
    Message("date-aug"),
    Message("date-sep"),
    Message("date-oct"),
    Message("date-nov"),
    Message("date-dec"),
)


def date_of(moment: datetime) -> str:
    """Return the day of a moment, such as `12 Nov 2026`."""
    month = _MONTHS[moment.month - 1]
    values = {"day": moment.day, "month": month, "year": moment.year}
    return str(Message("date-day", values))
