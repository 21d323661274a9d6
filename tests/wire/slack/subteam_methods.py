"""usergroups.*: the user groups of a workspace, and who is in them."""

from tests.wire.slack.entities import Subteam
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.requests import Method, Request, Table


def list_subteams(request: Request) -> Json:
    """usergroups.list."""
    _check_team(request)
    found = request.installation.workspace.subteams.values()
    shown = [_payload(request, one) for one in found if _is_shown(request, one)]
    return {"ok": True, "usergroups": shown}


def list_users(request: Request) -> Json:
    """usergroups.users.list; a disabled group has no users, unless it is asked for."""
    _check_team(request)
    subteam = request.installation.workspace.subteams.get(request.required("usergroup"))
    if subteam is None:
        raise SlackError("no_such_subteam")
    return {"ok": True, "users": sorted(subteam.members) if _is_shown(request, subteam) else []}


def _check_team(request: Request) -> None:
    """Refuse another workspace than the token's."""
    workspace = request.installation.workspace.id
    if request.text("team_id", workspace) != workspace:
        raise SlackError("team_not_found")


def _is_shown(request: Request, subteam: Subteam) -> bool:
    return not subteam.disabled or request.flag("include_disabled")


def _payload(request: Request, subteam: Subteam) -> Json:
    return {
        "id": subteam.id,
        "team_id": request.installation.workspace.id,
        "is_usergroup": True,
        "name": subteam.handle.title(),
        "description": "",
        "handle": subteam.handle,
        "is_external": False,
        "date_create": 1_700_000_000,
        "date_delete": 1_700_000_001 if subteam.disabled else 0,
        "user_count": len(subteam.members),
    }


METHODS: Table = {
    "usergroups.list": Method(list_subteams, "usergroups:read", json=False),
    "usergroups.users.list": Method(list_users, "usergroups:read", json=False),
}
