"""Modals in their stacks and App Homes, opened, changed and submitted."""

import secrets
from typing import TYPE_CHECKING

from tests.wire.slack.entities import Installation, User, View
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.interactions import Interaction
from tests.wire.slack.view_checks import check_view

if TYPE_CHECKING:
    from tests.wire.slack.world import World

_DEEPEST = 3


class Modals:
    """Holds what each user sees on top of Slack."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._tops: dict[str, View] = {}

    def top(self, user: User) -> View | None:
        """Return the modal that a user sees."""
        return self._tops.get(user.id)

    def open(self, interaction: Interaction, body: Json) -> View:
        """Show a modal, in place of a stack that may be there."""
        view = self._made(interaction.installation, interaction.user, body)
        self._show(view, interaction)
        return view

    def push(self, interaction: Interaction, body: Json) -> View:
        """Show a modal on top of the one the interaction happened in."""
        below = interaction.view
        if below is None or below.closed:
            raise SlackError("not_found")
        if self._depth(below) >= _DEEPEST:
            raise SlackError("push_limit_reached")
        view = self._made(interaction.installation, interaction.user, body)
        view.previous, view.root_id = below, below.root_id
        self._show(view, interaction)
        return view

    def update(self, view: View, body: Json) -> View:
        """Change a view; inputs with the same ids keep what was typed."""
        kind = str(view.body["type"])
        view.body = self._numbered(check_view(body, self._world.limits, kind=kind))
        view.hash = self._hash()
        view.errors = {}
        self._world.changed("home" if kind == "home" else "modal", view)
        return view

    def publish(self, installation: Installation, user: User, body: Json) -> View:
        """Set what a user's App Home shows."""
        key = (installation.app.id, user.id)
        if (view := self._world.homes.get(key)) is not None:
            return self.update(view, body)
        view = self._made(installation, user, body, kind="home")
        self._world.homes[key] = view
        self._world.changed("home", view)
        return view

    def close(self, view: View, *, all_of_them: bool = False) -> None:
        """Take a modal away, and show the one below."""
        view.closed = True
        below = None if all_of_them else view.previous
        if below is None:
            self._tops.pop(view.user.id, None)
            while (view.previous) is not None:
                view = view.previous
                view.closed = True
        else:
            self._tops[view.user.id] = below
        self._world.changed("modal", below)

    def submitted(self, interaction: Interaction, response: Json) -> None:
        """Do what the app's answer to a submission says; nothing said: close."""
        view = interaction.view
        assert view is not None
        match response.get("response_action"):
            case None:
                self.close(view)
            case "clear":
                self.close(view, all_of_them=True)
            case "update":
                self.update(view, response.get("view") or {})
            case "push":
                self.push(interaction, response.get("view") or {})
            case "errors":
                self._complain(view, response.get("errors") or {})
            case other:
                raise SlackError("invalid_response_action", str(other))

    def _complain(self, view: View, errors: Json) -> None:
        inputs = {b["block_id"] for b in view.body["blocks"] if b["type"] == "input"}
        if not errors or not set(errors) <= inputs:
            raise SlackError("invalid_errors", f"not input blocks: {sorted(set(errors) - inputs)}")
        view.errors = {block: str(message) for block, message in errors.items()}
        self._world.changed("modal", view)

    def _made(
        self, installation: Installation, user: User, body: Json, kind: str = "modal"
    ) -> View:
        checked = self._numbered(check_view(body, self._world.limits, kind=kind))
        external = checked.get("external_id")
        if external and any(v.body.get("external_id") == external for v in self._open_views()):
            raise SlackError("duplicate_external_id")
        view = View(self._world.new_id("V"), installation, user, checked, self._hash())
        view.root_id = view.id
        self._world.views[view.id] = view
        return view

    def _show(self, view: View, interaction: Interaction) -> None:
        self._tops[view.user.id] = view
        interaction.triggered = True
        interaction.opened.append(view)
        self._world.changed("modal", view)

    def _open_views(self) -> list[View]:
        return [view for view in self._world.views.values() if not view.closed]

    def _depth(self, view: View) -> int:
        return 1 + (self._depth(view.previous) if view.previous else 0)

    def _hash(self) -> str:
        return f"{int(self._world.clock.wall().timestamp())}.{secrets.token_hex(4)}"

    def _numbered(self, body: Json) -> Json:
        """Return a view whose blocks and elements all have ids, as Slack gives them."""
        return {**body, "blocks": [with_ids(b, n) for n, b in enumerate(body["blocks"])]}


def with_ids(block: Json, number: int) -> Json:
    """Return a block with ids for itself and its elements where the app gave none."""
    named = {"block_id": f"blk{number}", **block}
    for key in ("element", "accessory"):
        if isinstance(named.get(key), dict):
            named[key] = {"action_id": f"act{number}", **named[key]}
    if named["type"] in ("actions", "context_actions"):
        named["elements"] = [
            {"action_id": f"act{number}.{n}", **element}
            for n, element in enumerate(named["elements"])
        ]
    return named
