"""What staff set for channels, and the conversations in them, on every database."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from core.domain import AnswerLength
from core.storage.channels import (
    Askers,
    ChannelRules,
    Conversation,
    Conversations,
    FollowUps,
    Place,
    Rules,
)

CHANNEL = Place("discord", "guild", "channel")
DIRECT = Place("discord", "@me", "direct")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def rules(engine: AsyncEngine) -> ChannelRules:
    return ChannelRules(engine)


@pytest.fixture
def conversations(engine: AsyncEngine) -> Conversations:
    return Conversations(engine)


class TestRules:
    async def test_what_was_set_is_found_by_place(self, rules: ChannelRules) -> None:
        said = Rules(course_id="biology", askers=Askers.STAFF, answer_length=AnswerLength.SHORT)
        await rules.set(CHANNEL, said)
        await rules.set(Place("discord", "guild", "category"), Rules(excluded=True))
        found = await rules.get("discord", "guild", ["channel", "category", "guild"])
        assert found == {"channel": said, "category": Rules(excluded=True)}

    async def test_the_same_channel_id_elsewhere_is_another_channel(
        self, rules: ChannelRules
    ) -> None:
        await rules.set(CHANNEL, Rules(course_id="biology"))
        assert await rules.get("discord", "other guild", ["channel"]) == {}
        assert await rules.get("slack", "guild", ["channel"]) == {}

    async def test_setting_again_replaces_what_was_set(self, rules: ChannelRules) -> None:
        await rules.set(CHANNEL, Rules(course_id="biology", private=True))
        await rules.set(CHANNEL, Rules(course_id="algebra", follow_ups=FollowUps.MENTION))
        found = await rules.get("discord", "guild", ["channel"])
        assert found["channel"] == Rules(course_id="algebra", follow_ups=FollowUps.MENTION)

    async def test_rules_that_say_nothing_remove_what_was_set(self, rules: ChannelRules) -> None:
        await rules.set(CHANNEL, Rules(course_id="biology"))
        await rules.set(CHANNEL, Rules())
        assert await rules.get("discord", "guild", ["channel"]) == {}

    async def test_what_a_later_version_set_is_passed_over(
        self, rules: ChannelRules, engine: AsyncEngine
    ) -> None:
        await rules.set(CHANNEL, Rules(course_id="biology"))
        later = """{"course_id": "biology", "mood": "cheerful"}"""
        async with engine.begin() as connection:
            await connection.execute(text("UPDATE channel_rules SET rules = :r"), {"r": later})
        found = await rules.get("discord", "guild", ["channel"])
        assert found["channel"] == Rules(course_id="biology")


class TestConversations:
    async def test_where_the_bot_takes_no_part_there_is_none(
        self, conversations: Conversations
    ) -> None:
        assert await conversations.get(CHANNEL) is None

    async def test_a_conversation_can_fall_silent_and_come_back(
        self, conversations: Conversations
    ) -> None:
        await conversations.listen(CHANNEL, False)
        assert await conversations.get(CHANNEL) == Conversation(part=0, listening=False)
        await conversations.listen(CHANNEL)
        assert await conversations.get(CHANNEL) == Conversation(part=0, listening=True)

    async def test_a_direct_message_starts_anew_after_eight_hours(
        self, conversations: Conversations
    ) -> None:
        moments = [NOON, NOON + timedelta(hours=7), NOON + timedelta(hours=15)]
        parts = [await conversations.direct_message(DIRECT, moment) for moment in moments]
        assert parts == [0, 0, 1]

    async def test_an_event_delivered_again_belongs_to_the_same_part(
        self, conversations: Conversations
    ) -> None:
        await conversations.direct_message(DIRECT, NOON)
        later = NOON + timedelta(hours=9)
        tries = (conversations.direct_message(DIRECT, later) for _ in range(5))
        assert await asyncio.gather(*tries) == [1] * 5

    async def test_an_earlier_event_that_comes_late_starts_nothing(
        self, conversations: Conversations
    ) -> None:
        await conversations.direct_message(DIRECT, NOON)
        assert await conversations.direct_message(DIRECT, NOON - timedelta(hours=1)) == 0

    async def test_what_is_forgotten_is_gone(self, conversations: Conversations) -> None:
        await conversations.listen(CHANNEL)
        await conversations.forget(CHANNEL)
        assert await conversations.get(CHANNEL) is None
