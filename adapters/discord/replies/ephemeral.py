"""Answers an interaction at once, to its user alone; an interaction that is lost is let go."""

import asyncio
import io
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

import aiohttp
import discord
from discord.http import HTTPClient, Route

from adapters.discord.api.refusals import UNKNOWN_INTERACTION
from adapters.discord.raw_message import interaction_address
from adapters.discord.replies.layout import layout
from adapters.discord.replies.outbound import Post
from adapters.features.data_export import File
from adapters.intake.deadline import done_in_time
from adapters.payloads import Json

logger = logging.getLogger(__name__)

Interaction = discord.Interaction[Any]
Result = TypeVar("Result")

_RESPONDED_ALREADY = 40060
TRIES = 3
"""How often a first response is sent that the network loses."""
_EPHEMERAL = discord.MessageFlags(ephemeral=True).value


async def respond(call: Callable[[], Awaitable[object]]) -> bool:
    """Send a first response; return whether Discord has it.

    An event that is delivered twice is responded to twice, and Discord refuses the second:
    that is as good. An interaction that is lost after three seconds cannot be helped.
    """
    for _ in range(TRIES):
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
        except RuntimeError as error:  # aiohttp's, when its connections are closed for good
            logger.info("an interaction is not responded to: %s", type(error).__name__)
            return False
        else:
            return True
    return False


async def in_time(
    interaction: Interaction, work: Coroutine[Any, Any, Result], *, thinking: bool = True
) -> Result:
    """Return what some work comes to; Discord, which waits three seconds, hears if it is slow.

    To be sent afterwards by `tell`, which then shows it in place of "thinking".

    Args:
        thinking: False: the message with the button is to show it, by `show_in_place`.
    """
    working = asyncio.create_task(work)
    if not await done_in_time(working):
        await respond(lambda: interaction.response.defer(ephemeral=thinking, thinking=thinking))
    return await working


def has_deferred_change(interaction: Interaction) -> bool:
    """Return whether Discord waits for a change of the message whose button was pressed."""
    return interaction.response.type is discord.InteractionResponseType.deferred_message_update


async def show_in_place(interaction: Interaction, view: discord.ui.LayoutView | None) -> None:
    """Show something in the message whose button was pressed; None: it stays as it is."""
    nobody, response = discord.AllowedMentions.none(), interaction.response
    if view is None:
        if not has_deferred_change(interaction):
            await respond(response.defer)
    elif has_deferred_change(interaction):
        await respond(
            lambda: interaction.edit_original_response(view=view, allowed_mentions=nobody)
        )
    else:
        await respond(lambda: response.edit_message(view=view, allowed_mentions=nobody))


async def tell(
    interaction: Interaction,
    text: str,
    *,
    view: discord.ui.View | None = None,
    file: File | None = None,
) -> None:
    """Send the user a message that no one else sees, as the first response or in its place."""
    nobody = discord.AllowedMentions.none()
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        await respond(
            lambda: interaction.edit_original_response(
                content=text,
                attachments=_attached(file),
                view=view,
                allowed_mentions=nobody,
            )
        )
        return
    send: Callable[..., Awaitable[object]] = interaction.response.send_message
    if has_deferred_change(interaction):
        send = interaction.followup.send
    await respond(
        lambda: send(
            text,
            files=_attached(file),
            view=view or discord.utils.MISSING,
            ephemeral=True,
            suppress_embeds=True,
            allowed_mentions=nobody,
        )
    )


async def tell_all(interaction: Interaction, text: str) -> None:
    """Send a message to everybody in the channel; no one is notified."""
    nobody = discord.AllowedMentions.none()
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        # What was deferred for its user alone stays so: it goes, and a message for all comes.
        await respond(interaction.delete_original_response)
        await respond(lambda: interaction.followup.send(text, allowed_mentions=nobody))
        return
    await respond(lambda: interaction.response.send_message(text, allowed_mentions=nobody))


async def show(interaction: Interaction, posts: Sequence[Post]) -> None:
    """Show the user cards that no one else sees, the first in the way that `tell` does."""
    nobody = discord.AllowedMentions.none()
    first, *more = map(layout, posts)
    if interaction.response.type is discord.InteractionResponseType.deferred_channel_message:
        shown = await respond(
            lambda: interaction.edit_original_response(view=first, allowed_mentions=nobody)
        )
    else:
        shown = await respond(
            lambda: interaction.response.send_message(
                view=first, ephemeral=True, allowed_mentions=nobody
            )
        )
    for view in more if shown else ():
        follow = partial(interaction.followup.send, ephemeral=True, allowed_mentions=nobody)
        if not await respond(partial(follow, view=view)):
            return


async def tell_unread(http: HTTPClient, data: Json, text: str) -> None:
    """Respond to an interaction whose payload discord.py cannot read."""
    address = interaction_address(data)
    if address is None:
        return
    number, token = address
    if data.get("type") == discord.InteractionType.autocomplete.value:
        return  # it takes suggestions alone
    message = {"content": text, "flags": _EPHEMERAL, "allowed_mentions": {"parse": []}}
    route = Route("POST", f"/interactions/{number}/{token}/callback")
    body = {"type": discord.InteractionResponseType.channel_message.value, "data": message}
    await respond(lambda: http.request(route, json=body))


def _attached(file: File | None) -> list[discord.File]:
    """Return a file as discord.py reads it, again for each try."""
    return [discord.File(io.BytesIO(file.data), file.name)] if file is not None else []


async def tell_instead(interaction: Interaction, text: str) -> None:
    """Send the user a message in place of the one before, if there was one."""
    if not interaction.response.is_done():
        await tell(interaction, text)
        return
    nobody = discord.AllowedMentions.none()
    await respond(lambda: interaction.edit_original_response(content=text, allowed_mentions=nobody))
