"""A post as the components that show it."""

import io
from collections.abc import Iterator, Sequence
from uuid import UUID

import discord
from discord import ui

from adapters.access.choice import Choice
from adapters.buttons import REST, Button, apart, custom_id
from adapters.discord.message_texts import joined
from adapters.discord.replies.outbound import Picture, Post
from adapters.nearest_sections import Nearest
from core import i18n

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
