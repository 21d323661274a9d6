"""REST: messages, reactions, typing, and the answers to interactions."""

from urllib.parse import unquote

from tests.wire.discord.entities import Channel, ChannelType, Message
from tests.wire.discord.errors import Json, invalid, refusal
from tests.wire.discord.interactions import Callback, Interaction
from tests.wire.discord.message_payloads import message_payload
from tests.wire.discord.permissions import Permission
from tests.wire.discord.requests import Answer, Request, Table
from tests.wire.discord.state import Event


def create_message(request: Request) -> Answer:
    """Post a message."""
    channel = request.channel()
    posting = request.world.posting
    message = posting.create(request.user, channel, request.form, request.files)
    return Answer(200, _shown(request, message))


def list_messages(request: Request) -> Answer:
    """Page through a channel, the newest first."""
    channel = _readable(request)
    if not request.world.may(channel, request.user, Permission.READ_MESSAGE_HISTORY):
        return Answer(200, [])
    page = _page(list(channel.messages.values()), request.query)
    return Answer(200, [_shown(request, message) for message in reversed(page)])


def get_message(request: Request) -> Answer:
    """Serve one message."""
    channel = _readable(request)
    request.world.require(channel, request.user, Permission.READ_MESSAGE_HISTORY)
    return Answer(200, _shown(request, _message(request, channel)))


def edit_message(request: Request) -> Answer:
    """Change a message."""
    message = _message(request, request.channel())
    posting = request.world.posting
    return Answer(
        200, _shown(request, posting.edit_own(request.user, message, request.form, request.files))
    )


def delete_message(request: Request) -> Answer:
    """Delete a message."""
    request.world.posting.delete_as(request.user, _message(request, request.channel()))
    return Answer()


def react(request: Request) -> Answer:
    """Add the bot's reaction."""
    message = _message(request, request.channel())
    request.world.posting.react(request.user, message, unquote(request.params["emoji_name"]))
    return Answer()


def take_back(request: Request) -> Answer:
    """Remove the bot's reaction."""
    message = _message(request, request.channel())
    request.world.posting.take_back(request.user, message, unquote(request.params["emoji_name"]))
    return Answer()


def typing(request: Request) -> Answer:
    """Show that the bot is writing."""
    world, channel = request.world, request.channel()
    in_thread = channel.thread is not None
    needed = Permission.SEND_MESSAGES_IN_THREADS if in_thread else Permission.SEND_MESSAGES
    world.require(channel, request.user, needed)
    world.typing.append((channel.id, request.user.id))
    data = {
        "channel_id": str(channel.id),
        "user_id": str(request.user.id),
        "timestamp": int(world.clock.wall().timestamp()),
    }
    world.tell(Event("TYPING_START", data, channel.guild, channel))
    return Answer()


def respond(request: Request) -> Answer:
    """Take the first response to an interaction."""
    params = request.params
    interaction = request.world.interactions.respond(
        params["interaction_id"], params["interaction_token"], request.form, request.files
    )
    if request.query.get("with_response") not in ("1", "true", "True"):
        return Answer()
    return Answer(200, _response(interaction))


def follow_up(request: Request) -> Answer:
    """Post a further answer."""
    message = request.world.interactions.follow_up(*_access(request), request.form, request.files)
    if request.query.get("wait", "true") in ("0", "false"):
        return Answer()
    return Answer(200, _by_token(message))


def get_answer(request: Request) -> Answer:
    """Serve an answer, ephemeral ones too."""
    return Answer(200, _by_token(request.world.interactions.message(*_answer(request))))


def edit_answer(request: Request) -> Answer:
    """Change an answer."""
    interactions = request.world.interactions
    message = interactions.edit(*_answer(request), request.form, request.files)
    return Answer(200, _by_token(message))


def delete_answer(request: Request) -> Answer:
    """Delete an answer."""
    request.world.interactions.delete(*_answer(request))
    return Answer()


def _readable(request: Request) -> Channel:
    channel = request.channel()
    if channel.kind in (ChannelType.CATEGORY, ChannelType.FORUM):
        raise refusal(50008)
    return channel


def _message(request: Request, channel: Channel) -> Message:
    return request.world.find_message(channel, request.params["message_id"])


def _shown(request: Request, message: Message) -> Json:
    return message_payload(message, request.user, request.application.message_content)


def _by_token(message: Message) -> Json:
    return message_payload(message, message.author)


def _access(request: Request) -> tuple[str, str]:
    return request.params["webhook_id"], request.params["webhook_token"]


def _answer(request: Request) -> tuple[str, str, str]:
    return *_access(request), request.params.get("message_id", "@original")


def _page(messages: list[Message], query: dict[str, str]) -> list[Message]:
    limit = int(query.get("limit", 50))
    if not 1 <= limit <= 100:
        raise invalid("limit", "NUMBER_TYPE_RANGE", "int value should be between 1 and 100.")
    if around := query.get("around"):
        before = [m for m in messages if m.id < int(around)][-(limit // 2) :]
        after = [m for m in messages if m.id >= int(around)][: limit - len(before)]
        return before + after
    if after_id := query.get("after"):
        return [m for m in messages if m.id > int(after_id)][:limit]
    last = int(query["before"]) if query.get("before") else None
    return [m for m in messages if last is None or m.id < last][-limit:]


def _response(interaction: Interaction) -> Json:
    shown: Json = {
        "id": str(interaction.id),
        "type": int(interaction.kind),
        "response_message_loading": False,
        "response_message_ephemeral": interaction.ephemeral,
    }
    response: Json = {"interaction": shown}
    message = interaction.original
    if message is not None:
        shown["response_message_id"] = str(message.id)
        shown["response_message_loading"] = message.loading
        if interaction.callback in (Callback.MESSAGE, Callback.UPDATE_MESSAGE):
            resource = {"type": int(interaction.callback), "message": _by_token(message)}
            response["resource"] = resource
    return response


_MESSAGE = "/channels/{channel_id}/messages/{message_id}"
_REACTION = _MESSAGE + "/reactions/{emoji_name}/@me"
_WEBHOOK = "/webhooks/{webhook_id}/{webhook_token}"
_ORIGINAL = _WEBHOOK + "/messages/@original"
_FOLLOW_UP = _WEBHOOK + "/messages/{message_id}"
ROUTES: Table = {
    "POST /channels/{channel_id}/messages": create_message,
    "GET /channels/{channel_id}/messages": list_messages,
    f"GET {_MESSAGE}": get_message,
    f"PATCH {_MESSAGE}": edit_message,
    f"DELETE {_MESSAGE}": delete_message,
    f"PUT {_REACTION}": react,
    f"DELETE {_REACTION}": take_back,
    "POST /channels/{channel_id}/typing": typing,
    "POST /interactions/{interaction_id}/{interaction_token}/callback": respond,
    f"POST {_WEBHOOK}": follow_up,
    f"GET {_ORIGINAL}": get_answer,
    f"PATCH {_ORIGINAL}": edit_answer,
    f"DELETE {_ORIGINAL}": delete_answer,
    f"GET {_FOLLOW_UP}": get_answer,
    f"PATCH {_FOLLOW_UP}": edit_answer,
    f"DELETE {_FOLLOW_UP}": delete_answer,
}
