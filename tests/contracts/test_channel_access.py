"""Where something about a course may be posted without any asker, on every database."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.chat.access import ChannelAccess
from core.storage.channels import OperatorRules
from core.teaching.radar_store import RadarChannel
from tests.contracts.test_front_desk import GUILD, Reception

TO = RadarChannel("biology", "discord", "other", "lobby")


class Platform:
    """Has one channel, in a category or in none."""

    def __init__(self, *around: str) -> None:
        self.around = around

    async def places_of(self, workspace: str, channel: str) -> Sequence[str]:
        return channel, *self.around, workspace


async def may_read(engine: AsyncEngine, bound: str, *around: str) -> bool:
    """Return whether the channel may get the course that the file binds to a place."""
    described = {bound: OperatorRules(course_id="biology")}
    reception = Reception(engine, "algebra", "biology", described=described)
    await reception.access.meet(GUILD)
    platforms = {"discord": Platform(*around)}
    return await ChannelAccess(reception.readers, reception.directory, platforms).may_read(TO)


async def test_what_the_file_binds_around_a_channel_counts_as_it_lies_now(
    engine: AsyncEngine,
) -> None:
    assert await may_read(engine, "lobby")
    assert await may_read(engine, "other")
    assert await may_read(engine, "category", "category")
    assert not await may_read(engine, "category", "another")
    assert not await may_read(engine, "category")
