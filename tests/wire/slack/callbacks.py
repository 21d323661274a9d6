"""Deliveries over HTTP: signed requests to the address that an app gave."""

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp

from tests.wire.slack.entities import App
from tests.wire.slack.errors import Json
from tests.wire.slack.history import Delivery
from tests.wire.slack.undelivered import Undelivered
from tests.wire.slack.world import World

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Sent:
    """A request as it was signed and sent."""

    url: str
    body: str
    headers: dict[str, str]


class Callbacks:
    """Posts to apps and reads their answers."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._session: aiohttp.ClientSession | None = None
        self.sent: list[Sent] = []
        """Every request, in order, so that a test can send it again."""

    async def start(self) -> None:
        """Make ready to send."""
        self._session = aiohttp.ClientSession()

    async def stop(self) -> None:
        """Give connections back."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def verify(self, app: App, url: str) -> None:
        """Send the challenge; once it comes back, deliver there from now on.

        Raises:
            AssertionError: The address did not answer with the challenge.
        """
        challenge = secrets.token_hex(16)
        body = {
            "token": app.verification_token,
            "challenge": challenge,
            "type": "url_verification",
        }
        answer = await self._post(app, url, json.dumps(body), _JSON, {})
        echoed = (answer or {}).get("challenge") or (answer or {}).get("text")
        assert echoed == challenge, f"{url} answered {answer!r} to the challenge"
        app.request_url = url

    async def send(self, app: App, delivery: Delivery, kind: str, reason: str | None) -> Any:
        """Post one delivery; return what the answer holds.

        Raises:
            Undelivered: With the reason that the next attempt will name.
        """
        body, content_type = _encoded(delivery.payload, kind)
        headers = {}
        if delivery.attempt:
            headers["X-Slack-Retry-Num"] = str(delivery.attempt)
            headers["X-Slack-Retry-Reason"] = reason or "unknown_error"
        return await self._post(app, str(app.request_url), body, content_type, headers)

    async def _post(
        self, app: App, url: str, body: str, content_type: str, headers: dict[str, str]
    ) -> Any:
        assert self._session is not None
        stamp = str(int(self._world.clock.wall().timestamp()))
        headers = headers | {
            "Content-Type": content_type,
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
            **signed(app.signing_secret, body, stamp),
        }
        self.sent.append(Sent(url, body, headers))
        timeout = aiohttp.ClientTimeout(total=self._world.limits.ack)
        try:
            async with self._session.post(
                url, data=body.encode(), headers=headers, timeout=timeout, allow_redirects=False
            ) as response:
                if response.status // 100 != 2:
                    final = response.headers.get("X-Slack-No-Retry") == "1"
                    raise Undelivered("http_error", final=final)
                return _decoded(await response.text(), response.content_type)
        except TimeoutError:
            raise Undelivered("http_timeout") from None
        except aiohttp.ClientError:
            raise Undelivered("connection_failed") from None


def signed(secret: str, body: str, timestamp: str) -> dict[str, str]:
    """Return the headers by which an app knows that a body is Slack's."""
    base = f"v0:{timestamp}:{body}".encode()
    digest = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}


def _encoded(payload: Json, kind: str) -> tuple[str, str]:
    if kind == "events_api":
        return json.dumps(payload), _JSON
    if kind == "slash_commands":
        return urlencode(payload, errors="surrogatepass"), _FORM
    return urlencode({"payload": json.dumps(payload)}), _FORM


def _decoded(text: str, content_type: str) -> Any:
    if content_type == _JSON:
        return json.loads(text) if text else None
    return {"text": text} if text else None
