"""The corpora of cross-site scripting in every text that is sent: no scheme that acts is left."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from adapters.discord import outbound as discord
from adapters.discord.outbound import evidence as cards
from adapters.slack import outbound as slack
from adapters.slack.mrkdwn import markdown_escaped
from adapters.slack.outbound import blocks_of_post, fallback
from adapters.slack.reply import evidence
from core.domain import AgentResponse, Outcome, ResponseState
from core.domain.markdown import code_in, without_code
from tests.answered import prose_on_slack
from tests.attacks import attack_texts
from tests.samples import URL, chunk, request, response

REQUEST = UUID(int=7)
CORPORA = ("dompurify", "bleach", "markdown-it-py", "commonmark", "blns", "garak", "unicode")
STEPS = [60, pytest.param(1, marks=pytest.mark.slow)]
"""Every so-manieth attack is tried in a quick run; all of them in a slow one."""
LONGEST = 3_000
ACTIVE = re.compile(r"(?i)\b(?:javascript|vbscript|data|mailto):[^\s:*\\_~|`]|[a-z][a-z0-9+.-]*://")
DISCORD_CODE = re.compile(r"\\.|(`{3,}).*?\1|(`+)(?!`).*?(?<!`)\2(?!`)", re.DOTALL)
SLACK_CODE = re.compile(r"\\.|(`{3,}).*?\1|(`+)(?!`)[^\n]*?(?<!`)\2(?!`)", re.DOTALL)
"""Slack ends a span of code with its line."""
DISCORD_LINK = re.compile(r"\]\(<([^>]*)>\)")
SLACK_LINK = re.compile(r"<([^<>|]*)\|")


def planted(text: str) -> Iterator[AgentResponse]:
    """Yield answers with the text in whatever somebody else can write."""
    title = " ".join(text.split())[:200] or "Heaps"
    cited = chunk(page_title=f".{title}", headings=(title,), source_file=title)
    notice = (f".{text}",)
    yield response(response_text="Key [1].", cited=cited, outcome=Outcome.PARTIAL, notices=notice)
    yield response(
        outcome=Outcome.ABSTAINED,
        state=ResponseState.COMPLETED,
        response_text=f".{text}",
        confidence=0.0,
        grounding_chunks=(),
        citations=(),
        sources=(),
    )


def sent_to_discord(text: str) -> Iterator[str]:
    """Yield all that Discord is sent of the text."""
    for found in planted(text):
        for post in discord.answer(found, quoted=True, asked=f".{text}"):
            yield post.text
        yield from (post.text for post in cards(found))
    yield discord.growing(text, REQUEST, asked=f".{text}").text
    yield discord.placeholder(REQUEST, [text]).text
    yield discord.sentence(f".{text}").text


def sent_to_slack(text: str) -> Iterator[str]:
    """Yield all that Slack is sent of the text."""
    posts = [slack.growing(text, REQUEST, asked=f".{text}"), slack.sentence(f".{text}")]
    posts += [slack.placeholder(REQUEST, [text]), slack.question(f".{text}")]
    for found in planted(text):
        posts += slack.answer(found, quoted=True, asked=f".{text}")
        for block in evidence(found):
            yield from shown_as_it_is(block)
    for post in posts:
        yield from (fallback(post), *prose_on_slack(blocks_of_post(post)))
    yield markdown_escaped(slack.settled(text, asked=f".{text}"), escape_code=False)
    yield slack.task(text)


def shown_as_it_is(block: dict[str, Any]) -> Iterator[str]:
    """Yield what a rich text shows: its links as links, its words with nothing that acts."""
    links = (element for part in block["elements"] for element in part["elements"])
    yield from (f"<{element['url']}|…>" for element in links if element["type"] == "link")
    yield from prose_on_slack([block])


def addresses(text: str, code: re.Pattern[str], link: re.Pattern[str]) -> set[str]:
    """Return what a client would make a link of, in a text that it was sent."""
    prose = code.sub(" ", text)
    plain = link.sub("(", prose)
    return {*link.findall(prose), *(plain[m.start() :][:40] for m in ACTIVE.finditer(plain))}


@pytest.mark.costly
@pytest.mark.parametrize("step", STEPS, ids=["few", "all"])
def test_no_active_scheme_is_left_in_what_is_sent(step: int) -> None:
    for attack in attack_texts(*CORPORA, step=step):
        text = attack[:LONGEST]
        for shown in sent_to_discord(text):
            found = addresses(shown, DISCORD_CODE, DISCORD_LINK)
            assert found <= {URL}, (text, found)
        for shown in sent_to_slack(text):
            found = addresses(shown, SLACK_CODE, SLACK_LINK)
            assert found <= {URL}, (text, found)
        asked = f"Is it {text}"[:900].strip()
        name = discord.thread_name(request(query_text=asked))
        assert "://" not in name or any("://" in code.content for code in code_in(asked))


@pytest.mark.parametrize("step", STEPS, ids=["few", "all"])
def test_nothing_that_grows_on_slack_has_a_control_of_slacks(step: int) -> None:
    attacks = ["<!channel> is called. And so on. And", *attack_texts(*CORPORA, step=step)]
    texts = (attack[:LONGEST] for attack in attacks)
    for text in texts:
        for shown in (
            markdown_escaped(
                slack.settled(f"{text} And.\n\nMore. And", asked=text), escape_code=False
            ),
            slack.task(text),
        ):
            prose = without_code(shown)
            assert "<" not in prose, shown
            assert not re.search(r"&(?!amp;|lt;|gt;)", prose), shown
            assert not re.search(r"<[@!#]", shown), shown
