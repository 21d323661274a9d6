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
from adapters.markdown.dialects import plain_text
from adapters.markdown.footnotes import answered_question, footnotes, lead_in, remarks
from adapters.markdown.formulas import with_readable_formulas
from adapters.markdown.splitting import pack, split, utf16_length
from adapters.markdown.visible import without_piles
from adapters.nearest_sections import Nearest, nearest_to
from core import i18n
from core.grounding import wording
from core.i18n.dates import date_of
from core.markdown.writing import one_line
from core.models import EXPLAIN_QUOTE, AgentRequest, AgentResponse

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
    """A drawn formula."""

    latex: str
    data: bytes
    """A PNG."""


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
    """Whether it is a finished answer, or a part of one."""

    @property
    def text(self) -> str:
        """What a reader reads, a blank line in place of the line."""
        return "\n\n".join(part for part in (self.body, self.notes) if part)


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
    written = _body(text[:LONGEST_GROWING])
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
        pictures: Of the answer's `formulas`, at most; each is attached where its formula stands.
        earlier: Where the same question was answered before.
    """
    shown = _below_heading(response, _body(response.response_text).strip() or _NOTHING)
    if (understood := wording.understood(response)) is not None:
        shown = f"{_small(understood)}\n{shown}"
    text = _below_question(asked, shown)
    parts = _packed(text, _below(response, earlier), 1 if one_message else _LONGEST_ANSWER)
    posts = [
        Post(body, notes, pictures=_pictured(body, pictures), is_answer=True)
        for body, notes in parts
    ]
    buttons = tuple(buttons_under(response, quoted=quoted, private=private))
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


_MARKS = "*_~`|#> "


def _body(markdown: str) -> str:
    return to_discord(with_readable_formulas(markdown).text)


def _below_question(asked: str | None, text: str) -> str:
    return text if asked is None else f"> {as_written(one_line(asked))}\n{text}"


def _below_heading(response: AgentResponse, text: str) -> str:
    question = answered_question(response)
    return f"**{as_written(question)}**\n{text}" if question else text


def _pictured(part: str, pictures: Sequence[Picture]) -> tuple[Picture, ...]:
    return tuple(picture for picture in pictures if picture.latex in part)


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
