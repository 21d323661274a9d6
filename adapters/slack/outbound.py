"""An answer as the messages that show it on Slack; pure, sends nothing."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from adapters.actions.staff import PINGS
from adapters.chat.access import Choice, request_in
from adapters.chat.base import EarlierThread, Nearest, nearest_to, pressed_section
from adapters.chat.buttons import ASKS_FIRST, REST, Button, apart, buttons_under, custom_id, parsed
from adapters.chat.incoming_message import TITLED
from adapters.chat.markdown.footnotes import (
    adds_to,
    answered_question,
    footnotes,
    is_by_model,
    lead_in,
    remarks,
)
from adapters.chat.markdown.formulas import with_readable_formulas
from adapters.chat.markdown.layout import split, utf16_length
from adapters.slack.mrkdwn import (
    DividedText,
    Table,
    around_table,
    as_written,
    controls_escaped,
    divided,
    escaped_length,
    footnote_lines,
    link,
    markdown_escaped,
    rich_text,
    to_mrkdwn,
    to_slack,
    words,
)
from core.answering.grounding import citations as wording
from core.domain import AgentResponse, i18n, now
from core.domain.i18n import date_of, text
from core.domain.links import one_line
from core.domain.markdown import MarkdownBlockKind, lines_of, offsets_of
from core.domain.markdown import blocks as outbound_blocks
from core.domain.sentences import sentence_spans
from core.storage.inbox.base import Job

LONGEST_MARKDOWN = 8_500
"""Of a message that may have 12,000 with its notes: room for unexpected escapes."""
LONGEST_GROWING = 8_000
"""Characters of an unfinished answer that are shown."""
LONGEST_NOTES = 2_900
"""Of one text in a context block, which may have 3,000."""
_LONGEST_ANSWER = 6
"""Messages; a model that never ends does not fill a thread."""
_HTTP = re.compile(r"https?://")
_GOES_ON = " …"
_NOTHING = "…"
"""Stands where a text is of characters that no one can see."""


@dataclass(frozen=True, slots=True)
class Post:
    """What one message shows."""

    markdown: str
    """As `to_slack` gives it, its controls not yet escaped."""
    notes: str = ""
    """Small print below, in mrkdwn, its controls escaped."""
    buttons: tuple[Button, ...] = ()
    request_id: UUID | None = None
    """What the buttons belong to."""
    choice: Choice | None = None
    nearest: Nearest | None = None
    table: Table | None = None
    """A table below the text."""
    after: str = ""
    """What stands below the table, as `markdown`."""
    pings: str | None = None
    """The user whom its first line names and notifies; None: no one is."""
    sources: tuple[tuple[str, str], ...] = ()
    """Title and address of the pages that it cites."""
    by_model: bool = False
    """Whether a model wrote it, so that its sentences were checked."""


@dataclass(frozen=True, slots=True)
class Growing:
    """An unfinished answer, for a message that is edited and for a stream."""

    post: Post
    settled: str
    """What of the text will not change any more, as Markdown; its controls not yet escaped."""
    reads: str | None
    """What is read, as the title of a task."""


def placeholder(request_id: UUID, headings: Sequence[str] = ()) -> Post:
    """Return what is shown until there is text: what is read, or that it is looked for."""
    status = as_written(wording.reading(headings)) if headings else text("notice-searching")
    return Post(status, buttons=(Button.STOP,), request_id=request_id)


def growing(
    written: str, request_id: UUID, *, asked: str | None = None, headings: Sequence[str] = ()
) -> Post:
    """Return the beginning of an answer that is being written; the placeholder without text."""
    written = _body(written[:LONGEST_GROWING])
    if not written.strip():
        return placeholder(request_id, headings)
    room = LONGEST_MARKDOWN - len(_GOES_ON)
    parts = split(_below_question(asked, written), room, count=escaped_length)
    return Post(parts[0] + _GOES_ON, buttons=(Button.STOP,), request_id=request_id)


def task(title: str) -> str:
    """Return the title of something that is being done, its controls escaped."""
    return words(one_line(title))


def settled(written: str, *, asked: str | None = None) -> str:
    """Return of an unfinished answer what will not change any more.

    The text of a stream can only grow: sentences are shown when they are whole, code and
    tables when something follows them. What only rich text or a table shows ends it.
    """
    around = around_table(written[:LONGEST_GROWING])
    if around.tables:
        return _settled(asked, around.before)
    written = around.before
    lines = lines_of(written)
    found = list(outbound_blocks(lines))
    if not found:
        return ""
    last = found[-1]
    start = offsets_of(lines)[last.first]
    if last.kind in {MarkdownBlockKind.PROSE, MarkdownBlockKind.HEADING}:
        start += _whole_sentences(written[start:])
    return _settled(asked, written[:start])


def _settled(asked: str | None, written: str) -> str:
    body = _body(written).strip()
    return divided(_below_question(asked, body)).before.rstrip() if body else ""


def announcing(post: Post, pings: str | None) -> Post:
    """Return the first message of what staff say to a user, who is named and notified."""
    return post if pings is None else replace(post, pings=pings)


def question(asked: str, asker: str | None = None) -> Post:
    """Return a question as the message below which it is answered; its asker is not pinged."""
    shown = _below_question(asked, "").rstrip()
    if not asker:
        return Post(shown)
    return Post(shown, notes=text("slack-asked-by", name=words(one_line(asker))))


def sentence(
    told: str,
    choice: Choice | None = None,
    link: str | None = None,
    nearest: Nearest | None = None,
) -> Post:
    """Return one of our own sentences, which may name what a reader wrote, above its menu.

    Args:
        link: An address of the platform's or the book's, which is shown after it.
        nearest: Sections to ask within instead.
    """
    told = as_written(told).strip() or _NOTHING
    if link is not None:
        told = f"{told} [{text('speaking-link')}]({link})"
    shown = split(told, LONGEST_MARKDOWN, count=escaped_length)[0]
    return Post(shown, choice=choice, nearest=nearest)


def answer(
    response: AgentResponse,
    *,
    quoted: bool,
    asked: str | None = None,
    private: bool = False,
    one_message: bool = False,
    looked_at: str | None = None,
    earlier: EarlierThread | None = None,
) -> list[Post]:
    """Return a finished answer as messages, with its footnotes and buttons.

    Args:
        quoted: Whether the question came with a passage.
        asked: The question, where readers would not see it otherwise.
        private: Whether the asker alone sees it.
        one_message: Put all of it into one message; what does not fit then is left out, and
            the reader notified.
        looked_at: The title of the course, where it was chosen by what the asker looks at.
        earlier: Where the same question was answered before.
    """
    posts = _posts(response, asked)
    most = 1 if one_message else _LONGEST_ANSWER
    left_out = [text("answer-rest-left-out")] if len(posts) > most else []
    chosen = [text("slack-from-looked-at", course=looked_at)] if looked_at else []
    told = [*chosen, *remarks(response), *_about_writer(response), *left_out]
    notes = _notes(response, told, _earlier(earlier))
    posts = posts[:most]
    posts[0] = replace(posts[0], sources=_sources(response), by_model=is_by_model(response))
    posts[-1] = replace(posts[-1], notes=notes[0])
    posts += [] if one_message else [Post("", notes=more) for more in notes[1:]]
    has_evidence = adds_to(response)
    buttons = tuple(
        buttons_under(response, quoted=quoted, private=private, has_evidence=has_evidence)
    )
    if buttons and not private:
        buttons += (Button.DELETE,)
    last = replace(
        posts[-1],
        buttons=buttons,
        request_id=response.query_id,
        nearest=nearest_to(response),
    )
    return [*posts[:-1], last]


def _posts(response: AgentResponse, asked: str | None) -> list[Post]:
    """Return an answer as messages, each with one table at most below its text."""
    rest, posts, is_first = with_readable_formulas(response.response_text).text, list[Post](), True
    while rest.strip() or is_first:
        before, tables, rest = around_table(rest)
        shown = to_slack(before).strip()
        if is_first:
            shown = _below_heading(response, shown or ("" if tables else _NOTHING))
            shown = _below_question(asked, shown).strip()
        is_first = False
        parts = [Post(part) for part in split(shown, LONGEST_MARKDOWN, count=escaped_length)]
        if parts and not tables and posts and _fits_below(posts[-1], parts):
            posts[-1] = replace(posts[-1], after=parts[0].markdown)
            parts = []
        for table in tables:
            if (
                parts
                and parts[-1].table is None
                and _length(parts[-1]) + table.length <= LONGEST_MARKDOWN
            ):
                parts[-1] = replace(parts[-1], table=table)
            else:
                parts.append(Post("", table=table))
        posts += parts
    return posts


def _fits_below(post: Post, parts: Sequence[Post]) -> bool:
    """Return whether the end of an answer fits below the table of its last message."""
    if post.table is None or len(parts) > 1:
        return False
    return _length(post) + post.table.length + _length(parts[0]) <= LONGEST_MARKDOWN


def _length(post: Post) -> int:
    return escaped_length(post.markdown)


def _about_writer(response: AgentResponse) -> Iterator[str]:
    """Yield that a model wrote an answer, where one did."""
    if is_by_model(response):
        yield text("slack-written-by-ai")


def _sources(response: AgentResponse) -> tuple[tuple[str, str], ...]:
    """Return title and address of the pages that an answer cites, each once."""
    places = (place for place in footnotes(response) if place.url)
    found = {str(place.url): task(place.title) for place in places}
    return tuple((title, url) for url, title in found.items() if _HTTP.match(url))


def _body(markdown: str) -> str:
    return to_slack(with_readable_formulas(markdown).text)


def _below_question(asked: str | None, shown: str) -> str:
    return shown if asked is None else f"> {as_written(one_line(asked))}\n\n{shown}"


def _below_heading(response: AgentResponse, shown: str) -> str:
    """Return an answer below what was understood, or the question that the staff answered."""
    if question := answered_question(response):
        return f"**{as_written(question)}**\n\n{shown}"
    understood = wording.understood(response)
    return shown if understood is None else f"{as_written(understood)}\n\n{shown}"


def _whole_sentences(prose: str) -> int:
    """Return where the last sentence ends that something follows."""
    spans = sentence_spans(prose)
    return spans[-1].start if len(spans) > 1 else 0


def _earlier(earlier: EarlierThread | None) -> list[str]:
    """Return the line, in mrkdwn, that leads to an earlier answer; none where there is none."""
    if earlier is None:
        return []
    line = text("earlier-thread", date=date_of(earlier.asked_at))
    return [f"{words(line)} {link(text('speaking-link'), earlier.link)}"]


def _notes(response: AgentResponse, told: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return the small print, in as many texts as it needs; one at least, which may be empty.

    Where it is long, what is said besides comes first.
    """
    places = footnote_lines(footnotes(response), lead_in(response))
    below = [*(words(one_line(remark)) for remark in told), *more]
    full = "\n".join([*places, *below])
    if utf16_length(full) <= LONGEST_NOTES:
        return [full]
    packed = [""]
    for line in [*below, *places]:
        longer = f"{packed[-1]}\n{line}".strip("\n")
        if packed[-1] and utf16_length(longer) > LONGEST_NOTES:
            packed.append("")
            longer = line
        packed[-1] = split(longer, LONGEST_NOTES, count=utf16_length)[0]
    return packed


