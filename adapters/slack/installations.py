"""With which token the bot speaks where: one workspace's, or those of many by OAuth."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol
from weakref import WeakValueDictionary

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError, SlackTokenRotationError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator
from slack_sdk.web.async_client import AsyncWebClient

from adapters.chat.access import Readers
from adapters.slack.client import Budget, ClosedMethods, SlackClient
from adapters.slack.inbound import PLATFORM
from adapters.slack.refusals import TOKEN_EXPIRED, Refused, refused
from core.domain import now
from core.domain.errors import DeliveryError, StoreError
from core.storage.access import Tenant
from core.storage.installations import InstallationStore, Installed

logger = logging.getLogger(__name__)


_FRESH = 30.0
"""Seconds for which what was read about a workspace is good enough."""
_MINUTES_LEFT = 120
"""A token that lives no longer is exchanged for a new one."""
_TIMEOUT = 30.0
"""Seconds of a call, unless its caller has less patience."""
_LOOKS = 20
_LOOKS_EVERY = 0.1
"""Seconds between two looks for the token that another process is about to store."""


class Installations(Protocol):
    """Knows where the app is installed.

    Methods raise StoreError when the database fails.
    """

    async def find(self, team: str | None, enterprise: str | None) -> Installed | None:
        """Return what the bot is in a workspace; None: it is not installed there.

        Raises:
            DeliveryError: when Slack does not say who we are, or renews no token, for now.
        """
        ...

    async def turns_away(self, team: str | None, enterprise: str | None) -> bool:
        """Return whether a workspace has let the bot in, and the operator does not."""
        ...

    async def remove(self, team: str | None, enterprise: str | None) -> bool:
        """Forget a workspace that took the app out; without one, the organisation.

        Return whether it is out: not when a user has installed it again by now.

        Raises:
            DeliveryError: when Slack does not tell; nothing is forgotten then.
        """
        ...

    async def places(self) -> list[str]:
        """Return the ids of all workspaces and organisations."""
        ...


class OneInstallation:
    """The workspace of a bot token that the operator gave."""

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client
        self._known: Installed | None = None

    @property
    def is_known(self) -> bool:
        """Whether Slack has said who the bot is."""
        return self._known is not None

    async def find(self, team: str | None = None, enterprise: str | None = None) -> Installed:
        """Return what the bot is in its workspace, whichever is asked for."""
        if self._known is None:
            self._known = await who_are_we(self._client)
        return self._known

    async def turns_away(self, team: str | None, enterprise: str | None) -> bool:
        """Return that it does not: the workspace is the operator's own."""
        return False

    async def remove(self, team: str | None, enterprise: str | None) -> bool:
        """Return whether the token is dead, and say so; there is nothing else to forget."""
        if await _is_good(self._client):
            return False
        logger.error("the app was taken out of its workspace %s", team)
        return True

    async def places(self) -> list[str]:
        """Return the one workspace, once it is known."""
        return [self._known.place] if self._known else []


