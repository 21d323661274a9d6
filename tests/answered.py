"""Answers made of whole books, and what each platform's reader sees of them."""

import html
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast
from uuid import uuid4

from hypothesis import strategies as st
from rich.console import Console

from adapters.chat.markdown.dialects import plain_text
from adapters.console import TerminalReply
from adapters.discord import outbound as discord
from adapters.slack import outbound as slack
from adapters.slack.outbound import blocks_of_post, fallback
from core.answering.draft import AnswerDraft
from core.answering.writers.base import Claim, QuotedWords
from core.answering.writers.pieces import Piece, cut
from core.domain import (
    AgentConfiguration,
    AgentResponse,
    EvidenceSignals,
    ResponseState,
    RetrievalToolOutput,
    RetrievedChunk,
)
from core.domain.errors import UnsupportedDocument
from core.domain.markdown import CodeKind, code_in, parser, without_code
from core.ingestion.chunking import chunk_document
from core.ingestion.formats.markdown import parse_markdown
from core.retrieval.retrieval import Retrieval, whole
from tests.samples import chunk, request
from tests.wire.slack.entities import Message, written
from tests.wire.slack.mentions import mentions

Json = dict[str, Any]

CALLS = ("<!channel>", "<!here>", "<@U0123ABC>", "<!subteam^S0123>", "<#C0123>")
_CODE = (
    *("git clone https://github.com/example/course.git", "sqlite:///path", "a & b < c > d"),
    *("curl https://api.example.org/v1/users?active=true", "std::vector<int>& v", "x[7]"),
    *("# no heading", "- no item", "1. none", "a. B", "`", "``", "```", "````", "~~~", "|", "\\"),
    *("[a](https://evil.example)", "](", "$x$", "*a*", "__init__", "    indented", "&amp;", "é"),
    *CALLS,
)
_PROSE = (
    *("A heap is a tree.", "See https://evil.example/a?b=c now", "Look: ", "why?", "[3]", "5 < 6"),
    *("**bold**", "*", "_", "`", "``", "\\", "~~", "[a](https://evil.example)", "|", "e.g. this"),
    *CALLS,
)


def _fence(marks: str, info: str, lines: list[str], indent: int) -> str:
    body = "".join(f"{' ' * indent}{line}\n" for line in lines if not line.startswith(marks[:3]))
    return f"{' ' * indent}{marks}{info}\n{body}{' ' * indent}{marks}"


code_lines = st.lists(st.sampled_from(_CODE), min_size=1, max_size=3).map(" ".join)
fences = st.builds(
    _fence,
    st.sampled_from(["```", "````", "`````", "~~~", "~~~~"]),
    st.sampled_from(["", "py", "c++", "rust,ignore"]),
    st.lists(code_lines, min_size=1, max_size=4),
    st.sampled_from([0, 0, 0, 3]),
)
spans = st.builds(
    lambda ticks, code: f"{ticks} {code} {ticks}", st.sampled_from(["`", "``", "```"]), code_lines
)
indented = st.lists(code_lines, min_size=1, max_size=3).map(
    lambda lines: "\n".join(f"    {line}" for line in lines)
)
paragraphs = st.lists(st.one_of(st.sampled_from(_PROSE), spans), min_size=1, max_size=5).map(
    " ".join
)
marked = st.builds(
    lambda mark, text: mark + text, st.sampled_from(["- ", "1. ", "> ", "# "]), paragraphs
)
documents = st.lists(st.one_of(paragraphs, fences, marked, indented), min_size=1, max_size=6).map(
    "\n\n".join
)
"""Markdown with code of every kind in it, most of it well formed."""


def chunks_of(markdown: str) -> list[RetrievedChunk]:
    """Return the passages that a book of one page is indexed as."""
    try:
        document = parse_markdown(markdown, dialect="markdown", read_include=lambda _: None)
    except UnsupportedDocument:
        return []
    passages = chunk_document(document).passages
    document_id = uuid4()
    return [
        chunk(
            content_text=passage.text,
            char_start=passage.char_start,
            char_end=passage.char_end,
            chunk_id=uuid4(),
            document_id=document_id,
            chunk_index=number,
            total_chunks=len(passages),
            blocks=passage.blocks,
        )
        for number, passage in enumerate(passages)
    ]


def pieces_of(chunks: Sequence[RetrievedChunk]) -> list[Piece]:
    """Return all that a passage could show of these chunks; signs alone say nothing."""
    return [one for one in cut(chunks) if any(map(str.isalnum, one.quote))]


