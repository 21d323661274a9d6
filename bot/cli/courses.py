"""`glossator courses`: what there is to ask about."""

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import to_jsonable_python

from adapters.chat.markdown.printable import on_one_line
from bot.cli.context import choose_course, counted, live_edition, services, unknown_course
from bot.cli.exits import Exit, UsageError
from bot.cli.ingest import REPOSITORIES, headings_in_words
from bot.course_file import CourseFile
from bot.course_tables import RenewedSource
from bot.platforms import PLATFORMS
from bot.services import HANDBOOK, Services
from core.ingestion.changes import CourseChange, CourseChanges, SourceCheck, SourceChecks
from core.ingestion.sources.sources import origin_of
from core.storage.access import MetTenant, Reader, Tenant, readable
from core.storage.access_store import AccessStore
from core.storage.catalogue import Catalogue, DocumentRecord, Edition
from core.storage.channels import bound_by
from core.storage.ingest_accounts import IngestAccounts

_CHANGES_SHOWN = 3
_ALWAYS = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class CourseSources:
    """The sources of a course, and what its ingestions changed."""

    documents: Counter[str] = field(default_factory=Counter)
    """How many documents the live edition has of each source."""
    ingested: dict[str, datetime] = field(default_factory=dict)
    listed: tuple[str, ...] = ()
    """As the course file names them; empty where it does not."""
    renewed: dict[str, RenewedSource] = field(default_factory=dict)
    checks: dict[str, SourceCheck] = field(default_factory=dict)
    changes: Sequence[CourseChange] = ()
    """The latest first."""

    def lines(self) -> Iterator[str]:
        """Yield a line for each source, then one for each of the latest changes."""
        for source in dict.fromkeys((*self.listed, *self.documents)):
            yield f"{source}: {', '.join(self._facts(source))}"
        for change in self.changes[:_CHANGES_SHOWN]:
            yield f"changed on {_local(change.changed_at)}: {_in_words(change)}"

    def as_json(self) -> dict[str, object]:
        """Return what `--json` shows of it."""
        return {
            "sources": [
                {
                    "source": source,
                    "documents": self.documents[source],
                    "listed": not self.listed or source in self.listed,
                    "ingested_at": self.ingested.get(source),
                    "every": _seconds(self.renewed.get(source)),
                    "watched": source in self.renewed and self.renewed[source].is_watched,
                    "problem": self._problem(source),
                }
                for source in dict.fromkeys((*self.listed, *self.documents))
            ],
            "changes": [
                {
                    "changed_at": change.changed_at,
                    "sources": change.sources,
                    "added": change.added,
                    "changed": change.changed,
                    "removed": change.removed,
                    "headings": {
                        "added": change.headings.added,
                        "changed": change.headings.changed,
                        "removed": change.headings.removed,
                    },
                }
                for change in self.changes
            ],
        }

    def _facts(self, source: str) -> Iterator[str]:
        yield counted(self.documents[source], "document")
        if moment := self.ingested.get(source):
            yield f"ingested on {_local(moment)}"
        if self.listed and source not in self.listed:
            yield "not in the course file: 'glossator ingest --replace' removes it"
        if (renewed := self.renewed.get(source)) is not None:
            if renewed.every is not None:
                yield f"again every {_period(renewed.every)}"
            if renewed.is_watched:
                yield "watched"
        if problem := self._problem(source):
            yield f"the last try failed: {problem}"

    def _problem(self, source: str) -> str | None:
        return self.checks.get(source, SourceCheck()).problem


