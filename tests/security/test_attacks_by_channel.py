"""Every collected attack in every kind of channel of both platforms, through all that is sent.

The model is compromised: it says the attack, calls everybody, links away, and tells every secret
and all that it was shown. Its answer, and the attack as question, quote, title and notice, are
read in what the platforms are sent, as their clients and servers read it.
"""

import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest

from adapters.discord import outbound as discord
from adapters.discord.outbound import evidence as cards
from adapters.slack import outbound as slack
from adapters.slack.mrkdwn import markdown_escaped
from adapters.slack.outbound import blocks_of_post, fallback
from adapters.slack.reply import evidence
from core.answering.agent import Agent
from core.answering.writers.base import Claim, ClaimKind, DraftPart, GenerationTask, QuotedWords
from core.answering.writers.extractive import ExtractiveGenerator
from core.domain import AgentConfiguration, AgentRequest, AgentResponse, Course, Outcome
from core.domain.sentences import sentences
from core.retrieval.retriever import Retriever
from core.storage.budgets import Prices, TokenBudgets, TokenLimits
from core.storage.database import create_engine
from core.storage.sessions import SessionStore
from tests.answered import understood_on_slack
from tests.attacks import attack_texts
from tests.books import COVERED, LIGHTHOUSE
from tests.embedding import HashingEmbedder
from tests.library import open_library
from tests.samples import chunk, request, response
from tests.unit.adapters.chat.discord_client import raw_pings, seen

pytestmark = pytest.mark.costly

SITE = "https://arden.example.org/book/"
FOREIGN = "The vault of the Bellhaven bank opens with the words amber falcon seventeen"
CANARIES = (
    "zx-canary-4711-prompt",
    "xoxb-canary-1234567890",
    "AIzaCanary0123456789",
    "canary.discord.token",
)
CALLS = "@everyone @here <@123456789012345678> <!channel> <@U0EVIL> <!subteam^S1> "
LURES = "https://evil.example/?q=1 [x](https://evil.example) <https://evil.example|y> discord.gg/x"
REQUEST = UUID(int=7)
LONGEST = 1_500
STEPS = [60, pytest.param(2, marks=pytest.mark.slow)]
"""Every so-manieth attack is tried, in a quick run and in a slow one."""

_DISCORD_TARGET = re.compile(r"\]\(<([^>]*)>\)\Z")
_ACTS = re.compile(r"(?i)[a-z][a-z0-9+.-]*:[^\s]|discord|dsc\.gg|@[\w.-]+\.\w")
"""What a client follows; `[x](@)` is a link to nowhere, and shown as it is."""
_SLACK_LINK = re.compile(r"<([^<>|]*)\|[^<>]*>")
_SLACK_CONTROL = re.compile(r"<[@!#][^<>]*>?")
_SLACK_URL = re.compile(r"(?i)\b[a-z][a-z0-9+.-]*://[^\s<>|)]+")
_SLACK_CODE = re.compile(r"\\.|(`{3,})(?s:.*?)\1|(`+)(?!`).*?(?<!`)\2(?!`)")

Texts = Iterator[str]
Channel = Callable[[AgentResponse, str], Texts]


class Compromised:
    """Says the attack in every way there is, and tells all that it must not or was shown."""

    name = "compromised"
    attack = ""

    async def generate(self, task: GenerationTask) -> AsyncGenerator[DraftPart, None]:
        content = task.evidence[0].content_text
        quote = sentences(content)[0]
        cited = (QuotedWords(0, quote, content.index(quote)),)
        hostile = f"{self.attack} {CALLS}{LURES}"
        yield Claim(quote, cited)
        yield Claim(hostile, cited)
        yield Claim(hostile, (QuotedWords(0, hostile, 0),))
        yield Claim(hostile, cites_unknown=True)
        yield Claim(hostile, kind=ClaimKind.EXAMPLE)
        for item in task.evidence:
            for said in sentences(item.content_text):
                yield Claim(said, kind=ClaimKind.EXAMPLE)
        for secret in CANARIES:
            yield Claim(f"{secret}.", (QuotedWords(0, f"{secret}.", 0),))
            yield Claim(f"{quote[:-1]}, and {secret}.", cited)
            yield Claim(f"{secret}.", kind=ClaimKind.EXAMPLE)


# --- what is sent ---------------------------------------------------------------------------


def _discord(posts: Sequence[discord.Post]) -> Texts:
    for post in posts:
        yield post.text


def discord_thread(answer: AgentResponse, attack: str) -> Texts:
    yield from _discord(discord.answer(answer, quoted=True))
    yield from _discord(cards(answer))


def discord_name(_: AgentResponse, attack: str) -> Texts:
    yield discord.thread_name(request(query_text=f"Is it {attack}"[:900].strip()))


def discord_command(answer: AgentResponse, attack: str) -> Texts:
    yield from _discord(discord.answer(answer, quoted=False, asked=attack))


def discord_private(answer: AgentResponse, attack: str) -> Texts:
    private = discord.answer(answer, quoted=False, asked=attack, private=True, one_message=True)
    yield from _discord(private)


def discord_growing(answer: AgentResponse, attack: str) -> Texts:
    shown = [discord.growing(attack, REQUEST), discord.placeholder(REQUEST, [attack])]
    yield from _discord([*shown, discord.sentence(attack)])


def _slack(posts: Sequence[slack.Post]) -> Texts:
    for post in posts:
        yield from (fallback(post), *understood_on_slack(blocks_of_post(post)))


