"""chat.*: posting, changing, streaming."""

from tests.wire.slack import session_methods
from tests.wire.slack.block_checks import check_message_blocks
from tests.wire.slack.entities import Channel, ChannelKind, Message
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.message_checks import check_attachments, check_chunks, check_metadata
from tests.wire.slack.payloads import message_payload
from tests.wire.slack.posting import Draft
from tests.wire.slack.requests import Method, Request, Table


def post_message(request: Request) -> Json:
    """chat.postMessage."""
    channel = _place(request)
    draft = read_draft(request)
    draft.thread_ts = thread_of(request, channel)
    draft.broadcast = request.flag("reply_broadcast")
    _check_guise(request)
    installation = request.installation
    message = request.world.posting.create(
        installation.bot, channel, draft, installation=installation
    )
    return _posted(message)


def post_ephemeral(request: Request) -> Json:
    """chat.postEphemeral."""
    channel = _place(request)
    reader = request.world.users.get(request.required("user"))
    if reader is None or reader.id not in channel.members:
        raise SlackError("user_not_in_channel")
    draft = read_draft(request)
    draft.thread_ts = thread_of(request, channel)
    bot = request.installation.bot
    message = request.world.posting.create(
        bot, channel, draft, installation=request.installation, visible_to=reader
    )
    return {"ok": True, "message_ts": message.ts}


def update(request: Request) -> Json:
    """chat.update."""
    message = _own(request, "cant_update_message")
    if message.stream is not None:
        raise SlackError("streaming_state_conflict")
    limits = request.world.limits
    if len(request.text("text")) > limits.update_text:
        raise SlackError("msg_too_long")
    draft = read_draft(request)
    before = message_payload(message)
    _apply(request, message, draft)
    message.edited_ts = request.world.timestamps.next()
    request.world.posting.edit(message, before, names=draft.names)
    return {**_posted(message), "text": message.text}


def delete(request: Request) -> Json:
    """chat.delete."""
    message = _own(request, "cant_delete_message")
    request.world.posting.delete(message)
    return {"ok": True, "channel": message.channel.id, "ts": message.ts}


def get_permalink(request: Request) -> Json:
    """chat.getPermalink."""
    channel = request.known_channel()
    message = request.message(channel, "message_ts")
    link = request.world.permalink(message, request.installation.workspace)
    return {"ok": True, "channel": channel.id, "permalink": link}


def start_stream(request: Request) -> Json:
    """chat.startStream."""
    channel = _place(request)
    request.required("thread_ts")
    thread_ts = thread_of(request, channel)
    assert thread_ts is not None
    _check_guise(request)
    if channel.kind is not ChannelKind.IM:
        _check_recipient(request)
    markdown, chunks = _streamed(request)
    streams = request.world.streams
    message = streams.start(request.installation, channel, thread_ts, unfurls=_unfurls(request))
    streams.write(message, markdown, chunks)
    message.revisions.append(message.text)
    request.world.posting.show(message)
    return {"ok": True, "channel": channel.id, "ts": message.ts}


def append_stream(request: Request) -> Json:
    """chat.appendStream."""
    message = _own(request, "message_not_owned_by_app")
    request.world.streams.running(message)
    markdown, chunks = _streamed(request)
    if not markdown and not chunks:
        raise SlackError("no_text")
    request.world.streams.write(message, markdown, chunks)
    request.world.streams.appeared(message)
    return {"ok": True, "channel": message.channel.id, "ts": message.ts}


def stop_stream(request: Request) -> Json:
    """chat.stopStream."""
    message = _own(request, "message_not_owned_by_app")
    request.world.streams.running(message)
    markdown, chunks = _streamed(request)
    limits = request.world.limits
    sent = request.structure("blocks", "invalid_blocks_format")
    blocks = check_message_blocks(sent, limits) if sent else []
    status = request.text("session_status", "active")
    if status not in session_methods.STATES:
        raise SlackError("invalid_arguments", "must be a valid enum value [json-pointer:]")
    metadata = check_metadata(request.structure("metadata", "invalid_metadata_format"), limits)
    request.world.streams.write(message, markdown, chunks)
    message.metadata = metadata or message.metadata
    request.world.streams.stop(message, blocks)
    session = request.world.sessions.get((message.channel.id, message.thread_ts or ""))
    if session is not None:
        session_methods.change_status(request, session, status)
    return _posted(message)


