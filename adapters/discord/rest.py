"""The few requests that an answer needs, each safe to repeat; the SDK's errors die here."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from math import inf
from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
import yarl
from discord.http import MultipartParameters, Route, handle_message_parameters
from discord.webhook.async_ import async_context

from adapters.chat.base import mapping
from adapters.chat.delivery.job_lease import noticed
from adapters.chat.incoming_message import PlatformClock
from adapters.discord.members import text_in
from adapters.discord.outbound import Post, files, layout
from adapters.discord.payloads import snowflake
from core.domain.errors import DeliveryError, Unclear
from core.storage.leases import RateLimitWindows

UNKNOWN_CHANNEL = 10003
UNKNOWN_MESSAGE = 10008
UNKNOWN_WEBHOOK = 10015
UNKNOWN_INTERACTION = 10062
NO_ACCESS = 50001
NO_PERMISSION = 50013
INVALID_TOKEN = 50027
THREAD_ARCHIVED = 50083
NO_HISTORY = 160002
THREAD_EXISTS = 160004
THREAD_LOCKED = 160005
NOT_A_MEMBER = frozenset({10004, 10007, 10013, NO_ACCESS})
"""Unknown Guild, Unknown Member, Unknown User, Missing Access."""
TOKEN_IS_DEAD = frozenset({UNKNOWN_WEBHOOK, UNKNOWN_INTERACTION, INVALID_TOKEN})
CHANNEL_IS_CLOSED = frozenset({UNKNOWN_CHANNEL, NO_ACCESS, NO_PERMISSION})

_LATER = frozenset({401, 408, 429})
_MINUTE = 60.0
_ADVICE = {
    UNKNOWN_CHANNEL: "the channel is gone",
    NO_ACCESS: "give the bot 'View Channel' there",
    NO_PERMISSION: (
        "give the bot 'Send Messages', 'Send Messages in Threads', 'Create Public Threads', "
        "'Attach Files' and 'Read Message History' there"
    ),
    50007: "the user takes no direct messages",
    THREAD_LOCKED: "the thread is locked, and the bot has not 'Manage Threads' there",
}


class Refused(DeliveryError):
    """Discord refused a request; `code` is its JSON error code, 0 where it gave none."""

    def __init__(
        self, detail: str, *, code: int, permanent: bool, retry_after: float | None = None
    ) -> None:
        self.code = code
        super().__init__(detail, permanent=permanent, retry_after=retry_after)


def refused(error: discord.HTTPException) -> Refused:
    """Return an exception of discord.py as the bot's own error, without the texts sent."""
    detail = f"Discord answered {error.status}, error code {error.code}"
    if advice := _ADVICE.get(error.code):
        detail = f"{detail}: {advice}"
    wait = None
    if error.status in _LATER and error.code != INVALID_TOKEN:
        wait = _retry_after(error)
    elif error.status < 500:
        return Refused(detail, code=error.code, permanent=True)
    return Refused(detail, code=error.code, permanent=False, retry_after=wait)


def _retry_after(error: discord.HTTPException) -> float:
    header = error.response.headers.get("Retry-After", "")
    return float(header) if header.replace(".", "", 1).isdigit() else _MINUTE


Json = dict[str, Any]
_CHECK: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)

_MESSAGES = "/channels/{channel_id}/messages"
_MESSAGE = f"{_MESSAGES}/{{message_id}}"
_TIMEOUT = aiohttp.ClientTimeout(total=20.0)
_LONGEST_RESPONSE = 60.0
"""Seconds for showing a response to an interaction, discord.py's repetitions included."""
_PAUSES = (0.5, 2.0, None)
"""Seconds before a request is repeated whose connection broke; then it is given up."""
_ARCHIVE_AFTER = 1_440
"""Minutes without a message after which a thread leaves the list of channels."""
_NO_LEGACY: dict[str, Any] = {"content": None, "embeds": []}
"""What an edit takes away, so that also a message of before can consist of components."""
_WITH_COMPONENTS = {"with_components": "true"}
_PAGE = 100
_MOST_LOOKED_AT = 500
"""Messages: some seconds of reading where Discord makes us wait, and the janitor has twelve."""


