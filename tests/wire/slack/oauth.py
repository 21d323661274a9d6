"""OAuth v2: a page where a person lets an app into a workspace, and the code it gives."""

import html
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.wire.slack.entities import App, Installation, User, Workspace
from tests.wire.slack.errors import Json, SlackError

if TYPE_CHECKING:
    from tests.wire.slack.world import World


@dataclass(eq=False)
class _Grant:
    app: App
    workspace: Workspace
    user: User
    scopes: frozenset[str]
    redirect_uri: str
    made_at: float
    used: bool = False


class OAuth:
    """Hands out codes and exchanges them for tokens."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._grants: dict[str, _Grant] = {}

    def approve(self, query: dict[str, str], workspace: Workspace, user: User) -> str:
        """Return the address that the browser goes to after "Allow", with code and state.

        Raises:
            SlackError: The page would show an error instead of asking.
        """
        app = self._asking(query)
        redirect = query.get("redirect_uri") or app.redirect_urls[0]
        scopes = frozenset(query.get("scope", "").replace(" ", ",").split(",")) - {""}
        code = f"{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        now = self._world.clock.now()
        asked = query.get("redirect_uri", "")
        self._grants[code] = _Grant(app, workspace, user, scopes, asked, now)
        return f"{redirect}?{urlencode({'code': code, 'state': query.get('state', '')})}"

    def deny(self, query: dict[str, str]) -> str:
        """Return the address that the browser goes to after "Cancel"."""
        app = self._asking(query)
        redirect = query.get("redirect_uri") or app.redirect_urls[0]
        back = {"error": "access_denied", "state": query.get("state", "")}
        return f"{redirect}?{urlencode(back)}"

    def page(self, query: dict[str, str]) -> str:
        """Return the page that asks, with a link for each workspace."""
        app = self._asking(query)
        links = [
            f'<a href="/oauth/v2/allow?{html.escape(urlencode({**query, "team": w.id}))}">'
            f"Allow in {html.escape(w.name)}</a>"
            for w in self._world.workspaces.values()
        ]
        return f"<h1>{html.escape(app.name)} asks for access</h1>{'<br>'.join(links)}"

    def access(self, arguments: Json) -> Json:
        """Exchange a code, or a refresh token, for a bot token, or refuse."""
        app = self._client(arguments)
        if arguments.get("grant_type") == "refresh_token":
            return self._answer(self._refreshed(app, str(arguments.get("refresh_token"))))
        grant = self._grants.get(str(arguments.get("code")))
        now = self._world.clock.now()
        if grant is None or grant.app is not app or grant.used:
            raise SlackError("invalid_code")
        if now - grant.made_at > self._world.limits.code_life:
            raise SlackError("code_expired")
        if (arguments.get("redirect_uri") or "") != grant.redirect_uri:
            raise SlackError("bad_redirect_uri")
        grant.used = True
        installation = self._world.install(app, grant.workspace, grant.user, grant.scopes)
        installation.installer = grant.user
        if app.token_rotation:
            self._rotate(installation)
        return self._answer(installation)

    def _asking(self, query: dict[str, str]) -> App:
        for app in self._world.apps.values():
            if app.client_id == query.get("client_id"):
                break
        else:
            raise SlackError("invalid_client_id")
        if not query.get("scope"):
            raise SlackError("invalid_scope_requested")
        wanted = query.get("redirect_uri")
        if not app.redirect_urls or (wanted and not wanted.startswith(app.redirect_urls)):
            raise SlackError("bad_redirect_uri")
        return app

    def _client(self, arguments: Json) -> App:
        for app in self._world.apps.values():
            if app.client_id == arguments.get("client_id"):
                if app.client_secret != arguments.get("client_secret"):
                    raise SlackError("bad_client_secret")
                return app
        raise SlackError("invalid_client_id")

    def _refreshed(self, app: App, refresh_token: str) -> Installation:
        for installation in self._world.installations:
            if installation.app is app and installation.refresh_token == refresh_token:
                self._rotate(installation)
                return installation
        raise SlackError("invalid_refresh_token")

    def _rotate(self, installation: Installation) -> None:
        installation.token = f"xoxe.xoxb-1-{secrets.token_hex(24)}"
        installation.refresh_token = f"xoxe-1-{secrets.token_hex(24)}"
        life = self._world.limits.rotated_token_life
        installation.expires_at = self._world.clock.now() + life

    def _answer(self, installation: Installation) -> Json:
        workspace = installation.workspace
        enterprise = workspace.enterprise_id
        in_all = bool(enterprise) and installation.app.org_wide
        answer: Json = {
            "ok": True,
            "access_token": installation.token,
            "token_type": "bot",
            "scope": ",".join(sorted(installation.scopes)),
            "bot_user_id": installation.bot.id,
            "app_id": installation.app.id,
            "team": None if in_all else {"name": workspace.name, "id": workspace.id},
            "enterprise": {"name": workspace.name, "id": enterprise} if enterprise else None,
            "authed_user": {"id": installation.installer.id},
            "is_enterprise_install": in_all,
        }
        if installation.refresh_token:
            answer["refresh_token"] = installation.refresh_token
            answer["expires_in"] = int(self._world.limits.rotated_token_life)
        return answer


def query_of(url: str) -> dict[str, str]:
    """Return the query of an address."""
    return dict(parse_qsl(urlsplit(url).query))
