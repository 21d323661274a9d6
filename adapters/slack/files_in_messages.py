"""The files that Slack's messages carry."""

from adapters.context.message_parts import CANVASES, NO_PARTS, MessageParts, Whose, parts_of
from adapters.slack.mrkdwn_parser import Json

_CANVAS_MODES = frozenset({"canvas", "docs", "quip"})


def files_of(message: Json, whose: Whose) -> MessageParts:
    """Return the files that a message carries."""
    files = [
        (
            _address(one),
            str(one.get("name") or ""),
            next(iter(CANVASES)) if _is_canvas(one) else str(one.get("mimetype") or ""),
            _size(one.get("size")),
        )
        for one in message.get("files") or ()
    ]
    voice = any(one.get("subtype") == "slack_audio" for one in message.get("files") or ())
    return parts_of(files, whose, voice=voice)


def files_shared(message: Json) -> MessageParts:
    """Return the files of the messages that a message shares."""
    shared = [a for a in message.get("attachments") or () if a.get("is_share")]
    parts = [files_of(one, Whose.TARGET) for one in shared]
    return sum(parts, start=NO_PARTS)


def _address(file: Json) -> str:
    names = ["url_private_download", "url_private"]
    if _is_canvas(file):
        names.reverse()  # a canvas is a page, of which the other address may make a download
    return str(next((file[name] for name in names if file.get(name)), ""))


def _is_canvas(file: Json) -> bool:
    """Return whether a file is a canvas, or a post as these were called before."""
    return file.get("mode") in _CANVAS_MODES or file.get("mimetype") in CANVASES


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
