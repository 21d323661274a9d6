"""The messages of what commands offer to choose, by its English words."""

from core.i18n import Message

CHOICES = {
    "this channel": Message("choice-this-channel"),
    "this category": Message("choice-this-category"),
    "this server": Message("choice-this-server"),
    "off": Message("choice-off"),
    "on": Message("choice-on"),
    "until people talk": Message("choice-until-people-talk"),
    "mention": Message("choice-mention"),
    "everyone": Message("choice-everyone"),
    "staff": Message("choice-staff"),
    "short": Message("choice-short"),
    "normal": Message("choice-normal"),
    "long": Message("choice-long"),
    "full": Message("choice-full"),
    "hints": Message("choice-hints"),
    "sections": Message("choice-sections"),
    "closed": Message("choice-closed"),
    "post here": Message("choice-post-here"),
    "stop": Message("choice-stop"),
}
