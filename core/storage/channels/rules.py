"""What holds in a channel: its course, and how the bot behaves there."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from core.models import AnswerLength, CourseId, Model


class FollowUps(StrEnum):
    """When a thread that the bot opened is answered without a mention."""

    UNTIL_PEOPLE_TALK = "until-people-talk"
    """Whenever a message is meant for the bot; what people say to each other is left alone."""
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
    """Commands are answered to the asker alone, unless they say otherwise where staff set it."""
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
"""What holds where no one said anything; the length of answers is then the course's."""


class OperatorRules(Rules):
    """What the operator's file says of a place, and what of it chat cannot change."""

    locked: frozenset[str] = frozenset()
    """The names of rules that are the file's alone, at this place and inside of it."""

    def said(self) -> dict[str, Any]:
        """Return what these rules say, by name, without what they lock."""
        return self.model_dump(mode="python", exclude_none=True, exclude={"locked"})


STRICT: Mapping[str, object] = {
    "excluded": True,
    "askers": Askers.STAFF,
    "outsiders": False,
    "private": True,
}
"""The restrictive value of each rule that has one: chat may always set it, and never lift it."""


def in_force(
    places: Sequence[str], chat: Mapping[str, Rules], file: Mapping[str, OperatorRules]
) -> Rules:
    """Return what holds in a place.

    The narrowest place that says something counts, and in one place chat before the file. What
    the file restricts chat does not loosen, there or inside; what the file locks is the file's
    to say alone. Either way chat may restrict.

    Args:
        places: Ids from the narrowest place to the widest, such as channel, category, guild.
        chat: What staff set, by place.
        file: What the operator's file says, by place.
    """
    widest_first = [
        (chat.get(place, Rules()), file.get(place, OperatorRules())) for place in reversed(places)
    ]
    return Rules(**{name: _rule_in_force(name, widest_first) for name in Rules.model_fields})


def bound_by(file: Mapping[str, OperatorRules], places: Iterable[str]) -> frozenset[str]:
    """Return the courses that the operator's file binds to any of some places."""
    said = (file[place].course_id for place in places if place in file)
    return frozenset(course_id for course_id in said if course_id is not None)


def is_kept_private(places: Sequence[str], file: Mapping[str, OperatorRules]) -> bool:
    """Return whether the operator's file lets no command be answered to all in a place.

    Args:
        places: As of `in_force`.
        file: What the operator's file says, by place.
    """
    said = (file[place].private for place in places if place in file)
    return next((private for private in said if private is not None), False)


def _rule_in_force(name: str, widest_first: Iterable[tuple[Rules, OperatorRules]]) -> object:
    """Return the value that one rule has in the narrowest of some places."""
    value = by_file = getattr(DEFAULTS, name)
    strict, restricted, locked = STRICT.get(name, _NONE), False, False
    for chat, file in widest_first:
        said = getattr(file, name)
        locked = locked or name in file.locked
        if said is not None:
            value, by_file, restricted = said, said, said == strict
        elif locked and value != strict:
            value = by_file
        set_here = getattr(chat, name)
        if set_here is not None and (set_here == strict or not (locked or restricted)):
            value = set_here
    return value


_NONE = object()
"""Equals no value: of a rule that has no restrictive one."""