async def sources_of(opened: Services, editions: Sequence[Edition]) -> Mapping[str, CourseSources]:
    """Return the sources of every course that is in the course file or has a text."""
    found: dict[str, CourseSources] = {}
    for course_id in {*opened.course_file.tables, *(e.course_id for e in editions)}:
        own = opened.course_file.sources(course_id)
        renewed = {origin_of(one.name): one for one in opened.course_file.renewed(course_id)}
        found[course_id] = CourseSources(listed=tuple(map(origin_of, own)), renewed=renewed)
    for edition in editions:
        for document in await opened.catalogue.documents(edition.generation):
            found[edition.course_id].documents[document.origin] += 1
    engine, origins = opened.engine, opened.origins
    for course_id, accounts in (await IngestAccounts(engine, origins).all()).items():
        found.setdefault(course_id, CourseSources()).ingested = {
            one.source: one.ingested_at for one in accounts if not one.is_refused
        }
    for (course_id, source), check in (await SourceChecks(engine, origins).all()).items():
        found.setdefault(course_id, CourseSources()).checks[source] = check
    for course_id, changes in (await CourseChanges(engine, origins).since(_ALWAYS)).items():
        found.setdefault(course_id, CourseSources()).changes = changes
    for course, _ in await opened.catalogue.courses():
        found.setdefault(course.course_id, CourseSources())
    return found


def _in_words(change: CourseChange) -> str:
    kinds = (
        (change.added, "added", change.headings.added),
        (change.changed, "changed", change.headings.changed),
        (change.removed, "removed", change.headings.removed),
    )
    said = [
        f"{counted(count, 'section')} {word}{headings_in_words(headings, count)}"
        for count, word, headings in kinds
        if count
    ]
    return ", ".join(said)


