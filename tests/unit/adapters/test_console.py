"""What the terminal shows of an answer, and what must never reach it."""

import io
import re
from typing import Any

import pytest
from rich.console import Console

from adapters.chat.markdown.footnotes import confidence_in_words
from adapters.chat.markdown.printable import printable
from adapters.console import (
    JsonReply,
    PlainReply,
    TerminalReply,
    footnote_lines,
    place_of,
)
from core.answering.grounding import citations as wording
from core.domain import (
    EXTRACTIVE,
    AgentResponse,
    ChunkState,
    Outcome,
    ResponseState,
    RetrievedChunk,
    i18n,
    source_urls,
)
from core.domain.errors import EmptyQuestion
from tests.samples import chunk, citation, response

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\rA heap\x01 is\x7f a \u202etree\u2066."


def cited(**changes: Any) -> RetrievedChunk:
    return chunk(state=ChunkState.RETURNED, **changes)


def citing(text: str, *chunks: RetrievedChunk, **changes: Any) -> AgentResponse:
    """Return an answer that cites each chunk once, in order."""
    citations = tuple(citation(c, marker) for marker, c in enumerate(chunks, 1))
    return response(
        response_text=text,
        grounding_chunks=chunks,
        citations=citations,
        sources=source_urls(chunks, citations),
        **changes,
    )


def failed() -> AgentResponse:
    return response(
        outcome=Outcome.ERROR,
        state=ResponseState.ERROR,
        response_text="I cannot search the book at the moment.",
        error_message="I cannot search the book at the moment.",
        retrieval_success=False,
        retrieved_chunks=(),
        grounding_chunks=(),
        citations=(),
        sources=(),
    )


def abstained(*nearest: str) -> AgentResponse:
    return response(
        outcome=Outcome.ABSTAINED,
        response_text=wording.not_covered(),
        nearest_sections=nearest,
        grounding_chunks=(),
        citations=(),
        sources=(),
    )


async def plain(answer: AgentResponse) -> str:
    out = io.StringIO()
    await PlainReply(out).finish(answer)
    return out.getvalue()


class Terminal:
    """A terminal of 60 columns and 10 lines, and what stands on it."""

    def __init__(self) -> None:
        self._file = io.StringIO()
        self.console = Console(
            file=self._file,
            force_terminal=True,
            width=60,
            height=10,
            color_system="standard",
            _environ={},
        )

    @property
    def written(self) -> str:
        """All that was ever written, escape codes included."""
        return self._file.getvalue()

    @property
    def screen(self) -> list[str]:
        """The lines that a person sees now, with those that have scrolled away above them."""
        lines, row = [""], 0
        for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", self.written):
            if piece == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif piece.endswith("A") and piece.startswith("\x1b["):
                row -= int(piece[2:-1])
            elif piece == "\x1b[2K":
                lines[row] = ""
            elif not piece.startswith("\x1b") and piece != "\r":
                lines[row] += piece
        return [line.rstrip() for line in lines]

    @property
    def hides_cursor(self) -> bool:
        return self.written.rfind("\x1b[?25l") > self.written.rfind("\x1b[?25h")


async def on_terminal(answer: AgentResponse) -> str:
    terminal = Terminal()
    with TerminalReply(terminal.console) as reply:
        await reply.finish(answer)
    return terminal.written


async def test_headings_and_strong_words_are_bold_on_a_terminal_and_code_is_not() -> None:
    strong = "A `heap` keeps `a ** b ** c` in order."
    text = f"### Heaps › Order\n\nTrees are old. **{strong}** Why not? [1]"
    written = await on_terminal(response(response_text=text))
    assert "\x1b[1mHeaps › Order\x1b[0m" in written
    assert f"\x1b[1m{strong}\x1b[0m" in written
    assert "###" not in written


# --- footnotes ----------------------------------------------------------------------------


def test_a_place_is_the_path_of_headings_the_page_and_the_url() -> None:
    found = chunk(metadata={"page": 12, "line_start": 3})
    assert place_of(found) == (
        "Heaps › Definition · p. 12 · https://book.example.org/heaps#definition"
    )
    assert place_of(chunk(source_url=None, headings=("Heaps",))) == "Heaps · heaps.md"


def test_a_heading_cannot_smuggle_a_url_in() -> None:
    found = chunk(headings=("Heaps", "See https://evil.example/x?y=1"))
    assert "https://evil" not in place_of(found)


