"""The limits of buttons, selects, layouts and modals."""

from collections.abc import Iterator
from typing import Any

from tests.wire.discord.errors import FormErrors, Json, units

ROW, BUTTON, STRING_SELECT, TEXT_INPUT, RADIO_GROUP = 1, 2, 3, 4, 21
OTHER_SELECTS = {5, 6, 7, 8}
SECTION, TEXT_DISPLAY, THUMBNAIL, GALLERY, FILE, SEPARATOR = 9, 10, 11, 12, 13, 14
CONTAINER, LABEL = 17, 18
_LAYOUT = {ROW, SECTION, TEXT_DISPLAY, GALLERY, FILE, SEPARATOR, CONTAINER}
_IN_CONTAINER = _LAYOUT - {CONTAINER}
_SELECTS = {STRING_SELECT} | OTHER_SELECTS


def check_components(components: list[Json], errors: FormErrors, *, v2: bool) -> None:
    """Record what a message's components break."""
    if v2:
        if sum(1 for _ in walk(components)) > 40:
            message = "The total number of components must be 40 or fewer."
            errors.add("components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", message)
        if sum(map(units, _words(components))) > 4000:
            message = "The total length of text displays must be 4000 or fewer."
            errors.add("components", "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED", message)
    else:
        errors.count("components", components, 5)
    allowed = _LAYOUT if v2 else {ROW}
    for number, component in enumerate(components):
        _check_layout(component, f"components.{number}", allowed, errors)
    _check_unique(components, errors)


def _words(components: list[Json]) -> Iterator[str]:
    """Yield what is written in a layout, labels included: the strictest reading of the limit."""
    for component in walk(components):
        written = [component.get("content"), component.get("label"), component.get("placeholder")]
        written += [option.get("label") for option in component.get("options") or []]
        yield from (text for text in written if isinstance(text, str))


def check_modal(data: Json) -> None:
    """Refuse a modal that Discord would refuse."""
    errors = FormErrors()
    errors.text("title", data.get("title"), 45, 1)
    errors.text("custom_id", data.get("custom_id"), 100, 1)
    components = data.get("components") or []
    errors.count("components", components, 5, 1)
    for number, component in enumerate(components):
        path = f"components.{number}"
        match component.get("type"):
            case 18:
                errors.text(f"{path}.label", component.get("label"), 45, 1)
                if component.get("description") is not None:
                    errors.text(f"{path}.description", component["description"], 100)
                _check_input(component.get("component") or {}, f"{path}.component", errors, False)
            case 1:
                inner = component.get("components") or []
                errors.count(f"{path}.components", inner, 1, 1)
                for item in inner:
                    _check_input(item, f"{path}.components.0", errors, True)
            case 10:
                errors.text(f"{path}.content", component.get("content"), 4000, 1)
            case _:
                errors.choice(f"{path}.type", "(1, 10, 18)")
    _check_unique(components, errors)
    errors.check()


def walk(components: list[Json]) -> Any:
    """Yield all components, the nested ones and accessories included."""
    for component in components:
        yield component
        yield from walk(component.get("components") or [])
        for key in ("accessory", "component"):
            if isinstance(component.get(key), dict):
                yield from walk([component[key]])


def _check_layout(component: Json, path: str, allowed: set[int], errors: FormErrors) -> None:
    kind = component.get("type")
    if kind not in allowed:
        errors.choice(f"{path}.type", tuple(sorted(allowed)))
        return
    inner = component.get("components") or []
    if kind == ROW:
        _check_row(inner, path, errors)
    elif kind == TEXT_DISPLAY:
        errors.text(f"{path}.content", component.get("content"), 4000, 1)
    elif kind == SECTION:
        errors.count(f"{path}.components", inner, 3, 1)
        for number, part in enumerate(inner):
            _check_layout(part, f"{path}.components.{number}", {TEXT_DISPLAY}, errors)
        _check_accessory(component.get("accessory"), f"{path}.accessory", errors)
    elif kind == SEPARATOR:
        if component.get("spacing", 1) not in (1, 2):
            errors.choice(f"{path}.spacing", (1, 2))
    elif kind == CONTAINER:
        if not inner:
            errors.required(f"{path}.components")
        accent = component.get("accent_color")
        if accent is not None and not 0 <= accent <= 0xFFFFFF:
            message = "int value should be between 0 and 16777215."
            errors.add(f"{path}.accent_color", "NUMBER_TYPE_RANGE", message)
        for number, part in enumerate(inner):
            _check_layout(part, f"{path}.components.{number}", _IN_CONTAINER, errors)
    elif kind == GALLERY:
        _check_gallery(component.get("items") or [], path, errors)


