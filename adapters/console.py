"""The smallest adapter: a person at a terminal, a pipe, or a program that reads JSON."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Self

from adapters.chat.markdown.footnotes import (
    Footnote,
    answered_question,
    confidence_in_words,
    footnotes,
    lead_in,
    place_in_book,
)
from adapters.chat.markdown.printable import on_one_line, printable
from core.answering.grounding import citations as wording
from core.domain import AgentResponse, Outcome, RetrievedChunk, i18n
from core.domain.errors import BotError
from core.domain.links import one_line
from core.domain.markdown import CodeKind, code_in, masked

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

_REFRESHES_A_SECOND = 12
_WORD = re.compile(r"\s*\S+")
_STRONG = re.compile(
    r"^#{1,6} +(?P<heading>[^\n]+)$|\*\*(?=\S)(?P<strong>(?:(?!\n\n).)+?)(?<=\S)\*\*", re.M | re.S
)
"""A heading on its line, or strong words within a paragraph."""


class JsonReply:
    """Prints the AgentResponse as one JSON object and nothing else.

    Afterwards `succeeded` tells whether there was an answer (or an abstention), and `error`
    what was wrong with the request.
    """

    def __init__(self, out: IO[str] | None = None, *, evidence: bool = False) -> None:
        self._out = out or sys.stdout
        self._evidence = evidence
        self.error: BotError | None = None
        self.succeeded = False
        self.response: AgentResponse | None = None
        """What was shown."""
        self.failure: str | None = None
        """What the reader was given instead of an answer."""

    async def begin(self) -> None:
        """Show nothing: the answer follows."""

    async def reading(self, headings: Sequence[str]) -> None:
        """Show nothing: the footnotes say what is read."""

    async def update(self, delta: str) -> None:
        """Show nothing: only the whole answer is valid JSON."""

    async def withdraw(self) -> None:
        """Take nothing back: nothing was shown."""

    async def finish(self, response: AgentResponse) -> None:
        """Print the answer."""
        self._settle(response)
        print(response.model_dump_json(indent=2), file=self._out, flush=True)

    async def fail(self, error: BotError) -> None:
        """Keep the error for the exit code."""
        self.error = error

    def _places(self, response: AgentResponse) -> list[str]:
        """Return the places cited, with the words cited where they are wanted."""
        return footnote_lines(response, evidence=self._evidence)

    def _settle(self, response: AgentResponse) -> None:
        self.response = response
        self.succeeded = response.outcome is not Outcome.ERROR
        self.failure = response.error_message


class PlainReply(JsonReply):
    """Prints the answer and its footnotes as plain lines."""

    async def finish(self, response: AgentResponse) -> None:
        """Print the answer, its footnotes, its notices and how sure it is."""
        self._settle(response)
        parts = [whole_text(response), "\n".join(self._places(response)), *response.notices]
        parts.append(closing_line(response))
        print(printable("\n\n".join(part for part in parts if part)), file=self._out, flush=True)


class TerminalReply(JsonReply):
    """Shows the answer while it grows, then prints its final form with colours.

    Open between entering and leaving: what grows is gone when it is left, however the turn
    ends, and the terminal is as it was before.
    """

    def __init__(self, console: "Console", *, evidence: bool = False) -> None:
        from rich.live import Live
        from rich.spinner import Spinner

        super().__init__(console.file, evidence=evidence)
        self._console = console
        self._status = Spinner("dots", i18n.text("notice-searching"), style="status.spinner")
        self._growing = ""
        self._live = Live(
            self._status,
            console=console,
            transient=True,
            redirect_stderr=sys.stderr.isatty(),
            refresh_per_second=_REFRESHES_A_SECOND,
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    async def reading(self, headings: Sequence[str]) -> None:
        """Say what is read, in place of the search."""
        from rich.text import Text

        self._status.update(text=Text(printable(wording.reading(headings)), "status.spinner"))
        self._live.refresh()

    async def update(self, delta: str) -> None:
        """Show some more of the answer; of a long one, as much as fits the terminal."""
        self._growing += delta
        self._live.update(_Tail(printable(self._growing)), refresh=True)

    async def withdraw(self) -> None:
        """Make what was shown disappear; other text may follow."""
        self._growing = ""
        self._live.update(self._status, refresh=True)

    async def finish(self, response: AgentResponse) -> None:
        """Print the answer, its footnotes, its notices and how sure it is."""
        from rich.text import Text

        self._live.stop()
        self._settle(response)
        for style, text in _styled(printable(whole_text(response))):
            # No line of code is broken: it is copied as it stands.
            shown = Text(text, style) if style else marked(wrapped(text, self._console.width))
            self._console.print(shown, soft_wrap=True)
        notes = self._places(response)
        if notes:
            self._console.print()
        for note in notes:
            line = wrapped(printable(note), self._console.width)
            self._console.print(Text(line, style="cyan"), soft_wrap=True)
        for notice in response.notices:
            self._console.print(Text(printable(f"\n{notice}"), style="yellow"))
        self._console.print(Text(f"\n{closing_line(response)}", style="dim"))

    async def fail(self, error: BotError) -> None:
        """Keep the error for the exit code."""
        self._live.stop()
        await super().fail(error)


class _Tail:
    """The last lines of a text, as many as the terminal is high."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.segment import Segment
        from rich.text import Text

        lines = console.render_lines(Text(self._text), options, pad=False)
        for line in lines[-(console.height - 1) :]:
            yield from line
            yield Segment.line()