def _local(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _period(every: timedelta) -> str:
    minutes = every // timedelta(minutes=1)
    for size, unit in ((1440, "d"), (60, "h")):
        if minutes % size == 0:
            return f"{minutes // size}{unit}"
    return f"{minutes}m"


def _seconds(renewed: RenewedSource | None) -> float | None:
    return None if renewed is None or renewed.every is None else renewed.every.total_seconds()


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
        if course.course_id == HANDBOOK.course_id:
            state = f"built in, about Glossator itself: {state}"
        else:
            state += f"; owned by {course.tenant or 'the operator'}"
        if course.course_id in grants:
            state += f"; granted to {', '.join(grants[course.course_id])}"
        print(on_one_line(f"{course.course_id}  {course.title}  ({state})"))
        if course.course_id != HANDBOOK.course_id:
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
    from core.ingestion.plan import ingest_lock

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


OPERATOR = "operator"
_NOT_MET = (
    "{tenant} has not let the bot in yet, as far as is known: this holds from when it does. If it "
    "has, the id is wrong: compare it with those that 'glossator courses tenants' lists."
)
_OTHERWISE = "it owns it, is the operator's own, or the course file binds it."
HOW_TO_GRANT = "glossator courses grant {course} {tenant}"


@dataclass(frozen=True, slots=True)
class TenantAccess:
    """A tenant, and the ids of the courses that it may read."""

    met: MetTenant
    courses: Sequence[str]
    grantable: str
    """What can be granted to it: the only course that there is, else COURSE."""

    @property
    def waits(self) -> bool:
        """Whether it let the bot in and may read nothing."""
        return not self.met.is_home and not self.courses


async def standings(
    access: AccessStore, catalogue: Catalogue, course_file: CourseFile
) -> list[TenantAccess]:
    """Return all tenants that were met, each with the courses that it may read anywhere."""
    permits, courses = await access.permits(), [one for one, _ in await catalogue.courses()]
    own = [course for course in courses if course.course_id != HANDBOOK.course_id]
    grantable = own[0].course_id if len(own) == 1 else "COURSE"
    return [
        TenantAccess(
            one,
            [c.course_id for c in readable(_reader(one.tenant, course_file), own, permits)],
            grantable,
        )
        for one in await access.tenants()
    ]


def _reader(tenant: Tenant, course_file: CourseFile) -> Reader:
    """Return who reads in the whole of a tenant."""
    bound = bound_by(course_file.rules_of(tenant.platform), (tenant.workspace,))
    return Reader(tenant.platform, frozenset({tenant}), bound)


async def set_owner(course_id: str, owner: str) -> int:
    """Give a course to a tenant, or to the operator."""
    tenant = None if owner == OPERATOR else tenant_named(owner)
    async with services() as opened:
        await _check(opened, course_id)
        await opened.catalogue.set_owner(course_id, str(tenant) if tenant else None)
        access = AccessStore(opened.engine)
        is_met = tenant is None or tenant in {one.tenant for one in await access.tenants()}
    print(f"{course_id} belongs to {tenant or 'the operator'}.")
    if not is_met:
        print(_NOT_MET.format(tenant=tenant))
    return Exit.OK


async def grant(course_id: str, name: str) -> int:
    """Let a tenant read a course."""
    tenant = tenant_named(name)
    async with services() as opened:
        await _check(opened, course_id)
        access = AccessStore(opened.engine)
        is_new = await access.grant(course_id, tenant)
        is_met = tenant in {one.tenant for one in await access.tenants()}
    print(f"{tenant} may read {course_id}{'' if is_new else ' already'}.")
    if not is_met:
        print(_NOT_MET.format(tenant=tenant))
    return Exit.OK


async def revoke(course_id: str, name: str) -> int:
    """Take a grant back."""
    tenant = tenant_named(name)
    async with services() as opened:
        await _check(opened, course_id)
        access = AccessStore(opened.engine)
        was_granted = await access.revoke(course_id, tenant)
        course = await opened.catalogue.course(course_id)
        reader = _reader(tenant, opened.course_file)
        is_open = course is not None and any(readable(reader, [course], await access.permits()))
    if was_granted:
        print(f"The grant of {course_id} to {tenant} is taken back.")
    else:
        print(f"{tenant} has no grant of {course_id}.")
    if is_open:
        print(f"{tenant} may read it all the same: {_OTHERWISE}")
    return Exit.OK


async def list_tenants(*, as_json: bool) -> int:
    """Print the tenants that were met, and what each may read."""
    async with services() as opened:
        found = await standings(AccessStore(opened.engine), opened.catalogue, opened.course_file)
    if as_json:
        print(json.dumps([_json(one) for one in found], indent=2))
        return Exit.OK
    for one in found:
        print(on_one_line(line_of(one)))
    if not found:
        print("No server or workspace has let the bot in yet.")
    return Exit.OK


def line_of(one: TenantAccess) -> str:
    """Return what is said of a tenant in one line."""
    tenant = one.met.tenant
    if one.waits:
        how = HOW_TO_GRANT.format(course=one.grantable, tenant=tenant)
        return f"{tenant}  (may read no course yet: run '{how}')"
    reads = ", ".join(one.courses) or "nothing yet: there is no course"
    home = "the operator's own, " if one.met.is_home else ""
    return f"{tenant}  ({home}since {one.met.met_at:%Y-%m-%d}, reads {reads})"


def tenant_named(name: str) -> Tenant:
    """Return the tenant of a name.

    Raises:
        UsageError: when it is none of a platform's.
    """
    try:
        tenant = Tenant.named(name)
    except ValueError as error:
        raise UsageError(f"{name}: {error}.") from error
    if tenant.platform not in PLATFORMS:
        known = ", ".join(PLATFORMS)
        raise UsageError(f"{name}: there is no platform {tenant.platform}, only {known}.")
    if not PLATFORMS[tenant.platform].named_tenant.fits(tenant.workspace):
        forms = ", ".join(platform.named_tenant.words for platform in PLATFORMS.values())
        raise UsageError(f"{name}: {forms}.")
    return tenant


async def _check(opened: Services, course_id: str) -> None:
    if course_id == HANDBOOK.course_id:
        raise UsageError("Everybody may read the handbook.")
    await check_known(opened, course_id)


def _json(one: TenantAccess) -> dict[str, object]:
    met = one.met
    return {
        "tenant": str(met.tenant),
        "organisation": str(met.organisation) if met.organisation else None,
        "home": met.is_home,
        "met_at": met.met_at.isoformat(),
        "courses": [*one.courses],
        "waits": one.waits,
    }
