"""Posts what answers no one into a channel, once."""

import io
from datetime import timedelta
from typing import Any

import aiohttp
import discord

from adapters.discord.api.refusals import refused
from adapters.discord.api.rest import Rest
from adapters.discord.commands.policies import shortened
from adapters.discord.replies.dedupe import nonce
from core.errors import DeliveryError
from core.radar.post import RadarChannel, RadarPost

_LOOKED_BACK = timedelta(days=8)
"""How far back a post may stand that another process made."""


async def announce(
    client: discord.Client, rest: Rest, channel: RadarChannel, post: RadarPost, key: str
) -> None:
    """Post a text with its picture, unless they stand in the channel already.

    The picture's name is that of its course and week, by which it is found.

    Raises:
        DeliveryError: when Discord does not take it.
    """
    number = int(channel.channel)
    since = discord.utils.time_snowflake(discord.utils.utcnow() - _LOOKED_BACK)
    for message in await rest.messages_after(number, since):
        names = [one.get("filename") for one in message.get("attachments") or ()]
        if (message.get("author") or {}).get("id") == rest.me and post.picture_name in names:
            return
    target = client.get_partial_messageable(number)
    options: dict[str, Any] = {
        "allowed_mentions": discord.AllowedMentions.none(),
        "suppress_embeds": True,
        "nonce": nonce(key, number, 0),
    }
    picture = io.BytesIO(post.picture)
    file = discord.File(picture, post.picture_name, description=post.alternative)
    try:
        await target.send(shortened(post.text), file=file, **options)
    except discord.HTTPException as error:
        raise refused(error) from error
    except (aiohttp.ClientError, OSError) as error:
        raise DeliveryError(f"posting into a channel: {type(error).__name__}") from error
