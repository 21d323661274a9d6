"""Has a finished answer counted: its outcome, its tokens, its claims and its times."""

from core.models import AgentResponse
from core.telemetry.metering import ANSWERED, CLAIMS, FIRST_WORDS, RETRIEVING, TOKENS, Meter

_MILLISECONDS = 1_000


def measure(meter: Meter, response: AgentResponse) -> None:
    """Record in the meter all that is counted and timed of an answer."""
    course, model = response.course_id, response.model_name
    meter.count(ANSWERED, course, model, response.outcome or "none")
    meter.count(TOKENS, course, model, "read", amount=response.query_tokens)
    meter.count(TOKENS, course, model, "written", amount=response.response_tokens)
    dropped = response.claims_dropped
    meter.count(CLAIMS, model, "kept", amount=response.claims_written - dropped)
    meter.count(CLAIMS, model, "dropped", amount=dropped)
    meter.time(FIRST_WORDS, model, seconds=response.first_token_ms / _MILLISECONDS)
    if response.retrieval_success:
        meter.time(RETRIEVING, course, seconds=response.retrieval_time_ms / _MILLISECONDS)