class ManyInstallations:
    """The workspaces that installed the app by OAuth; tokens that end are renewed."""

    def __init__(
        self,
        store: InstallationStore,
        api_url: str | None,
        closed: ClosedMethods,
        *,
        client_id: str,
        client_secret: str,
        admitted: Collection[str] = (),
    ) -> None:
        """Prepare to use the store.

        Args:
            admitted: The only workspaces, or organisations, that may install the app; empty: all.
            api_url: Where tokens are exchanged; None: at Slack's own address.
            closed: What all clients of the process know.
            client_id: The app's.
            client_secret: The app's.
        """
        self._store = store
        self._admitted = frozenset(admitted)
        self._client = partial(SlackClient, api_url, closed=closed)
        self._rotator = AsyncTokenRotator(
            client_id=client_id, client_secret=client_secret, client=self._client()
        )
        self._known: dict[str, tuple[float, Installed | None]] = {}
        self._refused_at: dict[str, float] = {}
        self._renewing = WeakValueDictionary[str, asyncio.Lock]()

    def admits(self, installed: Installed, team: str | None = None) -> bool:
        """Return whether the operator lets a workspace use the app, by itself or by its
        organisation."""
        places = {installed.place, installed.organisation, team}
        return not self._admitted or not self._admitted.isdisjoint(places)

    async def turns_away(self, team: str | None, enterprise: str | None) -> bool:
        """Return whether a workspace has let the bot in, and the operator does not."""
        found = [await self._at(place) for place in (team, enterprise) if place]
        known = [installed for installed in found if installed is not None]
        return bool(known) and not any(self.admits(installed, team) for installed in known)

    async def revoke(self, installed: Installed) -> None:
        """Give a token back to Slack that is not to be kept."""
        try:
            await self._client(installed.token).auth_revoke()
        except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
            name = type(error).__name__
            logger.warning("the token of %s was not revoked: %s", installed.place, name)

    async def save(self, installed: Installed) -> None:
        """Keep an installation, in place of an earlier one of the same workspace."""
        await self._store.save(installed)
        self._known.pop(installed.place, None)

    async def find(self, team: str | None, enterprise: str | None) -> Installed | None:
        """Return what the bot is in a workspace, or in the organisation it belongs to."""
        for place in (team, enterprise):
            installed = await self._at(place) if place else None
            if installed is not None and self.admits(installed, team):
                return await self._with_live_token(installed)
        return None

    async def remove(self, team: str | None, enterprise: str | None) -> bool:
        """Forget a workspace, unless its token is good; without one, the organisation."""
        place = team or enterprise
        if not place:
            return False
        self._known.pop(place, None)
        installed = await self._at(place)
        if installed is not None and await _is_good(self._client(installed.token)):
            return False
        # The app may be installed again while Slack is asked about the old token.
        gone = installed is None or await self._store.remove(installed)
        self._known.pop(place, None)
        return gone

    async def places(self) -> list[str]:
        """Return the ids of all workspaces and organisations."""
        return await self._store.places()

    async def _at(self, place: str) -> Installed | None:
        read_at, installed = self._known.get(place, (-_FRESH, None))
        if time.monotonic() - read_at > _FRESH:
            installed = await self._store.find(place)
            self._known[place] = (time.monotonic(), installed)
        return installed

    async def _with_live_token(self, installed: Installed) -> Installed | None:
        """Return the installation with a token that lives on; None: it is gone meanwhile.

        A refresh token is good once, so that one of all who ask exchanges it.

        Raises:
            DeliveryError: when the old one is dead and Slack gives no other now.
        """
        if not _ends_soon(installed):
            return installed
        async with self._renewing.setdefault(installed.place, asyncio.Lock()):
            # Who read it before it was renewed may have noted the old one since.
            self._known.pop(installed.place, None)
            current = await self._at(installed.place)
            if current is None or not _ends_soon(current) or self._was_refused(current):
                return current
            return await self._renewed(current)

    def _was_refused(self, installed: Installed) -> bool:
        """Return whether a token that still lives could not be exchanged just now."""
        refused_at = self._refused_at.get(installed.place, -_FRESH)
        return time.monotonic() - refused_at < _FRESH and _lives(installed)

    async def _renewed(self, installed: Installed) -> Installed | None:
        try:
            fresh = await self._rotator.perform_bot_token_rotation(
                bot=_as_bot(installed), minutes_before_expiration=_MINUTES_LEFT
            )
        except (SlackTokenRotationError, aiohttp.ClientError, OSError, TimeoutError) as error:
            logger.warning("the token of %s could not be renewed: %s", installed.place, error)
            self._refused_at[installed.place] = time.monotonic()
            return await self._renewed_elsewhere(installed)
        if fresh is None:
            return installed
        renewed = replace(
            installed,
            token=fresh.bot_token,
            refresh_token=fresh.bot_refresh_token,
            expires_at=moment_of(fresh.bot_token_expires_at),
        )
        kept = await self._store.renew(installed, renewed)
        self._known.pop(installed.place, None)
        return renewed if kept else await self._at(installed.place)

    async def _renewed_elsewhere(self, installed: Installed) -> Installed | None:
        """Return what another process has renewed, or is about to; else the old token.

        While the old one lives no one waits for that.
        """
        for look in range(_LOOKS):
            self._known.pop(installed.place, None)
            stored = await self._at(installed.place)
            if stored is None or _lives(stored):
                return stored
            if look + 1 < _LOOKS:
                await asyncio.sleep(_LOOKS_EVERY)
        raise DeliveryError(f"the token of {installed.place} cannot be renewed now")


