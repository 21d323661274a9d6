"""Bodies compared with the platform's own OpenAPI description, where it is at hand."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.wire.discord.schema_compiler import Accepts, Compiler
from tests.wire.discord.world import World

DESCRIPTION = Path(__file__).parents[4] / "shared" / "data" / "discord_openapi.json"
_SCHEMAS = "#/components/schemas/"
_ID = {"oneOf": [{"type": "null"}, {"$ref": f"{_SCHEMAS}SnowflakeType"}, {"type": "integer"}]}
_IDS = {"type": ["array", "null"], "items": _ID, "maxItems": 100, "uniqueItems": True}
_PERMISSIONS = {"type": ["string", "integer", "null"], "pattern": "^[0-9]+$"}
_BITS = "the written documentation says text, the description number; both are taken"
_NUMBERS = "discord.py sends the id as a number, and Discord takes it"
_FORWARDS = "the written documentation knows forwards, too"
_ENDLESS = "the written documentation says that a poll may have no end"
_MOMENT = {"type": ["string", "null"], "format": "date-time"}
CORRECTIONS: dict[str, tuple[str, Any]] = {
    "MessageReferenceRequest.guild_id": (_NUMBERS, _ID),
    "MessageReferenceRequest.channel_id": (_NUMBERS, _ID),
    "MessageReferenceRequest.message_id": (_NUMBERS, _ID),
    "MessageReferenceResponse.type": (_FORWARDS, {"type": "integer", "minimum": 0, "maximum": 1}),
    "MessageAttachmentRequest.id": (_NUMBERS, _ID),
    "MessageAllowedMentionsRequest.users": (_NUMBERS, _IDS),
    "MessageAllowedMentionsRequest.roles": (_NUMBERS, _IDS),
    "ApplicationCommandCreateRequest.default_member_permissions": (_BITS, _PERMISSIONS),
    "ApplicationCommandUpdateRequest.default_member_permissions": (_BITS, _PERMISSIONS),
    "ApplicationCommandPatchRequestPartial.default_member_permissions": (_BITS, _PERMISSIONS),
    "CreatePrivateChannelRequest.recipient_id": (_NUMBERS, _ID),
    "PollResponse.expiry": (_ENDLESS, _MOMENT),
}
"""Where the description is wrong: the property, the reason, what is right."""


class Description:
    """The OpenAPI document, its checks compiled when a route is first used."""

    def __init__(self, path: Path) -> None:
        self._document = json.loads(path.read_text())
        self.schemas: dict[str, Any] = self._document["components"]["schemas"]
        for where, (_, right) in CORRECTIONS.items():
            name, field = where.split(".")
            self.schemas[name]["properties"][field] = right
        self._compiler = Compiler(self.schemas)
        self._checks: dict[tuple[str, str], Accepts | None] = {}

    def schema(self, route: str, what: str) -> Any:
        """Return the schema of a route's `request` or of its response by status."""
        method, template = route.split(" ")
        operation = self._document["paths"].get(template, {}).get(method.lower())
        if operation is None:
            return None
        if what != "request":
            body = operation["responses"].get(what, {})
        else:
            body = operation.get("requestBody", {})
        return body.get("content", {}).get("application/json", {}).get("schema")

    def accepts(self, route: str, what: str, body: Any) -> bool | None:
        """Compare a body; None where the description has no schema."""
        key = (route, what)
        if key not in self._checks:
            schema = self.schema(route, what)
            self._checks[key] = None if schema is None else self._compiler.compile(schema)
        check = self._checks[key]
        return None if check is None else check(body)

    def complaint(self, route: str, what: str, body: Any) -> str:
        """Say what is wrong with a body, in jsonschema's words."""
        import jsonschema  # for developers only; whoever plays needs no complaint's words

        schema = {**self.schema(route, what), "components": self._document["components"]}
        errors = jsonschema.Draft202012Validator(schema).iter_errors(body)
        found = jsonschema.exceptions.best_match(errors)
        return f"{found.json_path}: {found.message[:300]}" if found else "the two checks disagree"


class Schema:
    """Compares what callers send and what this server answers; disagreement is a mistake."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._description = _description() if DESCRIPTION.exists() else None

    def check_request(self, route: str, body: Any) -> None:
        """Compare a request's body."""
        if body is not None:
            self._check(route, "request", body)

    def check_response(self, route: str, status: int, body: Any) -> None:
        """Compare a response's body."""
        self._check(route, str(status), body)

    def _check(self, route: str, what: str, body: Any) -> None:
        if self._description is None:
            return
        verdict = self._description.accepts(route, what, body)
        if verdict is not None:
            self._world.history.validated += 1
        if verdict is False:
            complaint = self._description.complaint(route, what, body)
            self._world.mistakes.append(f"{route} {what}: {complaint}")


@cache
def _description() -> Description:
    return Description(DESCRIPTION)