def _styled(answer: str) -> Iterator[tuple[str, str]]:
    """Yield the answer's prose and its code, which stay letter for letter, with their styles."""
    position = 0
    for code in code_in(answer):
        if code.kind is CodeKind.SPAN:
            continue
        if prose := answer[position : code.start].strip("\n"):
            yield "", prose
        yield "green", answer[code.start : code.end]
        position = code.end
    if prose := answer[position:].strip("\n"):
        yield "", prose


def marked(prose: str) -> "Text":
    """Return prose with its headings and its strong words bold, without their marks."""
    from rich.text import Text

    whole, shown, position = masked(prose), Text(), 0
    for found in _STRONG.finditer(whole):
        inside = found.lastgroup or "heading"
        shown.append(prose[position : found.start()])
        shown.append(prose[found.start(inside) : found.end(inside)], "bold")
        position = found.end()
    return shown.append(prose[position:])


def wrapped(prose: str, columns: int) -> str:
    """Return prose in lines of at most so many columns; a span of code stays on one line."""
    whole = masked(prose)
    lines = re.finditer(r"[^\n]*(?:\n|\Z)", whole)
    return "\n".join(_wrapped(prose, whole, *line.span(), columns) for line in lines).rstrip("\n")


def _wrapped(prose: str, whole: str, start: int, end: int, columns: int) -> str:
    from wcwidth import width  # only a terminal waits for its tables

    shown = ""
    for found in _WORD.finditer(whole, start, end):
        word = prose[found.start() : found.end()]
        line = shown.rpartition("\n")[2]
        if line and width(line + word) > columns:
            shown += "\n" + word.lstrip()
        else:
            shown += word
    return shown


def footnote_lines(response: AgentResponse, *, evidence: bool = False) -> list[str]:
    """Return a line for each place cited: its numbers, and where it is.

    With `evidence`, the words cited follow, each on a line of its own.
    """
    quotes = {one.marker: one.quote for one in response.citations if evidence}
    lines = [
        f"{note.numbers} {_place(note)}"
        + "".join(f"\n    “{one_line(quotes[n])}”" for n in note.markers if n in quotes)
        for note in footnotes(response)
    ]
    word = lead_in(response)
    return [f"{word} {lines[0]}", *lines[1:]] if word and lines else lines


def whole_text(response: AgentResponse) -> str:
    """Return what is answered, with the nearest sections where nothing is.

    Above it stands what was understood, or the question that the staff answered.
    """
    said = wording.with_nearest(response.response_text, response.nearest_sections)
    above = answered_question(response) or wording.understood(response)
    return f"{above}\n\n{said}" if above else said


def place_of(chunk: RetrievedChunk) -> str:
    """Return where a chunk stands: file or page title, heading path, page, and URL."""
    return _place(place_in_book(chunk))


def _place(note: Footnote) -> str:
    parts = (note.title, note.locator, note.url or note.file)
    return on_one_line(" · ".join(part for part in parts if part))


def closing_line(response: AgentResponse) -> str:
    """Return how sure the answer is, how long it took and where the conversation goes on."""
    seconds = response.response_time_ms / 1_000
    if response.choices:
        sure = i18n.text("answer-sure-asked-back")
    else:
        sure = confidence_in_words(response)
    return i18n.text(
        "console-closing",
        sure=sure,
        seconds=seconds,
        session=response.conversation_id,
    )
