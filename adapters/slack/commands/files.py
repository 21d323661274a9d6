"""Gives a user a file, in their direct messages with the bot."""

import asyncio
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.features.data_export import File
from adapters.slack.api.refusals import of_status, refused
from core.errors import DeliveryError

_TIMEOUT = 30.0
"""Seconds for all of it."""


async def send_file(client: AsyncWebClient, reader: str, file: File, text: str) -> None:
    """Post a text with a file where its reader alone sees it.

    Raises:
        DeliveryError: when Slack does not take it; Refused with the word `missing_scope` where
            the app may not send files.
    """
    try:
        async with asyncio.timeout(_TIMEOUT):
            uploaded = await _uploaded(client, file)
            # Slack takes a user for a channel here, and only here.
            posted = await client.chat_postMessage(
                channel=reader, text=text, link_names=False, unfurl_links=False, unfurl_media=False
            )
            files: list[dict[str, str | None]] = [{"id": uploaded, "title": file.name}]
            await client.files_completeUploadExternal(files=files, channel_id=posted["channel"])
    except SlackApiError as error:
        raise refused("a file", error) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise DeliveryError(f"sending a file: {type(error).__name__}") from error


async def share_file(client: AsyncWebClient, channel: str, thread: str, file: File) -> None:
    """Share a file in a thread of a channel.

    Raises:
        DeliveryError: when Slack does not take it.
    """
    try:
        async with asyncio.timeout(_TIMEOUT):
            uploaded = await _uploaded(client, file)
            files: list[dict[str, str | None]] = [{"id": uploaded, "title": file.name}]
            await client.files_completeUploadExternal(
                files=files, channel_id=channel, thread_ts=thread
            )
    except SlackApiError as error:
        raise refused("a file", error) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise DeliveryError(f"sharing a file: {type(error).__name__}") from error


async def _uploaded(client: AsyncWebClient, file: File) -> str:
    """Return the id of a file that Slack has, and no one sees yet."""
    place: Any = await client.files_getUploadURLExternal(filename=file.name, length=len(file.data))
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            place["upload_url"], data=file.data, proxy=client.proxy, ssl=client.ssl or True
        ) as answer,
    ):
        if answer.status != 200:
            raise of_status("a file's upload", answer.status, answer.headers, "upload_failed")
    return str(place["file_id"])
