"""What people write in Slack, as what was heard."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.slack.inbound import (
    Origin,
    Spot,
    incoming_from_command,
    incoming_from_message,
    position_of,
    spot_of_command,
    spot_of_interaction,
)
from adapters.slack.mrkdwn import all_of, from_mrkdwn, mentioned, said_in
from adapters.slack.outbound import Response
from core.domain import now

ME = "U0BOT"
HERE = Origin(team="T1", enterprise=None, me=ME, bot="B0BOT")


def message(text: str = "", **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "channel": "C1",
        "channel_type": "channel",
        "user": "U1",
        "team": "T1",
        "ts": "1700000000.000100",
        "text": text,
        **more,
    }


def rich(*elements: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "rich_text", "elements": [*elements]}]


def run(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": f"rich_text_{kind}", "elements": [*parts], **more}


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize(
    ("wire", "plain"),
    [
        (f"<@{ME}> what is a price?", "what is a price?"),
        ("ask <@U7> or <@U8|ben>", "ask @someone or @someone"),
        ("see <#C9|help> and <!subteam^S1|@tutors>", "see #channel and @some-group"),
        ("<!here> <!channel> <!everyone>", "@here @channel @everyone"),
        ("<https://a.example/x?a=1&amp;b=2>", "https://a.example/x?a=1&b=2"),
        ("<https://a.example|the page>", "the page"),
        ("<mailto:a@b.example|a@b.example>", "a@b.example"),
        ("<!date^1392734382^{date}|18 Feb>", "18 Feb"),
        ("if a &lt; b &amp;&amp; b &gt; c", "if a < b && b > c"),
        ("&amp;lt;b&amp;gt; stays as it was typed", "&lt;b&gt; stays as it was typed"),
        ("*bold* and _it_ and ~gone~", "bold and it and gone"),
        ("2*3*4 and snake_case_name", "2*3*4 and snake_case_name"),
        ("what are Vec<T>, <std::string> and __init__?",) * 2,
    ],
)
def test_mrkdwn_becomes_plain_text(wire: str, plain: str) -> None:
    assert from_mrkdwn(wire, ME).text == plain


def test_quoted_lines_and_code_are_the_quote() -> None:
    said = from_mrkdwn(f"<@{ME}> why?\n&gt; a &lt; b\n```x = 1```", ME)
    assert (said.text, said.quote) == ("why?", "a < b\nx = 1")


def test_rich_text_is_read_before_the_text() -> None:
    blocks = rich(
        run("section", {"type": "user", "user_id": ME}, words(" what *is* "), words("this?")),
        run("quote", words("a < b")),
        run("preformatted", words("x = 1")),
        run("list", run("section", words("one")), run("section", words("two")), style="ordered"),
    )
    said = said_in(message("another text", blocks=blocks), ME)
    assert said.text == "what *is* this?\n1. one\n2. two"
    assert said.quote == "a < b\nx = 1"


def test_other_elements_have_no_names_in_them() -> None:
    parts: list[dict[str, Any]] = [
        {"type": "user", "user_id": "U7"},
        {"type": "usergroup", "usergroup_id": "S1"},
        {"type": "broadcast", "range": "here"},
        {"type": "channel", "channel_id": "C9"},
        {"type": "emoji", "name": "wave"},
        {"type": "link", "url": "https://a.example", "text": "page"},
        {"type": "date", "timestamp": 1, "fallback": "today"},
    ]
    said = said_in(message("", blocks=rich(run("section", *parts))), ME)
    assert said.text == "@someone@some-group@here#channel:wave:pagetoday"


@pytest.mark.parametrize("mark", ["is_msg_unfurl", "is_share"])
def test_a_shared_message_is_the_quote_and_its_address_no_text(mark: str) -> None:
    link = "https://x.slack.com/archives/C9/p1"
    shared = {
        mark: True,
        "from_url": link,
        "text": "a &lt; b",
        "message_blocks": [{"message": {"blocks": rich(run("section", words("a < b")))}}],
    }
    said = said_in(message(f"<{link}> what is this?", attachments=[shared]), ME)
    assert (said.text, said.quote) == ("what is this?", "a < b")
    assert all_of(message("", attachments=[shared])) == "a < b"


def test_a_preview_of_a_web_page_is_no_quote() -> None:
    preview = {"from_url": "https://a.example", "text": "a page", "title": "A page"}
    assert said_in(message("hello", attachments=[preview]), ME).quote is None


def test_who_is_mentioned_is_read_from_the_entities_alone() -> None:
    text = "<@U7|ann> <!subteam^S1|@tutors> <!here|here> &lt;@U8&gt; @U9"
    assert mentioned(text) == {"U7", "!subteam^S1", "!here"}


def test_a_mention_and_the_message_itself_are_one_event() -> None:
    text = f"<@{ME}> what is a price?"
    as_message = incoming_from_message(message(text), HERE)
    bare = {k: v for k, v in message(text, type="app_mention").items() if k != "channel_type"}
    assert incoming_from_message(bare, HERE) == as_message
    assert as_message is not None
    assert as_message.key == "slack:T1:C1:1700000000.000100"
    assert as_message.position == 1_700_000_000_000_100
    assert as_message.addressed
    assert not as_message.to_others
    assert as_message.thread is None


def test_positions_are_in_the_order_of_timestamps() -> None:
    stamps = ["1.000001", "1.2", "1.999999", "2.000000", "10.000000"]
    assert sorted(stamps, key=position_of) == stamps


def test_a_thread_is_known_by_its_first_message() -> None:
    reply = incoming_from_message(message("and why?", thread_ts="1600000000.000001"), HERE)
    assert reply is not None
    assert reply.thread == reply.address["thread"] == "1600000000.000001"
    assert not reply.begins
    root = incoming_from_message(message("and why?", thread_ts="1700000000.000100"), HERE)
    assert root is not None
    assert root.thread is None
    assert root.begins


def test_a_thread_below_ones_own_direct_message_goes_on_with_the_conversation() -> None:
    more = {"channel": "D1", "channel_type": "im", "thread_ts": "1600000000.000001"}
    own = incoming_from_message(message("why?", parent_user_id="U1", **more), HERE)
    panel = incoming_from_message(message("why?", parent_user_id=ME, **more), HERE, beside="C7")
    assert own is not None
    assert panel is not None
    assert (own.thread, own.address["thread"]) == (None, "1600000000.000001")
    assert panel.thread == "1600000000.000001"
    assert panel.direct
    assert panel.places == ("C7", "D1", "T1")


@pytest.mark.parametrize(
    "event",
    [
        message("hello", user=ME),
        message("hello", user=None, bot_id="B0BOT", subtype="bot_message"),
        message("hello", bot_id="B7"),
        message("hello", subtype="channel_join"),
        message("hello", subtype="assistant_app_thread"),
        message("hello", user=None),
    ],
)
def test_what_is_no_persons_word_is_not_heard(event: dict[str, Any]) -> None:
    assert incoming_from_message(event, HERE) is None


def test_another_apps_mention_comes_from_outside() -> None:
    incoming = incoming_from_message(message(f"<@{ME}> hello", bot_id="B7"), HERE)
    assert incoming is not None
    assert incoming.outsider


@pytest.mark.parametrize(
    ("team", "shared", "outside"), [("T1", True, False), ("T2", True, True), ("T2", False, False)]
)
def test_guests_are_people_of_another_organisation(team: str, shared: bool, outside: bool) -> None:
    incoming = incoming_from_message(message("hello", team=team), replace(HERE, shared=shared))
    assert incoming is not None
    assert incoming.outsider is outside


def test_a_public_command_posts_its_question_and_a_private_one_is_its_own_conversation() -> None:
    response = Response("https://hooks.slack.com/x", now())
    spot = Spot("T1", "E1", "C1", "U1", thread="1600000000.000001")
    public = incoming_from_command(
        replace(spot, thread=None), "slack:t:1", "why?", response=response
    )
    private = incoming_from_command(spot, "slack:t:2", "why?", private=True, response=response)
    assert public.address["post_question"]
    assert not private.address["post_question"]
    assert private.thread is None
    assert private.address["thread"] == "1600000000.000001"
    assert private.address["enterprise"] == "E1"
    assert public.command


def test_a_question_that_is_plain_text_stays_as_it_is() -> None:
    text = "*Why* is Vec<&str> no Vec<String>?"
    assert incoming_from_command(Spot("T1", None, "C1", "U1"), "slack:t:1", text).text == text


def test_where_something_happened_is_read_from_every_kind_of_payload() -> None:
    command = {
        "team_id": "T1",
        "channel_id": "D1",
        "user_id": "U1",
        "channel_name": "directmessage",
    }
    assert spot_of_command(command) == Spot("T1", None, "D1", "U1", direct=True)
    click = {
        "team": {"id": "T1"},
        "enterprise": {"id": "E1"},
        "user": {"id": "U1", "team_id": "T1"},
        "container": {"channel_id": "C1", "thread_ts": "1.2"},
    }
    assert spot_of_interaction(click) == Spot("T1", "E1", "C1", "U1", thread="1.2")
    org_wide = {"team": None, "user": {"id": "U1", "team_id": "T2"}, "view": {}}
    assert spot_of_interaction(org_wide) == Spot("T2", None, "", "U1")


@pytest.mark.parametrize(
    ("text", "to_others"),
    [("<@U1> and why?", False), ("<@U2> and why?", True), ("<@U1> <@U2> and why?", True)],
)
def test_who_mentions_themselves_speaks_to_nobody_else(text: str, to_others: bool) -> None:
    incoming = incoming_from_message(message(text, user="U1"), HERE)
    assert incoming is not None
    assert incoming.to_others is to_others
