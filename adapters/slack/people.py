"""Who a user is in a Slack workspace: its admin, a member, or a guest of another one."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.incoming_message import IncomingMessage
from adapters.chat.places import Presence
from adapters.slack.inbound import PLATFORM, Spot, spot_of_interaction, team_of
from adapters.slack.installations import Clients, Installations
from adapters.slack.refusals import CHANNEL_IS_CLOSED
from core.domain.errors import BotError
from core.storage.access import Member, Tenant, no_member
from core.storage.installations import Installed

logger = logging.getLogger(__name__)

Json = Mapping[str, Any]

GROUPS_SCOPE = "usergroups:read"
"""Without it, user groups make no one staff."""
_MEMBER, _GROUP, _GROUPS, _COLLEAGUE = "member", "group", "groups", "colleague"
_LOCALE = "locale"
"""What is asked about an id."""
_PEOPLE = ("U", "W")
"""How the ids of people begin; those of old integrations begin with B."""
_NO_GROUPS = frozenset[str]()
_NO_MEMBERS = ("deleted", "is_bot", "is_restricted", "is_ultra_restricted")
"""Marks of apps, guests, and those who have left."""
_NO_GROUP = frozenset({"missing_scope", "no_such_subteam", "plan_upgrade_required"})
"""Refusals that asking again does not change."""
_FRESH = 300.0
"""Seconds for which an answer of Slack's is good enough."""
_MOST_KNOWN = 10_000
_PATIENCE = 1.5
"""Seconds for what a command or a click waits for."""
_HURRY = 0.5
"""Seconds for the language of an answer, which is English where Slack does not tell it."""