def read_draft(request: Request) -> Draft:
    """Return what is to be posted, or refuse it."""
    limits = request.world.limits
    text, markdown = request.text("text"), request.text("markdown_text")
    blocks = request.structure("blocks", "invalid_blocks_format")
    attachments = request.structure("attachments", "invalid_attachments")
    if markdown:
        if text or blocks:
            raise SlackError("markdown_text_conflict")
        if len(markdown) > limits.markdown:
            raise SlackError("msg_too_long")
        blocks = [{"type": "markdown", "text": markdown}]
    if not (text.strip() or blocks or attachments):
        raise SlackError("no_text")
    return Draft(
        text=text or markdown,
        blocks=check_message_blocks(blocks, limits) if blocks is not None else [],
        attachments=check_attachments(attachments, limits) if attachments else [],
        metadata=check_metadata(request.structure("metadata", "invalid_metadata_format"), limits),
        username=request.text("username") or None,
        unfurls=_unfurls(request),
        names=request.flag("link_names") or request.text("parse") == "full",
    )


def thread_of(request: Request, channel: Channel) -> str | None:
    """Return the thread to post to, or refuse one that is not there."""
    thread_ts = request.text("thread_ts")
    if not thread_ts:
        return None
    parent = channel.messages.get(thread_ts)
    if parent is None:
        raise SlackError("thread_not_found")
    if parent.is_reply:
        raise SlackError("cannot_reply_to_message")
    return thread_ts


def _place(request: Request) -> Channel:
    """Return the channel to post to; a user's id stands for the direct conversation."""
    named = request.required("channel")
    if named.startswith("U"):
        person = request.world.users.get(named)
        if person is None or not person.is_of(request.installation.workspace):
            raise SlackError("channel_not_found")
        return request.world.direct_channel(person, request.installation.bot)
    channel = request.known_channel()
    open_to_all = (
        channel.kind is ChannelKind.PUBLIC and "chat:write.public" in request.installation.scopes
    )
    if not open_to_all:
        request.joined_channel()
    if channel.archived:
        raise SlackError("is_archived")
    return channel


def _own(request: Request, otherwise: str) -> Message:
    channel = request.known_channel()
    if channel.archived:
        raise SlackError("is_archived")
    message = request.message(channel)
    if message.installation is not request.installation or message.subtype == "tombstone":
        raise SlackError(otherwise)
    return message


def _apply(request: Request, message: Message, draft: Draft) -> None:
    """Change what the call names; blocks, attachments and metadata not named stay."""
    given = {name for name, value in request.arguments.items() if value is not None}
    if given & {"text", "markdown_text"}:
        message.text = draft.text
    if given & {"blocks", "markdown_text"}:
        message.blocks, message.streamed, message.task_cards = draft.blocks, False, []
    if "attachments" in given:
        message.attachments = draft.attachments
    if "metadata" in given:
        message.metadata = draft.metadata


def _streamed(request: Request) -> tuple[str, list[Json]]:
    limits = request.world.limits
    markdown = request.text("markdown_text")
    chunks = check_chunks(request.structure("chunks", "invalid_chunks") or [], limits)
    if markdown and chunks:
        raise SlackError("cannot_provide_both_markdown_text_and_chunks")
    if len(markdown) > limits.markdown:
        raise SlackError("msg_too_long")
    return markdown, chunks


def _check_guise(request: Request) -> None:
    """Refuse another name or picture unless the scope for it is held."""
    if any(request.text(name) for name in ("username", "icon_emoji", "icon_url")):
        request.needs("chat:write.customize")


def _check_recipient(request: Request) -> None:
    if not request.text("recipient_user_id"):
        raise SlackError("missing_recipient_user_id")
    if not request.text("recipient_team_id"):
        raise SlackError("missing_recipient_team_id")
    person = request.world.users.get(request.text("recipient_user_id"))
    if person is None or person.workspace.id != request.text("recipient_team_id"):
        raise SlackError("user_not_found")


def _unfurls(request: Request) -> bool:
    """Links are fetched unless both kinds of preview are declined: one cannot tell before."""
    return request.flag("unfurl_links", True) or request.flag("unfurl_media", True)


def _posted(message: Message) -> Json:
    shown = message_payload(message, metadata=True)
    return {"ok": True, "channel": message.channel.id, "ts": message.ts, "message": shown}


METHODS: Table = {
    "chat.appendStream": Method(append_stream, "chat:write"),
    "chat.delete": Method(delete, "chat:write"),
    "chat.getPermalink": Method(get_permalink, json=False),
    "chat.postEphemeral": Method(post_ephemeral, "chat:write"),
    "chat.postMessage": Method(post_message, "chat:write"),
    "chat.startStream": Method(start_stream, "chat:write"),
    "chat.stopStream": Method(stop_stream, "chat:write"),
    "chat.update": Method(update, "chat:write"),
}
