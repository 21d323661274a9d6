"""An answer as the messages that show it on Slack; pure, sends nothing."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from adapters.access.choice import Choice
from adapters.base import EarlierThread
from adapters.buttons import Button, buttons_under
from adapters.markdown.evidence import adds_to
from adapters.markdown.footnotes import (
    answered_question,
    footnotes,
    is_by_model,
    lead_in,
    remarks,
)
from adapters.markdown.formulas import with_readable_formulas
from adapters.markdown.splitting import split, utf16_length
from adapters.nearest_sections import Nearest, nearest_to
from adapters.slack.markup.dialect import as_written, footnote_lines, to_slack
from adapters.slack.markup.rich_text import divided
from adapters.slack.markup.tables import Table, around_table
from adapters.slack.markup.text import escaped_length, link, words
from core.grounding import wording
from core.i18n import text
from core.i18n.dates import date_of
from core.markdown.blocks import MarkdownBlockKind, blocks, lines_of, offsets_of
from core.markdown.writing import one_line
from core.models import AgentResponse
from core.text.sentences import sentence_spans

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
    found = list(blocks(lines))
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