def _check_gallery(items: list[Json], path: str, errors: FormErrors) -> None:
    errors.count(f"{path}.items", items, 10, 1)
    for number, item in enumerate(items):
        where = f"{path}.items.{number}"
        url = str((item.get("media") or {}).get("url") or "")
        if not url.startswith(("http://", "https://", "attachment://")):
            message = f"Scheme of {url!r} must be one of ('http', 'https', 'attachment')."
            errors.add(f"{where}.media.url", "URL_TYPE_INVALID_SCHEME", message)
        if item.get("description") is not None:
            errors.text(f"{where}.description", item["description"], 1024)


def _check_accessory(accessory: Json | None, path: str, errors: FormErrors) -> None:
    if accessory is None:
        errors.required(path)
    elif accessory.get("type") == BUTTON:
        _check_button(accessory, path, errors)
    elif accessory.get("type") != THUMBNAIL:
        errors.choice(f"{path}.type", (BUTTON, THUMBNAIL))


def _check_row(inner: list[Json], path: str, errors: FormErrors) -> None:
    errors.count(f"{path}.components", inner, 5, 1)
    kinds = {component.get("type") for component in inner}
    if kinds & _SELECTS and len(inner) > 1:
        message = "The specified component exceeds the maximum width"
        errors.add(f"{path}.components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED", message)
    for number, component in enumerate(inner):
        where = f"{path}.components.{number}"
        if component.get("type") == BUTTON:
            _check_button(component, where, errors)
        elif component.get("type") in _SELECTS:
            _check_select(component, where, errors)
        else:
            errors.choice(f"{where}.type", (2, 3, 5, 6, 7, 8))


def _check_button(button: Json, path: str, errors: FormErrors) -> None:
    style = button.get("style")
    if style not in range(1, 7):
        errors.choice(f"{path}.style", (1, 2, 3, 4, 5, 6))
    if button.get("label") is not None:
        errors.text(f"{path}.label", button["label"], 80)
    if not button.get("label") and not button.get("emoji") and style != 6:
        message = "A button must have a label or emoji."
        errors.add(path, "BUTTON_COMPONENT_INVALID_LABEL_OR_EMOJI", message)
    if style == 5:
        errors.text(f"{path}.url", button.get("url"), 512, 1)
        if button.get("custom_id"):
            message = "A custom id and url cannot both be specified"
            errors.add(path, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", message)
    elif style != 6:
        _check_custom_id(button, path, errors)


def _check_select(select: Json, path: str, errors: FormErrors) -> None:
    _check_custom_id(select, path, errors)
    if select.get("placeholder") is not None:
        errors.text(f"{path}.placeholder", select["placeholder"], 150)
    if select.get("type") != STRING_SELECT:
        return
    options = select.get("options") or []
    errors.count(f"{path}.options", options, 25, 1)
    for number, option in enumerate(options):
        for key in ("label", "value"):
            errors.text(f"{path}.options.{number}.{key}", option.get(key), 100, 1)
        if option.get("description") is not None:
            errors.text(f"{path}.options.{number}.description", option["description"], 100)


def _check_input(item: Json, path: str, errors: FormErrors, labelled: bool) -> None:
    _check_custom_id(item, path, errors)
    if item.get("type") in _SELECTS:
        _check_select(item, path, errors)
        return
    if item.get("type") == RADIO_GROUP and not labelled:
        options = item.get("options") or []
        errors.count(f"{path}.options", options, 10, 2)
        for number, option in enumerate(options):
            for key in ("label", "value"):
                errors.text(f"{path}.options.{number}.{key}", option.get(key), 100, 1)
        return
    if item.get("type") != TEXT_INPUT:
        if labelled or item.get("type") not in {19, 21, 22, 23}:
            errors.choice(f"{path}.type", (TEXT_INPUT,))
        return
    if item.get("style") not in (1, 2):
        errors.choice(f"{path}.style", (1, 2))
    if labelled:
        errors.text(f"{path}.label", item.get("label"), 45, 1)
    for key, longest in (("value", 4000), ("placeholder", 100)):
        if item.get(key) is not None:
            errors.text(f"{path}.{key}", item[key], longest)
    for key, least in (("min_length", 0), ("max_length", 1)):
        if item.get(key) is not None and not least <= item[key] <= 4000:
            message = f"int value should be between {least} and 4000."
            errors.add(f"{path}.{key}", "NUMBER_TYPE_RANGE", message)


def _check_custom_id(component: Json, path: str, errors: FormErrors) -> None:
    if not component.get("custom_id"):
        errors.required(f"{path}.custom_id")
    else:
        errors.text(f"{path}.custom_id", component["custom_id"], 100, 1)


def _check_unique(components: list[Json], errors: FormErrors) -> None:
    seen = set()
    for component in walk(components):
        custom_id = component.get("custom_id")
        if custom_id and custom_id in seen:
            message = "Component custom id cannot be duplicated"
            errors.add("components", "COMPONENT_CUSTOM_ID_DUPLICATED", message)
        seen.add(custom_id)
