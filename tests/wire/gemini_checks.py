"""What the local Gemini refuses although it is well-formed, in Google's words."""

from itertools import pairwise

from tests.wire.gemini_calls import GeminiCall, Json, Refusal

_BATCH_LIMIT = 100
_LARGEST_VECTOR = 3072


def check(call: GeminiCall, signatures: dict[str, str]) -> None:
    """Refuse what is well-formed and still makes no sense.

    Args:
        call: the request.
        signatures: the thought signature of every function call that was ever answered, by id.

    Raises:
        Refusal: as Google does.
    """
    if call.method == "batchEmbedContents":
        _check_embedding(call)
        return
    if not call.contents:
        raise Refusal("* GenerateContentRequest.contents: contents is not specified\n")
    for number, content in enumerate(call.contents):
        _check_parts(content, f"GenerateContentRequest.contents[{number}]")
    _check_roles(call.contents)
    _check_function_calls(call.contents, signatures)
    _check_config(call.config)
    _check_form(call)


def _check_form(call: GeminiCall) -> None:
    """Refuse JSON together with a tool: models before Gemini 3 cannot do both (2026-11)."""
    wanted = call.config.get("responseMimeType")
    if call.model.startswith("gemini-2") and call.declared_tools and wanted:
        raise Refusal(f"Function calling with a response mime type: '{wanted}' is unsupported")


def _check_parts(content: Json, path: str) -> None:
    if not content.get("parts"):
        raise Refusal(f"* {path}.parts: contents.parts must not be empty.\n")
    for number, part in enumerate(content["parts"]):
        if not any(part.get(kind) for kind in ("text", "functionCall", "functionResponse")):
            raise Refusal(
                f"* {path}.parts[{number}].data: required oneof field 'data' must have one "
                "initialized field\n"
            )


def _check_roles(contents: list[Json]) -> None:
    roles = [content.get("role", "user") for content in contents]
    if not set(roles) <= {"user", "model"}:
        raise Refusal("Please use a valid role: user, model.")
    if any(one == following for one, following in pairwise(roles)):
        raise Refusal("Please ensure that multiturn requests alternate between user and model.")
    if roles[0] != "user" or roles[-1] != "user":
        raise Refusal(
            "Please ensure that multiturn requests begin and end with a user role or a function "
            "response."
        )


def _check_function_calls(contents: list[Json], signatures: dict[str, str]) -> None:
    calls: list[Json] = []
    for content in contents:
        answers = [
            part["functionResponse"] for part in content["parts"] if "functionResponse" in part
        ]
        if len(calls) != len(answers):
            raise Refusal(
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        if sorted(map(_identity, calls)) != sorted(map(_identity, answers)):
            raise Refusal("Please ensure that function responses match the function calls.")
        calls = [part["functionCall"] for part in content["parts"] if "functionCall" in part]
        for part in content["parts"]:
            if "functionCall" in part:
                _check_signature(part, signatures)


def _identity(call_or_response: Json) -> tuple[str, str]:
    return call_or_response.get("id", ""), call_or_response.get("name", "")


def _check_signature(part: Json, signatures: dict[str, str]) -> None:
    given = part.get("thoughtSignature", "").translate(str.maketrans("-_", "+/")).rstrip("=")
    issued = signatures.get(part["functionCall"].get("id", ""))
    if issued is None:
        raise Refusal("A function call was replayed that this server never made.")
    if not given:
        raise Refusal("Function call is missing a thought_signature in functionCall parts.")
    if given != issued.rstrip("="):
        raise Refusal("Corrupted thought signature.")


def _check_config(config: Json) -> None:
    thinking = config.get("thinkingConfig", {})
    if "thinkingLevel" in thinking and "thinkingBudget" in thinking:
        raise Refusal("You can only set only one of thinking budget and thinking level.")
    if config.get("maxOutputTokens", 1) < 1:
        raise Refusal("max_output_tokens must be positive.")
    if not 0 <= config.get("temperature", 0) <= 2:
        raise Refusal("The temperature must be in the range [0.0, 2.0].")


def _check_embedding(call: GeminiCall) -> None:
    requests = call.body.get("requests", [])
    if not requests:
        raise Refusal("* BatchEmbedContentsRequest.requests: requests is not specified\n")
    if len(requests) > _BATCH_LIMIT:
        raise Refusal(
            "* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch\n"
        )
    for number, request in enumerate(requests):
        path = f"BatchEmbedContentsRequest.requests[{number}]"
        if request.get("model") != f"models/{call.model}":
            raise Refusal(f"* {path}.model: the model must match the one in the path\n")
        _check_parts(request.get("content", {}), f"{path}.content")
        if not 1 <= request.get("outputDimensionality", 1) <= _LARGEST_VECTOR:
            raise Refusal(f"* {path}.output_dimensionality: must be between 1 and 3072\n")
