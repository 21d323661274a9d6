"""The real discord.py against the local Discord: what a bot does on a good day."""

import asyncio
import sys
from typing import Any

import aiohttp
import discord
import pytest
from discord import app_commands, ui

from tests.wire.discord import (
    Callback,
    Channel,
    ChannelType,
    DiscordServer,
    MessageType,
    User,
    World,
)
from tests.wire.discord.schema import DESCRIPTION
from tests.wire.discord.trial import TrialBot, running


def place(bot: TrialBot, channel: Channel) -> Any:
    """Return discord.py's object for a channel."""
    guild_id = channel.guild.id if channel.guild else None
    return bot.get_partial_messageable(channel.id, guild_id=guild_id)


async def register(bot: TrialBot, callback: Any) -> None:
    bot.tree.command()(callback)
    await bot.tree.sync()


async def test_a_client_connects_and_sees_its_guild(bot: TrialBot, world: World) -> None:
    guild = bot.guilds[0]
    assert (guild.name, [c.name for c in guild.channels]) == ("Course", ["general"])
    assert guild.me.id == world.bot.id
    assert (world.history.validated > 0) == DESCRIPTION.exists()


async def test_a_message_is_heard_and_answered(bot: TrialBot, world: World, ann: User) -> None:
    question = await world.say(ann, world.channel, f"<@{world.bot.id}> what is a price?")
    await world.until(lambda: bot.incoming)
    assert bot.user in bot.incoming[0].mentions
    await bot.incoming[0].reply("A number.", mention_author=False, nonce="n1")
    answer = world.transcript(world.channel)[-1]
    assert (answer.content, answer.kind, answer.replied) == (
        "A number.",
        MessageType.REPLY,
        question,
    )
    assert [n for n in world.notified if n.message is answer] == []


async def test_the_same_nonce_posts_once(bot: TrialBot, world: World) -> None:
    sent = [await place(bot, world.channel).send("once", nonce="key") for _ in range(2)]
    assert sent[0].id == sent[1].id
    world.clock.advance(200)
    later = await place(bot, world.channel).send("once", nonce="key")
    assert later.id != sent[0].id


async def test_edits_and_deletions_reach_the_bot(bot: TrialBot, world: World, ann: User) -> None:
    question = await world.say(ann, world.channel, "first")
    await world.edit(question, "second")
    await world.until(lambda: bot.edits)
    assert (bot.edits[0].message.content, question.revisions) == ("second", ["first", "second"])
    own = await place(bot, world.channel).send("mine")
    await own.edit(content="changed")
    await own.delete()
    assert world.transcript(world.channel) == [question]


async def test_a_thread_takes_the_id_of_its_message(bot: TrialBot, world: World, ann: User) -> None:
    await world.say(ann, world.channel, "a question")
    await world.until(lambda: bot.incoming)
    thread = await bot.incoming[0].create_thread(name="A question")
    assert thread.id == bot.incoming[0].id
    await thread.send("an answer")
    await world.say(ann, world.channels[thread.id], "and why?")
    await world.until(lambda: len(bot.incoming) > 1)
    assert isinstance(bot.incoming[-1].channel, discord.Thread)
    with pytest.raises(discord.HTTPException) as refused:
        await bot.incoming[0].create_thread(name="Again")
    assert refused.value.code == 160004


async def test_history_is_paged(bot: TrialBot, world: World, ann: User) -> None:
    said = [await world.say(ann, world.channel, f"number {n}") for n in range(7)]
    channel = place(bot, world.channel)
    after = discord.Object(said[2].id)
    found = [m.content async for m in channel.history(after=after, oldest_first=True)]
    assert found == [f"number {n}" for n in (3, 4, 5, 6)]
    newest = [m.content async for m in channel.history(limit=2)]
    assert newest == ["number 6", "number 5"]


