"""An answer as the messages that show it on Discord; pure, sends nothing."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from uuid import UUID

import discord
from discord import ui

from adapters.chat.access import Choice
from adapters.chat.base import EarlierThread, Nearest, nearest_to
from adapters.chat.buttons import REST, Button, apart, buttons_under, custom_id
from adapters.chat.markdown import dialects
from adapters.chat.markdown.dialects import Dialect, WideTable, plain_text, rendered, wide_tables
from adapters.chat.markdown.footnotes import (
    Exhibit,
    Footnote,
    Paragraph,
    Stretch,
    adds_to,
    answered_question,
    exhibits,
    footnotes,
    lead_in,
    remarks,
)
from adapters.chat.markdown.formulas import with_readable_formulas
from adapters.chat.markdown.layout import (
    pack,
    split,
    utf16_length,
    visible,
    without_controls,
    without_piles,
)
from adapters.discord.members import joined
from core.answering.grounding import citations as wording
from core.domain import EXPLAIN_QUOTE, AgentRequest, AgentResponse, Outcome, i18n
from core.domain.i18n import date_of
from core.domain.links import language_of, one_line, without_links
from core.domain.markdown import Code, CodeKind, code_in, lines_of, outside_code

_GAP = "\u200b"
_CODE_MARKS = ("`", "``")
_RUN = re.compile("`+")
_OPENS_LABEL = re.compile(r"(?<!\\)\[(?![^\[\]]*\]\(<)")
"""A bracket that begins no link of our own."""
_ENDS_LABEL = "]("


def code_span(code: str) -> str:
    """Return code within a line.

    Two backticks in a row are set apart where single ones stand in it, too: no marks are left.
    """
    code = without_controls(code).replace("\n", " ")
    runs = {len(run) for run in _RUN.findall(code)}
    if runs >= {1, 2}:
        code = _RUN.sub(lambda run: _set_apart(run.group()), code)
        runs = {1}
    marks = next(marks for marks in _CODE_MARKS if len(marks) not in runs)
    room = " " if len(marks) > 1 or code.startswith("`") or code.endswith("`") else ""
    return f"{marks}{room}{code or ' '}{room}{marks}"


def fence(code: str, info: str = "") -> str:
    """Return a block of code; one that holds a fence itself as a span for each line."""
    code = without_controls(code).strip("\n")
    if "```" in code:
        return "\n".join(_lines(code))
    return f"```{language_of(info)}\n{code if code.strip() else ' '}\n```"


def guarded(*texts: str) -> tuple[str, ...]:
    """Return texts of one message in which no label of a link ends inside of code.

    Discord looks for links first: a bracket that prose leaves open would meet its end there.
    """
    if not any(_ENDS_LABEL in code.content for text in texts for code in code_in(text)):
        return texts
    return tuple(
        outside_code(text, lambda prose: _OPENS_LABEL.sub(r"\\[", prose)) for text in texts
    )


def _lines(code: str) -> Iterator[str]:
    for line in code.split("\n"):
        yield code_span(line) if line.strip() else ""


def _set_apart(run: str) -> str:
    return _GAP.join(run) if len(run) == len(_CODE_MARKS[-1]) else run


"""Invisible: what it stands in is shown as it is, and means nothing to Discord."""
_EVERYBODY = re.compile(r"@(?=everyone|here)", re.IGNORECASE)
_MENTION = re.compile(r"<(?=[@#])")
_ANGLE = re.compile(r"<(?=\S)")
"""Begins every mention, custom emoji, timestamp, command and address in angle brackets."""
_INVITE = re.compile(r"(?:discord(?:app)?|dsc)(?=\.\w+/)", re.IGNORECASE)
_FORMATTING = re.compile(r"[\\*_~|`]|(?<=\])\(")
_LINE_START = re.compile(r"^([ \t]*)(#{1,3}(?=\s)|-#|[-+](?=\s)|>)", re.MULTILINE)
_NUMBERED = re.compile(r"^([ \t]*\d+)(?=\.\s)", re.MULTILINE)


def disarm(text: str) -> str:
    """Return words that notify no one and link nowhere, where Discord shows no Markdown.

    For names of threads, autocompletion and buttons; elsewhere `escape` is needed.
    """
    text = without_links(visible(text)).replace("://", f":{_GAP}//")
    text = _EVERYBODY.sub(f"@{_GAP}", text)
    text = text.replace("](", f"]{_GAP}(")
    return _INVITE.sub(rf"\g<0>{_GAP}", _ANGLE.sub(f"<{_GAP}", text))


def without_pings(code: str) -> str:
    """Return code that notifies no one where it is not shown as code, and else is what it is."""
    return _MENTION.sub(f"<{_GAP}", _EVERYBODY.sub(f"@{_GAP}", code))


def escape(text: str) -> str:
    """Return words that Discord shows as they are, in a message with Markdown."""
    text = _FORMATTING.sub(r"\\\g<0>", disarm(text))
    return _NUMBERED.sub(r"\1\\", _LINE_START.sub(r"\1\\\2", text))


_DIALECT = Dialect(
    marks={"em": "*", "strong": "**", "s": "~~"},
    deepest_heading=3,
    bullet="- ",
    escape=escape,
    disarm=disarm,
    code_span=code_span,
    fence=fence,
)


_LABEL = re.compile(r"(?:[^\[\]]|\[[^\[\]]*\](?!\())*")
"""A label whose brackets Discord takes for a part of it."""


def to_discord(markdown: str) -> str:
    """Return the text in Discord's dialect: no one is notified, nothing is a link.

    Give it the whole text so far while an answer grows: what is cut off anywhere holds to the
    same.
    """
    return guarded(rendered(markdown, _DIALECT))[0]


def as_written(text: str) -> str:
    """Return words of a book or a reader as they are, but for their code, which is code."""
    return guarded(dialects.as_written(text, _DIALECT))[0]


def footnote_lines(notes: Sequence[Footnote], lead_in: str = "") -> str:
    """Return footnotes in small print, a line each, linking into the book.

    Args:
        lead_in: The bot's word in front of them, such as `From`.
    """
    lines = "\n".join(f"-# {place_line(note, file=False)}" for note in notes)
    return lines.replace("-# ", f"-# {lead_in} ", 1) if lead_in else lines


def masked_link(label: str, url: str) -> str:
    """Return a link of our own with a label, without a preview."""
    label = outside_code(one_line(label), _round_brackets)
    label = dialects.as_written(label, _DIALECT)
    if not _LABEL.fullmatch(label):
        label = _round_brackets(label)
    return f"[{label}](<{re.sub('[<>()|`*_~ ]', _percent, url)}>)"


def place_line(note: Footnote, *, file: bool = True) -> str:
    """Return where something stands, in one line; `file`: name the file as well."""
    title = masked_link(note.title, note.url) if note.url else as_written(note.title)
    where = [title, escape(note.locator), escape(note.file) if file else ""]
    return f"{note.numbers} {' · '.join(part for part in where if part)}"


def code_of(code: Code) -> str:
    """Return code of the book as code."""
    is_span = code.kind is CodeKind.SPAN
    return code_span(code.content) if is_span else fence(code.content, code.info)


def _round_brackets(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def _percent(character: re.Match[str]) -> str:
    return f"%{ord(character.group()):02X}"


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


_MOST = 4
"""Messages: what is more, the book itself shows."""


def evidence(response: AgentResponse) -> list[Post]:
    """Return the paragraphs that an answer cites, the cited words bold, each place once."""
    found = exhibits(response)
    if not found:
        return [Post(i18n.text("answer-no-evidence"))]
    (passages,) = guarded("\n\n".join(map(_shown, found)))
    posts = [Post(part) for part in split(passages, LONGEST_MESSAGE, count=utf16_length)]
    if len(posts) > _MOST:
        return [*posts[: _MOST - 1], Post(i18n.text("discord-more-evidence"))]
    return posts


def _shown(exhibit: Exhibit) -> str:
    shown = "\n\n".join(map(_paragraph, exhibit.paragraphs))
    return f"-# {place_line(exhibit.place)}\n{shown}"


def _paragraph(paragraph: Paragraph) -> str:
    if paragraph.table:
        return to_discord(paragraph.table)
    shown = "".join(_marked(paragraph.stretches)).strip("\n")
    return "\n".join(f"> {line}" for line in shown.split("\n"))


def _marked(stretches: Iterable[Stretch]) -> Iterator[str]:
    """Yield the words and the code, what is cited bold; a block of code cannot be."""
    for is_bold, run in groupby(stretches, _can_be_bold):
        text = "".join(map(_written, run))
        yield "\n".join(map(_bold, text.split("\n"))) if is_bold else text


def _can_be_bold(stretch: Stretch) -> bool:
    return stretch.cited and (stretch.code is None or stretch.code.kind is CodeKind.SPAN)


def _bold(line: str) -> str:
    """Return a line in bold, the blanks at its ends outside."""
    words = line.strip()
    return line.replace(words, f"**{words}**", 1) if words else line


def _written(stretch: Stretch) -> str:
    if stretch.code is None:
        return escape(stretch.text)
    shown = code_of(stretch.code)
    return shown if stretch.code.kind is CodeKind.SPAN else f"\n{shown}"


View = ui.LayoutView
Part = ui.Item[View]

_ACCENT = 0x2F6F8F
"""The bar next to a finished answer."""
_LONGEST_DESCRIPTION = 1_024
_LONGEST_LABEL = 100
_LONGEST_BUTTON = 80
MOST_OPTIONS = 25
"""Of a menu."""
_STYLES = {
    Button.HELPFUL: discord.ButtonStyle.success,
    Button.STOP: discord.ButtonStyle.danger,
}


def layout(post: Post) -> View:
    """Return what a message shows: a card, and the buttons below it."""
    view = View(timeout=None)
    accent = _ACCENT if post.is_answer else None
    view.add_item(ui.Container(*_card(post), accent_colour=accent))
    if post.request_id is not None and post.buttons:
        shown, rest = apart(post.buttons)
        view.add_item(ui.ActionRow(*_buttons(shown, post.request_id)))
        if rest:
            view.add_item(ui.ActionRow(_rest(rest, post.request_id)))
    return view


def files(post: Post) -> list[discord.File]:
    """Return the files that the card shows, to be sent once."""
    return [
        discord.File(io.BytesIO(picture.data), _name(number), description=_described(picture))
        for number, picture in enumerate(post.pictures, 1)
    ]


def text_of(post: Post) -> str:
    """Return what `text_in` finds in the message that shows a post."""
    title = post.nearest.title if post.nearest is not None else ""
    inside = f"-# {title}" if title else ""
    texts = [part for part in post.shown if isinstance(part, str)]
    return joined([*texts, inside, post.notes])


def _card(post: Post) -> Iterator[Part]:
    for part in post.shown:
        if isinstance(part, str):
            yield ui.TextDisplay(part)
        else:
            yield ui.MediaGallery(*(_picture(post, one) for one in part))
    if post.choice is not None:
        yield from _courses(post.choice)
    if post.nearest is not None and (row := [*_sections(post.nearest)]):
        if post.nearest.title:
            yield ui.TextDisplay(f"-# {post.nearest.title}")
        yield ui.ActionRow(*row)
    if post.notes:
        if post.body:
            yield ui.Separator()
        yield ui.TextDisplay(post.notes)


def _picture(post: Post, picture: Picture) -> discord.MediaGalleryItem:
    url = f"attachment://{_name(post.pictures.index(picture) + 1)}"
    return discord.MediaGalleryItem(url, description=_described(picture))


def _name(number: int) -> str:
    return f"picture-{number}.png"


def _described(picture: Picture) -> str:
    return picture.alt[:_LONGEST_DESCRIPTION]


def _buttons(buttons: Sequence[Button], request_id: UUID) -> Iterator[ui.Button[View]]:
    for button in buttons:
        style = _STYLES.get(button, discord.ButtonStyle.secondary)
        name = custom_id(button, request_id)
        yield ui.Button(label=button.label, style=style, custom_id=name)


def _rest(buttons: Sequence[Button], request_id: UUID) -> ui.Select[View]:
    """Return the menu of what has no button of its own."""
    options = [
        discord.SelectOption(label=one.label, value=custom_id(one, request_id)) for one in buttons
    ]
    name, hint = f"{REST}:{request_id}", i18n.text("button-rest")
    return ui.Select(custom_id=name, placeholder=hint, options=options)


def _sections(nearest: Nearest) -> Iterator[ui.Button[View]]:
    for name, label in nearest.buttons(_LONGEST_BUTTON):
        yield ui.Button(label=label, custom_id=name)


def _courses(choice: Choice) -> Iterator[ui.ActionRow[View]]:
    """Yield a menu of courses, or the way to find one among more than a menu holds."""
    is_menu = 0 < len(choice.courses) <= MOST_OPTIONS
    if is_menu:
        yield ui.ActionRow(_menu(choice))
    if choice.is_found or not is_menu:
        name = custom_id(Button.FIND_COURSE, choice.request_id)
        yield ui.ActionRow(ui.Button(label=Button.FIND_COURSE.label, custom_id=name))


def _menu(choice: Choice) -> ui.Select[View]:
    options = [
        discord.SelectOption(label=title[:_LONGEST_LABEL], value=course_id)
        for course_id, title in choice.courses
    ]
    return ui.Select(custom_id=choice.name, placeholder=i18n.text("course-choose"), options=options)
