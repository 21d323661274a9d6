"""Every fault of the local Gemini as a named value, and lists of them for parametrised tests."""

from tests.wire.gemini_failures import (
    Drop,
    ErrorInStream,
    ErrorStatus,
    FewerVectors,
    HtmlError,
    Malformed,
    NoCandidates,
    Stall,
    Stopped,
    Trickle,
    Truncated,
    WrongTool,
)
from tests.wire.gemini_failures import Fault as Fault

_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


def quota_with_retry_after(seconds: int) -> ErrorStatus:
    """Return a 429 that says in a header how long to wait."""
    headers = {"Retry-After": str(seconds)}
    return ErrorStatus("429 with Retry-After", 429, "RESOURCE_EXHAUSTED", headers)


def quota_with_retry_info(seconds: float) -> ErrorStatus:
    """Return a 429 that says in its details how long to wait."""
    details = {"@type": _RETRY_INFO, "retryDelay": f"{seconds:g}s"}
    return ErrorStatus("429 with RetryInfo", 429, "RESOURCE_EXHAUSTED", {}, (details,))


BAD_REQUEST = ErrorStatus("400", 400, "INVALID_ARGUMENT")
UNAUTHENTICATED = ErrorStatus("401", 401, "UNAUTHENTICATED")
FORBIDDEN = ErrorStatus("403", 403, "PERMISSION_DENIED")
NOT_FOUND = ErrorStatus("404", 404, "NOT_FOUND")
QUOTA_RETRY_AFTER = quota_with_retry_after(1)
QUOTA_RETRY_INFO = quota_with_retry_info(1)
QUOTA_LONG = ErrorStatus("429 for an hour", 429, "RESOURCE_EXHAUSTED", {"Retry-After": "3600"})
INTERNAL = ErrorStatus("500", 500, "INTERNAL")
UNAVAILABLE = ErrorStatus("503", 503, "UNAVAILABLE")
HTML_502 = HtmlError("502 with HTML")
DROP_BEFORE = Drop("drop before the answer", in_answer=False)
DROP_INSIDE = Drop("drop inside the answer", in_answer=True)
TRUNCATED = Truncated("truncated")
MALFORMED_JSON = Malformed("malformed JSON", in_event=False)
MALFORMED_EVENT = Malformed("malformed event", in_event=True)
ERROR_IN_STREAM = ErrorInStream("error object under status 200")
STALL_SILENT = Stall("stall without headers", "request")
STALL_AFTER_HEADERS = Stall("stall after the headers", "headers")
STALL_INSIDE = Stall("stall inside the answer", "opening")
TRICKLE = Trickle("trickle")
EMPTY_CANDIDATES = NoCandidates("empty candidates")
PROMPT_BLOCKED = NoCandidates("prompt blocked", "PROHIBITED_CONTENT")
STOP_WITHOUT_TEXT = Stopped("STOP without text", "STOP")
SAFETY = Stopped("SAFETY", "SAFETY", "streamed")
RECITATION = Stopped("RECITATION", "RECITATION", "streamed")
MAX_TOKENS = Stopped("MAX_TOKENS", "MAX_TOKENS", "kept")
MAX_TOKENS_IN_THOUGHT = Stopped("MAX_TOKENS in thought", "MAX_TOKENS")
MALFORMED_CALL = Stopped("MALFORMED_FUNCTION_CALL", "MALFORMED_FUNCTION_CALL")
UNKNOWN_TOOL = WrongTool("unknown tool", {}, "delete_everything")
WRONG_ARGUMENTS = WrongTool("wrong arguments", {"query_text": ["no", "text"], "top_k": "many"})
ARGUMENTS_NO_OBJECT = WrongTool("arguments that are no object", "query_text=price")
FEWER_VECTORS = FewerVectors("fewer vectors")

TRANSPORT_FAULTS: list[Fault] = [
    BAD_REQUEST,
    UNAUTHENTICATED,
    FORBIDDEN,
    NOT_FOUND,
    QUOTA_RETRY_AFTER,
    QUOTA_RETRY_INFO,
    QUOTA_LONG,
    INTERNAL,
    UNAVAILABLE,
    HTML_502,
    DROP_BEFORE,
    DROP_INSIDE,
    MALFORMED_JSON,
    ERROR_IN_STREAM,
    STALL_SILENT,
    STALL_AFTER_HEADERS,
]
"""What can happen to any call."""

GENERATION_FAULTS: list[Fault] = [
    *TRANSPORT_FAULTS,
    TRUNCATED,
    MALFORMED_EVENT,
    STALL_INSIDE,
    TRICKLE,
    EMPTY_CANDIDATES,
    PROMPT_BLOCKED,
    STOP_WITHOUT_TEXT,
    SAFETY,
    RECITATION,
    MAX_TOKENS,
    MAX_TOKENS_IN_THOUGHT,
    MALFORMED_CALL,
    UNKNOWN_TOOL,
    WRONG_ARGUMENTS,
    ARGUMENTS_NO_OBJECT,
]
"""What can happen to a call of generateContent or streamGenerateContent."""

EMBEDDING_FAULTS: list[Fault] = [*TRANSPORT_FAULTS, FEWER_VECTORS]
"""What can happen to a call of batchEmbedContents."""
