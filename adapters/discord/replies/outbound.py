"""An answer as the messages that show it on Discord; pure, sends nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from adapters.access.choice import Choice
from adapters.base import EarlierThread
from adapters.buttons import Button, buttons_under
from adapters.discord.markup.code import guarded
from adapters.discord.markup.dialect import as_written, footnote_lines, to_discord
from adapters.discord.markup.text import disarm, without_pings
from adapters.markdown.dialects import WideTable, plain_text, wide_tables
from adapters.markdown.evidence import adds_to
from adapters.markdown.footnotes import answered_question, footnotes, lead_in, remarks
from adapters.markdown.formulas import with_readable_formulas
from adapters.markdown.splitting import pack, split, utf16_length
from adapters.markdown.visible import without_controls, without_piles
from adapters.nearest_sections import Nearest, nearest_to
from core import i18n
from core.grounding import wording
from core.i18n.dates import date_of
from core.markdown.blocks import lines_of
from core.markdown.writing import one_line
from core.models import EXPLAIN_QUOTE, AgentRequest, AgentResponse, Outcome

LONGEST_MESSAGE = 3_600
"""Of the 4,000 characters that all components may have: the others are for labels and menus."""
LONGEST_GROWING = 7_200
"""Characters of Markdown that fill a message, with room for marks that Discord needs not."""
LONGEST_THREAD_NAME = 100
_ABOVE_MENU = 1_000
"""Characters above a menu of 25 titles."""
_LONGEST_ANSWER = 12
"""Messages; a model that never ends does not fill a channel."""
_MOST_PICTURES = 10
_GOES_ON = " …"
_NOTHING = "…"
"""Stands where a text is of characters that no one can see."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn formula, or a part of a drawn table."""

    alt: str
    """What it shows, in words: the LaTeX of a formula."""
    data: bytes
    """A PNG."""
    caption: str = ""
    """The line above a table that it stands below; none for a formula, which stands at the end."""
    instead: str = ""
    """What is shown in its place, and its caption's, where no picture can be."""


@dataclass(frozen=True, slots=True)
class Post:
    """What one message shows."""

    body: str
    """What stands above the line; empty where the small print goes on."""
    notes: str = ""
    """The small print below the line."""
    buttons: tuple[Button, ...] = ()
    request_id: UUID | None = None
    """What the buttons belong to."""
    pictures: tuple[Picture, ...] = ()
    choice: Choice | None = None
    nearest: Nearest | None = None
    pings: int | None = None
    """The user whom its first line names, and who is notified of it; None: no one is."""
    is_answer: bool = False
    """Whether it is a finished answer, or a part of one; a refusal is none."""

    @property
    def text(self) -> str:
        """What a reader reads, a blank line in place of the line."""
        return "\n\n".join(part for part in (self.body, self.notes) if part)

    @property
    def shown(self) -> list[str | list[Picture]]:
        """The body in the order in which it is read: its texts, and the pictures between them."""
        parts, rest = list[str | list[Picture]](), self.body
        for caption in dict.fromkeys(one.caption for one in self.pictures if one.caption):
            before, found, after = f"\n{rest}\n".partition(f"\n{caption}\n")
            if not found:
                continue
            parts.append(f"{before}\n{caption}".strip())
            parts.append([one for one in self.pictures if one.caption == caption])
            rest = after.strip()
        parts += [rest] if rest else []
        formulas = [one for one in self.pictures if not one.caption]
        return [*parts, formulas] if formulas else parts

    def without_pictures(self) -> "Post":
        """Return what is shown where no file can be: tables as text, as far as there is room."""
        body = f"\n{self.body}\n"
        for one in self.pictures:
            if one.caption:
                body = body.replace(f"\n{one.caption}\n", f"\n{one.instead}\n")
        room = LONGEST_MESSAGE - utf16_length(self.notes)
        shown = split(body.strip(), room, count=utf16_length)
        return replace(self, body=shown[0] if shown else "", pictures=())


