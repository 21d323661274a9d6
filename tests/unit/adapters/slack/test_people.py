"""Who is of our workspace or organisation, and who is a guest of another one."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from adapters.slack.client import SlackClient
from adapters.slack.installations import Installations
from adapters.slack.people import People
from core.storage.installations import Installed

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

    async def users_info(self, *, user: str, include_locale: bool) -> dict[str, Any]:
        assert include_locale
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


@pytest.mark.parametrize(("team", "admin"), [("T1", True), ("T9", None)])
async def test_only_our_own_admins_are_admins(team: str, admin: bool | None) -> None:
    slack = Slack({"team_id": team, **ADMIN})
    member = await people(slack).member("T1", None, "U1")
    assert (member.is_admin if member else None) is admin


async def test_who_somebody_is_is_asked_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    slack, clock = Slack({"team_id": "T1"}), [1000.0]
    monkeypatch.setattr("adapters.slack.people.time", SimpleNamespace(monotonic=lambda: clock[0]))
    asking = people(slack)
    for moment, asked in ((0.0, 1), (299.0, 1), (301.0, 2)):
        clock[0] = 1000.0 + moment
        await asking.member("T1", None, "U1")
        assert slack.asked == asked


async def test_of_an_app_nobody_is_asked() -> None:
    slack = Slack({"team_id": "T1", **ADMIN})
    assert await people(slack).member("T1", None, "B1") is None
    assert slack.asked == 0
