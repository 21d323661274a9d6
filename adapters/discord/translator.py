"""Descriptions of commands in the language of each person's Discord, from the catalogues."""

import discord
from discord import app_commands

from core.i18n import FALLBACK, Message, language_of

_CHOICE = app_commands.TranslationContextLocation.choice_name
_CHOICES = {
    "this channel": Message("choice-this-channel"),
    "this category": Message("choice-this-category"),
    "this server": Message("choice-this-server"),
    "off": Message("choice-off"),
    "on": Message("choice-on"),
    "until people talk": Message("choice-until-people-talk"),
    "mention": Message("choice-mention"),
    "everyone": Message("choice-everyone"),
    "staff": Message("choice-staff"),
    "short": Message("choice-short"),
    "normal": Message("choice-normal"),
    "long": Message("choice-long"),
}
"""The messages of choices by what they say; any other choice stays as it is."""


def described(message_id: str) -> app_commands.locale_str:
    """Return a message as discord.py takes it: in English, with what finds its translation."""
    return app_commands.locale_str(Message(message_id).in_language(FALLBACK), id=message_id)


class CatalogueTranslator(app_commands.Translator):
    """Finds what `described` made, and choices by their own words, in the catalogues."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """Return a text for a locale; None: it is shown in English, or is a name."""
        language = language_of(locale.value)
        if language == FALLBACK:
            return None
        if context.location is _CHOICE and string.message in _CHOICES:
            return _CHOICES[string.message].in_language(language)
        message_id = string.extras.get("id")
        return None if message_id is None else Message(str(message_id)).in_language(language)
