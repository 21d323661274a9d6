"""views.*, blocks.validate and assistant.threads.*: what an app shows beside messages."""

from typing import Any

from tests.wire.slack.block_checks import check_message_blocks
from tests.wire.slack.entities import Channel, Prompts, View
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.payloads import view_payload
from tests.wire.slack.requests import Method, Request, Table
from tests.wire.slack.view_checks import check_view


def open_view(request: Request) -> Json:
    """views.open."""
    body = _body(request)
    trigger_id = request.required("trigger_id")
    interaction = request.world.interactions.triggering(trigger_id, request.installation)
    return _shown(request.world.modals.open(interaction, body))


def push_view(request: Request) -> Json:
    """views.push."""
    body = _body(request)
    trigger_id = request.required("trigger_id")
    interaction = request.world.interactions.triggering(trigger_id, request.installation)
    return _shown(request.world.modals.push(interaction, body))


def update_view(request: Request) -> Json:
    """views.update."""
    body = _body(request)
    view = _named(request)
    if view is None or view.closed or view.installation is not request.installation:
        raise SlackError("not_found")
    if request.text("hash") and request.text("hash") != view.hash:
        raise SlackError("hash_conflict")
    return _shown(request.world.modals.update(view, body))


def publish_view(request: Request) -> Json:
    """views.publish."""
    body = _body(request)
    user = request.world.find_user(request.required("user_id"), request.installation)
    if not request.installation.app.home_tab:
        raise SlackError("not_enabled")
    current = request.world.homes.get((request.installation.app.id, user.id))
    if request.text("hash") and current and request.text("hash") != current.hash:
        raise SlackError("hash_conflict")
    return _shown(request.world.modals.publish(request.installation, user, body))


def validate_blocks(request: Request) -> Json:
    """blocks.validate: schema only, of exactly one of blocks, a message or a view; no scope."""
    given = [name for name in ("blocks", "message", "view") if request.text(name)]
    if len(given) != 1:
        raise SlackError("invalid_arguments", "provide exactly one [json-pointer:]")
    (name,) = given
    payload = request.structure(name, "invalid_json")
    limits = request.world.limits
    try:
        if name == "view":
            kind = payload.get("type") if isinstance(payload, dict) else None
            check_view(payload, limits, kind="home" if kind == "home" else "modal")
        elif name == "message":
            check_message_blocks(payload.get("blocks", []), limits)
        else:
            check_message_blocks(payload, limits)
    except SlackError as error:
        details = [one.rpartition(" [json-pointer:") for one in error.body.get("errors", ())]
        found = [
            {"pointer": at.rstrip("]"), "code": "failed_constraint", "message": said}
            for said, _, at in details
        ]
        raise SlackError(f"invalid_{name}", errors=found) from None
    return {"ok": True}


def set_status(request: Request) -> Json:
    """assistant.threads.setStatus: in any thread."""
    channel, thread_ts = _thread_place(request)
    loading = request.structure("loading_messages", "invalid_arguments") or []
    if not isinstance(loading, list) or len(loading) > 10:
        raise SlackError(
            "invalid_arguments", "no more than 10 items allowed [json-pointer:/loading_messages]"
        )
    if "status" not in request.arguments:
        request.required("status")
    status = request.text("status")
    key = (channel.id, thread_ts)
    request.world.statuses.pop(key, None)
    if status:
        request.world.statuses[key] = {"status": status, "loading_messages": loading}
    request.world.changed("status", None, status)
    return {"ok": True}


def set_prompts(request: Request) -> Json:
    """assistant.threads.setSuggestedPrompts: of an agent's tab.

    Slack lets a call for an agent that names a thread fail silently (read 2026-11-25).
    """
    prompts = _prompts(request)
    title = request.text("title") or None
    if request.text("thread_ts"):
        request.world.mistakes.append("prompts of an agent have no thread_ts")
        return {"ok": True}
    channel = request.joined_channel("channel_id")
    request.world.prompts[channel.id] = Prompts(title, prompts)
    request.world.changed("prompts", None, channel.id)
    return {"ok": True}


def _prompts(request: Request) -> list[Json]:
    prompts = request.structure("prompts", "invalid_arguments")
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= 4:
        raise SlackError("invalid_arguments", "must have 1 to 4 items [json-pointer:/prompts]")
    for number, prompt in enumerate(prompts):
        if not _is_prompt(prompt):
            at = f"[json-pointer:/prompts/{number}]"
            raise SlackError("invalid_arguments", f"must have title and message {at}")
    return prompts


def _is_prompt(prompt: Any) -> bool:
    return isinstance(prompt, dict) and bool(prompt.get("title")) and bool(prompt.get("message"))


def _body(request: Request) -> Any:
    return request.structure("view", "invalid_arguments") or request.required("view")


def _named(request: Request) -> View | None:
    if request.text("view_id"):
        return request.world.views.get(request.text("view_id"))
    external = request.required("external_id")
    found = [v for v in request.world.views.values() if v.body.get("external_id") == external]
    return found[-1] if found else None


def _thread_place(request: Request) -> tuple[Channel, str]:
    channel = request.known_channel("channel_id")
    thread_ts = request.required("thread_ts")
    if thread_ts not in channel.messages:
        raise SlackError("invalid_thread_ts")
    return channel, thread_ts


def _shown(view: View) -> Json:
    return {"ok": True, "view": view_payload(view)}


METHODS: Table = {
    "assistant.threads.setStatus": Method(set_status, "assistant:write"),
    "assistant.threads.setSuggestedPrompts": Method(set_prompts, "assistant:write"),
    "blocks.validate": Method(validate_blocks),
    "views.open": Method(open_view),
    "views.publish": Method(publish_view),
    "views.push": Method(push_view),
    "views.update": Method(update_view),
}
