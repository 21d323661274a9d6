"""What Slack refuses in a modal or an App Home."""

from typing import Any

from tests.wire.slack.block_checks import check_blocks
from tests.wire.slack.element_checks import check_text
from tests.wire.slack.errors import Complaints, Json, SlackError
from tests.wire.slack.limits import Limits

_BOTH = frozenset({"type", "blocks", "private_metadata", "callback_id", "external_id"})
_MODAL = _BOTH | {"title", "submit", "close", "clear_on_close", "notify_on_close"}


def check_view(view: Any, limits: Limits, *, kind: str) -> Json:
    """Return a view of the wanted kind, or refuse it as Slack does."""
    if not isinstance(view, dict):
        raise SlackError("invalid_arguments", "must provide an object [json-pointer:/view]")
    found = Complaints()
    if view.get("type") != kind:
        found.add("/view/type", f"must be {kind}")
    found.fields("/view", view, _MODAL if kind == "modal" else _BOTH)
    for name, longest in (("private_metadata", 3000), ("callback_id", 255), ("external_id", 255)):
        if view.get(name) is not None:
            found.text(f"/view/{name}", view[name], longest, 0)
    blocks = found.count("/view/blocks", view.get("blocks"), limits.view_blocks)
    objects = [block for block in blocks if isinstance(block, dict)]
    check_blocks(found, "/view/blocks", objects, limits.view_blocks, in_message=False)
    if kind == "modal":
        _check_modal(found, view, objects)
    if found.found:
        raise SlackError("invalid_arguments", *found.found)
    return view


def _check_modal(found: Complaints, view: Json, blocks: list[Json]) -> None:
    check_text(found, "/view/title", view.get("title"), 24)
    for name in ("submit", "close"):
        if view.get(name) is not None:
            check_text(found, f"/view/{name}", view[name], 24)
    if any(block.get("type") == "input" for block in blocks) and not view.get("submit"):
        found.add("/view", "missing required field: submit")
