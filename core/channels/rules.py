"""What holds in a channel: its course, and how the bot behaves there."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from core.models import AnswerLength, CourseId, Model


class FollowUps(StrEnum):
    """When a thread that the bot opened is answered without a mention."""

    UNTIL_PEOPLE_TALK = "until-people-talk"
    """Always, until people talk to each other; a mention brings the bot back."""
    MENTION = "mention"
    """Never: every question has to mention the bot."""


class Askers(StrEnum):
    """Who is answered."""

    EVERYONE = "everyone"
    STAFF = "staff"


class Rules(Model):
    """What was set for a place; None: nothing was said, so the wider place counts."""

    course_id: CourseId | None = None
    excluded: bool | None = None
    """The bot says nothing here."""
    follow_ups: FollowUps | None = None
    askers: Askers | None = None
    answer_length: AnswerLength | None = None
    private: bool | None = None
    """Commands are answered to the asker alone, unless they say otherwise."""
    auto_answer: bool | None = None
    """New posts of a forum, or new messages of a Slack channel, need no mention."""
    outsiders: bool | None = None
    """Slack: people of other organisations, and other apps, are answered."""

    def over(self, wider: "Rules") -> "Rules":
        """Return these rules, and the wider place's where nothing was said."""
        return wider.model_copy(update=self.said())

    def said(self) -> dict[str, Any]:
        """Return what these rules say, by name."""
        return self.model_dump(mode="python", exclude_none=True)


DEFAULTS = Rules(
    excluded=False,
    follow_ups=FollowUps.UNTIL_PEOPLE_TALK,
    askers=Askers.EVERYONE,
    private=False,
    auto_answer=False,
    outsiders=False,
)
"""What holds where nobody said anything; the length of answers is then the course's."""


def in_force(places: Iterable[str], *sources: Mapping[str, Rules]) -> Rules:
    """Return what holds in a place.

    Args:
        places: Ids from the narrowest place to the widest, such as channel, category, guild.
        sources: Rules by place; in one place an earlier source counts before a later one.
    """
    said = [source[place] for place in places for source in sources if place in source]
    rules = DEFAULTS
    for narrower in reversed(said):
        rules = narrower.over(rules)
    return rules