COMMANDED = "commanded"
"""In an arrival's address: whether a slash command asked, which Slack acknowledged visibly."""
LOOKED_AT = "looked_at"
"""In an arrival's address: the title of the course that was chosen by what its asker looked at."""
_MARGIN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Response:
    """The way to answer a command or a press without a token, as long as it lives."""

    url: str
    expires_at: datetime
    replaces: bool = False
    """Whether a response takes the place of the one before. After a press it would take the place
    of the message with the button, which others may read."""

    @property
    def is_over(self) -> bool:
        """Whether the address is dead, or might die before the answer is there."""
        return now() >= self.expires_at - _MARGIN


@dataclass(frozen=True, slots=True)
class Address:
    """Where an answer belongs."""

    team: str
    enterprise: str | None
    channel: str
    root: str | None
    """The first message of the thread; None: there is none yet, or no thread at all."""
    thread: str | None
    """The thread in which it was asked."""
    question: str | None
    """The message that asks; None for a command and for an answer that is shared."""
    asker: str
    ephemeral: bool
    posts_question: bool
    """Whether the bot posts the question first, and answers below it."""
    response: Response | None
    looked_at: str | None = None
    """The title of the course, where it was chosen by what the asker looked at."""
    titled: str | None = None
    """The digest of the title that its session has, if nobody has changed that."""
    pings: bool = False
    """Whether the answer notifies its asker, who has asked for it."""

    @property
    def has_thread(self) -> bool:
        """Whether all that the asker is told stands in a thread that is there already."""
        return self.thread is not None or self.channel.startswith("D")

    @property
    def is_private(self) -> bool:
        """Whether no one but the asker sees the answer."""
        return self.ephemeral or self.channel.startswith("D")

    @classmethod
    def of(cls, job: Job) -> "Address":
        """Return where the answer to a job belongs."""
        arrival, address = job.arrival, job.arrival.address
        response = None
        if arrival.token and arrival.token_expires_at:
            replaces = address.get(COMMANDED, False)
            response = Response(arrival.token, arrival.token_expires_at, replaces)
        posts_question = address.get("post_question", False)
        asked_in = address.get("thread") or address.get("message")
        return cls(
            team=address["team"],
            enterprise=address.get("enterprise"),
            channel=address["channel"],
            root=job.posted.thread if posts_question else asked_in,
            thread=address.get("thread"),
            question=address.get("message"),
            asker=address["asker"],
            ephemeral=address.get("ephemeral", False),
            posts_question=posts_question,
            response=response,
            looked_at=address.get(LOOKED_AT),
            titled=address.get(TITLED),
            pings=address.get(PINGS, False),
        )


