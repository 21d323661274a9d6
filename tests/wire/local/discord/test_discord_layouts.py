"""The local Discord holds messages that consist of components to Discord's rules."""

from typing import Any

import pytest

from tests.wire.discord import Callback, DiscordServer, Message, User, World
from tests.wire.discord.trial import call
from tests.wire.replies.discord.jobs import used

LAYOUT = 1 << 15
TEXT: Any = {"type": 10, "content": "a text"}
POLL: Any = {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "!"}}]}


def row(**fields: Any) -> Any:
    return {"type": 1, "components": [{"type": 2, "style": 1, "label": "a", **fields}]}


def gallery(url: str, **fields: Any) -> Any:
    return {"type": 12, "items": [{"media": {"url": url}, **fields}]}


async def refused(server: DiscordServer, path: str, body: Any, *, method: str = "POST") -> Any:
    """Return the errors of a form that is refused, or the code of another refusal."""
    status, answer = await call(server, method, path, body)
    assert status == 400, answer
    return answer["errors"] if answer["code"] == 50035 else answer["code"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"components": [{"type": 10, "content": "x" * 4001}]}, "components"),
        ({"components": [{"type": 10, "content": "😀" * 1000}] * 3}, "components"),
        (
            {"components": [{**TEXT, "content": "x" * 3990}, row(custom_id="a", label="y" * 11)]},
            "components",
        ),
        ({"components": [{"type": 10, "content": ""}]}, "components.0.content"),
        ({"components": [{"type": 14}] * 41}, "components"),
        ({"components": [{"type": 17, "components": [TEXT] * 40}]}, "components"),
        ({"components": [{"type": 17, "components": []}]}, "components.0.components"),
        (
            {"components": [{"type": 17, "components": [{"type": 17, "components": [TEXT]}]}]},
            "components.0.components.0.type",
        ),
        (
            {"components": [{"type": 17, "accent_color": 1 << 24, "components": [TEXT]}]},
            "components.0.accent_color",
        ),
        ({"components": [{"type": 14, "spacing": 3}]}, "components.0.spacing"),
        ({"components": [gallery("formula.png")]}, "components.0.items.0.media.url"),
        ({"components": [gallery("attachment://formula.png")]}, "components"),
        (
            {"components": [gallery("https://a.example/b.png", description="x" * 1025)]},
            "components.0.items.0.description",
        ),
        ({"components": [TEXT], "content": "x"}, "content"),
        ({"components": [TEXT], "embeds": [{"title": "x"}]}, "embeds"),
        ({"components": [TEXT], "sticker_ids": ["1"]}, "sticker_ids"),
        ({"components": [TEXT], "poll": POLL}, "poll"),
    ],
)
async def test_what_a_layout_may_not_hold_is_refused(
    server: DiscordServer, messages: str, body: Any, path: str
) -> None:
    errors = await refused(server, messages, {**body, "flags": LAYOUT})
    for key in path.split("."):
        errors = errors[key]
    assert errors["_errors"]


async def test_a_layout_without_components_is_empty(server: DiscordServer, messages: str) -> None:
    assert await refused(server, messages, {"flags": LAYOUT}) == 50006


async def test_a_message_is_made_a_layout_by_an_edit_that_empties_its_old_fields(
    server: DiscordServer, world: World, messages: str
) -> None:
    old = {"content": "x", "embeds": [{"title": "y"}]}
    _, sent = await call(server, "POST", messages, old)
    path, layout = f"{messages}/{sent['id']}", {"components": [TEXT], "flags": LAYOUT}
    assert await refused(server, path, layout, method="PATCH")
    assert await refused(server, path, {**layout, "content": None}, method="PATCH")
    nulls = {**layout, "content": None, "embeds": None}
    assert await refused(server, path, nulls, method="PATCH"), "embeds are emptied by [] alone"
    assert world.messages[int(sent["id"])].text == "x"
    emptied = {**layout, "content": None, "embeds": []}
    assert (await call(server, "PATCH", path, emptied))[0] == 200
    assert world.messages[int(sent["id"])].text == "a text"


async def test_a_layout_stays_one_whatever_an_edit_says(
    server: DiscordServer, world: World, messages: str
) -> None:
    _, sent = await call(server, "POST", messages, {"components": [TEXT], "flags": LAYOUT})
    path, message = f"{messages}/{sent['id']}", world.messages[int(sent["id"])]
    changed = {"flags": 0, "components": [{"type": 10, "content": "another"}]}
    assert (await call(server, "PATCH", path, changed))[0] == 200
    assert (message.text, message.is_layout) == ("another", True)
    assert await refused(server, path, {"content": "x"}, method="PATCH")
    assert await refused(server, path, {"embeds": [{"title": "x"}]}, method="PATCH")
    assert await refused(server, path, {"components": []}, method="PATCH") == 50006


async def test_an_answer_is_deferred_without_saying_that_it_will_be_a_layout(
    server: DiscordServer, world: World, ann: User
) -> None:
    interaction = used(world, ann)
    path = f"/interactions/{interaction.id}/{interaction.token}/callback"
    body: Any = {"type": 5, "data": {"flags": LAYOUT | 64}}
    assert await refused(server, path, body)
    assert (await call(server, "POST", path, {"type": 5, "data": {"flags": 64}}))[0] == 204
    assert interaction.callback is Callback.DEFERRED_MESSAGE
    answer = f"/webhooks/{world.application.id}/{interaction.token}/messages/@original"
    layout: Any = {"components": [TEXT], "flags": LAYOUT}
    assert (await call(server, "PATCH", answer, layout))[0] == 200
    original = interaction.original
    assert isinstance(original, Message)
    assert (original.text, original.ephemeral, original.is_layout) == ("a text", True, True)
