"""`glossator courses`: what there is to ask about."""

import asyncio
import json
import shutil
from dataclasses import fields
from typing import Any

from pydantic_core import to_jsonable_python

from adapters.markdown.printable import on_one_line
from bot.cli.context import choose_course, live_edition, services, unknown_course
from bot.cli.counted import counted
from bot.cli.course_sources import sources_of
from bot.cli.exits import Exit, UsageError
from bot.cli.ingest import REPOSITORIES
from bot.handbook import COURSE
from bot.services import Services
from core.access.store import AccessStore
from core.storage.catalogue import DocumentRecord, Edition


async def list_courses(*, as_json: bool) -> int:
    """Print the courses with what their live edition holds."""
    async with services(needs_room=False) as opened:
        known = await opened.catalogue.courses()
        described = set(opened.course_file.tables) - {course.course_id for course, _ in known}
        granted = await AccessStore(opened.engine).grants()
        sources = await sources_of(opened, [edition for _, edition in known if edition])
    grants = {course_id: [*map(str, tenants)] for course_id, tenants in granted.items()}
    if as_json:
        rows = [
            {
                **course.model_dump(),
                "grants": grants.get(course.course_id, []),
                **sources[course.course_id].as_json(),
                "edition": None if edition is None else _as_json(edition),
            }
            for course, edition in known
        ]
        print(json.dumps(to_jsonable_python(rows), indent=2))
        return Exit.OK
    for course, edition in known:
        state = "no text yet"
        if edition:
            state = f"documents: {edition.documents}, chunks: {edition.chunks}, "
            state += f"edition of {edition.created_at.astimezone():%Y-%m-%d %H:%M}"
        if course.course_id == COURSE.course_id:
            state = f"built in, about Glossator itself: {state}"
        else:
            state += f"; owned by {course.tenant or 'the operator'}"
        if course.course_id in grants:
            state += f"; granted to {', '.join(grants[course.course_id])}"
        print(on_one_line(f"{course.course_id}  {course.title}  ({state})"))
        if course.course_id != COURSE.course_id:
            for line in sources[course.course_id].lines():
                print(on_one_line(f"  {line}"))
    for course_id in sorted(described):
        print(f"{course_id}  (not ingested yet: run 'glossator ingest --course {course_id}')")
    if not known and not described:
        print("There is no course yet: run 'glossator ingest SOURCE'.")
    return Exit.OK


def _as_json(edition: Edition) -> dict[str, Any]:
    """Return what `courses --json` tells of an edition.

    Its `collection` is of the time when an edition was one; programs may still read it.
    """
    return {
        "collection": edition.segments[0].collection,
        **{field.name: getattr(edition, field.name) for field in fields(edition)},
    }


async def list_sections(course_id: str | None, *, as_json: bool) -> int:
    """Print the sections of a course in book order, indented by depth."""
    async with services(needs_room=False) as opened:
        course = await choose_course(opened, course_id)
        edition = await live_edition(opened, course)
        sections = await opened.catalogue.sections(edition.generation)
    if as_json:
        print(json.dumps(to_jsonable_python(sections), indent=2))
        return Exit.OK
    for section in sections:
        print(on_one_line("  " * len(section.path) + section.title))
    return Exit.OK


async def list_documents(course_id: str | None, *, as_json: bool) -> int:
    """Print the documents of a course in reading order, below the source of each."""
    async with services(needs_room=False) as opened:
        course = await choose_course(opened, course_id)
        edition = await live_edition(opened, course)
        documents = await opened.catalogue.documents(edition.generation)
    by_source: dict[str, list[DocumentRecord]] = {}
    for document in documents:
        by_source.setdefault(document.origin, []).append(document)
    if as_json:
        rows = [
            {
                "source": source,
                "documents": [
                    {"path": one.source_file, "title": one.title, "chunks": one.chunk_count}
                    for one in own
                ],
            }
            for source, own in by_source.items()
        ]
        print(json.dumps(rows, indent=2))
        return Exit.OK
    for source, own in by_source.items():
        print(on_one_line(source))
        for one in own:
            line = f"  {one.source_file}  ({counted(one.chunk_count, 'chunk')})"
            print(on_one_line(line))
    return Exit.OK


async def check_course(course_id: str) -> int:
    """Raise UsageError unless there is such a course in the catalogue."""
    async with services(needs_room=False) as opened:
        await check_known(opened, course_id)
    return Exit.OK


async def remove_course(course_id: str) -> int:
    """Remove a course's text from the catalogue and the index."""
    from core.ingestion.edition.lock import ingest_lock

    async with services() as opened:
        await check_known(opened, course_id)
        async with ingest_lock(opened.engine, opened.settings.data_dir, course_id):
            edition = await opened.catalogue.remove_course(course_id)
            if edition is not None:
                for collection in edition.collections:
                    await opened.index.drop(collection)
            held = opened.settings.data_dir / REPOSITORIES / course_id
            await asyncio.to_thread(shutil.rmtree, held, ignore_errors=True)
    print(f"Removed: {course_id}.")
    return Exit.OK


async def check_known(opened: Services, course_id: str) -> None:
    """Raise UsageError unless there is such a course in the catalogue."""
    if await opened.catalogue.course(course_id) is None:
        known = [course.course_id for course, _ in await opened.catalogue.courses()]
        raise UsageError(unknown_course(opened, course_id, known))