Block = dict[str, Any]

_LONGEST = 75


def section_blocks(nearest: Nearest | None) -> list[Block]:
    """Return the blocks with the sections, each a button; none where nothing is near."""
    buttons = [_button(name, label) for name, label in nearest.buttons(_LONGEST)] if nearest else []
    if not buttons:
        return []
    row = {"type": "actions", "elements": buttons}
    if nearest is None or not nearest.title:
        return [row]
    text = {"type": "plain_text", "text": nearest.title}
    return [{"type": "context", "elements": [text]}, row]


def section_of(action: Mapping[str, Any]) -> tuple[str, UUID, int] | None:
    """Return what `pressed_section` does of a press; None: it is no such button."""
    pressed = pressed_section(str(action.get("value")))
    if pressed is None or not str(action.get("action_id")).startswith(f"gl:{pressed[0]}:"):
        return None
    return pressed


def _button(name: str, label: str) -> Block:
    kind, number = name.split(":")[1], name.rpartition(":")[2]
    return {
        "type": "button",
        "text": {"type": "plain_text", "text": label},
        "action_id": f"gl:{kind}:{number}",
        "value": name,
    }


LONGEST_FALLBACK = 2_900
"""Of the text next to the blocks, which may have 4,000 in an update."""
VOTE = "gl:vote"
"""The action id of both votes; all others are `gl:` and the button's letter."""
CHOOSE = "gl:course"
"""The action id of the menu of courses; its block is named by the question."""
_VOTES = frozenset({Button.HELPFUL, Button.NOT_HELPFUL})
_LONGEST_OPTION = 75
_MOST_OPTIONS = 100
_LETTERS = 20