async def test_a_slash_command_is_deferred_and_followed_up(
    bot: TrialBot, world: World, ann: User
) -> None:
    async def ask(interaction: discord.Interaction, question: str, private: bool = False) -> None:
        """Ask the book."""
        await interaction.response.defer(ephemeral=private)
        await interaction.followup.send(f"About {question}", ephemeral=False)
        await interaction.followup.send("More", ephemeral=True)
        await interaction.edit_original_response(content="Changed")

    await register(bot, ask)
    used = await world.slash(ann, world.channel, "ask", question="prices", private=True)
    assert await used.response() is Callback.DEFERRED_MESSAGE
    await world.until(lambda: len(used.original.revisions) == 3 if used.original else False)
    assert used.original is not None
    assert used.original.revisions == ["", "About prices", "Changed"]
    assert used.ephemeral
    assert not used.original.loading
    assert [message.content for message in used.follow_ups] == ["More"]
    other = world.add_user("bob", world.guild)
    assert world.transcript(world.channel, other) == []
    with pytest.raises(discord.NotFound):
        await place(bot, world.channel).fetch_message(used.original.id)


async def test_options_are_completed_while_typing(bot: TrialBot, world: World, ann: User) -> None:
    async def ask(interaction: discord.Interaction, section: str) -> None:
        """Ask the book."""

    async def sections(
        interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=f"{current} {n}", value=str(n)) for n in range(3)]

    await register(bot, app_commands.autocomplete(section=sections)(ask))
    choices = await world.autocomplete(ann, world.channel, "ask", "section", section="Chapter")
    assert [choice["name"] for choice in choices] == ["Chapter 0", "Chapter 1", "Chapter 2"]


async def test_a_context_menu_brings_its_message(bot: TrialBot, world: World, ann: User) -> None:
    seen: list[discord.Message] = []

    @bot.tree.context_menu(name="Explain this")
    async def explain(interaction: discord.Interaction, message: discord.Message) -> None:
        seen.append(message)
        await interaction.response.send_message("explained", ephemeral=True)

    await bot.tree.sync()
    passage = await world.say(ann, world.channel, "a passage")
    used = await world.context_menu(ann, passage, "Explain this")
    assert await used.response() is Callback.MESSAGE
    assert seen[0].content == "a passage"
    assert used.original is not None
    assert used.original.kind is MessageType.CONTEXT_MENU_COMMAND


class Feedback(ui.Modal, title="Why?"):
    reason: ui.TextInput["Feedback"] = ui.TextInput(label="Reason", custom_id="reason")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.edit_message(content=f"because {self.reason.value}")


class Buttons(ui.View):
    @ui.button(label="Not helpful", custom_id="unhelpful")
    async def unhelpful(self, interaction: discord.Interaction, button: Any) -> None:
        await interaction.response.send_modal(Feedback())

    @ui.select(custom_id="part", options=[discord.SelectOption(label="One", value="1")])
    async def part(self, interaction: discord.Interaction, select: ui.Select[Any]) -> None:
        await interaction.response.send_message(select.values[0], ephemeral=True)


async def test_a_button_opens_a_modal_that_changes_the_message(
    bot: TrialBot, world: World, ann: User
) -> None:
    await place(bot, world.channel).send("answer", view=Buttons())
    answer = world.transcript(world.channel)[-1]
    opened = await world.click(ann, answer, "unhelpful")
    assert await opened.response() is Callback.MODAL
    sent = await world.submit_modal(opened, reason="wrong page")
    assert await sent.response() is Callback.UPDATE_MESSAGE
    assert answer.content == "because wrong page"
    chosen = await world.click(ann, answer, "part", ["1"])
    await chosen.response()
    assert chosen.original is not None
    assert (chosen.original.content, chosen.original.visible_to) == ("1", ann.id)
    with pytest.raises(LookupError):
        await world.click(ann, answer, "nothing")


async def test_a_layout_of_components_is_sent(bot: TrialBot, world: World) -> None:
    class Layout(ui.LayoutView):
        text: ui.TextDisplay[Any] = ui.TextDisplay("an answer")

    await place(bot, world.channel).send(view=Layout())
    assert world.transcript(world.channel)[-1].text == "an answer"


async def test_files_are_kept_and_served(bot: TrialBot, world: World, ann: User) -> None:
    await world.say(ann, world.channel, "see", files={"notes.txt": b"the text"})
    await world.until(lambda: bot.incoming)
    assert await bot.incoming[0].attachments[0].read() == b"the text"
    file = discord.File(__file__, "test.py", description="this test")
    await place(bot, world.channel).send(file=file)
    kept = world.transcript(world.channel)[-1].attachments[0]
    assert (kept.filename, kept.description) == ("test.py", "this test")
    assert kept.content.startswith(b'"""The real discord.py')


