"""The files that Slack's messages carry."""

from adapters.context.message_parts import NO_PARTS, MessageParts, Whose, parts_of
from adapters.slack.mrkdwn_parser import Json


def files_of(message: Json, whose: Whose) -> MessageParts:
    """Return the files that a message carries."""
    files = [
        (
            str(one.get("url_private_download") or one.get("url_private") or ""),
            str(one.get("name") or ""),
            str(one.get("mimetype") or ""),
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


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