class Rest:
    """Discord's REST API, as far as an answer needs it.

    discord.py waits for rate limits and repeats what a 5xx answered; a broken connection is
    repeated here. Repeating never shows a second message: posts carry a nonce, and all else
    sets what it sets. Methods raise Refused or DeliveryError, and what `check` raises.
    """

    def __init__(self, client: discord.Client, check: Callable[[], None]) -> None:
        """Prepare to send.

        Args:
            check: Called before each request is sent; raises when nothing may be sent any more.
                It takes `check_again` among the client's hooks.
        """
        self._client = client
        self._check = check

    @property
    def me(self) -> str:
        """The bot's own user id.

        Raises:
            DeliveryError: before the login.
        """
        if self._client.user is None:
            raise DeliveryError("we are not logged in to Discord yet")
        return str(self._client.user.id)

    async def post(
        self, channel: int, post: Post, *, nonce: str, reply_to: int | None = None
    ) -> tuple[str, str]:
        """Post a message, and return its id and what is written in it.

        What was posted with this nonce some minutes ago is not posted again, but returned.
        """
        reference = {
            "message_id": str(reply_to),
            "channel_id": str(channel),
            "fail_if_not_exists": False,
        }
        route = Route("POST", _MESSAGES, channel_id=channel)
        extra: dict[str, Any] = {"nonce": nonce} | (
            {"message_reference": reference} if reply_to else {}
        )
        extra["allowed_mentions"] = _notified(post)
        message = await self._call(lambda: self._send(route, post, **extra))
        return str(message["id"]), text_in(message)

    async def edit(self, channel: int, message: str, post: Post) -> None:
        """Show the post in place of what the message showed."""
        route = Route("PATCH", _MESSAGE, channel_id=channel, message_id=message)
        await self._call(lambda: self._send(route, post, **_NO_LEGACY))

    async def delete(self, channel: int, message: str) -> None:
        """Delete a message."""
        route = Route("DELETE", _MESSAGE, channel_id=channel, message_id=message)
        await self._request(route)

    async def edit_original(self, application: int, token: str, post: Post) -> Json:
        """Show the post as the response to an interaction, and return its message."""
        message: Json = await self._call(lambda: self._send_original(application, token, post))
        return message

    async def original(self, application: int, token: str) -> Json:
        """Return the response to an interaction as a message of Discord's."""
        message: Json = await self._call(lambda: self._read_original(application, token))
        return message

    async def delete_original(self, application: int, token: str) -> None:
        """Delete the response to an interaction."""
        await self._call(lambda: self._send_deletion(application, token))

    async def follow_up(self, application: int, token: str, post: Post) -> str:
        """Show a post to the user of an interaction alone, sent once, and return its id.

        Raises:
            Unclear: when it may be shown all the same.
            DeliveryError: when it is not, for sure.
        """
        self._check()
        webhook = self._webhook(application, token)
        url = f"{Route.BASE}/webhooks/{application}/{token}"
        with _parameters(post, hidden=True) as body:
            try:
                async with webhook.session.post(
                    url, params=_WITH_COMPONENTS, json=body.payload, timeout=_TIMEOUT
                ) as answer:
                    await _check_answer(answer)
                    return str(mapping(await answer.json(content_type=None)).get("id") or "")
            except aiohttp.ClientConnectorError as error:  # there was no connection to send by
                raise DeliveryError(type(error).__name__) from error
            except (aiohttp.ClientError, OSError) as error:
                raise Unclear(type(error).__name__) from error

    async def open_thread(self, channel: int, message: int, name: str) -> int:
        """Open a thread on a message and return its id."""
        route = Route("POST", f"{_MESSAGE}/threads", channel_id=channel, message_id=message)
        body = {"name": name, "auto_archive_duration": _ARCHIVE_AFTER}
        thread = await self._request(route, json=body)
        return int(thread["id"])

    async def unarchive(self, thread: int) -> None:
        """Make a thread writable again."""
        await self.change_thread(thread, archived=False)

    async def change_thread(self, thread: int, **changes: Any) -> None:
        """Change a thread's settings, such as its `name`."""
        route = Route("PATCH", "/channels/{channel_id}", channel_id=thread)
        await self._request(route, json=changes)

    async def direct_channel(self, user: int) -> int:
        """Return the channel of direct messages with a user."""
        route = Route("POST", "/users/@me/channels")
        channel = await self._request(route, json={"recipient_id": str(user)})
        return int(channel["id"])

    async def message(self, channel: int, message: int) -> Json:
        """Return a message as Discord has it now."""
        route = Route("GET", _MESSAGE, channel_id=channel, message_id=message)
        return dict(mapping(await self._request(route)))

    async def call(self, route: Route) -> None:
        """Make a request that has no body and may be made again."""
        await self._request(route)

    async def is_member(self, guild: str, user: str) -> bool:
        """Return whether a user is a member of a server that the bot is a member of."""
        route = Route("GET", "/guilds/{guild_id}/members/{user_id}", guild_id=guild, user_id=user)
        try:
            await self._request(route)
        except Refused as refusal:
            if refusal.code in NOT_A_MEMBER:
                return False
            raise
        return True

    async def messages_before(self, channel: int, message: int, *, most: int) -> list[Json]:
        """Return the last messages in front of a message, oldest first; at most 100."""
        route = Route("GET", _MESSAGES, channel_id=channel)
        page = await self._request(route, params={"limit": most, "before": message})
        if not isinstance(page, list):
            raise DeliveryError("Discord answered without a list of messages")
        return sorted((dict(mapping(one)) for one in page), key=_place_of)

    async def messages_after(
        self, channel: int, message: int, *, most: int = _MOST_LOOKED_AT
    ) -> list[Json]:
        """Return the first messages after a message, oldest first.

        Args:
            most: How many are enough; a multiple of 100.
        """
        pages = self.pages_after(channel, message, most=most)
        return [one async for page in pages for one in page]

    async def pages_after(
        self, channel: int, message: int, *, most: int
    ) -> AsyncIterator[list[Json]]:
        """Yield what `messages_after` returns as it is read, page by page.

        A message that does not say which one it is has no place, and comes last in its page.
        """
        behind, count = message, 0
        route = Route("GET", _MESSAGES, channel_id=channel)
        while count < most:
            page = await self._request(route, params={"limit": _PAGE, "after": behind})
            if not isinstance(page, list):
                raise DeliveryError("Discord answered without a list of messages")
            messages = sorted((dict(mapping(one)) for one in page), key=_place_of)
            yield messages
            count += len(page)
            latest = max((snowflake(one.get("id")) or 0 for one in messages), default=0)
            if len(page) < _PAGE or latest <= behind:
                return
            behind = latest

    async def _request(self, route: Route, **body: Any) -> Any:
        http = self._client.http
        return await self._call(lambda: http.request(route, timeout=_TIMEOUT, **body))

    async def _call(self, request: Callable[[], Awaitable[Any]]) -> Any:
        for pause in _PAUSES:
            try:
                return await asyncio.shield(self._begun(request))
            except discord.RateLimited as error:
                raise DeliveryError(str(error), retry_after=error.retry_after) from error
            except discord.HTTPException as error:
                raise refused(error) from error
            except (aiohttp.ClientError, OSError) as error:
                if pause is None:
                    raise DeliveryError(type(error).__name__) from error
                await asyncio.sleep(pause)
            except (AssertionError, RuntimeError) as error:  # so aiohttp says that it was closed
                if not self._client.is_closed():
                    raise
                raise DeliveryError("the connection was closed") from error
        raise AssertionError("the last pause is None")

    def _begun(self, request: Callable[[], Awaitable[Any]]) -> asyncio.Task[Any]:
        """Return a request under way, which is checked again whenever it is sent."""
        before = _CHECK.set(self._check)
        try:
            begun = asyncio.create_task(_started(request))
        finally:
            _CHECK.reset(before)
        begun.add_done_callback(noticed)
        return begun

    async def _send(self, route: Route, post: Post, **extra: Any) -> Any:
        with _parameters(post, **extra) as body:
            http = self._client.http
            if not body.files:
                return await http.request(route, json=body.payload, timeout=_TIMEOUT)
            return await http.request(
                route, files=body.files, form=body.multipart, timeout=_TIMEOUT
            )

    async def _send_original(self, application: int, token: str, post: Post) -> Any:
        webhook = self._webhook(application, token)
        async with asyncio.timeout(_LONGEST_RESPONSE):
            with _parameters(post, **_NO_LEGACY) as body:
                return await async_context.get().edit_original_interaction_response(
                    application,
                    token,
                    session=webhook.session,
                    proxy=webhook.proxy,
                    proxy_auth=webhook.proxy_auth,
                    payload=body.payload,
                    multipart=body.multipart,
                    files=body.files,
                )

    async def _read_original(self, application: int, token: str) -> Any:
        webhook = self._webhook(application, token)
        async with asyncio.timeout(_LONGEST_RESPONSE):
            return await async_context.get().get_original_interaction_response(
                application,
                token,
                session=webhook.session,
                proxy=webhook.proxy,
                proxy_auth=webhook.proxy_auth,
            )

    async def _send_deletion(self, application: int, token: str) -> None:
        webhook = self._webhook(application, token)
        async with asyncio.timeout(_LONGEST_RESPONSE):
            await async_context.get().delete_original_interaction_response(
                application,
                token,
                session=webhook.session,
                proxy=webhook.proxy,
                proxy_auth=webhook.proxy_auth,
            )

    def _webhook(self, application: int, token: str) -> discord.Webhook:
        return discord.Webhook.partial(application, token, client=self._client)


