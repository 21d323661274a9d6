"""Descriptions of commands in the language of each person's Discord, from the catalogues."""

import discord
from discord import app_commands

from adapters.discord.commands.choices import CHOICES
from core.i18n import FALLBACK, Message, language_of

_CHOICE = app_commands.TranslationContextLocation.choice_name


def described(message_id: str) -> app_commands.locale_str:
    """Return a message as discord.py takes it: in English, with what finds its translation."""
    return localized(Message(message_id))


def localized(message: Message) -> app_commands.locale_str:
    """Return a message without values as `described` does."""
    return app_commands.locale_str(message.in_language(FALLBACK), id=message.id)


class CatalogueTranslator(app_commands.Translator):
    """Finds in the catalogues what `localized` made, and choices by their own words."""

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
        if context.location is _CHOICE and string.message in CHOICES:
            return CHOICES[string.message].in_language(language)
        message_id = string.extras.get("id")
        return None if message_id is None else Message(str(message_id)).in_language(language)
