"""Answers an interaction at once, to its user alone; an interaction that is lost is let go."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import aiohttp
import discord

from adapters.discord.refusals import UNKNOWN_INTERACTION

logger = logging.getLogger(__name__)

Interaction = discord.Interaction[Any]

_RESPONDED_ALREADY = 40060
_TRIES = 3


async def respond(call: Callable[[], Awaitable[object]]) -> bool:
    """Send a first response; return whether Discord has it.

    An event that is delivered twice is responded to twice, and Discord refuses the second:
    that is as good. An interaction that is lost after three seconds cannot be helped.
    """
    for _ in range(_TRIES):
        try:
            await call()
        except discord.InteractionResponded:
            return True
        except discord.HTTPException as error:
            if error.code == _RESPONDED_ALREADY:
                return True
            known = error.code == UNKNOWN_INTERACTION
            logger.log(
                logging.INFO if known else logging.WARNING,
                "an interaction could not be responded to: %s, code %s",
                *(error.status, error.code),
            )
            return False
        except (aiohttp.ClientError, OSError) as error:
            logger.info("responding to an interaction is tried again: %s", type(error).__name__)
        else:
            return True
    return False


async def tell(
    interaction: Interaction,
    text: str,
    *,
    embeds: Sequence[discord.Embed] = (),
    view: discord.ui.View | None = None,
) -> None:
    """Tell the user something that nobody else sees, as the first response."""
    await respond(
        lambda: interaction.response.send_message(
            text,
            embeds=embeds,
            view=view or discord.utils.MISSING,
            ephemeral=True,
            suppress_embeds=not embeds,
            allowed_mentions=discord.AllowedMentions.none(),
        )
    )
