"""Who is of our workspace or organisation, and who is a guest of another one."""

from typing import Any, cast

import pytest

from adapters.slack.client import SlackClient
from adapters.slack.installations import Installations
from adapters.slack.people import People
from core.installations.store import Installed

ADMIN = {"is_admin": True}


class Slack:
    """Knows one user, and where the app is installed."""

    def __init__(self, user: dict[str, Any], organisation: str | None = None) -> None:
        self._user = user
        self._installed = Installed("T1", organisation, "U0BOT", "B0BOT", "", "xoxb-1")
        self.asked = 0

    async def of(self, team: str, enterprise: str | None) -> SlackClient:
        assert (team, enterprise) == (self._installed.place, self._installed.organisation)
        return cast("SlackClient", self)

    async def close(self) -> None:
        """There is nothing to close."""

    async def find(self, team: str | None, enterprise: str | None) -> Installed:
        return self._installed

    async def users_info(self, *, user: str) -> dict[str, Any]:
        self.asked += 1
        return {"user": {"id": user, **self._user}}


def people(slack: Slack) -> People:
    return People(slack, cast("Installations", slack))


def click(team: str | None) -> dict[str, Any]:
    return {
        "team": {"id": team or "T1"},
        "user": {"id": "U1", "team_id": team},
        "channel": {"id": "C1"},
    }


@pytest.mark.parametrize("team", ["T1", None])
async def test_who_is_of_the_workspace_is_no_guest_and_nobody_is_asked(team: str | None) -> None:
    slack = Slack({"team_id": "T1"})
    spot = await people(slack).spot_of(click(team))
    assert (spot.team, spot.outsider, slack.asked) == ("T1", False, 0)


async def test_a_click_of_another_organisation_is_a_guests_in_our_workspace() -> None:
    spot = await people(Slack({"team_id": "T9"})).spot_of(click("T9"))
    assert (spot.team, spot.outsider) == ("T1", True)


@pytest.mark.parametrize(("enterprise", "outsider"), [("E1", False), ("E9", True)])
async def test_a_colleague_in_another_workspace_of_the_organisation_is_no_guest(
    enterprise: str, outsider: bool
) -> None:
    user = {"team_id": "T2", "enterprise_user": {"enterprise_id": enterprise}}
    slack = Slack(user, organisation="E1")
    spots = [await people(slack).spot_of(click("T2")) for _ in range(2)]
    assert {spot.outsider for spot in spots} == {outsider}


@pytest.mark.parametrize(("team", "staff"), [("T1", True), ("T9", False)])
async def test_only_our_own_admins_are_staff(team: str, staff: bool) -> None:
    slack = Slack({"team_id": team, **ADMIN})
    assert await people(slack).is_staff("T1", None, "U1", "") is staff