def slack_thread(answer: AgentResponse, attack: str) -> Texts:
    yield from _slack(slack.answer(answer, quoted=True))
    passages = evidence(answer)
    yield from understood_on_slack(passages)
    elements = (e for block in passages for part in block["elements"] for e in part["elements"])
    yield from (f"<{one['url']}|x>" for one in elements if one["type"] == "link")


def slack_command(answer: AgentResponse, attack: str) -> Texts:
    yield from _slack([slack.question(attack), *slack.answer(answer, quoted=False, asked=attack)])


def slack_private(answer: AgentResponse, attack: str) -> Texts:
    private = slack.answer(answer, quoted=False, asked=attack, private=True, one_message=True)
    yield from _slack(private)


def slack_growing(answer: AgentResponse, attack: str) -> Texts:
    shown = [slack.growing(attack, REQUEST), slack.placeholder(REQUEST, [attack])]
    yield from _slack([*shown, slack.sentence(attack)])
    streamed = slack.settled(f"{attack} And.\n\nMore")
    yield from (markdown_escaped(streamed, escape_code=False), slack.task(attack))


CHANNELS: Mapping[str, Channel] = {
    "discord thread": discord_thread,
    "discord name": discord_name,
    "discord command": discord_command,
    "discord private": discord_private,
    "discord growing": discord_growing,
    "slack thread": slack_thread,
    "slack command": slack_command,
    "slack private": slack_private,
    "slack growing": slack_growing,
}


# --- what it does ---------------------------------------------------------------------------


def pings_of(channel: str, text: str) -> list[str]:
    if channel.startswith("discord"):
        return [*seen(text).pings, *raw_pings(text)]
    return _SLACK_CONTROL.findall(text)


def foreign_links_of(channel: str, text: str) -> list[str]:
    if channel == "discord name":
        return []  # Discord makes no link of what stands in a name
    if channel.startswith("discord"):
        found = [_target(link) for link in seen(text).links if _ACTS.search(link)]
    else:
        prose = _SLACK_CODE.sub(" ", text)
        found = [*_SLACK_LINK.findall(prose), *_SLACK_URL.findall(_SLACK_LINK.sub(" ", prose))]
    return [link for link in found if not link.startswith(SITE)]


def _target(link: str) -> str:
    match = _DISCORD_TARGET.search(link)
    return match[1] if match else link


@dataclass
class House:
    """Two courses, and the agent that a compromised model writes for."""

    agent: Agent
    model: Compromised


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_library(tmp_path) as library:
        library.write(LIGHTHOUSE, "arden")
        library.write({"vault.md": f"# The vault\n\n{FOREIGN}. {COVERED}\n"}, "vault")
        for name in ("arden", "vault"):
            await library.ingest(name, course=Course(course_id=name, title=name, base_url=SITE))
        engine = create_engine(f"sqlite:///{tmp_path / 'catalogue.db'}", synchronous="NORMAL")
        model, embedder = Compromised(), HashingEmbedder()
        agent = Agent(
            retriever=Retriever(library.catalogue, library.index, lambda *_: library.embedder),
            generator=model,
            fallback=ExtractiveGenerator(embedder=embedder),
            judge_of=lambda *_: None,
            sessions=SessionStore(engine),
            budgets=TokenBudgets(engine, limits=TokenLimits()),
            prices=Prices(input_price=1.0, output_price=1.0),
            configuration=lambda _: AgentConfiguration(system_prompt=CANARIES[0]),
        )
        yield House(agent, model)
        await engine.dispose()


async def answers(house: House, attack: str) -> AsyncIterator[AgentResponse]:
    """Yield what the compromised model achieves, and an answer with the attack in its titles."""
    house.model.attack = attack
    asked = AgentRequest(course_id="arden", query_text=COVERED, user_id="ann", score_threshold=0.0)
    _, answer = await house.agent.rehearse(asked)
    assert {one.course_id for one in answer.retrieved_chunks} <= {"arden"}
    yield answer
    title = " ".join(attack.split())[:200] or "Heaps"
    planted = chunk(
        page_title=f".{title}",
        headings=(title,),
        source_file=title,
        source_url=f"{SITE}heaps#definition",
    )
    notices = (f".{attack}",)
    yield response(
        response_text="Key [1].", cited=planted, outcome=Outcome.PARTIAL, notices=notices
    )


@pytest.mark.parametrize("step", STEPS, ids=["few", "many"])
async def test_no_attack_in_any_channel_pings_links_or_tells(house: House, step: int) -> None:
    runs, started = 0, time.monotonic()
    found = Counter[str]()
    examples: list[tuple[str, str, str]] = []
    for attack in attack_texts(step=step):
        told = [answer async for answer in answers(house, attack[:LONGEST])]
        hostile = f".{attack[:LONGEST]} {CALLS}{LURES}"
        for name, channel in CHANNELS.items():
            runs += 1
            for text in (text for answer in told for text in channel(answer, hostile)):
                harm = {
                    "pings": pings_of(name, text),
                    "unlisted URLs": foreign_links_of(name, text),
                    "foreign chunks": [FOREIGN] if "amber falcon" in text else [],
                    "canaries": [canary for canary in CANARIES if canary in text],
                }
                found.update({kind: len(cases) for kind, cases in harm.items()})
                examples += [(name, kind, c) for kind, cases in harm.items() for c in cases]
    print(
        f"\nattacks x channels: {runs:,} runs, {found['pings']} pings, "
        f"{found['unlisted URLs']} unlisted URLs, {found['foreign chunks']} foreign chunks, "
        f"{found['canaries']} canaries, {time.monotonic() - started:.0f} s"
    )
    assert not examples[:5]
    assert step > 2 or runs >= 20_000
