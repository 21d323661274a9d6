"""REST: channels and threads."""

from datetime import datetime

from tests.wire.discord.entities import Channel, ChannelType, ThreadState
from tests.wire.discord.errors import FormErrors, Json, refusal
from tests.wire.discord.message_payloads import message_payload
from tests.wire.discord.payloads import channel_payload, thread_member_payload, thread_payload
from tests.wire.discord.permissions import Permission
from tests.wire.discord.requests import Answer, Request, Table
from tests.wire.discord.state import Event


def get_channel(request: Request) -> Answer:
    """Serve a channel or thread."""
    return Answer(200, _shown(request, request.channel()))


def change_channel(request: Request) -> Answer:
    """Change a channel's or thread's settings."""
    channel, form = request.channel(), request.form
    if channel.thread:
        return Answer(
            200, _shown(request, request.world.threads.change(request.user, channel, form))
        )
    request.world.require(channel, request.user, Permission.MANAGE_CHANNELS)
    errors = FormErrors()
    if "name" in form:
        errors.text("name", form["name"], 100, 1)
    if form.get("topic") is not None:
        errors.text("topic", form["topic"], 1024)
    errors.check()
    channel.name = form.get("name", channel.name)
    channel.topic = form.get("topic", channel.topic)
    request.world.tell(Event("CHANNEL_UPDATE", {}, channel.guild, channel))
    return Answer(200, _shown(request, channel))


def delete_channel(request: Request) -> Answer:
    """Delete a thread or channel, or close a conversation."""
    channel, world = request.channel(), request.world
    shown = _shown(request, channel)
    if channel.kind is ChannelType.DM:
        return Answer(200, shown)
    needed = Permission.MANAGE_THREADS if channel.thread else Permission.MANAGE_CHANNELS
    world.require(channel, request.user, needed)
    if channel.thread:
        world.threads.remove(channel)
    else:
        del world.channels[channel.id]
        world.tell(Event("CHANNEL_DELETE", shown, channel.guild, channel))
    return Answer(200, shown)


def thread_from_message(request: Request) -> Answer:
    """Begin a thread on a message."""
    channel = request.channel()
    message = request.world.find_message(channel, request.params["message_id"])
    thread = request.world.threads.from_message(request.user, message, request.form)
    return Answer(201, _shown(request, thread))


def thread_or_post(request: Request) -> Answer:
    """Begin a thread without a message, or a forum post."""
    channel, threads = request.channel(), request.world.threads
    if channel.kind is not ChannelType.FORUM:
        made = threads.without_message(request.user, channel, request.form)
        return Answer(201, _shown(request, made))
    post = threads.post(request.user, channel, request.form, request.files)
    first = post.messages[post.id]
    return Answer(201, _shown(request, post) | {"message": message_payload(first, request.user)})


def join_thread(request: Request) -> Answer:
    """Make the bot a member of a thread."""
    request.world.threads.join(request.channel(), request.user)
    return Answer()


def leave_thread(request: Request) -> Answer:
    """End the bot's membership of a thread."""
    request.world.threads.leave(request.channel(), request.user)
    return Answer()


def add_member(request: Request) -> Answer:
    """Make someone a member of a thread."""
    user = request.world.users.get(int(request.params["user_id"]))
    if user is None:
        raise refusal(10013)
    request.world.threads.join(request.channel(), user)
    return Answer()


def thread_members(request: Request) -> Answer:
    """List a thread's members."""
    channel = request.channel()
    members = _state(channel).members
    return Answer(200, [thread_member_payload(channel, user_id) for user_id in members])


def thread_member(request: Request) -> Answer:
    """Serve one membership."""
    channel, user_id = request.channel(), int(request.params["user_id"])
    if user_id not in _state(channel).members:
        raise refusal(10007)
    return Answer(200, thread_member_payload(channel, user_id))


def active_threads(request: Request) -> Answer:
    """List a guild's threads that are not archived."""
    guild, world = request.guild(), request.world
    threads = [c for c in world.channels_of(guild) if c.thread and not c.thread.archived]
    seen = [c for c in threads if world.may(c, request.user, Permission.VIEW_CHANNEL)]
    return Answer(200, _listed(request, seen[::-1]))


def archived_public(request: Request) -> Answer:
    """List a channel's archived public threads, the latest archived first."""
    return _archived(request, ChannelType.PUBLIC_THREAD)


def archived_private(request: Request) -> Answer:
    """List a channel's archived private threads, for moderators."""
    request.world.require(request.channel(), request.user, Permission.MANAGE_THREADS)
    return _archived(request, ChannelType.PRIVATE_THREAD)


def _archived(request: Request, kind: ChannelType) -> Answer:
    channel, world = request.channel(), request.world
    world.require(channel, request.user, Permission.READ_MESSAGE_HISTORY)
    found = [c for c in world.threads_of(channel) if _state(c).archived and c.kind is kind]
    found.sort(key=lambda thread: _state(thread).archive_timestamp, reverse=True)
    if before := request.query.get("before"):
        moment = datetime.fromisoformat(before.replace(" ", "+"))
        found = [thread for thread in found if _state(thread).archive_timestamp < moment]
    limit = int(request.query.get("limit", 50))
    page = _listed(request, found[:limit])
    return Answer(200, page | {"has_more": len(found) > limit})


def _state(channel: Channel) -> ThreadState:
    if channel.thread is None:
        raise refusal(50024)
    return channel.thread


def _shown(request: Request, channel: Channel) -> Json:
    if channel.thread:
        return thread_payload(channel, request.user.id)
    return channel_payload(channel)


def _listed(request: Request, threads: list[Channel]) -> Json:
    own = [c for c in threads if request.user.id in _state(c).members]
    return {
        "threads": [thread_payload(thread, request.user.id) for thread in threads],
        "members": [thread_member_payload(thread, request.user.id) for thread in own],
        "has_more": False,
    }


ROUTES: Table = {
    "GET /channels/{channel_id}": get_channel,
    "PATCH /channels/{channel_id}": change_channel,
    "DELETE /channels/{channel_id}": delete_channel,
    "POST /channels/{channel_id}/messages/{message_id}/threads": thread_from_message,
    "POST /channels/{channel_id}/threads": thread_or_post,
    "PUT /channels/{channel_id}/thread-members/@me": join_thread,
    "DELETE /channels/{channel_id}/thread-members/@me": leave_thread,
    "PUT /channels/{channel_id}/thread-members/{user_id}": add_member,
    "GET /channels/{channel_id}/thread-members": thread_members,
    "GET /channels/{channel_id}/thread-members/{user_id}": thread_member,
    "GET /channels/{channel_id}/threads/archived/public": archived_public,
    "GET /channels/{channel_id}/threads/archived/private": archived_private,
    "GET /guilds/{guild_id}/threads/active": active_threads,
}