def answer_of(chunks: Sequence[RetrievedChunk], pieces: Sequence[Piece]) -> AgentResponse:
    """Return the answer that quotes these pieces, as the agent puts it together."""
    output = RetrievalToolOutput(
        retrieved_chunks=tuple(chunks),
        query_embedding=(),
        search_time_ms=1.0,
        total_candidates=len(chunks),
        success=True,
    )
    draft = AnswerDraft(
        Retrieval(
            output=output,
            context=None,
            evidence=tuple(whole(one) for one in chunks),
            signals=EvidenceSignals(best_score=0.9, document_share=0.9, coverage=0.9),
            generation=chunks[0].generation,
        )
    )
    for piece in pieces:
        claim = Claim(piece.text, (QuotedWords(piece.chunk_number, piece.quote, piece.start),))
        if places := draft.locate(claim):
            draft.tally.written += 1
            draft.add(claim, places)
    asked = request()
    pending = AgentResponse(
        query_id=asked.request_id,
        query_text=asked.query_text,
        response_text="…",
        conversation_id=uuid4(),
        course_id=asked.course_id,
        model_name="extractive",
        requested_at=asked.created_at,
    ).advance(ResponseState.PROCESSING)
    fields = draft.finish(asked, AgentConfiguration())
    return pending.advance(ResponseState.COMPLETED, **fields)


def letters(text: str) -> Counter[str]:
    """Return how often each letter and digit is in a text."""
    return Counter(character for character in text if character.isalnum())


def visible_letters(markdown: str) -> Counter[str]:
    """Return the letters that a reader of Markdown sees: no targets, no languages."""
    found: Counter[str] = Counter()
    for token in parser().parse(markdown):
        if token.type in {"fence", "code_block"}:
            found += letters(token.content)
        elif token.type == "inline":
            found += letters(plain_text(token.content))
    return found


def without_blanks(text: str) -> str:
    """Return a text without blanks and invisible characters."""
    return re.sub(r"[\s\u200b]+", "", text)


# --- what is shown ------------------------------------------------------------------------


def discord_messages(response: AgentResponse) -> list[str]:
    """Return the messages of an answer on Discord."""
    return [post.text for post in discord.answer(response, quoted=False)]


def slack_blocks(response: AgentResponse, *, escape_code: bool = False) -> list[list[Json]]:
    """Return the blocks of each message of an answer on Slack."""
    posts = slack.answer(response, quoted=False)
    return [blocks_of_post(post, escape_code=escape_code) for post in posts]


def slack_calls(response: AgentResponse, *, escape_code: bool = False) -> list[Any]:
    """Return whom the messages of an answer call on Slack, as the local Slack judges it."""
    return [
        mention
        for post in slack.answer(response, quoted=False)
        for mention in mentions(
            Message(
                ts="1.0",
                channel=cast("Any", None),
                author=cast("Any", None),
                at=0.0,
                text=fallback(post),
                blocks=blocks_of_post(post, escape_code=escape_code),
            ),
            names=False,
        )
    ]


def code_on_slack(shown: Sequence[Json]) -> list[str]:
    """Return what the blocks of a message show as code."""
    found = list[str]()
    for block in shown:
        if block["type"] == "markdown":
            found += [code.content for code in code_in(block["text"])]
        elif block["type"] == "rich_text":
            found += _rich_code(block)
        elif block["type"] == "table":
            found += [code for row in block["rows"] for cell in row for code in _rich_code(cell)]
    return found


def prose_on_slack(shown: Sequence[Json]) -> list[str]:
    """Return what the blocks of a message show, code left out, with entities for controls."""
    found = list[str]()
    for block in shown:
        if block["type"] == "markdown":
            found.append(without_code(block["text"]))
        elif block["type"] == "rich_text":
            found += (html.escape(text, quote=False) for text in _rich_prose(block))
        elif block["type"] == "table":
            texts = (text for row in block["rows"] for cell in row for text in _rich_prose(cell))
            found += (html.escape(text, quote=False) for text in texts)
        else:
            found += written(block)
    return found


def understood_on_slack(shown: Sequence[Json]) -> list[str]:
    """Return where Slack may find mentions: all of Markdown, code included, and literal prose."""
    markdown = [block["text"] for block in shown if block["type"] == "markdown"]
    return markdown + prose_on_slack([block for block in shown if block["type"] != "markdown"])


def _rich_prose(block: Json) -> Iterator[str]:
    if block["type"] == "rich_text_preformatted":
        return
    for element in block.get("elements", ()):
        style = element.get("style")
        if "text" in element and not (isinstance(style, dict) and style.get("code")):
            yield element["text"]
        yield from _rich_prose(element)


def _rich_code(block: Json) -> Iterator[str]:
    for element in block.get("elements", ()):
        if element["type"] == "rich_text_preformatted":
            yield element["elements"][0]["text"]
        elif element.get("style") and isinstance(element["style"], dict):
            if element["style"].get("code"):
                yield element["text"]
        else:
            yield from _rich_code(element)


async def terminal(response: AgentResponse, columns: int = 80) -> str:
    """Return what a terminal of this width shows, colours left out."""
    out = io.StringIO()
    reply = TerminalReply(Console(file=out, width=columns, force_terminal=False))
    await reply.finish(response)
    return out.getvalue()


def blocks_of_code(markdown: str) -> list[str]:
    """Return the fences and indented blocks of a text as they stand in it."""
    found = (code for code in code_in(markdown) if code.kind is not CodeKind.SPAN)
    return [markdown[code.start : code.end] for code in found]
