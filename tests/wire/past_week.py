"""What a course was asked last week, put into a bot's database before it starts."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4
from zoneinfo import ZoneInfo

from core.domain import AgentRequest, now
from core.storage.access import Tenant
from core.storage.database import create_engine
from core.storage.sessions import Feedback, SessionStore, Vote
from core.teaching.radar import before, bounds, last_complete
from core.teaching.radar_store import RadarChannel, RadarStore
from tests.inbox import answered_in
from tests.samples import chunk, response_to
from tests.samples import citation as cited

ZONE_NAME = "UTC"
SECTION = "Trimming the wick"
ASKED = "How often is the wick of the lamp trimmed?"
PEOPLE = 4
REASON = "It is about the wick."


async def fill(folder: Path, platform: str, workspace: str, channel: str | None = None) -> None:
    """Have four people ask the same, one of whom found it not helpful.

    Args:
        channel: Where the week is to be posted by now; None: nowhere.
    """

    engine = create_engine(f"sqlite:///{folder / 'data' / 'glossator.db'}")
    week = last_complete(now(), ZoneInfo(ZONE_NAME))
    asked_at = bounds(week, ZoneInfo(ZONE_NAME))[0] + timedelta(days=1)
    for number in range(PEOPLE):
        request = AgentRequest(
            course_id="arden", query_text=ASKED, user_id=f"student-{number}", created_at=asked_at
        )
        session_id = uuid4()
        ground = chunk(
            course_id="arden",
            page_title="The lamp",
            headings=("The lamp", SECTION),
            source_url=None,
        )
        answer = response_to(
            request,
            session_id,
            grounding_chunks=(ground,),
            retrieved_chunks=(ground,),
            citations=(cited(ground),),
            sources=(),
            requested_at=asked_at,
            generated_at=asked_at,
        )
        details = {"platform": platform, "workspace": workspace}
        await SessionStore(engine).remember(request, answer, metadata=details, moment=asked_at)
        vote = Vote(request.request_id, f"student-{number}", "arden", False, REASON)
        await answered_in(engine, request.request_id, Tenant(platform, workspace))
        await Feedback(engine).vote(vote, [Tenant(platform, workspace)])
    if channel is not None:
        place = RadarChannel("arden", platform, workspace, channel, locale="en")
        await RadarStore(engine).choose(place, before(week))
    await engine.dispose()
