"""Posts what answers no one into a channel, once."""

import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

from adapters.features.data_export import File
from adapters.slack.api.client import SlackClient
from adapters.slack.api.rest import Rest
from adapters.slack.commands.files import share_file
from adapters.slack.replies.outbound import Post
from core.errors import DeliveryError
from core.radar.post import RadarChannel, RadarPost

logger = logging.getLogger(__name__)

_EVENT_TYPE = "glossator_radar"
_LOOKED_BACK = 8 * 86_400
"""Seconds that a post may be old which another process made."""


async def announce(
    rest: Rest, client: SlackClient, channel: RadarChannel, post: RadarPost, key: str
) -> None:
    """Post a text, and its picture in its thread, unless they stand in the channel already.

    Raises:
        DeliveryError: when Slack does not take the text; without its picture it stands, too.
    """
    since = f"{time.time() - _LOOKED_BACK:.6f}"
    me = await rest.me()
    ts = _standing(await rest.messages(channel.channel, since), me, key)
    if ts is None:
        metadata = {"event_type": _EVENT_TYPE, "event_payload": {"key": key}}
        ts = await rest.post(channel.channel, None, Post(post.text), metadata)
    elif _has_picture(await rest.replies(channel.channel, ts, ts), post.picture_name):
        return
    try:
        await share_file(client, channel.channel, ts, File(post.picture_name, post.picture))
    except DeliveryError as error:
        logger.info("a radar's picture was not posted: %s", error)


def _standing(messages: Iterable[Mapping[str, Any]], me: str, key: str) -> str | None:
    for message in messages:
        metadata = message.get("metadata") or {}
        payload = metadata.get("event_payload") or {}
        if metadata.get("event_type") == _EVENT_TYPE and payload.get("key") == key:
            return str(message["ts"]) if message.get("user") == me else None
    return None


def _has_picture(messages: Iterable[Mapping[str, Any]], name: str) -> bool:
    files = [file for message in messages for file in message.get("files") or ()]
    return any(file.get("name") == name for file in files)
