"""Says where in the book to read, and why not more is said."""

from datetime import datetime
from zoneinfo import ZoneInfo

from core.answering.quote_context import titles_of
from core.i18n import text
from core.i18n.dates import date_of
from core.markdown.writing import beginning, one_line
from core.models import PolicyMode, RetrievedChunk
from core.policies.policy import AnswerPolicy
from core.text.links import prose_without_links

_LONGEST = 160
"""Characters of a place."""


def place_name(chunk: RetrievedChunk) -> str:
    """Return the headings that lead to a chunk, on one line."""
    return beginning(one_line(prose_without_links(" › ".join(titles_of(chunk)))), _LONGEST)


def why(policy: AnswerPolicy, zone: ZoneInfo) -> str:
    """Return the sentence that says what holds, until when and for what."""
    name = None if policy.assignment is None else one_line(policy.assignment.name)
    until = None if policy.valid_until is None else day(policy.valid_until, zone)
    match policy.mode, until, name:
        case PolicyMode.HINTS, None, None:
            return text("policy-why-hints")
        case PolicyMode.HINTS, _, None:
            return text("policy-why-hints-until", until=until)
        case PolicyMode.HINTS, None, _:
            return text("policy-why-hints-for", name=name)
        case PolicyMode.HINTS, _, _:
            return text("policy-why-hints-until-for", until=until, name=name)
        case PolicyMode.SECTIONS, None, None:
            return text("policy-why-sections")
        case PolicyMode.SECTIONS, _, None:
            return text("policy-why-sections-until", until=until)
        case PolicyMode.SECTIONS, None, _:
            return text("policy-why-sections-for", name=name)
        case PolicyMode.SECTIONS, _, _:
            return text("policy-why-sections-until-for", until=until, name=name)
        case _, None, None:
            return text("policy-why-closed")
        case _, _, None:
            return text("policy-why-closed-until", until=until)
        case _, None, _:
            return text("policy-why-closed-for", name=name)
        case _:
            return text("policy-why-closed-until-for", until=until, name=name)


def day(moment: datetime, zone: ZoneInfo) -> str:
    """Return a moment as a reader of the current language writes it: "1 Dec 2026"."""
    local = moment.astimezone(zone)
    if (local.hour, local.minute) == (0, 0):
        return date_of(local)
    return f"{date_of(local)}, {local:%H:%M}"
