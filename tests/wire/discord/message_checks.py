"""The limits of messages and embeds; what is over them becomes a 50035."""

from typing import Any

from tests.wire.discord.component_checks import check_components
from tests.wire.discord.entities import MessageFlag
from tests.wire.discord.errors import FormErrors, Json, units

_SETTABLE = (
    MessageFlag.SUPPRESS_EMBEDS | MessageFlag.SUPPRESS_NOTIFICATIONS | MessageFlag.IS_COMPONENTS_V2
)
_NESTED_TEXTS = {"footer": ("text", 2048), "author": ("name", 256)}
_MEDIA = ("image", "thumbnail", "video")


def check_message(body: Json, *, was_v2: bool = False, ephemeral_allowed: bool = False) -> None:
    """Refuse what no message may hold; `was_v2`: the edited message has components v2."""
    errors = FormErrors()
    flags = _flags(body, errors, ephemeral_allowed)
    v2 = was_v2 or bool(flags & MessageFlag.IS_COMPONENTS_V2)
    if body.get("content") is not None:
        errors.text("content", body["content"], 2000)
    _check_nonce(body, errors)
    _check_embeds(body.get("embeds") or [], errors)
    _check_mentions(body.get("allowed_mentions"), errors)
    if v2:
        for key in ("content", "embeds", "sticker_ids", "poll"):
            if body.get(key):
                message = (
                    f"The '{key}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
                )
                errors.add(key, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", message)
    check_components(body.get("components") or [], errors, v2=v2)
    errors.check()


def _flags(body: Json, errors: FormErrors, ephemeral_allowed: bool) -> MessageFlag:
    flags = body.get("flags") or 0
    if not isinstance(flags, int):
        errors.add("flags", "NUMBER_TYPE_COERCE", f'Value "{flags}" is not int.')
        return MessageFlag(0)
    settable = _SETTABLE | (MessageFlag.EPHEMERAL if ephemeral_allowed else 0)
    return MessageFlag(flags & settable)


def _check_nonce(body: Json, errors: FormErrors) -> None:
    nonce = body.get("nonce")
    if isinstance(nonce, str):
        errors.text("nonce", nonce, 25)
    elif nonce is not None and not (isinstance(nonce, int) and -(2**63) <= nonce < 2**63):
        errors.add("nonce", "NONCE_TYPE_COERCE", "Value is no nonce.")


def _check_mentions(allowed: Any, errors: FormErrors) -> None:
    if allowed is None:
        return
    parse = allowed.get("parse") or []
    for number, kind in enumerate(parse):
        if kind not in ("users", "roles", "everyone"):
            errors.choice(f"allowed_mentions.parse.{number}", "('users', 'roles', 'everyone')")
    for kind in ("users", "roles"):
        listed = allowed.get(kind) or []
        errors.count(f"allowed_mentions.{kind}", listed, 100)
        if kind in parse and listed:
            message = f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.'
            errors.add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", message)


def _check_embeds(embeds: list[Json], errors: FormErrors) -> None:
    errors.count("embeds", embeds, 10)
    total = 0
    for number, embed in enumerate(embeds):
        path = f"embeds.{number}"
        total += _check_embed(embed, path, errors)
    if total > 6000:
        message = "Embed size exceeds maximum size of 6000"
        errors.add("embeds", "MAX_EMBED_SIZE_EXCEEDED", message)


def _check_embed(embed: Json, path: str, errors: FormErrors) -> int:
    """Check one embed and return the number of its counted characters."""
    texts = [(embed.get("title"), f"{path}.title", 256)]
    texts.append((embed.get("description"), f"{path}.description", 4096))
    for key, (inner, longest) in _NESTED_TEXTS.items():
        if embed.get(key) is not None:
            texts.append((embed[key].get(inner), f"{path}.{key}.{inner}", longest))
    fields = embed.get("fields") or []
    errors.count(f"{path}.fields", fields, 25)
    for number, part in enumerate(fields):
        for key, longest in (("name", 256), ("value", 1024)):
            if not part.get(key):
                errors.required(f"{path}.fields.{number}.{key}")
            texts.append((part.get(key), f"{path}.fields.{number}.{key}", longest))
    for text, where, longest in texts:
        if text is not None:
            errors.text(where, text, longest)
    _check_urls(embed, path, errors)
    return sum(units(text) for text, _, _ in texts if isinstance(text, str))


def _check_urls(embed: Json, path: str, errors: FormErrors) -> None:
    urls = {f"{path}.url": embed.get("url")}
    urls |= {f"{path}.{key}.url": (embed.get(key) or {}).get("url") for key in _MEDIA}
    for where, url in urls.items():
        if url is not None and not str(url).startswith(("http://", "https://", "attachment://")):
            message = f"Scheme of {url!r} must be one of ('http', 'https')."
            errors.add(where, "URL_TYPE_INVALID_SCHEME", message)
