"""Discord's names and descriptions of commands, in the languages of the message catalogues."""

import discord
from discord import app_commands

from core.i18n import FALLBACK, Message, language_of

_ID = "message_id"


def described(message_id: str) -> app_commands.locale_str:
    """Return a catalogue's message for a command's definition, which Discord shows by locale."""
    english = Message(message_id).in_language(FALLBACK)
    return app_commands.locale_str(english, **{_ID: message_id})


class CatalogueTranslator(app_commands.Translator):
    """Translates what `described` returns; other texts stay as they are."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """Return a text in a locale; None: Discord shows the English one."""
        message_id, language = string.extras.get(_ID), language_of(str(locale))
        if message_id is None or language == FALLBACK:
            return None
        return Message(str(message_id)).in_language(language)
