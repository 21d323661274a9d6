"""Whatever marks a text repeats, each platform's messages are made of it."""

from typing import Any

import pytest
from hypothesis import given, settings

from adapters.chat.markdown.dialects import plain_text
from adapters.discord import outbound as discord
from adapters.discord.outbound import evidence as cards
from adapters.slack import outbound as slack
from adapters.slack.mrkdwn import divided, rich_text
from adapters.slack.outbound import blocks_of_post, fallback
from adapters.slack.reply import evidence as passages
from core.domain import EXPLAIN_QUOTE, AgentResponse, ContextMode, source_urls
from tests.answered import terminal
from tests.deep_marks import DEEP_TEXTS, deep_texts
from tests.samples import chunk, citation, request, response

pytestmark = pytest.mark.costly

MOST_ASKED, MOST_QUOTED = 999, 3_000


def answer_of(text: str) -> AgentResponse:
    """Return an answer that has a text as its words, as its source's title and as its quote."""
    cited = chunk(content_text=f"x{text}", page_title="A title", headings=("A", text[:200] or "x"))
    found: dict[str, Any] = {"retrieved_chunks": (cited,), "grounding_chunks": (cited,)}
    return response(
        response_text=f"{text}\n\nA word [1].",
        citations=(citation(cited, 1, f"x{text}"[:MOST_QUOTED]),),
        sources=source_urls((cited,), (citation(cited, 1, "x"),)),
        **found,
    )


def assert_shown_on_discord(text: str) -> None:
    answer = answer_of(text)
    asked = request(query_text=f"why {text}"[:MOST_ASKED])
    explained = request(
        query_text=EXPLAIN_QUOTE,
        context_mode=ContextMode.SELECTED_TEXT,
        selected_text=f"x{text}",
    )
    posts = [
        *discord.answer(answer, quoted=True, asked=asked.query_text),
        *discord.answer(answer, quoted=False, one_message=True),
        *cards(answer),
        discord.growing(text, answer.query_id, headings=(text[:200],)),
        discord.sentence(f"x {text}"),
    ]
    assert all(post.text.strip() for post in posts)
    assert discord.thread_name(asked)
    assert discord.thread_name(explained)
    discord.formulas(answer)


def assert_shown_on_slack(text: str) -> None:
    answer = answer_of(text)
    posts = [
        *slack.answer(answer, quoted=True, asked=f"why {text}"[:MOST_ASKED]),
        slack.growing(text, answer.query_id, headings=(text[:200],)),
        slack.question(f"why {text}"[:MOST_ASKED]),
        slack.sentence(f"x {text}"),
    ]
    for post in posts:
        assert blocks_of_post(post)
        assert blocks_of_post(post, escape_code=True)
        assert fallback(post)
    assert passages(answer)
    slack.settled(text)
    slack.task(text)
    rich_text(divided(text).rich or text)


@pytest.mark.parametrize("text", DEEP_TEXTS.values(), ids=DEEP_TEXTS.keys())
async def test_repeated_marks_are_shown_everywhere(text: str) -> None:
    assert_shown_on_discord(text)
    assert_shown_on_slack(text)
    assert await terminal(answer_of(text))
    assert "\n" not in plain_text(text)


@pytest.mark.costly
@given(deep_texts)
@settings(deadline=None, max_examples=40)
def test_marks_of_any_kind_inside_each_other_are_shown_everywhere(text: str) -> None:
    assert_shown_on_discord(text)
    assert_shown_on_slack(text)
