"""How a scripted model judges what another one wrote: by the numbers of the claims it is sent."""

import json
import re
from collections.abc import Callable

from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_replies import Answer, Model

_CLAIM = re.compile(r"^Claim(?: \d+)? \((\w+)\): (.*)$", re.MULTILINE)


def is_judging(call: GeminiCall) -> bool:
    """Return whether a call asks for grades of what was written."""
    return "grades" in json.dumps(call.config.get("responseJsonSchema", ""))


def claims_in(call: GeminiCall) -> list[str]:
    """Return the claims that a call asks about; none where it asks about something else."""
    return [said for _, said in _CLAIM.findall(call.text)]


def affirming(call: GeminiCall) -> Answer:
    """Give everything the best grade."""
    return _grades([10] * max(len(claims_in(call)), 1))


def denying(*words: str) -> Model:
    """Return a judge that denies what has one of some words, and affirms all else."""
    return judging(lambda said: not any(word in said for word in words))


def judging(holds: Callable[[str], bool]) -> Model:
    """Return a judge that affirms the claims that hold; whole answers are affirmed."""

    def judge(call: GeminiCall) -> Answer:
        claims = claims_in(call)
        return _grades([10 * holds(said) for said in claims] if claims else [10])

    return judge


def _grades(grades: list[int]) -> str:
    return json.dumps({"grades": grades})