async def check_again(*_: object) -> None:
    """Raise what the check of a request raises that is about to be sent; a hook for aiohttp.

    Between our check and the sending, discord.py may wait out rate limits, and the process may
    stand still: an edit of an answer that others have finished meanwhile would spoil it.
    """
    _CHECK.get()()


async def _started(request: Callable[[], Awaitable[Any]]) -> Any:
    """Run a request to its end, whether it is awaited or not.

    discord.py 2.7 holds all requests back while it waits out a global rate limit; were the
    waiting one cancelled, it would hold them back for ever.
    """
    return await request()


def _place_of(message: Json) -> float:
    return snowflake(message.get("id")) or inf


async def _check_answer(answer: aiohttp.ClientResponse) -> None:
    """Raise what discord.py raises of an answer that is no success, as the bot's own error."""
    if answer.status < 400:
        return
    try:
        data = mapping(await answer.json(content_type=None))
    except ValueError:
        data = {}
    if answer.status >= 500 or answer.status == 408:
        raise Unclear(f"Discord answered {answer.status}")
    raise refused(discord.HTTPException(answer, {**data}))


def _parameters(post: Post, *, hidden: bool = False, **extra: Any) -> MultipartParameters:
    """Return the body of a message that previews nothing, and pings no one unless asked to."""
    return handle_message_parameters(
        flags=discord.MessageFlags(suppress_embeds=True, ephemeral=hidden),
        view=layout(post),
        attachments=files(post),
        **{"allowed_mentions": discord.AllowedMentions.none(), **extra},
    )


