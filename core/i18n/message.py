"""Messages by id: looked up now with `text`, or carried as a `Message` and shown later."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import overload

from core.i18n.catalogues import FALLBACK, LANGUAGES, catalogue
from core.i18n.locale import current_language
from core.i18n.terms import current_terms


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
