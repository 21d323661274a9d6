"""Whatever goes wrong, and however much is logged: no word that people write is in the log."""

import math
from pathlib import Path

import pytest

from tests.books import COVERED, COVERED_FACT
from tests.wire import discord, slack
from tests.wire.bot_process import PATIENCE
from tests.wire.discord_bot import Trial as OnDiscord
from tests.wire.discord_bot import a_trial as on_discord
from tests.wire.discord_bot import button
from tests.wire.gemini_failures import ErrorStatus
from tests.wire.gemini_server import GeminiServer
from tests.wire.slack_bot import Trial as OnSlack
from tests.wire.slack_bot import a_trial as on_slack

pytestmark = [
    pytest.mark.costly,
    pytest.mark.xdist_group("private_log"),
]

WORDS = "quokka marzipan"
"""Two words that people write, and no book, and no name of anything."""
CUT_EMOJI = "\ud83d"
QUESTION = f"{COVERED} Because of the {WORDS}."
LOUD = {"LOG_LEVEL": "DEBUG"}


def check(log: str) -> None:
    """Fail where a log tells anything that was written."""
    assert "turn " in log
    lowered = log.lower()
    for word in (*WORDS.split(), COVERED[:30].lower(), COVERED_FACT.lower()):
        lines = [line for line in lowered.splitlines() if word in line]
        assert not lines, "\n".join(line[:400] for line in lines[:5])


async def test_no_word_written_on_discord_is_logged(one_course: Path, tmp_path: Path) -> None:
    async with on_discord(one_course, tmp_path, settings=LOUD) as trial:
        await talk_on_discord(trial)
        log = trial.bot.log
    check(log)


async def talk_on_discord(trial: OnDiscord) -> None:
    """Ask in every way, while calls fail, and events come twice."""
    world, ann, channel = trial.world, trial.user(), trial.channel()
    answer = await trial.ask(ann, channel, f"> The {WORDS} of Arden\n{QUESTION}")
    trial.server.faults.rest(discord.ServerError(500), "POST /channels", times=3)
    trial.server.faults.rest(discord.Drop(applied=True), "PATCH /channels", times=2)
    trial.server.faults.gateway(discord.Duplicate(), "MESSAGE_CREATE", times=3)
    await trial.ask(ann, channel, QUESTION)
    direct = world.direct_channel(ann, world.bot)
    asked = await world.say(ann, direct, QUESTION)
    await trial.answer_to(asked)
    await world.edit(asked, f"{QUESTION} {WORDS}?")
    await world.delete(asked)
    for name in ("ask", "glossator help"):
        await trial.result_of(await world.slash(ann, channel, name, question=QUESTION))
    await trial.ask(ann, channel, f"{QUESTION} {CUT_EMOJI}")
    refused = await world.slash(ann, channel, "ask", question=QUESTION, section=WORDS)
    await refused.response(PATIENCE)
    vote = await world.click(ann, answer, button(answer, "Not helpful"))
    await vote.response(PATIENCE)
    await (await world.submit_modal(vote, reason=f"{WORDS} {CUT_EMOJI}\0")).response(PATIENCE)
    shown = await world.slash(ann, channel, "glossator data")
    await shown.response(PATIENCE)
    assert shown.original is not None
    export = button(shown.original, "Get it as a file")
    await (await world.click(ann, shown.original, export)).response(PATIENCE)
    await trial.quiet(channel, ann)


async def test_no_word_written_on_slack_is_logged(one_course: Path, tmp_path: Path) -> None:
    async with GeminiServer(api_key="key") as gemini:
        gemini.fail(ErrorStatus("internal", 500, "INTERNAL"), times=math.inf)
        settings = {
            **LOUD,
            "MODELS__GEMINI__API_KEY": "key",
            "MODELS__GEMINI__BASE_URL": gemini.url,
        }
        async with on_slack(one_course, tmp_path, settings=settings) as trial:
            await talk_on_slack(trial)
            log = trial.bot.log
    check(log)


async def talk_on_slack(trial: OnSlack) -> None:
    """Ask in every way, in a thread of others too, while calls fail and events come twice."""
    world, ann, ben = trial.world, trial.user(), trial.user()
    channel, faults = trial.channel(ann, ben), trial.server.faults
    first = await world.say(ben, channel, f"I like the {WORDS}, and you?")
    await world.say(ann, channel, f"The {WORDS} is {WORDS}.", thread=first.ts)
    await trial.ask(ann, channel, f"> The {WORDS} of Arden\n{QUESTION}", thread=first.ts)
    faults.api(slack.ServerError(500), "chat.postMessage", times=2)
    faults.api(slack.Drop(applied=True), "chat.update", times=2)
    faults.api(slack.Refused("internal_error"), "chat.appendStream", times=2)
    faults.delivery(slack.Echo(3), "message", times=2)
    await trial.ask(ann, channel, QUESTION)
    await trial.ask(ann, channel, f"> The {WORDS} {CUT_EMOJI}\n{QUESTION} {CUT_EMOJI}")
    asked = await world.say(ann, world.direct_channel(ann, world.bot), QUESTION)
    await trial.answer_to(asked)
    await world.edit(asked, f"{QUESTION} {WORDS}?")
    await world.delete(asked)
    for command, text in (
        ("/ask", f"private {QUESTION}"),
        ("/ask", f'in "{WORDS}" what?'),
        ("/glossator", f"help {QUESTION}"),
    ):
        await trial.result_of(await world.slash(ben, channel, command, text))
    await trial.result_of(await world.slash(ann, channel, "/course", f"bind {WORDS}"))
    shown = await trial.result_of(await world.slash(ann, channel, "/glossator", "data"))
    await trial.result_of(await world.click(ann, shown, "gl:j"))
    await trial.quiet()