def test_a_footnote_is_a_place_in_one_line() -> None:
    book = cited()
    [note] = footnote_lines(citing("A tree [1].", book))
    assert note == f"From [1] {place_of(book)}"


def test_the_words_cited_stand_below_their_place_where_they_are_asked_for() -> None:
    [note] = footnote_lines(citing("A tree [1].", cited()), evidence=True)
    assert note.splitlines()[1] == "    “A heap is a complete binary tree”"


def test_citations_of_one_place_share_a_line() -> None:
    book = cited()
    sentences = [part.rstrip(".") for part in book.content_text.split(". ")]
    citations = tuple(citation(book, n, quote) for n, quote in enumerate(sentences, 1))
    text = " ".join(f"{quote}. [{n}]" for n, quote in enumerate(sentences, 1))
    answer = response(
        response_text=text,
        grounding_chunks=(book,),
        citations=citations,
        sources=source_urls((book,), citations),
    )
    assert footnote_lines(answer) == [f"From [1] [2] {place_of(book)}"]


# --- how sure it is -----------------------------------------------------------------------


def test_confidence_is_told_in_words() -> None:
    model = "gemini-3.5-flash"
    assert confidence_in_words(response(confidence=0.9, model_name=model)) == "sure"
    assert confidence_in_words(response(confidence=0.6, model_name=model)) == "fairly sure"
    unsure = response(outcome=Outcome.PARTIAL, model_name=model)
    assert confidence_in_words(unsure) == "not sure"
    assert confidence_in_words(abstained("Heaps")) == "the nearest places"
    assert confidence_in_words(abstained()) == "not covered"
    assert "sure" not in confidence_in_words(failed())


def test_the_books_own_words_are_never_called_sure() -> None:
    alone = {"confidence": 1.0, "model_name": EXTRACTIVE}
    assert confidence_in_words(response(located=1.0, **alone)) == "from the book"
    near = response(outcome=Outcome.PARTIAL, located=1.0, **alone)
    assert confidence_in_words(near) == "a part of the answer, or near it"


# --- the replies --------------------------------------------------------------------------


async def test_the_plain_reply_prints_answer_footnotes_notices_and_closing_line() -> None:
    answer = citing("A tree [1].", cited(), notices=(i18n.text("notice-quote-cut"),))
    answer_part, notes, notice, closing = (await plain(answer)).rstrip("\n").split("\n\n")
    assert answer_part == "A tree [1]."
    assert notes.startswith("From [1] Heaps › Definition")
    assert notice == i18n.text("notice-quote-cut")
    assert f"session {answer.conversation_id})" in closing


async def test_the_terminal_reply_shows_the_same_in_colour() -> None:
    answer = citing("A tree [1].", cited(), notices=(i18n.text("notice-quote-cut"),))
    shown = await on_terminal(answer)
    assert "A tree [1]." in shown
    assert "Heaps › Definition" in shown
    assert "\x1b[36m" in shown


async def test_the_terminal_shows_the_answer_while_it_grows_and_prints_it_once() -> None:
    terminal, answer = Terminal(), citing("A heap is a tree [1].", cited())
    with TerminalReply(terminal.console) as reply:
        await reply.update("A heap ")
        await reply.update("is a tree [1].")
        assert "A heap is a tree [1]." in terminal.screen
        await reply.finish(answer)
    assert terminal.screen.count("A heap is a tree [1].") == 1
    assert any("Heaps › Definition" in line for line in terminal.screen)
    assert not any("Searching" in line for line in terminal.screen)
    assert not terminal.hides_cursor


async def test_the_terminal_tells_what_is_read_until_there_is_text() -> None:
    terminal = Terminal()
    with TerminalReply(terminal.console) as reply:
        await reply.reading(("3.2 Owner\x1bship", "Borrowing"))
        assert any("Reading “3.2 Ownership”, “Borrowing” …" in line for line in terminal.screen)
        await reply.update("A heap")
        assert not any("Reading" in line for line in terminal.screen)
        await reply.finish(citing("A heap [1].", cited()))


