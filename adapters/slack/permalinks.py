"""A link to a message, as the quote that it leads to, for who may read that message."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from adapters.payloads import mapping, mappings
from adapters.slack.api.lookups import Json, Lookups, Place
from adapters.slack.gateway.payloads import readable_message
from adapters.slack.mrkdwn_parser import all_of
from adapters.slack.replies.address import Address
from core.models import (
    EXPLAIN_QUOTE,
    MIN_QUESTION,
    AgentRequest,
    ContextMode,
    cut_selected_text,
)

_LINK = re.compile(
    r"https://(?P<host>[a-z0-9.-]+)/archives/(?P<channel>[CDG][A-Z0-9]+)"
    r"/p(?P<seconds>\d{10})(?P<fraction>\d{6})(?:\?(?P<query>[\w=&.%-]*[\w%-]))?"
)
_MEMBERS = 1_000
"""Members of a channel that one call tells."""
_MOST_PAGES = 5


@dataclass(frozen=True, slots=True)
class _Link:
    """Where a permalink leads."""

    text: str
    host: str
    channel: str
    ts: str
    thread: str | None


class Permalinks:
    """Reads linked messages.

    What the asker may not read is not read for them: a link into another workspace, or into a
    channel that they are not in, stays the text that it is. Nor is it shown to who may not: out
    of its channel a message is quoted only where the asker alone sees the answer.
    """

    def __init__(self, lookups: Lookups) -> None:
        self._lookups = lookups
        self._hosts: dict[Place, str] = {}

    async def complete(self, address: Address, request: AgentRequest) -> AgentRequest:
        """Return a request that quotes the message it links to, unless it quotes something."""
        link = _link_in(request.query_text)
        if link is None or request.selected_text is not None:
            return request
        place = (address.team, address.enterprise)
        if link.host != await self._host(place) or not await self._is_readable(address, link):
            return request
        message = await self._message(place, link)
        quote = all_of(message).strip() if message is not None else ""
        if not quote:
            return request
        text, cut = cut_selected_text(quote)
        asked = " ".join(request.query_text.replace(link.text, " ").split())
        return request.model_copy(
            update={
                "query_text": asked if len(asked) >= MIN_QUESTION else EXPLAIN_QUOTE,
                "context_mode": ContextMode.SELECTED_TEXT,
                "selected_text": text,
                "selected_text_cut": cut,
            }
        )

    async def _host(self, place: Place) -> str | None:
        """Return where a workspace's messages have their addresses."""
        if place not in self._hosts:
            said = await self._lookups.call(place, "auth.test")
            if said is None:
                return None
            self._hosts[place] = urlsplit(str(said["url"])).netloc
        return self._hosts[place]

    async def _is_readable(self, address: Address, link: _Link) -> bool:
        """Return whether the asker, and who sees the answer, may read the linked message."""
        is_here = link.channel == address.channel
        if is_here and address.question is not None:
            return True  # the question was written there
        if not is_here and not address.is_private:
            return False
        return await self._is_member(address, link)

    async def _is_member(self, address: Address, link: _Link) -> bool:
        """Return whether the asker is in the channel of the linked message."""
        place, cursor = (address.team, address.enterprise), ""
        for _ in range(_MOST_PAGES):
            page = await self._lookups.call(
                place,
                "conversations.members",
                channel=link.channel,
                limit=_MEMBERS,
                **({"cursor": cursor} if cursor else {}),
            )
            if page is None:
                return False
            if address.asker in page["members"]:
                return True
            cursor = (page.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return False
        return False

    async def _message(self, place: Place, link: _Link) -> Json | None:
        """Return the linked message; None when it is gone, or cannot be read now."""
        exactly = {"latest": link.ts, "oldest": link.ts, "inclusive": "true"}
        channel, call = link.channel, self._lookups.call
        if link.thread is None:
            history = "conversations.history"
            found = await call(place, history, channel=channel, limit=1, **exactly)
        else:
            replies, ts = "conversations.replies", link.thread
            found = await call(place, replies, channel=channel, ts=ts, limit=2, **exactly)
        messages = mappings(mapping(found).get("messages"))
        message = next((m for m in messages if m.get("ts") == link.ts), None)
        return readable_message(message) if message is not None else None


def _link_in(text: str) -> _Link | None:
    """Return the first permalink of a text."""
    match = _LINK.search(text)
    if match is None:
        return None
    ts = f"{match['seconds']}.{match['fraction']}"
    [thread] = parse_qs(match["query"] or "").get("thread_ts", [None])[:1]
    below = thread if thread and thread != ts else None
    return _Link(match[0], match["host"], match["channel"], ts, below)