class InstalledClients:
    """Clients of Slack's Web API, with each workspace's token and the same connections.

    Without a session of its own slack_sdk shakes hands again for each call.
    """

    def __init__(
        self, installations: Installations, api_url: str | None, closed: ClosedMethods
    ) -> None:
        self._installations = installations
        self._api_url = api_url
        self._closed = closed
        self._session: aiohttp.ClientSession | None = None

    async def of(self, team: str, enterprise: str | None) -> SlackClient:
        """Return a client with a workspace's token.

        Raises:
            DeliveryError: when the app is not installed there, or the token cannot be had now.
        """
        try:
            installed = await self._installations.find(team, enterprise)
        except StoreError as error:
            raise DeliveryError(f"the token of {team} cannot be read") from error
        if installed is None:
            raise DeliveryError(f"the app is not installed in {team}", permanent=True)
        return self.with_token(installed.token)

    def with_token(self, token: str | None) -> SlackClient:
        """Return a client with a token that is known already; None: with none."""
        return SlackClient(self._api_url, token, self._connections(), closed=self._closed)

    async def close(self) -> None:
        """Close all connections; who calls on opens one for the call."""
        if self._session is not None:
            await self._session.close()

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=_TIMEOUT),
                cookie_jar=aiohttp.DummyCookieJar(),  # a cookie is of one workspace
            )
        return self._session


async def who_are_we(client: AsyncWebClient) -> Installed:
    """Return what Slack says of a client's token.

    Raises:
        DeliveryError: when Slack refuses it, for good, or does not answer.
    """
    try:
        said = await client.auth_test()
    except SlackApiError as error:
        raise refused("auth.test", error) from error
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise DeliveryError(f"Slack cannot be reached: {type(error).__name__}") from error
    return Installed(
        place=str(said["team_id"]),
        organisation=said.get("enterprise_id"),
        bot_user=str(said["user_id"]),
        bot=str(said["bot_id"]),
        scopes=str(said.headers.get("x-oauth-scopes", "")),
        token=str(client.token),
    )


async def _is_good(client: AsyncWebClient) -> bool:
    """Return whether Slack takes a client's token; raises DeliveryError when it does not tell."""
    try:
        await who_are_we(client)
    except DeliveryError as error:
        if error.permanent or (isinstance(error, Refused) and error.word == TOKEN_EXPIRED):
            return False
        raise
    return True


