"""A post as the components that show it."""

import io
from collections.abc import Iterator

import discord
from discord import ui

from adapters.access.choice import Choice
from adapters.buttons import Button, custom_id
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
_BUTTONS_IN_A_ROW = 5
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
        buttons = [*_buttons(post)]
        for start in range(0, len(buttons), _BUTTONS_IN_A_ROW):
            view.add_item(ui.ActionRow(*buttons[start : start + _BUTTONS_IN_A_ROW]))
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
    return joined([post.body, inside, post.notes])


def _card(post: Post) -> Iterator[Part]:
    if post.body:
        yield ui.TextDisplay(post.body)
    if post.pictures:
        yield ui.MediaGallery(*_pictures(post))
    if post.choice is not None:
        yield ui.ActionRow(_menu(post.choice))
    if post.nearest is not None and (row := [*_sections(post.nearest)]):
        if post.nearest.title:
            yield ui.TextDisplay(f"-# {post.nearest.title}")
        yield ui.ActionRow(*row)
    if post.notes:
        if post.body:
            yield ui.Separator()
        yield ui.TextDisplay(post.notes)


def _pictures(post: Post) -> Iterator[discord.MediaGalleryItem]:
    for number, picture in enumerate(post.pictures, 1):
        url = f"attachment://{_name(number)}"
        yield discord.MediaGalleryItem(url, description=_described(picture))


def _name(number: int) -> str:
    return f"formula-{number}.png"


def _described(picture: Picture) -> str:
    return picture.latex[:_LONGEST_DESCRIPTION]


def _buttons(post: Post) -> Iterator[ui.Button[View]]:
    assert post.request_id is not None
    for button in post.buttons:
        style = _STYLES.get(button, discord.ButtonStyle.secondary)
        name = custom_id(button, post.request_id)
        yield ui.Button(label=button.label, style=style, custom_id=name)


def _sections(nearest: Nearest) -> Iterator[ui.Button[View]]:
    for name, label in nearest.buttons(_LONGEST_BUTTON):
        yield ui.Button(label=label, custom_id=name)


def _menu(choice: Choice) -> ui.Select[View]:
    options = [
        discord.SelectOption(label=title[:_LONGEST_LABEL], value=course_id)
        for course_id, title in choice.courses
    ]
    return ui.Select(custom_id=choice.name, placeholder=i18n.text("course-choose"), options=options)