async def test_a_forum_post_is_a_thread(bot: TrialBot, world: World, ann: User) -> None:
    forum = world.add_channel(world.guild, "questions", ChannelType.FORUM, tags=("exam",))
    tag = forum.tags[0].id
    post = await world.open_post(ann, forum, "Prices?", "What is a price?", (tag,))
    await world.until(lambda: bot.incoming and bot.threads_seen)
    assert bot.incoming[0].id == bot.incoming[0].channel.id == post.id
    assert [applied.id for applied in bot.threads_seen[0].applied_tags] == [tag]
    made: Any = bot.get_channel(forum.id)
    created = await made.create_thread(name="Welcome", content="Ask here")
    assert created.message.id == created.thread.id


async def test_direct_messages_go_both_ways(bot: TrialBot, world: World, ann: User) -> None:
    conversation = world.direct_channel(world.bot, ann)
    await world.say(ann, conversation, "in private")
    await world.until(lambda: bot.incoming)
    await bot.incoming[0].channel.send("an answer")
    person = await bot.fetch_user(ann.id)
    await person.send("by the way")
    assert [m.content for m in world.transcript(conversation)][1:] == ["an answer", "by the way"]


async def test_the_bot_types_and_reacts(bot: TrialBot, world: World, ann: User) -> None:
    said = await world.say(ann, world.channel, "a question")
    await world.until(lambda: bot.incoming)
    async with bot.incoming[0].channel.typing():
        await bot.incoming[0].add_reaction("👀")
    assert world.typing[0] == (world.channel.id, world.bot.id)
    assert said.reactions == {"👀": {world.bot.id}}
    assert bot.user is not None
    await bot.incoming[0].remove_reaction("👀", bot.user)
    assert said.reactions == {}


async def test_a_forward_carries_a_copy(bot: TrialBot, world: World, ann: User) -> None:
    passage = await world.say(ann, world.channel, "to be forwarded")
    await world.say(ann, world.channel, forward_of=passage)
    await world.until(lambda: len(bot.incoming) > 1)
    assert bot.incoming[1].message_snapshots[0].content == "to be forwarded"


async def test_a_preview_is_an_update_but_no_edit(bot: TrialBot, world: World, ann: User) -> None:
    said = await world.say(ann, world.channel, "see https://example.org/a")
    await world.unfurl(said, {"url": "https://example.org/a"})
    await world.until(lambda: bot.edits)
    assert bot.edits[0].message.edited_at is None


async def test_the_world_can_be_watched(world: World, ann: User) -> None:
    feed = world.feed()
    first = asyncio.ensure_future(anext(feed))
    await asyncio.sleep(0)
    said = await world.say(ann, world.channel, "hello")
    event = await first
    assert (event.name, event.message) == ("MESSAGE_CREATE", said)
    await feed.aclose()


@pytest.mark.costly
async def test_it_runs_by_itself() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.wire.discord", "--port", "0"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    lines = [(await process.stdout.readline()).decode().split() for _ in range(3)]
    addresses = dict(lines)
    headers = {"Authorization": f"Bot {addresses['token']}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        answer = await session.get(f"{addresses['API']}/gateway/bot")
        assert (await answer.json())["url"] == addresses["gateway"]
    process.terminate()
    await process.wait()


async def test_shards_share_the_guilds(server: DiscordServer) -> None:
    world = server.world
    world.limits.shards = 2
    while len({(guild >> 22) % 2 for guild in world.guilds}) < 2:
        await asyncio.sleep(0.001)
        world.install(world.application, world.add_guild("Another course", world.owner))

    class Sharded(discord.AutoShardedClient):
        async def before_identify_hook(self, shard_id: Any, *, initial: bool = False) -> None:
            pass

    bot = Sharded(intents=discord.Intents(guilds=True), guild_ready_timeout=0.05)
    async with running(bot, server):
        assert sorted(bot.shards) == [0, 1]
        assert len(bot.guilds) == len(world.guilds)
        assert {guild.shard_id for guild in bot.guilds} == {0, 1}