def moment_of(seconds: int | None) -> datetime | None:
    """Return a moment from Slack's seconds."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _ends_soon(installed: Installed) -> bool:
    left = timedelta(minutes=_MINUTES_LEFT)
    return installed.expires_at is not None and installed.expires_at - now() <= left


def _lives(installed: Installed) -> bool:
    return installed.expires_at is None or installed.expires_at > now()


def _as_bot(installed: Installed) -> Bot:
    assert installed.expires_at is not None
    return Bot(
        bot_token=installed.token,
        bot_id=installed.bot,
        bot_user_id=installed.bot_user,
        bot_refresh_token=installed.refresh_token,
        bot_token_expires_at=int(installed.expires_at.timestamp()),
        installed_at=0.0,
    )


class InstalledTenants:
    """Notes a workspace when it lets the bot in, and again with what it tells."""

    def __init__(self, readers: Readers, *, of_operator: bool) -> None:
        """Prepare to note.

        Args:
            of_operator: Whether the bot's token is the operator's own, and so is its workspace.
        """
        self._readers = readers
        self._of_operator = of_operator

    async def note(self, installed: Installed, team: str | None = None) -> bool:
        """Keep that an installation, and a workspace that it covers, were met.

        Return whether the installation never was before.

        A failing database blocks no one: who reads there is looked up again, and kept then.
        """
        organisation = Tenant(PLATFORM, installed.organisation) if installed.organisation else None
        tenant = Tenant(PLATFORM, installed.place)
        try:
            if self._of_operator:
                await self._readers.make_home(tenant, organisation)
                return False
            around = None if tenant == organisation else organisation
            is_new = await self._readers.meet(tenant, around)
            if tenant == organisation and team and team != installed.place:
                await self._readers.meet(Tenant(PLATFORM, team), organisation)
        except StoreError as error:
            logger.warning("the workspace %s could not be noted: %s", installed.place, error)
            return False
        return is_new


class Stores(Protocol):
    """Hold what is known of workspaces."""

    async def forget(self, platform: str, workspace: str) -> int:
        """Delete it all; return how many questions there were.

        Raises:
            StoreError: when the database fails.
        """
        ...


class Organisations(Protocol):
    """Know the workspaces of organisations; methods raise StoreError when the database fails."""

    async def of_organisation(self, platform: str, organisation: str) -> list[str]:
        """Return the ids of the workspaces of an organisation in which a user asked."""
        ...


class Uninstalls:
    """Deletes what is stored of workspaces that took the app out."""

    def __init__(
        self,
        installations: Installations,
        stores: Stores,
        organisations: Organisations,
        forget: Callable[[str, str | None], None],
    ) -> None:
        """Put together what knows of workspaces.

        Args:
            forget: Drops what is known in memory about a workspace.
        """
        self._installations = installations
        self._stores = stores
        self._organisations = organisations
        self._forget = forget

    async def take(self, team: str | None, enterprise: str | None) -> None:
        """Delete a workspace's tokens, then all else; without one, the organisation's.

        Slack tells of it twice, and again where it got no answer: what is gone stays gone.

        Raises:
            StoreError: when the database fails; calling again deletes the rest.
            DeliveryError: when Slack does not tell whether the app is out; nothing is deleted.
        """
        if not await self._installations.remove(team, enterprise):
            logger.info("%s has the app all the same", team or enterprise)
            return
        for place in [team] if team else await self._teams_of(enterprise):
            count = await self._stores.forget(PLATFORM, place)
            self._forget(place, enterprise)
            logger.info("%s took the app out: %d questions are deleted", place, count)

    async def _teams_of(self, enterprise: str | None) -> list[str]:
        """Return the workspaces of an organisation that did not install the app themselves."""
        if enterprise is None:
            return []
        installed = set(await self._installations.places())
        teams = await self._organisations.of_organisation(PLATFORM, enterprise)
        return [team for team in teams if team not in installed]


_REST = 600.0
"""Seconds until something is tried again that a workspace did not have."""


class Clients(Protocol):
    """Knows with which token the bot speaks in each workspace."""

    async def of(self, team: str, enterprise: str | None) -> SlackClient:
        """Return a client with a workspace's token.

        Raises:
            DeliveryError: when the app is not installed there, or the token cannot be had now.
        """
        ...

    async def close(self) -> None:
        """Close their connections."""
        ...


class Ability:
    """Something that not every workspace can do: tried again a while after Slack refused it.

    Slack turns abilities on while the bot runs, and at times refuses by mistake what it can do.
    """

    def __init__(self, rest: float) -> None:
        """Suppose that it is there; `rest` are the seconds until it is tried again."""
        self._rest = rest
        self._again_at = -float("inf")

    @property
    def is_there(self) -> bool:
        """Whether it is worth trying."""
        return time.monotonic() >= self._again_at

    def refused(self) -> None:
        """Note that Slack does not have it at present."""
        self._again_at = time.monotonic() + self._rest


@dataclass(slots=True)
class Workspace:
    """What is known about a workspace for as long as the process lives."""

    budget: Budget
    streams: Ability = field(default_factory=lambda: Ability(_REST))
    """Whether Slack streams there."""
    sessions: Ability = field(default_factory=lambda: Ability(_REST))
    """Whether Slack has `agents.sessions.*` there."""
    is_warned: bool = False
    """Whether the log says already that Slack shows no stop button there."""
    me: str | None = None
    """The bot's user id, once it was asked for."""
    escape_code: bool = False
    """Whether `&`, `<` and `>` are escaped inside of code in a block of Markdown."""


@dataclass(slots=True)
class Workspaces:
    """All workspaces that the bot answers in; one for the whole process."""

    clients: Clients
    minute: float = 60.0
    """Seconds of Slack's minute; tests have a shorter one."""
    escape_code: bool = False
    """As of each workspace."""
    _known: dict[tuple[str | None, str], Workspace] = field(default_factory=dict)

    def of(self, team: str, enterprise: str | None) -> Workspace:
        """Return what all answers of a workspace share."""
        place = (enterprise, team)
        if place not in self._known:
            budget = Budget(minute=self.minute)
            rest = _REST / 60.0 * self.minute
            self._known[place] = Workspace(
                budget, Ability(rest), Ability(rest), escape_code=self.escape_code
            )
        return self._known[place]

    def forget(self, team: str, enterprise: str | None) -> None:
        """Know nothing of a workspace any more: the app was removed from it."""
        self._known.pop((enterprise, team), None)