async def test_withdrawn_text_disappears_from_the_terminal() -> None:
    terminal, answer = Terminal(), citing("A tree [1].", cited())
    with TerminalReply(terminal.console) as reply:
        await reply.update("A heap is a list.")
        await reply.withdraw()
        assert not any("list" in line for line in terminal.screen)
        assert any("Searching the book" in line for line in terminal.screen)
        await reply.update("A tree")
        await reply.finish(answer)
    assert "A tree [1]." in terminal.screen
    assert not any("list" in line for line in terminal.screen)


async def test_of_an_answer_longer_than_the_terminal_the_end_is_seen_while_it_grows() -> None:
    terminal = Terminal()
    lines = [f"Line {number}." for number in range(1, 31)]
    with TerminalReply(terminal.console) as reply:
        await reply.update("\n".join(lines))
        assert "Line 30." in terminal.screen
        assert "Line 1." not in terminal.screen
        await reply.finish(citing("\n".join([*lines, "[1]"]), cited()))
    assert [line for line in terminal.screen if line.startswith("Line")] == lines


async def test_the_terminal_is_left_as_it_was_when_nobody_waits_for_the_answer() -> None:
    async def interrupted() -> None:
        with TerminalReply(terminal.console) as reply:
            await reply.update("A heap")
            raise KeyboardInterrupt

    terminal = Terminal()
    with pytest.raises(KeyboardInterrupt):
        await interrupted()
    assert not any(terminal.screen)
    assert not terminal.hides_cursor


@pytest.mark.parametrize("kind", [JsonReply, PlainReply])
async def test_pipes_and_programs_see_nothing_of_what_was_withdrawn(kind: type[JsonReply]) -> None:
    out = io.StringIO()
    reply = kind(out)
    await reply.update("A heap is a list.")
    await reply.withdraw()
    await reply.finish(citing("A tree [1].", cited()))
    assert "list" not in out.getvalue()


async def test_control_characters_do_not_reach_the_terminal_while_the_answer_grows() -> None:
    terminal = Terminal()
    with TerminalReply(terminal.console) as reply:
        await reply.update(HOSTILE[:8])
        await reply.update(HOSTILE[8:])
        assert any("A heap is a tree." in line for line in terminal.screen)
    for forbidden in ("\x1b]", "\x1b[2J", "\x9b", "\x07", "\0", "\x7f", "\u202e"):
        assert forbidden not in terminal.written


@pytest.mark.parametrize("show", [plain, on_terminal])
async def test_control_characters_never_reach_the_terminal(show: Any) -> None:
    book = cited(page_title=HOSTILE, headings=(HOSTILE,))
    shown = await show(citing(f"{HOSTILE} [1]", book, notices=(HOSTILE,)))
    for forbidden in ("\x1b]", "\x1b[2J", "\x9b", "\x07", "\rA", "\x01", "\x7f", "\u202e"):
        assert forbidden not in shown
    assert "A heap is a tree." in shown


def test_printable_keeps_what_people_write() -> None:
    text = "Zeilen\n\tund ümläuts, 中文, “quotes” › and 🙂"
    assert printable(text) == text


async def test_markdown_of_a_book_cannot_become_a_link_on_the_terminal() -> None:
    shown = await on_terminal(citing("See [here](https://evil.example) [1].", cited()))
    assert "\x1b]8" not in shown


async def test_the_json_reply_prints_the_response_and_nothing_else() -> None:
    out = io.StringIO()
    reply, answer = JsonReply(out), response()
    await reply.update("A heap")
    assert out.getvalue() == ""
    await reply.finish(answer)
    assert AgentResponse.model_validate_json(out.getvalue()) == answer


async def test_a_refusal_names_the_nearest_sections() -> None:
    out = io.StringIO()
    await PlainReply(out).finish(abstained("Heaps"))
    assert "doesn't cover this. The nearest section is “Heaps”." in " ".join(out.getvalue().split())


@pytest.mark.parametrize("kind", [JsonReply, PlainReply])
async def test_a_reply_remembers_how_the_turn_ended(kind: type[JsonReply]) -> None:
    for answer, succeeded in ((response(), True), (abstained(), True), (failed(), False)):
        reply = kind(io.StringIO())
        await reply.finish(answer)
        assert (reply.succeeded, reply.error) == (succeeded, None)
    out, error = io.StringIO(), EmptyQuestion()
    reply = kind(out)
    await reply.fail(error)
    assert (reply.error, reply.succeeded, out.getvalue()) == (error, False, "")