def placeholder(request_id: UUID, headings: Sequence[str] = ()) -> Post:
    """Return what is shown until there is text: what is read, or that it is looked for."""
    status = as_written(wording.reading(headings)) if headings else i18n.text("notice-searching")
    return Post(status, buttons=(Button.STOP,), request_id=request_id)


def growing(
    text: str, request_id: UUID, *, asked: str | None = None, headings: Sequence[str] = ()
) -> Post:
    """Return the beginning of an answer that is being written; the placeholder without text.

    What comes after LONGEST_GROWING characters changes nothing any more.
    """
    written = _body(text[:LONGEST_GROWING], _captions(text[:LONGEST_GROWING]))
    if not written.strip():
        return placeholder(request_id, headings)
    room = LONGEST_MESSAGE - len(_GOES_ON)
    parts = split(_below_question(asked, written), room, count=utf16_length)
    return Post(parts[0] + _GOES_ON, buttons=(Button.STOP,), request_id=request_id)


def announcing(post: Post, pings: int | None) -> Post:
    """Return the first message of what staff say to a user, who is named and notified."""
    if pings is None:
        return post
    line = i18n.text("help-reply", who=f"<@{pings}>")
    return replace(post, body=f"{line}\n{post.body}", pings=pings)


def sentence(
    text: str,
    choice: Choice | None = None,
    link: str | None = None,
    nearest: Nearest | None = None,
) -> Post:
    """Return one of our own sentences, which may name what a reader wrote, above its menu.

    Args:
        link: An address of the platform's or the book's, which is shown after it.
        nearest: Sections to ask within instead.
    """
    room = LONGEST_MESSAGE if choice is None and nearest is None else _ABOVE_MENU
    shown = split(as_written(text).strip() or _NOTHING, room, count=utf16_length)[0]
    if link is not None:
        shown = f"{shown} [{i18n.text('speaking-link')}](<{link}>)"
    return Post(shown, choice=choice, nearest=nearest)


def answer(
    response: AgentResponse,
    *,
    quoted: bool,
    asked: str | None = None,
    private: bool = False,
    one_message: bool = False,
    pictures: Sequence[Picture] = (),
    earlier: EarlierThread | None = None,
) -> list[Post]:
    """Return a finished answer as messages, with its footnotes and buttons.

    Args:
        quoted: Whether the question came with a passage.
        asked: The question, where readers would not see it otherwise.
        private: Whether the asker alone sees it.
        one_message: Put all of it into one message; what does not fit then is left out, and the
            reader notified.
        pictures: Of the answer's `formulas` and `tables`, at most; each is attached to the message
            in which it stands.
        earlier: Where the same question was answered before.
    """
    shown = _body(response.response_text, [one for one in pictures if one.caption])
    shown = _below_heading(response, shown.strip() or _NOTHING)
    if (understood := wording.understood(response)) is not None:
        shown = f"{_small(understood)}\n{shown}"
    text = _below_question(asked, shown)
    parts = _packed(text, _below(response, earlier), 1 if one_message else _LONGEST_ANSWER)
    is_answer = response.outcome is not Outcome.ABSTAINED
    posts = [
        Post(body, notes, pictures=_pictured(body, pictures), is_answer=is_answer)
        for body, notes in parts
    ]
    has_evidence = adds_to(response)
    buttons = tuple(
        buttons_under(response, quoted=quoted, private=private, has_evidence=has_evidence)
    )
    last = replace(
        posts[-1],
        buttons=buttons,
        request_id=response.query_id,
        nearest=nearest_to(response),
    )
    return [*posts[:-1], last]


def formulas(response: AgentResponse) -> tuple[str, ...]:
    """Return formulas of an answer that only a picture shows, as LaTeX; the first ten."""
    return with_readable_formulas(response.response_text).unreadable[:_MOST_PICTURES]


