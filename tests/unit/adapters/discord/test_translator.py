"""Texts of commands in the languages of the catalogues."""

from typing import Any

import discord
import pytest
from discord import app_commands

from adapters.discord.commands import CatalogueTranslator, described

WHERE: app_commands.TranslationContext[Any, Any] = app_commands.TranslationContext(
    app_commands.TranslationContextLocation.other, discord.utils.MISSING
)


@pytest.mark.parametrize(
    ("locale", "said"),
    [
        (discord.Locale.german, "Teilen"),
        (discord.Locale.british_english, None),
        (discord.Locale.french, None),
    ],
)
async def test_a_text_of_the_catalogues_is_translated(
    locale: discord.Locale, said: str | None
) -> None:
    share = described("button-share")
    assert share.message == "Share"
    assert await CatalogueTranslator().translate(share, locale, WHERE) == said


async def test_any_other_text_stays_as_it_is() -> None:
    other = app_commands.locale_str("biology")
    assert await CatalogueTranslator().translate(other, discord.Locale.german, WHERE) is None
