"""What an operator types while a bot runs over a data folder, without a process of its own."""

from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncEngine

from core.storage.access import Tenant
from core.storage.access_store import AccessStore
from core.storage.catalogue import Catalogue, CourseRow, EditionRow
from core.storage.database import create_engine, dispose

FOLLOWS_IN = 2.5
"""Seconds after which a running bot knows what the operator typed."""


async def grant(place: Path | str, course: str, *tenants: str) -> None:
    """Let tenants read a course.

    Args:
        place: The bot's folder, or the URL of its database.
    """
    url = place if isinstance(place, str) else f"sqlite:///{place / 'data' / 'glossator.db'}"
    engine = create_engine(url)
    await grant_on(engine, course, tenants)
    await dispose(engine)


async def grant_on(engine: AsyncEngine, course: str, tenants: Iterable[str]) -> None:
    """Let tenants read a course of an open database."""
    access = AccessStore(engine)
    for tenant in tenants:
        await access.grant(course, Tenant.named(tenant))


async def revoke(folder: Path, course: str, tenant: str) -> None:
    """Take a grant back."""
    engine = create_engine(f"sqlite:///{folder / 'data' / 'glossator.db'}")
    await AccessStore(engine).revoke(course, Tenant.named(tenant))
    await dispose(engine)


async def give(folder: Path, course: str, owner: str | None) -> None:
    """Give a course to a tenant, or to the operator."""
    engine = create_engine(f"sqlite:///{folder / 'data' / 'glossator.db'}")
    await Catalogue(engine).set_owner(course, owner)
    await dispose(engine)


async def copy_course(folder: Path, course: str, count: int) -> None:
    """Add so many courses that may be asked, called `Course 00 of ...`, with a course's text."""
    engine = create_engine(f"sqlite:///{folder / 'data' / 'glossator.db'}")
    courses, editions = CourseRow.__table__, EditionRow.__table__
    async with engine.begin() as db:
        own = (await db.execute(select(courses).where(courses.c.course_id == course))).one()
        live = (await db.execute(select(editions).where(editions.c.course_id == course))).one()
        for number in range(count):
            name, title = f"copy-{number:02}", f"Course {number:02} of {SUBJECTS[number % 10]}"
            row = {**own._asdict(), "course_id": name, "title": title}
            await db.execute(insert(CourseRow).values(row))
            copied = {**live._asdict(), "course_id": name, "generation": uuid4()}
            await db.execute(insert(EditionRow).values(copied))
    await dispose(engine)


SUBJECTS = (
    *("anatomy", "botany", "chemistry", "dynamics", "ecology"),
    *("finance", "geology", "history", "italics", "logic"),
)
