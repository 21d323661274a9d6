"""Each message exists in English, and every translation of it fills in the same values."""

import re
from math import ceil
from pathlib import Path

import pytest
from polib import pofile

from core.answering.grounding.citations import other_language
from core.domain.errors import ChannelFull, RateLimited
from core.domain.i18n import (
    FALLBACK,
    LANGUAGES,
    LOCALES,
    Message,
    catalogue,
    in_language,
    language_of,
    text,
    use_locale,
)

_NAME = re.compile(r"(?<!\{)\{(\w+)(?:[:!][^}]*)?\}(?!\})")


def messages(language: str) -> dict[str, list[str]]:
    """Return each message's patterns by its id; an id may stand in one file only."""
    found: dict[str, list[str]] = {}
    for file in sorted((LOCALES / language).glob("*.po")):
        for message in pofile(str(file)):
            assert message.msgid not in found, f"{message.msgid} stands in two files"
            found[message.msgid] = [*message.msgstr_plural.values()] or [message.msgstr]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_written_and_fills_in_what_english_fills_in(language: str) -> None:
    english, found = messages(FALLBACK), messages(language)
    assert set(found) <= set(english), "a translation of no message"
    for name, patterns in found.items():
        names = {value for pattern in english[name] for value in _NAME.findall(pattern)}
        for pattern in patterns:
            assert pattern.strip(), f"{name} is empty in {language}"
            assert set(_NAME.findall(pattern)) <= names, f"{name} in {language}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_of_a_file_is_found(language: str) -> None:
    for name, patterns in messages(language).items():
        assert catalogue(language).pattern(name, count=1) == patterns[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_the_same_files(language: str) -> None:
    files = {file.name for file in (LOCALES / language).iterdir() if file.suffix == ".po"}
    assert files == {file.name for file in (LOCALES / FALLBACK).glob("*.po")}


def test_german_has_every_message() -> None:
    assert set(messages("de")) == set(messages(FALLBACK))


def test_a_message_is_shown_in_the_language_of_the_block() -> None:
    assert text("error-unexpected").startswith("Something")
    with use_locale("de-AT"):
        assert text("error-unexpected").startswith("Etwas")
        assert Message("error-unexpected").in_language("en").startswith("Something")
        assert str(Message("error-unexpected")).startswith("Etwas")
    assert text("error-unexpected").startswith("Something")


@pytest.mark.parametrize(("count", "word"), [(1, "1 character."), (3, "3 characters.")])
def test_a_count_chooses_the_plural_form(count: int, word: str) -> None:
    assert text("error-question-too-short", count=count).endswith(word)


@pytest.mark.parametrize(
    ("locale", "language"),
    [("de", "de"), ("de_CH", "de"), ("DE-de", "de"), ("en-GB", "en"), ("fr", "en"), (None, "en")],
)
def test_a_locale_without_a_catalogue_is_served_in_english(
    locale: str | None, language: str
) -> None:
    assert language_of(locale) == language


def test_an_unknown_message_is_an_error_of_the_program() -> None:
    with pytest.raises(LookupError, match="no-such-message"):
        text("no-such-message")


def test_catalogues_lie_next_to_the_code() -> None:
    assert Path(LOCALES).is_dir()


@pytest.mark.parametrize("language", LANGUAGES)
def test_messages_mention_commands_by_placeholders_alone(language: str) -> None:
    """An operator may have named them otherwise, and those of before are gone."""
    literal = re.compile(r"(?<![\w/])/(?:ask|glossator|course|forget-me|export-my-data|sources)\b")
    named = {
        name: found
        for name, patterns in messages(language).items()
        if (found := [word for pattern in patterns for word in literal.findall(pattern)])
    }
    assert not named


@pytest.mark.parametrize("code", "en de fr es it pt nl pl sv da cs ro tr id pt-BR".split())
def test_each_language_that_a_question_is_recognised_in_has_a_name(code: str) -> None:
    english = other_language(code)
    with use_locale("de"):
        assert other_language(code) != english


_ALWAYS_SEVERAL = frozenset(
    {
        "greeting-courses",
        "notice-parts-left",
        *(f"radar-{name}" for name in ("asked", "lacking", "reasons", "empty", "note")),
    }
)
"""Messages whose count is never one: of two courses or parts at least, of two people or more."""
_NO_NOUN = frozenset({"radar-row-last"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_message_with_a_count_has_a_form_for_one(language: str) -> None:
    for name, patterns in messages(language).items():
        if any("{count" in pattern for pattern in patterns):
            assert len(patterns) > 1 or name in _ALWAYS_SEVERAL | _NO_NOUN, name


@pytest.mark.parametrize("seconds", [0.2, 1.0, 1.2, 59.9])
def test_who_has_to_wait_reads_whole_seconds_in_their_right_number(seconds: float) -> None:
    for error in (RateLimited(seconds), ChannelFull(seconds)):
        english, german = (str(in_language(error.sentence, tag)) for tag in ("en", "de"))
        assert ("1 second." in english) == (seconds <= 1)
        assert ("1 Sekunde" in german and "Sekunden" not in german) == (seconds <= 1)
        assert f"{ceil(seconds)} second" in english
