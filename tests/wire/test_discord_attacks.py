"""Hostile texts in questions, quotes, thread titles and what a model says, all the way through."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.attacks import attack_texts
from tests.books import COVERED
from tests.wire.discord import User
from tests.wire.discord_bot import SITE, Trial, a_trial, is_finished
from tests.wire.gemini_server import GeminiServer
from tests.wire.scripted_models import ATTACK_FORMS, LINK, compromised, honest

pytestmark = [
    pytest.mark.costly,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("discord_attacks"),  # one bot for all, where groups are kept together
]

FEW = 8
STEPS = [FEW, pytest.param(1, marks=pytest.mark.slow)]
"""Every so-manieth attack is tried in a quick run; all of them in a slow one."""
LONGEST = 700
"""Characters; a longer question is refused."""
URL = re.compile(r"(?i)https?://[^\s<>)\]]+|discord\.gg/\S+")


@dataclass
class House:
    """A trial whose bot answers with a model that says what a test wants."""

    trial: Trial
    gemini: GeminiServer
    victim: User

    def hostile(self, attack: str) -> str:
        """Return an attack that also calls everybody there is, and lures them away."""
        role = next(iter(self.trial.world.guild.roles))
        calls = f"@everyone @here <@{self.victim.id}> <@!{self.victim.id}> <@&{role}>"
        return f"{attack[:LONGEST]} {calls} {LINK} [prize]({LINK})"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(one_course: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with GeminiServer() as gemini:
        settings = {
            "MODELS__GEMINI__API_KEY": gemini.api_key,
            "MODELS__GEMINI__BASE_URL": gemini.url,
        }
        async with a_trial(one_course, tmp_path_factory.mktemp("attacks"), settings=settings) as t:
            yield House(t, gemini, t.user())


def check_harmless(trial: Trial) -> None:
    """Fail for a ping, a preview, a foreign link, in whatever the bot ever showed."""
    trial.check_manners()
    for message in trial.world.messages.values():
        if message.author is not trial.world.bot:
            continue
        links = [link for text in message.revisions for link in URL.findall(text)]
        assert not [link for link in links if not link.startswith(SITE)], message.revisions


@pytest.mark.parametrize("step", STEPS, ids=["few", "all"])
async def test_a_hostile_question_or_quote_reaches_nobody(house: House, step: int) -> None:
    trial, world = house.trial, house.trial.world
    house.gemini.answer_with(honest)
    for attack in attack_texts("unicode", step=step):
        text = house.hostile(attack)
        ann, channel = trial.user(), trial.channel()
        mention = await world.say(ann, channel, f"{trial.mention} {text}")
        await trial.answer_to(mention)
        assert mention.thread is not None
        assert len(mention.thread.name) <= 100
        assert not URL.search(mention.thread.name)
        command = await world.slash(ann, channel, "ask", question=text)
        await trial.result_of(command)
        quoted = await world.say(ann, channel, text)
        menu = await world.context_menu(ann, quoted, "Explain this passage")
        await trial.result_of(menu)
        reply = await world.say(ann, channel, f"{trial.mention} {COVERED}", reply_to=quoted)
        await trial.answer_to(reply)
        check_harmless(trial)


@pytest.mark.parametrize("step", STEPS, ids=["few", "all"])
@pytest.mark.parametrize("form", ATTACK_FORMS)
async def test_a_compromised_model_reaches_nobody(house: House, form: str, step: int) -> None:
    trial = house.trial
    for attack in attack_texts("unicode", step=step):
        house.gemini.answer_with(compromised(house.hostile(attack), form))
        answer = await trial.ask(trial.user(), trial.channel(), COVERED)
        assert is_finished(answer)
        check_harmless(trial)


async def test_hostile_titles_of_posts_and_threads_reach_nobody(house: House) -> None:
    trial, world = house.trial, house.trial.world
    house.gemini.answer_with(honest)
    ann = trial.user()
    thread = await world.open_thread(ann, trial.channel(), house.hostile("")[:100].strip())
    question = await world.say(ann, thread, f"{trial.mention} {COVERED}")
    assert (await trial.answer_to(question)).channel is thread
    check_harmless(trial)