def blocks_of_post(post: Post, *, escape_code: bool = False) -> list[Block]:
    """Return what a message shows; `escape_code` as the setting of that name."""
    markdown, below = ending(post, escape_code=escape_code)
    shown: list[Block] = [{"type": "markdown", "text": markdown}] if markdown.strip() else []
    return [*_announced(post), *shown, *below]


def _announced(post: Post) -> list[Block]:
    """Return the line that names and notifies whom a message is for."""
    if post.pings is None:
        return []
    line = i18n.text("help-reply", who=f"<@{post.pings}>")
    return [{"type": "section", "text": {"type": "mrkdwn", "text": line, "verbatim": True}}]


def ending(post: Post, *, escape_code: bool = False) -> tuple[str, list[Block]]:
    """Return what a post begins with, as Markdown, and the blocks of all below it."""
    parts = divided(post.markdown)
    below = markdown_blocks(parts._replace(before=""), escape_code=escape_code)
    if post.table:
        below.append(post.table.block)
        below += markdown_blocks(divided(post.after), escape_code=escape_code)
    if post.notes:
        text = {"type": "mrkdwn", "text": post.notes, "verbatim": True}
        below.append({"type": "context", "elements": [text]})
    below += section_blocks(post.nearest)
    below += [*buttons(post), *([_menu(post.choice)] if post.choice is not None else [])]
    return markdown_escaped(parts.before, escape_code=escape_code), below


def markdown_blocks(parts: DividedText, *, escape_code: bool = False) -> list[Block]:
    """Return the blocks that show Markdown, with rich text for code that might act."""
    shown = list[Block]()
    if parts.before.strip():
        text = markdown_escaped(parts.before, escape_code=escape_code)
        shown.append({"type": "markdown", "text": text})
    if parts.rich:
        shown.append({"type": "rich_text", "elements": rich_text(parts.rich)})
    if parts.after.strip():
        text = markdown_escaped(parts.after, escape_code=escape_code)
        shown.append({"type": "markdown", "text": text})
    return shown


