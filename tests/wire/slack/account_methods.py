"""api.*, auth.*, apps.*, oauth.*, bots.*, team.*: who an app is, where, how it gets there."""

from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.requests import Method, Request, Table


def api_test(request: Request) -> Json:
    """api.test."""
    return {"ok": True, "args": request.arguments}


def auth_test(request: Request) -> Json:
    """auth.test."""
    caller = request.installation
    return {
        "ok": True,
        "url": f"https://{caller.workspace.domain}.slack.com/",
        "team": caller.workspace.name,
        "user": caller.bot.name,
        "team_id": caller.workspace.id,
        "user_id": caller.bot.id,
        "bot_id": caller.bot_id,
        "is_enterprise_install": False,
    } | _enterprise(request)


def auth_revoke(request: Request) -> Json:
    """auth.revoke."""
    if request.flag("test"):
        return {"ok": True, "revoked": False}
    request.world.revoke(request.installation)
    return {"ok": True, "revoked": True}


def uninstall(request: Request) -> Json:
    """apps.uninstall."""
    app = request.installation.app
    if request.required("client_id") != app.client_id:
        raise SlackError("client_id_token_mismatch")
    if request.required("client_secret") != app.client_secret:
        raise SlackError("bad_client_secret")
    request.world.uninstall(app, request.installation.workspace)
    return {"ok": True}


def open_connection(request: Request) -> Json:
    """apps.connections.open."""
    assert request.app is not None
    return {"ok": True, "url": request.world.socket_url(request.app)}


def bot_info(request: Request) -> Json:
    """bots.info."""
    for installation in request.world.installations:
        if installation.bot_id == request.text("bot", request.installation.bot_id):
            bot = {
                "id": installation.bot_id,
                "deleted": False,
                "name": installation.app.name,
                "updated": 1_700_000_000,
                "app_id": installation.app.id,
                "user_id": installation.bot.id,
            }
            return {"ok": True, "bot": bot}
    raise SlackError("bot_not_found")


def team_info(request: Request) -> Json:
    """team.info."""
    caller = request.installation
    wanted = request.text("team", caller.workspace.id)
    if wanted != caller.workspace.id:
        raise SlackError("team_not_found")
    team = {
        "id": caller.workspace.id,
        "name": caller.workspace.name,
        "domain": caller.workspace.domain,
        "email_domain": "",
    }
    return {"ok": True, "team": team | _enterprise(request)}


def oauth_access(request: Request) -> Json:
    """oauth.v2.access."""
    return request.world.oauth.access(request.arguments)


def _enterprise(request: Request) -> Json:
    enterprise_id = request.installation.workspace.enterprise_id
    return {"enterprise_id": enterprise_id} if enterprise_id else {}


METHODS: Table = {
    "api.test": Method(api_test, token="none"),
    "apps.connections.open": Method(open_connection, json=False, token="app"),
    "apps.uninstall": Method(uninstall, json=False),
    "auth.revoke": Method(auth_revoke, json=False),
    "auth.test": Method(auth_test),
    "bots.info": Method(bot_info, "users:read", json=False),
    "oauth.v2.access": Method(oauth_access, json=False, token="none"),
    "team.info": Method(team_info, "team:read", json=False),
}