class People:
    """Asks Slack who a user is; who cannot be asked about is no member, and a guest.

    Members are the people of the workspace, or of the organisation that let the app in; guests
    and apps never are. Admins are the workspace's admins and owners.
    """

    def __init__(self, clients: Clients, installations: Installations) -> None:
        self._clients = clients
        self._installations = installations
        self._known: dict[Hashable, tuple[float, Any]] = {}

    def introduced(self, incoming: IncomingMessage) -> IncomingMessage:
        """Return what was heard, with what finds out who its asker is."""
        enterprise = incoming.address["enterprise"]
        asked = partial(self.member, incoming.workspace, enterprise, incoming.user)
        known = no_member if incoming.outsider else asked
        locale = partial(self.locale, incoming.workspace, enterprise, incoming.user)
        return replace(
            incoming, member=known, organisation=enterprise, role_later=True, find_locale=locale
        )

    def presence_of(self, spot: Spot) -> Presence:
        """Return a user at a place, as far as it decides whether they are staff there."""
        asked = partial(self.member, spot.team, spot.enterprise, spot.user)
        wider = Tenant(PLATFORM, spot.enterprise) if spot.enterprise else None
        member = no_member if spot.outsider else asked
        return Presence(spot.location, member, wider)

    async def member(
        self, team: str, enterprise: str | None, user: str, groups: frozenset[str] = _NO_GROUPS
    ) -> Member | None:
        """Return a user in a workspace, with those of some groups that they are in."""
        if not user.startswith(_PEOPLE):
            return None
        ordered = sorted(groups)
        member, *inside = await asyncio.gather(
            self._asked((team, user, _MEMBER), partial(self._member, team, enterprise, user), None),
            *(self.people_in(team, enterprise, group) for group in ordered),
        )
        if member is None:
            return None
        held = [group for group, people in zip(ordered, inside, strict=True) if user in people]
        found: Member = replace(member, holds=frozenset(held))
        return found

    async def locale(self, team: str, enterprise: str | None, user: str) -> str | None:
        """Return the locale that a user has set in Slack; None where Slack does not say."""
        if not user.startswith(_PEOPLE):
            return None
        asking = partial(self._locale, team, enterprise, user)
        found: str | None = await self._asked((team, user, _LOCALE), asking, None, _HURRY)
        return found

    async def locale_of(self, body: Json) -> str | None:
        """Return the locale of who used the app, by an event as Slack sent it.

        None for messages: only those that are answered need it, and `introduced` finds it out.
        """
        event: Json = body.get("event") or {}
        if event and event.get("type") != "app_home_opened":
            return None
        person: Json | str = body.get("user") or {}
        user = person if isinstance(person, str) else person.get("id")
        user = user or body.get("user_id") or event.get("user")
        enterprise: Json = body.get("enterprise") or {}
        team, wider = body.get("team_id"), body.get("enterprise_id") or enterprise.get("id")
        return await self.locale(str(team or wider or team_of(body)), wider, str(user or ""))

    async def people_in(self, team: str, enterprise: str | None, group: str) -> frozenset[str]:
        """Return the ids of a user group's people; no one where Slack does not say."""
        asking = partial(self._people_in, team, enterprise, group)
        found: frozenset[str] = await self._asked((team, group, _GROUP), asking, _NO_GROUPS)
        return found

    async def groups(self, team: str, enterprise: str | None) -> Mapping[str, str]:
        """Return the handles of a workspace's user groups by id; none where Slack does not say."""
        asking = partial(self._groups, team, enterprise)
        found: Mapping[str, str] = await self._asked((team, _GROUPS), asking, {})
        return found

    async def may_read_groups(self, team: str, enterprise: str | None) -> bool:
        """Return whether the workspace lets us know who is in its user groups.

        Raises:
            StoreError: when the database fails.
            DeliveryError: when Slack does not say who we are.
        """
        home = await self._installations.find(team, enterprise)
        return home is not None and GROUPS_SCOPE in home.scopes.split(",")

    async def _member(self, team: str, enterprise: str | None, user: str) -> Member | None:
        client = await self._clients.of(team, enterprise)
        home = await self._installations.find(team, enterprise)
        found = await _user(client, user)
        self._keep((team, user, _LOCALE), found.get("locale"))
        if home is None or not _is_of(home, found) or any(found.get(no) for no in _NO_MEMBERS):
            return None
        profile = found.get("profile") or {}
        name = str(profile.get("display_name") or found.get("real_name") or "")
        return Member(user, is_admin=_is_admin(found), name=name)

    async def _locale(self, team: str, enterprise: str | None, user: str) -> str | None:
        client = await self._clients.of(team, enterprise)
        return (await _user(client, user)).get("locale")

    async def _groups(self, team: str, enterprise: str | None) -> Mapping[str, str]:
        client, team_id = await self._of(team, enterprise)
        found = await client.usergroups_list(team_id=team_id)
        return {str(group["id"]): str(group["handle"]) for group in found["usergroups"]}

    async def _of(self, team: str, enterprise: str | None) -> tuple[AsyncWebClient, str | None]:
        """Return a client, and the workspace where its token is a whole organisation's."""
        client = await self._clients.of(team, enterprise)
        home = await self._installations.find(team, enterprise)
        is_wide = home is not None and home.place == home.organisation
        return client, team if is_wide else None

    async def _people_in(self, team: str, enterprise: str | None, group: str) -> frozenset[str]:
        client, team_id = await self._of(team, enterprise)
        try:
            found = await client.usergroups_users_list(usergroup=group, team_id=team_id)
        except SlackApiError as error:
            if error.response.get("error") not in _NO_GROUP:
                raise
            logger.warning("the people in the user group %s are not to be had: %s", group, error)
            return _NO_GROUPS
        return frozenset(str(one) for one in found["users"])

    async def spot_of(self, body: Json) -> Spot:
        """Return where a user clicked, or chose a shortcut, and whether they are a guest there.

        Whatever workspace they are of, it happened in ours.

        Raises:
            StoreError: when the database fails.
            DeliveryError: when Slack does not say who we are.
        """
        spot, team = spot_of_interaction(body), body["user"].get("team_id")
        home = await self._installations.find(spot.team, spot.enterprise)
        if home is None or team in (None, home.place):
            return spot
        if home.organisation is not None and await self._is_colleague(home, spot.user):
            return spot
        return replace(spot, team=home.place, enterprise=home.organisation, outsider=True)

    async def _is_colleague(self, home: Installed, user: str) -> bool:
        """Return whether a user of another workspace is of our organisation."""

        async def is_colleague() -> bool:
            client = await self._clients.of(home.place, home.organisation)
            return _is_of(home, await _user(client, user))

        return bool(await self._asked((home.place, user, _COLLEAGUE), is_colleague, False))

    async def _asked(
        self,
        key: Hashable,
        asking: Callable[[], Awaitable[Any]],
        otherwise: object,
        patience: float = _PATIENCE,
    ) -> Any:
        """Return what Slack says, or said lately; `otherwise` where it does not tell soon."""
        asked_at, known = self._known.get(key, (-_FRESH, None))
        if time.monotonic() - asked_at < _FRESH:
            return known
        try:
            async with asyncio.timeout(patience):
                answer = await asking()
        except (SlackClientError, BotError, aiohttp.ClientError, OSError) as error:
            logger.warning("Slack does not say who somebody is: %s", error or "not in time")
            return otherwise
        self._keep(key, answer)
        return answer

    def _keep(self, key: Hashable, answer: object) -> None:
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = (time.monotonic(), answer)


async def is_in(client: AsyncWebClient, channel: str) -> bool:
    """Return whether the bot is in a channel; yes where Slack does not tell soon."""
    try:
        async with asyncio.timeout(_PATIENCE):
            found = (await client.conversations_info(channel=channel))["channel"]
    except SlackApiError as error:
        return error.response.get("error") not in CHANNEL_IS_CLOSED
    except (SlackClientError, aiohttp.ClientError, OSError):
        return True
    return bool(found.get("is_member", True))


async def _user(client: AsyncWebClient, user: str) -> Json:
    found: Json = (await client.users_info(user=user, include_locale=True))["user"]
    return found


def _is_of(home: Installed, user: Json) -> bool:
    """Return whether a user is of the workspace, or of the organisation, that let the app in."""
    if user.get("team_id") == home.place:
        return True
    organisation = (user.get("enterprise_user") or {}).get("enterprise_id")
    return home.organisation is not None and organisation == home.organisation


def _is_admin(user: Json) -> bool:
    return bool(user.get("is_admin") or user.get("is_owner"))


def home_of(who: Presence) -> tuple[str, str | None]:
    """Return the ids of a workspace and of its organisation."""
    return who.location.workspace, who.organisation.workspace if who.organisation else None