def fallback(post: Post) -> str:
    """Return what notifications tell, and what is read out, in place of the blocks."""
    beginning = split(post.markdown or post.after, LONGEST_FALLBACK * 2 // 3)
    text = to_mrkdwn(beginning[0]) if beginning else ""
    short = split(text, LONGEST_FALLBACK, count=escaped_length)
    return controls_escaped(short[0]) if short else "…"


def buttons(post: Post) -> list[Block]:
    """Return the blocks with a message's buttons."""
    if post.request_id is None or not post.buttons:
        return []
    small, request_id = list[Block](), post.request_id
    if set(post.buttons) >= _VOTES:
        small.append(_votes(request_id))
    if Button.DELETE in post.buttons:
        small.append(_icon(Button.DELETE, request_id))
    shown, rest = apart([one for one in post.buttons if one is not Button.DELETE])
    others = [_blocks_button(one, request_id) for one in shown if one not in _VOTES]
    if rest:
        others.append(_rest(rest, request_id))
    rows = {"context_actions": small, "actions": others}
    return [{"type": kind, "elements": elements} for kind, elements in rows.items() if elements]


def pressed(action: Mapping[str, Any]) -> tuple[Button, UUID] | None:
    """Return the button of an action's payload, and the request it belongs to; None: not ours."""
    name, value = str(action.get("action_id")), str(action.get("value"))
    if name == REST:
        return parsed(str((action.get("selected_option") or {}).get("value")))
    return parsed(value if name == VOTE else f"{name}:{value}")


def chosen(action: Mapping[str, Any]) -> tuple[UUID, str] | None:
    """Return the question and the course of a choice; None: it is not the bot's."""
    request_id = request_in(str(action.get("block_id")))
    course = (action.get("selected_option") or {}).get("value")
    if action.get("action_id") != CHOOSE or request_id is None or course is None:
        return None
    return request_id, str(course)


def _menu(choice: Choice) -> Block:
    options: list[Block] = [
        {"text": _plain(title[:_LONGEST_OPTION]), "value": course_id}
        for course_id, title in choice.courses
    ]
    menu: Block = {
        "type": "static_select",
        "action_id": CHOOSE,
        "placeholder": _plain(i18n.text("course-choose")),
    }
    # Slack's menus are searched by typing; one of more than a hundred options is in groups.
    if len(options) <= _MOST_OPTIONS:
        menu["options"] = options
    else:
        menu["option_groups"] = [
            _group(options[n : n + _MOST_OPTIONS]) for n in range(0, len(options), _MOST_OPTIONS)
        ]
    return {"type": "actions", "block_id": choice.name, "elements": [menu]}


def _group(options: Sequence[Block]) -> Block:
    """Return options that are shown below the first letters of the first and the last of them."""
    first, last = (str(options[n]["text"]["text"])[:_LETTERS].strip() for n in (0, -1))
    return {"label": _plain(f"{first} – {last}"), "options": list(options)}


def _votes(request_id: UUID) -> Block:
    return {
        "type": "feedback_buttons",
        "action_id": VOTE,
        "positive_button": _vote(Button.HELPFUL, request_id),
        "negative_button": _vote(Button.NOT_HELPFUL, request_id),
    }


def _vote(button: Button, request_id: UUID) -> Block:
    return {"text": _plain(button.label), "value": custom_id(button, request_id)}


def _blocks_button(button: Button, request_id: UUID) -> Block:
    style = {"style": "danger"} if button is Button.STOP else {}
    return {
        "type": "button",
        "text": _plain(button.label),
        "action_id": f"gl:{button.value}",
        "value": str(request_id),
        **style,
    }


def _rest(buttons: Sequence[Button], request_id: UUID) -> Block:
    """Return the menu of what has no button of its own."""
    options = [{"text": _plain(one.label), "value": custom_id(one, request_id)} for one in buttons]
    return {"type": "overflow", "action_id": REST, "options": options}


def _icon(button: Button, request_id: UUID) -> Block:
    """Return a bin, which asks once more."""
    return {
        "type": "icon_button",
        "icon": "trash",
        "text": _plain(button.label),
        "action_id": f"gl:{button.value}",
        "value": str(request_id),
        "confirm": confirm(button),
    }


def confirm(button: Button) -> Block:
    """Return what Slack asks before a button does what cannot be undone."""
    return {
        "title": _plain(i18n.text("button-delete-question")),
        "text": _plain(str(ASKS_FIRST[button])),
        "confirm": _plain(i18n.text("button-delete")),
        "deny": _plain(i18n.text("button-cancel")),
    }


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}
