"""Code of a book as its readers see it: on Discord, on Slack and at a terminal."""

import asyncio
import os
import random
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

from core.answering.writers.pieces import Piece
from core.domain import AgentResponse, RetrievedChunk
from core.domain.markdown import code_in
from tests.answered import (
    answer_of,
    blocks_of_code,
    chunks_of,
    code_on_slack,
    discord_messages,
    documents,
    letters,
    pieces_of,
    slack_blocks,
    slack_calls,
    terminal,
    visible_letters,
    without_blanks,
)
from tests.unit.adapters.chat.discord_client import code_shown, leaves_code_open
from tests.wire.slack.entities import written

pytestmark = pytest.mark.costly

EXAMPLES = int(os.environ.get("CODE_EXAMPLES", "60"))
"""Of each property; a run before a release tries thousands."""
CORPORA = Path(__file__).parents[5] / "shared" / "corpora"
DOCS = Path(__file__).parents[4] / "docs"
SAMPLED = 40
"""Pages of a book whose every passage is answered from; a slow run takes all."""


def answered(chunks: list[RetrievedChunk], pieces: list[Piece]) -> AgentResponse:
    """Return the answer that quotes these pieces, with all of their code and nothing else's."""
    answer = answer_of(chunks, pieces)
    book = "\n\n".join(chunk.content_text for chunk in chunks)
    text = answer.response_text
    for code in code_in(text):
        assert text[code.start : code.end] in book or code.content in book, (code, text)
    told = [code.content for one in pieces for code in code_in(one.text)]
    assert told == [code.content for code in code_in(text)], text
    return answer


def check(answer: AgentResponse) -> None:
    """Check what all readers see of an answer."""
    assert all(code.closed for code in code_in(answer.response_text))
    check_discord(answer)
    for escape_code in (False, True):
        assert not slack_calls(answer, escape_code=escape_code)
    check_slack(answer)
    check_terminal(answer)


def check_discord(answer: AgentResponse) -> None:
    messages = discord_messages(answer)
    assert not any(map(leaves_code_open, messages)), messages
    shown = [code for message in messages for code in code_shown(message)]
    together = without_blanks("".join(shown))
    for code in code_in(answer.response_text):
        if len(messages) == 1 and "```" not in code.content:
            # On its own, or within the drawing of a table.
            wanted = code.content.strip("\n")
            assert not wanted.strip() or any(wanted in _plain(one) for one in shown), (code, shown)
        assert without_blanks(code.content) in together, (code, messages)
    lost = visible_letters(answer.response_text) - letters("\n".join(messages))
    assert not lost, (lost, messages)


def check_slack(answer: AgentResponse) -> None:
    messages = slack_blocks(answer)
    for blocks in messages:
        for block in blocks:
            if block["type"] == "markdown":
                assert all(code.closed for code in code_in(block["text"])), block
    shown = [code for blocks in messages for code in code_on_slack(blocks)]
    together = without_blanks("".join(shown))
    for code in code_in(answer.response_text):
        if len(messages) == 1:
            wanted = code.content.strip("\n")
            assert not wanted.strip() or any(wanted in one for one in shown), (code, shown)
        assert without_blanks(code.content) in together, (code, shown)
    lost = visible_letters(answer.response_text) - letters("\n".join(written(messages)))
    assert not lost, (lost, messages)


def check_terminal(answer: AgentResponse) -> None:
    screen = asyncio.run(terminal(answer, columns=40))
    in_cells = screen.replace(r"\|", "|")  # a terminal is shown the Markdown of a table
    for code in blocks_of_code(answer.response_text):
        assert code in screen, (code, screen)
    for found in code_in(answer.response_text):
        if "\n" not in found.content:
            assert found.content in screen or found.content in in_cells, (found, screen)
    assert not visible_letters(answer.response_text) - letters(screen)


def _plain(code: str) -> str:
    """Return code without the gap that keeps both kinds of backticks in it apart."""
    return code.replace("\u200b", "")


@settings(deadline=None, max_examples=EXAMPLES)
@given(documents)
def test_code_of_any_page_is_shown_whole_everywhere(markdown: str) -> None:
    chunks = chunks_of(markdown)
    assume(chunks)
    pieces = pieces_of(chunks)[:8]
    assume(pieces)
    check(answered(chunks, pieces))


def pages(folder: Path, sampled: int | None) -> list[Path]:
    if not folder.is_dir():
        pytest.skip(f"{folder.name} is not beside the project")
    found = sorted(folder.rglob("*.md"))
    return found if sampled is None else random.Random(3).sample(found, min(sampled, len(found)))


@pytest.mark.parametrize(
    "sampled", [SAMPLED, pytest.param(None, marks=pytest.mark.slow)], ids=["some", "all"]
)
@pytest.mark.parametrize("book", ["docs", "rust-book", "economics", "squad2"])
def test_code_of_real_books_is_shown_whole_everywhere(book: str, sampled: int | None) -> None:
    folder = DOCS if book == "docs" else CORPORA / book
    few = 4 if sampled else None
    for page in pages(folder, sampled and max(sampled // (1 if book == "docs" else 4), 1)):
        chunks = chunks_of(page.read_text(encoding="utf-8", errors="replace"))
        for chunk in chunks[:few]:
            if pieces := pieces_of([chunk]):
                check(answered([chunk], pieces))
