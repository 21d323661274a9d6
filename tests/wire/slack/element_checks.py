"""What Block Kit refuses in text objects and in interactive elements."""

from typing import Any

from tests.wire.slack.errors import Complaints, Json

_COMMON = frozenset({"type", "action_id", "confirm", "focus_on_load"})
_OPTIONS = _COMMON | {"options", "option_groups", "placeholder"}
_FIELDS: dict[str, frozenset[str]] = {
    "button": _COMMON | {"text", "url", "value", "style", "accessibility_label"},
    "checkboxes": _COMMON | {"options", "initial_options"},
    "channels_select": _COMMON | {"placeholder", "initial_channel", "response_url_enabled"},
    "conversations_select": _COMMON
    | {
        "placeholder",
        "initial_conversation",
        "default_to_current_conversation",
        "response_url_enabled",
        "filter",
    },
    "feedback_buttons": _COMMON | {"positive_button", "negative_button"},
    "icon_button": _COMMON
    | {"icon", "text", "value", "accessibility_label", "visible_to_user_ids"},
    "image": frozenset({"type", "image_url", "alt_text", "slack_file"}),
    "multi_static_select": _OPTIONS | {"initial_options", "max_selected_items"},
    "overflow": _COMMON | {"options"},
    "plain_text_input": _COMMON
    | {
        "placeholder",
        "initial_value",
        "multiline",
        "min_length",
        "max_length",
        "dispatch_action_config",
    },
    "radio_buttons": _COMMON | {"options", "initial_option"},
    "static_select": _OPTIONS | {"initial_option"},
    "users_select": _COMMON | {"placeholder", "initial_user"},
}
_SELECTS = {
    "static_select",
    "multi_static_select",
    "channels_select",
    "conversations_select",
    "users_select",
}
_CHOICES = {"checkboxes", "radio_buttons"}
IN_ACTIONS = _CHOICES | {"button", "overflow"} | _SELECTS - {"multi_static_select"}
IN_SECTION = _CHOICES | {"button", "overflow", "image"} | _SELECTS
IN_INPUT = _CHOICES | {"plain_text_input"} | _SELECTS
IN_CONTEXT_ACTIONS = {"feedback_buttons", "icon_button"}


def check_text(
    found: Complaints, at: str, text: Any, longest: int, kinds: tuple[str, ...] = ("plain_text",)
) -> None:
    """Check a text object."""
    if not isinstance(text, dict):
        found.add(at, "must be an object")
        return
    if text.get("type") not in kinds:
        found.add(f"{at}/type", f"must be one of {', '.join(kinds)}")
    own = "emoji" if text.get("type") == "plain_text" else "verbatim"
    found.fields(at, text, frozenset({"type", "text", own}))
    found.text(f"{at}/text", text.get("text"), longest)


def check_element(found: Complaints, at: str, element: Any, allowed: set[str]) -> None:
    """Check an element of a block that takes only some kinds."""
    if not isinstance(element, dict):
        found.add(at, "must be an object")
        return
    kind = str(element.get("type"))
    if kind not in allowed:
        found.add(f"{at}/type", f"unsupported type: {kind}")
        return
    found.fields(at, element, _FIELDS[kind])
    if element.get("action_id") is not None:
        found.text(f"{at}/action_id", element["action_id"], 255)
    if element.get("placeholder") is not None:
        check_text(found, f"{at}/placeholder", element["placeholder"], 150)
    if element.get("confirm") is not None:
        _check_confirm(found, f"{at}/confirm", element["confirm"])
    _check_kind(found, at, kind, element)


def check_image(found: Complaints, at: str, image: Json) -> None:
    """Check an image, as a block or an element."""
    found.required(at, image, "alt_text")
    if not image.get("slack_file"):
        found.text(f"{at}/image_url", image.get("image_url"), 3000)
    if image.get("alt_text"):
        found.text(f"{at}/alt_text", image["alt_text"], 2000)


