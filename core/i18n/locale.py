"""The language of the person who is answered, carried with the task that answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from core.i18n.catalogues import FALLBACK, LANGUAGES

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