def thread_name(request: AgentRequest) -> str:
    """Return the question as a name: one line of at most 100 characters, cut at a word."""
    text = request.query_text
    if text == EXPLAIN_QUOTE and request.selected_text is not None:
        text = i18n.text("discord-thread-explain", passage=request.selected_text)
    name = plain_text(text, disarm, without_pings).strip()
    name = without_piles(name)
    if utf16_length(name) <= LONGEST_THREAD_NAME:
        return name if name.strip(_MARKS) else i18n.text("discord-thread-question")
    room = LONGEST_THREAD_NAME - len(_GOES_ON)
    return split(name, room, count=utf16_length)[0].rstrip() + _GOES_ON


def tables(response: AgentResponse) -> list[tuple[Picture, WideTable]]:
    """Return the tables of an answer that only a picture shows, and what is known of each."""
    readable = with_readable_formulas(response.response_text).text
    found = zip(_captions(response.response_text), wide_tables(readable), strict=True)
    return [*found][:_MOST_PICTURES]


_MARKS = "*_~`|#> "


def _captions(markdown: str) -> list[Picture]:
    """Return a caption for each table that is wide, without its picture."""
    readable = with_readable_formulas(markdown).text
    lines = lines_of(without_controls(readable))
    return [
        Picture(
            "\n".join(" | ".join(row) for row in table.rows),
            b"",
            f"-# {i18n.text('answer-table', number=number)}",
            to_discord("".join(lines[table.first : table.end])),
        )
        for number, table in enumerate(wide_tables(readable), 1)
    ]


def _body(markdown: str, pictures: Sequence[Picture] = ()) -> str:
    """Return a text with its wide tables, of those that there are pictures of, as captions."""
    readable = without_controls(with_readable_formulas(markdown).text)
    captions = {one.caption for one in pictures}
    if not captions:
        return to_discord(readable)
    lines, parts, position = lines_of(readable), list[str](), 0
    for table, picture in zip(wide_tables(readable), _captions(markdown), strict=True):
        if picture.caption in captions:
            before = to_discord("".join(lines[position : table.first]))
            parts += [before, picture.caption]
            position = table.end
    parts.append(to_discord("".join(lines[position:])))
    return "\n\n".join(one.strip() for one in parts if one.strip())


def _below_question(asked: str | None, text: str) -> str:
    return text if asked is None else f"> {as_written(one_line(asked))}\n{text}"


def _below_heading(response: AgentResponse, text: str) -> str:
    question = answered_question(response)
    return f"**{as_written(question)}**\n{text}" if question else text


def _pictured(part: str, pictures: Sequence[Picture]) -> tuple[Picture, ...]:
    lines = part.splitlines()
    return tuple(
        one for one in pictures if (one.caption in lines if one.caption else one.alt in part)
    )


def _packed(text: str, notes: str, most: int) -> list[tuple[str, str]]:
    """Return at most so many messages, each as what stands above its line and below it.

    Where text is left out, the notes are not.
    """
    text, notes = guarded(text, notes)
    parts = pack(text, notes, LONGEST_MESSAGE, count=utf16_length)
    if len(parts) <= most:
        return parts
    below = f"-# {i18n.text('answer-rest-left-out')}\n{notes}"
    small = [part for _, part in pack("", below, LONGEST_MESSAGE // 2, count=utf16_length)][:most]
    room = LONGEST_MESSAGE - utf16_length(f"\n\n{small[0]}")
    *before, last = split(text, room, count=utf16_length)[: most - len(small) + 1]
    return [*((one, "") for one in before), (last, small[0]), *(("", one) for one in small[1:])]


def _below(response: AgentResponse, earlier: EarlierThread | None) -> str:
    """Return the small print: where it is from, what to check, and what else is to be known."""
    places = footnote_lines(footnotes(response), lead_in(response))
    lines = [places, *map(_small, remarks(response))]
    if earlier is not None:
        line = i18n.text("earlier-thread", date=date_of(earlier.asked_at))
        lines.append(f"{_small(line)} [{i18n.text('speaking-link')}](<{earlier.link}>)")
    return "\n".join(line for line in lines if line)


def _small(text: str) -> str:
    return f"-# {as_written(one_line(text))}"
