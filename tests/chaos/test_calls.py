"""Every call that shows, changes or deletes something is known by its question."""

from types import SimpleNamespace
from typing import Any
from uuid import UUID

from core.domain.i18n import text
from tests.chaos.calls import calls_about
from tests.chaos.history import Asked, Sent, Spot
from tests.wire import discord, slack
from tests.wire.discord.history import Call as DiscordCall
from tests.wire.discord.interactions import InteractionType
from tests.wire.slack.history import Call as SlackCall
from tests.wire.slack.posting import Draft


def about(there: discord.World, here: slack.World, *asked: Asked) -> list[Sent]:
    ground: Any = SimpleNamespace(
        discord=SimpleNamespace(world=there), slack=SimpleNamespace(world=here)
    )
    requests: dict[UUID, str] = {}
    return calls_about(ground, asked, requests)


def test_what_is_sent_before_the_outcome_is_known_is_no_message_about_it() -> None:
    there = discord.World()
    deed = there.interactions.begin(
        InteractionType.COMMAND, there.application, there.owner, there.channel, {}
    )
    spot = Spot(str(there.owner.id), str(there.channel.id))
    one = Asked(f"discord:i:{deed.id}", "K0001", 1, spot=spot, deed=deed)
    first = f"/interactions/{deed.id}/{deed.token}/callback"
    original = f"/webhooks/{there.application.id}/{deed.token}/messages/@original"
    follow_up = f"/webhooks/{there.application.id}/{deed.token}"
    made: list[tuple[str, str, Any, str | None]] = [
        ("POST", first, {"type": 5}, None),
        ("POST", first, {"type": 4, "data": {"content": text("asking-slow")}}, None),
        ("POST", first, {"type": 4, "data": {"content": "No."}}, None),
        ("DELETE", original, None, None),
        ("POST", follow_up, {"content": "No."}, None),
        ("POST", follow_up, {"content": "No."}, "Drop(applied=True)"),
        ("GET", original, None, None),
        ("POST", "/channels/1/messages", {"content": "Of something else."}, None),
    ]
    there.history.calls += [
        DiscordCall(method, path, "", 1.0, body=body, status=200, applied=True, fault=fault)
        for method, path, body, fault in made
    ]
    found = about(there, slack.World(), one)
    assert all(sent.keys == {one.key} for sent in found)
    assert [sent.is_message for sent in found] == [False, False, True, True, True, False]
    assert [sent.in_doubt for sent in found] == [False] * 5 + [True]


def test_an_ephemeral_message_is_of_its_question_and_one_that_failed_of_its_readers() -> None:
    here = slack.World()
    ann = here.owner
    two = [
        Asked(f"slack:T:C:{ts}", "K0001", 1, spot=Spot(ann.id, here.channel.id, ts))
        for ts in ("1.0", "1.1")
    ]
    shown = here.posting.create(here.bot, here.channel, Draft("No."), visible_to=ann)
    read_by = {"channel": here.channel.id, "user": ann.id}
    here.history.calls += [
        SlackCall("chat.postEphemeral", 1.0, read_by, status=200, applied=True,
                  response={"ok": True, "message_ts": shown.ts}),
        SlackCall("chat.postEphemeral", 1.0, read_by, status=500, fault="ServerError(500)"),
        SlackCall("chat.postEphemeral", 1.0, {**read_by, "user": "another"}, status=500),
        SlackCall("conversations.replies", 1.0, {"ts": "1.0"}, status=200, applied=True),
    ]  # fmt: skip
    one, struck = about(discord.World(), here, *two)
    assert (one.keys, one.is_message, one.in_doubt) == (frozenset({two[1].key}), True, False)
    assert (struck.keys, struck.is_message, struck.in_doubt) == (
        frozenset({two[0].key, two[1].key}),
        False,
        True,
    )