def _notified(post: Post) -> discord.AllowedMentions:
    """Return whom a message notifies: no one, or the one person that it is for."""
    if post.pings is None:
        return discord.AllowedMentions.none()
    return discord.AllowedMentions(
        everyone=False, roles=False, replied_user=False, users=[discord.Object(post.pings)]
    )


_GLOBAL = "discord:global"
_LONGEST = 10.0
"""Seconds that a request waits here; its job is tried again when it would have to wait longer."""
_ROUTE = re.compile(r"/(channels/\d+)(/.*)?$")
_OF_AN_INTERACTION = re.compile(r"/(interactions|webhooks)/\d+/")
"""A path with a token in it, for which no limit of the bot as a whole holds."""
_SOCKETS = ("ws", "wss")
_ID = re.compile(r"\d{15,}")
_TOO_MANY = 429


def shared_limits(
    closed: RateLimitWindows, clock: PlatformClock | None = None
) -> aiohttp.TraceConfig:
    """Return what has each request wait that another process learned to be too much.

    What had to wait, here or in discord.py, is sent only if its answer is still ours to show.

    discord.py knows the windows that it used up or was refused in; it tells no one. What it
    sends for one interaction alone is left out: no other process sends that.

    Args:
        clock: Learns from every answer.
    """

    async def wait(
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        begun: aiohttp.TraceRequestStartParams,
    ) -> None:
        windows = _windows(begun.method, begun.url)
        while windows and (left := await closed.seconds_left(*windows)):
            if left > _LONGEST:
                raise discord.RateLimited(left)
            await asyncio.sleep(left)

    async def note(
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        ended: aiohttp.TraceRequestEndParams,
    ) -> None:
        headers, status = ended.response.headers, ended.response.status
        if clock is not None:
            clock.note(headers.get("Date"))
        if status != _TOO_MANY and headers.get("X-RateLimit-Remaining") != "0":
            return
        is_global = headers.get("X-RateLimit-Global") == "true"
        given = headers.get("X-RateLimit-Reset-After") or headers.get("Retry-After") or "1"
        if is_global or headers.get("X-RateLimit-Scope") == "shared":
            given = headers.get("Retry-After") or given
        for window in _windows(ended.method, ended.url):
            if (window == _GLOBAL) is is_global:
                await closed.close(window, _seconds(given))

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(wait)
    trace.on_request_start.append(check_again)
    trace.on_request_end.append(note)
    return trace


def _windows(method: str, url: yarl.URL) -> tuple[str, ...]:
    """Return the names of the limits that a request counts for and that are shared."""
    if url.scheme in _SOCKETS or _OF_AN_INTERACTION.search(url.path):
        return ()
    found = _ROUTE.search(url.path)
    if found is None:
        return (_GLOBAL,)
    return f"discord:{method} {found[1]}{_ID.sub('…', found[2] or '')}", _GLOBAL


def _seconds(given: str) -> float:
    return float(given) if given.replace(".", "", 1).isdigit() else 1.0
