"""What Slack refuses, as the bot's own errors: for now or for good, and with its word for it."""

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.actions.use import File
from core.domain.errors import DeliveryError, Unclear

MESSAGE_GONE = frozenset({"message_not_found"})
STILL_STREAMING = "streaming_state_conflict"
NOT_STREAMING = "message_not_in_streaming_state"
INVALID_ARGUMENTS = "invalid_arguments"
TOKEN_EXPIRED = "token_expired"
CHANNEL_IS_CLOSED = frozenset(
    {"channel_not_found", "is_archived", "not_in_channel", "restricted_action", "user_not_found"}
)
CANNOT_DELETE = frozenset({"cant_delete_message", "message_not_found", "channel_not_found"})
ABOUT_ONE_ANSWER = CHANNEL_IS_CLOSED | frozenset(
    {
        "cannot_reply_to_message",
        "channel_type_not_supported",
        "message_not_found",
        "message_not_owned_by_app",
        "missing_recipient_team_id",
        "missing_recipient_user_id",
        "msg_too_long",
        "no_text",
        "thread_not_found",
        NOT_STREAMING,
        "user_not_in_channel",
    }
)
"""What a stream may be refused for where others may still be streamed."""

_MINUTE = 60.0
_UNCLEAR = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})
"""Slack does not say whether it did what it was asked to."""
_LATER = frozenset(
    {"accesslimited", "org_login_required", "rate_limited", "ratelimited", TOKEN_EXPIRED}
)
_ADVICE = {
    "is_archived": "the channel is archived",
    "missing_scope": "install the app again, with the scopes of its manifest",
    "not_in_channel": "invite the bot into the channel",
    "thread_not_found": "the question was deleted",
}


class Refused(DeliveryError):
    """Slack refused a call; `word` is its error, empty where it gave none."""

    def __init__(
        self, method: str, word: str, *, permanent: bool, retry_after: float | None = None
    ) -> None:
        self.word = word
        detail = f"Slack refused {method}: {word or 'without a word'}"
        if advice := _ADVICE.get(word):
            detail = f"{detail}; {advice}"
        super().__init__(detail, permanent=permanent, retry_after=retry_after)


class Failed(Unclear):
    """Slack answered that it failed; it is most unlikely that it did what it was asked to."""


class TooMany(Refused):
    """Slack takes no more calls of a method for `retry_after` seconds."""

    def __init__(self, method: str, headers: Mapping[str, str]) -> None:
        value = headers.get("Retry-After") or headers.get("retry-after") or ""
        self.seconds = float(value) if value.replace(".", "", 1).isdigit() else _MINUTE
        super().__init__(method, "ratelimited", permanent=False, retry_after=self.seconds)


def refused(method: str, error: SlackApiError) -> DeliveryError:
    """Return an exception of slack_sdk as the bot's own error, without the texts sent."""
    response: Any = error.response
    status: int = getattr(response, "status_code", None) or response.status
    return of_status(method, status, response.headers, _word(response))


def of_status(method: str, status: int, headers: Mapping[str, str], word: str) -> DeliveryError:
    """Return what an answer of Slack means that is no success."""
    if status == 429:
        return TooMany(method, headers)
    if status >= 500 or word in _UNCLEAR or (status == 200 and not word):
        return Failed(f"Slack answered {method} with {status} {word}".rstrip())
    later = word in _LATER
    return Refused(method, word, permanent=not later, retry_after=_MINUTE if later else None)


def _word(response: Any) -> str:
    data = getattr(response, "data", None)
    return str(data.get("error") or "") if isinstance(data, dict) else ""


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