def _check_kind(found: Complaints, at: str, kind: str, element: Json) -> None:
    match kind:
        case "button":
            _check_button(found, at, element)
        case "feedback_buttons":
            for side in ("positive_button", "negative_button"):
                _check_feedback(found, f"{at}/{side}", element.get(side))
        case "icon_button":
            _check_icon(found, at, element)
        case "image":
            check_image(found, at, element)
        case "plain_text_input":
            _check_input(found, at, element)
        case "overflow":
            _check_options(found, at, element, most=5)
        case "checkboxes" | "radio_buttons":
            _check_options(found, at, element, most=10)
        case "static_select" | "multi_static_select":
            _check_select(found, at, element)


def _check_button(found: Complaints, at: str, button: Json) -> None:
    check_text(found, f"{at}/text", button.get("text"), 75)
    if button.get("value") is not None:
        found.text(f"{at}/value", button["value"], 2000, 0)
    if button.get("url") is not None:
        found.text(f"{at}/url", button["url"], 3000)
    if button.get("accessibility_label") is not None:
        found.text(f"{at}/accessibility_label", button["accessibility_label"], 75)
    if button.get("style") not in (None, "primary", "danger"):
        found.add(f"{at}/style", "must be one of primary, danger")


def _check_feedback(found: Complaints, at: str, button: Any) -> None:
    if not isinstance(button, dict):
        found.add(at, "must be an object")
        return
    found.fields(at, button, frozenset({"text", "value", "accessibility_label"}))
    check_text(found, f"{at}/text", button.get("text"), 75)
    found.text(f"{at}/value", button.get("value"), 2000)
    if button.get("accessibility_label") is not None:
        found.text(f"{at}/accessibility_label", button["accessibility_label"], 75)


def _check_icon(found: Complaints, at: str, button: Json) -> None:
    if button.get("icon") != "trash":
        found.add(f"{at}/icon", "must be one of trash")
    check_text(found, f"{at}/text", button.get("text"), 75)
    if button.get("value") is not None:
        found.text(f"{at}/value", button["value"], 2000)


def _check_input(found: Complaints, at: str, element: Json) -> None:
    for name in ("min_length", "max_length"):
        value = element.get(name)
        if value is not None and not (isinstance(value, int) and 0 <= value <= 3000):
            found.add(f"{at}/{name}", "must be between 0 and 3000")
    if element.get("initial_value") is not None:
        found.text(f"{at}/initial_value", element["initial_value"], 3000, 0)


def _check_select(found: Complaints, at: str, element: Json) -> None:
    if ("options" in element) == ("option_groups" in element):
        found.add(at, "must define either `options` or `option_groups`")
    elif "options" in element:
        _check_options(found, at, element, most=100)
    else:
        groups = found.count(f"{at}/option_groups", element["option_groups"], 100)
        for number, group in enumerate(groups):
            here = f"{at}/option_groups/{number}"
            check_text(found, f"{here}/label", group.get("label"), 75)
            _check_options(found, here, group, most=100)


def _check_options(found: Complaints, at: str, holder: Json, most: int) -> None:
    for number, option in enumerate(found.count(f"{at}/options", holder.get("options"), most)):
        here = f"{at}/options/{number}"
        found.fields(here, option, frozenset({"text", "value", "description", "url"}))
        check_text(found, f"{here}/text", option.get("text"), 75, ("plain_text", "mrkdwn"))
        found.text(f"{here}/value", option.get("value"), 150)
        if option.get("description") is not None:
            kinds = ("plain_text", "mrkdwn")
            check_text(found, f"{here}/description", option["description"], 75, kinds)


def _check_confirm(found: Complaints, at: str, confirm: Json) -> None:
    found.fields(at, confirm, frozenset({"title", "text", "confirm", "deny", "style"}))
    for name, longest in (("title", 100), ("text", 300), ("confirm", 30), ("deny", 30)):
        check_text(found, f"{at}/{name}", confirm.get(name), longest, ("plain_text", "mrkdwn"))
