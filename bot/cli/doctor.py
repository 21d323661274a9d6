"""`glossator doctor`: checks one thing after another and says what to do."""

import os
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from pathlib import Path
from pkgutil import resolve_name

from sqlalchemy.ext.asyncio import AsyncEngine

from adapters.actions.command_names import CommandNames
from bot.cli.context import counted
from bot.cli.courses import line_of, standings
from bot.cli.doctor_models import (
    Finding,
    check_judge,
    check_marks,
    check_models,
    failed,
    misconfigured,
    warning,
)
from bot.cli.exits import Exit, sentence_for
from bot.cli.ingest import elements_in_words
from bot.course_file import CourseFile, read_course_file
from bot.database import WHAT_TO_DO, SchemaState, is_new
from bot.database import check as check_schema
from bot.embedders import LOUDLY, embedding_model, meant_model, open_local
from bot.health import Level, disks
from bot.keys import Keys, prove, short_keys
from bot.model_tables import read_tables
from bot.models import check_contexts, check_named_models
from bot.platforms import PLATFORMS, PlatformSettings
from bot.services import HANDBOOK, missing_text
from bot.settings import Settings, load_settings
from bot.wiring import make_data_dir, open_index
from core.domain.disk import is_read_only
from core.domain.errors import BotError, ConfigurationError
from core.index.base import course_of
from core.ingestion.refusal import NotRead, not_read_before
from core.ingestion.sources.sources import is_git, is_gone
from core.providers.embeddings.local import LocalEmbedder
from core.storage.access import MetTenant, NamedStaff, StaffKind, Tenant
from core.storage.access_store import AccessStore, StaffStore
from core.storage.catalogue import Catalogue, DocumentRecord, Edition, Origins
from core.storage.channels import ChannelRules
from core.storage.database import create_engine, dispose
from core.storage.ingest_accounts import AccountRecord, IngestAccounts, LeftOutGroup


async def check_access(engine: AsyncEngine, course_file: CourseFile) -> AsyncIterator[Finding]:
    """Report what each tenant may read; one that waits is a warning. Without tenants, nothing."""
    try:
        found = await standings(AccessStore(engine), Catalogue(engine), course_file)
    except BotError as error:
        yield failed("tenants", error)
        return
    for one in found:
        yield warning("tenants", line_of(one)) if one.waits else Finding("tenants", line_of(one))


_REASONS_NAMED = 4


def check_account(
    course_id: str,
    accounts: Sequence[AccountRecord],
    least_share: float,
    documents: Sequence[DocumentRecord] = (),
) -> Finding:
    """Return what the last ingestion of each of the course's sources did with its files.

    Args:
        documents: those of the course, each with what was not read of it.
    """
    if not accounts:
        return warning(
            "files",
            f"{course_id}: which files were left out is not known, since an earlier version "
            "ingested it: run 'glossator ingest' for it again.",
        )
    read = sum(account.read for account in accounts)
    missed = sum(account.missed for account in accounts)
    counts = (
        f"{course_id}: {counted(read, 'file')} read, {sum(a.failed for a in accounts):,} failed, "
        f"{sum(a.left_out for a in accounts):,} left out"
    )
    reasons = _reasons([group for account in accounts for group in account.groups])
    text = f"{counts}: {reasons}" if reasons else counts
    if elements := _elements(documents):
        text += f"; of the documents themselves were not read: {elements}"
    if any(account.is_refused for account in accounts):
        return warning("files", f"{text}. Too little was read, so the earlier text stays.")
    if read < least_share * (read + missed):
        return warning(
            "files",
            f"{text}. Most of the text files are missing: convert them to "
            "a format that is read ('glossator ingest --help' names them) and ingest again, or set "
            "GLOSSATOR_INGEST__LEAST_SHARE lower.",
        )
    return Finding("files", text)


def _elements(documents: Sequence[DocumentRecord]) -> str:
    """Return the elements that held words and were not read, those with most words first."""
    kinds: dict[str, list[int]] = {}
    for document in documents:
        for one in not_read_before(document.source_file, document.left_out):
            so_far = kinds.setdefault(one.kind, [0, 0])
            so_far[0] += one.count
            so_far[1] += one.words
    ordered = sorted((-words, kind, count) for kind, (count, words) in kinds.items() if words)
    return elements_in_words(
        [NotRead("", kind, count, -words) for words, kind, count in ordered[:_REASONS_NAMED]]
    )


def _reasons(groups: Sequence[LeftOutGroup]) -> str:
    """Return the reasons with their counts, those that cost the course most text first."""
    files: dict[str, int] = {}
    missed: dict[str, int] = {}
    for group in groups:
        files[group.reason] = files.get(group.reason, 0) + group.files
        missed[group.reason] = missed.get(group.reason, 0) + group.missed
    ordered = sorted(files, key=lambda reason: (-missed[reason], -files[reason], reason))
    named = [f"{reason} ({files[reason]:,})" for reason in ordered[:_REASONS_NAMED]]
    if rest := sum(files[reason] for reason in ordered[_REASONS_NAMED:]):
        named.append(f"other reasons ({rest:,})")
    return "; ".join(named)


_READ_ONLY = "questions are answered, but nothing is stored"
_LOW = "free some room, before nothing can be stored"


def check_disks(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each disk that is written to."""
    for disk in disks(settings):
        if disk.is_read_only:
            yield warning("disk", f"{disk}: {_READ_ONLY}")
        elif disk.level is Level.ENOUGH:
            yield Finding("disk", str(disk))
        elif disk.level is Level.LOW:
            yield warning("disk", f"{disk}: {_LOW}")
        else:
            yield Finding("disk", f"{disk}: {_LOW}", Exit.UNAVAILABLE)


_UNREAD = "scanned pages{whose} are named, and not read: {why}"
_LANGUAGES_NAMED = 12


async def check_sources(course_file: CourseFile) -> AsyncIterator[Finding]:
    """Check that the sources of the described courses are there, and git for those it fetches."""
    for name in course_file.tables:
        sources = course_file.sources(name)
        if not sources:
            yield warning(
                "course", f"{name} has no sources in the course file: nothing can be read again"
            )
        for source in sources:
            if is_gone(source):
                yield warning("course", f"The source {source} of {name} is not there.")
    named = [source for name in course_file.tables for source in course_file.sources(name)]
    yield await _check_git([source for source in named if is_git(source)])


async def check_scans(course_file: CourseFile, most_pages: int) -> AsyncIterator[Finding]:
    """Check what recognises scanned pages, which a course can do without.

    A warning says where only the data of a course's language is missing.

    Args:
        most_pages: of one document; 0: none are recognised.
    """
    from core.ingestion.formats.scans import find_tesseract, recognition_with

    tesseract = await find_tesseract()
    courses: dict[str, list[str]] = {}
    for name in course_file.tables:
        courses.setdefault(course_file.language(name), []).append(name)
    missing = {
        language: recognition_with(tesseract, language, most_pages).missing
        for language in courses or ["en"]
    }
    if tesseract is None or not most_pages:
        yield Finding("scans", _UNREAD.format(whose="", why=next(iter(missing.values()))))
        return
    named = ", ".join(tesseract.languages[:_LANGUAGES_NAMED])
    more = ", …" if len(tesseract.languages) > _LANGUAGES_NAMED else ""
    yield Finding("scans", f"tesseract {tesseract.version} recognises pages in {named}{more}")
    for language, why in missing.items():
        if why:
            whose = f" of {', '.join(courses[language])}" if courses else ""
            yield warning("scans", _UNREAD.format(whose=whose, why=why))


async def check_pandoc() -> Finding:
    """Return which pandoc reads the formats that need it, which a course can do without."""
    from core.ingestion.formats.pandoc_program import find_pandoc
    from core.ingestion.formats.registry import FORMATS, OLDEST_PANDOC
    from core.ingestion.system_packages import how_to_install_pandoc

    found = await find_pandoc()
    wanted = [each for each in FORMATS if each.pandoc]
    missing = [one for one in wanted if found is None or one.pandoc not in found.formats]
    said = "there is no pandoc"
    if found is not None:
        names = ", ".join(one.title for one in wanted if one not in missing)
        said = f"version {found.version} reads {names}"
    if missing:
        newest = any(one.pandoc_since != OLDEST_PANDOC for one in missing)
        names = ", ".join(one.title for one in missing)
        said += f"; {names} are named, and not read: {how_to_install_pandoc(newest=newest)}"
    return Finding("pandoc", said)


async def check_sandbox() -> Finding:
    """Return whether the kernel holds what reads documents; a warning where it does not."""
    from core.ingestion.sandbox.sandbox import held_here

    try:
        held = await held_here()
    except BotError as error:
        return failed("sandbox", error)
    if all(held):
        return Finding(
            "sandbox", "the kernel holds the files, network and calls of what reads files"
        )
    lacking = " and ".join(name for name, holds in held._asdict().items() if not holds)
    return warning(
        "sandbox",
        f"the kernel does not hold the {lacking} of what reads files, Python's own checks do: "
        "read files of people you trust, or run it on Linux 5.13 or later, where the container "
        "allows Landlock and seccomp",
    )


async def _check_git(repositories: list[str]) -> Finding:
    """Check the git of this machine, whose absence fails only where a source needs it."""
    from core.ingestion.sources.git import parse_git_address
    from core.ingestion.sources.git_program import find_git

    try:
        for source in repositories:
            parse_git_address(source)
        git = await find_git(0)
    except BotError as error:
        return failed("git", error) if repositories else Finding("git", sentence_for(error))
    needed = f", for {len(repositories)} of the sources" if repositories else ""
    return Finding("git", f"version {git.version}{needed}")


_COUNTED = {
    StaffKind.ROLE: ("role", "roles"),
    StaffKind.GROUP: ("user group", "user groups"),
    StaffKind.PERSON: ("person", "people"),
}
_UNNAMED = (
    "{tenants}: channels are set up there, and no staff are named, so that only the admins may "
    "change them: an admin names staff with '/course staff add', or you in the course file."
)
_TENANTS_NAMED = 4


async def check_staff(
    engine: "AsyncEngine", course_file: CourseFile, known: Collection[str]
) -> AsyncIterator[Finding]:
    """Count who is named in each tenant; warn of a course that is not there, and of no staff.

    Args:
        known: The ids of the courses that there are.
    """
    try:
        appointed = await StaffStore(engine).all()
        set_up = await ChannelRules(engine).workspaces()
        met = await AccessStore(engine).tenants()
    except BotError as error:
        yield failed("staff", error)
        return
    together = _together(course_file.staff, appointed)
    if unnamed := _without_staff([m for m in met if _key(m) in set_up], together):
        yield warning("staff", _UNNAMED.format(tenants=unnamed))
    for tenant, named in together.items():
        yield Finding("staff", f"{tenant}: {_counts(named)}")
        for course_id in sorted({one.course_id or "" for one in named} - {"", *known}):
            count = _counts([one for one in named if one.course_id == course_id])
            yield warning("staff", f"{tenant}: {count}, and there is no such course")


def _key(met: MetTenant) -> tuple[str, str]:
    return met.tenant.platform, met.tenant.workspace


def _without_staff(met: Iterable[MetTenant], named: Collection[Tenant]) -> str:
    """Return the tenants in which no staff are named, as a list; empty: there are none."""
    found = sorted(
        one.tenant for one in met if one.tenant not in named and one.organisation not in named
    )
    listed = [str(tenant) for tenant in found[:_TENANTS_NAMED]]
    more = len(found) - len(listed)
    return ", ".join([*listed, f"{more:,} more"] if more else listed)


def _together(*named: Mapping[Tenant, Sequence[NamedStaff]]) -> dict[Tenant, list[NamedStaff]]:
    tenants = sorted({tenant for source in named for tenant in source})
    return {
        tenant: list(dict.fromkeys(one for source in named for one in source.get(tenant, ())))
        for tenant in tenants
    }


def _counts(named: Iterable[NamedStaff]) -> str:
    """Return such as "2 roles, 1 person; for biology alone: 1 role"."""
    by_course = dict[str | None, Counter[StaffKind]]()
    for one in named:
        by_course.setdefault(one.course_id, Counter())[one.kind] += 1
    courses = sorted(by_course, key=lambda course_id: course_id or "")
    return "; ".join(
        f"for {course_id} alone: {_listed(by_course[course_id])}"
        if course_id
        else _listed(by_course[course_id])
        for course_id in courses
    )


def _listed(counts: Mapping[StaffKind, int]) -> str:
    counted = ((counts[kind], _COUNTED[kind][counts[kind] != 1]) for kind in StaffKind)
    return ", ".join(f"{count} {name}" for count, name in counted if count)


Findings = AsyncIterator[Finding]
_STRONGER = "take what 'openssl rand -base64 32' prints."
_UNKNOWN = (
    "it holds texts of courses that the database does not know: {courses}. An ingestion that was "
    "interrupted leaves them so: ingest them again; if the database was lost, restore one that is "
    "as new as the index"
)

_NAMED = (
    "they are called {}; on Slack, the app's manifest has to say so: "
    "'glossator slack-manifest' prints it"
)
_OLD = (
    "{name}, its tables are those of an earlier version: make a backup, run "
    "'glossator db upgrade', then 'glossator doctor' again for what is to be done after that"
)


async def doctor(*, live: bool = False) -> int:
    """Print a line for each thing checked; the exit code is that of the worst finding.

    Args:
        live: Have the platforms judge what the bot can show there, too; nobody sees it.
    """
    worst = Exit.OK
    async for finding in _findings(live=live):
        print(finding.line, flush=True)
        worst = max(worst, finding.exit_code)
    return worst


async def _findings(*, live: bool) -> AsyncIterator[Finding]:
    try:
        settings = load_settings()
        course_file = read_course_file(
            settings.config, required="config" in settings.model_fields_set
        )
        tables = read_tables(settings, course_file.models)
        check_named_models(settings, tables, course_file)
        check_contexts(settings, tables, course_file)
        make_data_dir(settings, needs_room=False)
    except BotError as error:
        yield failed("settings", error)
        return
    described = len(course_file.tables)
    yield Finding("settings", f"data in {settings.data_dir}; courses in the file: {described}")
    yield Finding("data", _kept(settings.retention.days))
    for name in short_keys(settings):
        yield warning("settings", f"{name} is so short that it can be guessed: {_STRONGER}")
    for finding in check_disks(settings):
        yield finding
    state, database = await _check_database(settings)
    yield database
    keys = None
    if state is SchemaState.CURRENT:
        keys, proved = await _check_keys(settings)
        yield proved
    yield await _check_model(settings)
    async for finding in check_models(settings, tables, course_file):
        yield finding
    for name, platform in PLATFORMS.items():
        check: Callable[[PlatformSettings], Findings] = resolve_name(platform.doctor)
        async for finding in check(settings.platform(name)):
            yield finding
        if live and platform.live is not None:
            judge: Callable[[PlatformSettings], Findings] = resolve_name(platform.live)
            async for finding in judge(settings.platform(name)):
                yield finding
    if settings.commands != CommandNames():
        yield Finding("commands", _NAMED.format(", ".join(settings.commands.terms().values())))
    if keys is not None:
        for checked in filter(None, (platform.stored for platform in PLATFORMS.values())):
            stored: Callable[[Settings, Sequence[bytes]], Findings] = resolve_name(checked)
            async for finding in stored(settings, keys.sealing):
                yield finding
    if state is SchemaState.CURRENT:
        async for finding in _check_tenants(settings, course_file):
            yield finding
    held, index = await _check_index(settings)
    yield index
    if state is SchemaState.CURRENT and held is not None:
        async for finding in _check_courses(settings, course_file, held):
            yield finding
    elif state is SchemaState.BEHIND:
        yield _no_course(course_file)
    async for finding in check_sources(course_file):
        yield finding
    async for finding in check_scans(course_file, settings.ingest.max_recognised_pages):
        yield finding
    yield await check_pandoc()
    yield await check_sandbox()


def _kept(days: int) -> str:
    """Return how long conversations are kept."""
    if not days:
        return "conversations are kept until somebody deletes them"
    return f"conversations are kept for {counted(days, 'day')}, then deleted while the bot runs"


async def _check_database(settings: Settings) -> tuple[SchemaState | None, Finding]:
    try:
        engine = create_engine(settings.database_url, needs_room=False)
        try:
            state = await check_schema(engine)
            is_old = state is SchemaState.BEHIND and not await is_new(engine)
        finally:
            await dispose(engine)
    except BotError as error:
        return None, failed("database", error)
    name = engine.dialect.name
    if state is SchemaState.CURRENT:
        return state, Finding("database", f"{name}, up to date")
    if is_old:
        return None, warning("database", _OLD.format(name=name))
    if state is SchemaState.BEHIND:
        return state, Finding("database", f"{name}, its tables are made by the next command")
    return state, misconfigured("database", WHAT_TO_DO[state])


async def _check_tenants(settings: Settings, course_file: CourseFile) -> AsyncIterator[Finding]:
    engine = create_engine(settings.database_url, needs_room=False)
    try:
        async for finding in check_access(engine, course_file):
            yield finding
    finally:
        await dispose(engine)


async def _check_keys(settings: Settings) -> tuple[Keys | None, Finding]:
    """Return the keys, none when they are not those of the database."""
    engine = create_engine(settings.database_url, needs_room=False)
    try:
        keys = await prove(settings, engine, needs_room=False)
    except BotError as error:
        return None, failed("keys", error)
    finally:
        await dispose(engine)
    there = {"pseudonyms": bool(keys.pseudonym), "sealed tokens": bool(keys.sealing)}
    named = " and that of ".join(name for name, is_there in there.items() if is_there)
    fits = f"the key of {named} is there, and the database was used with it"
    return keys, Finding("keys", fits if named else "none is needed yet")


async def _check_model(settings: Settings) -> Finding:
    try:
        embedder = open_local(settings, may_install=False)
        try:
            await embedder.embed_queries(["Is anybody there?"])
        finally:
            embedder.close()
    except BotError as error:
        return failed("model", error)
    text = f"{embedder.name} answers with {embedder.dimensions} dimensions"
    if settings.stand_ins is not None:
        return warning("model", f"{text}: {LOUDLY % settings.stand_ins}")
    return Finding("model", text)


async def _check_index(settings: Settings) -> tuple[frozenset[str] | None, Finding]:
    """Return the collections that the index holds, none when it does not answer."""
    try:
        index = open_index(settings)
        try:
            held = await index.collections()
        finally:
            await index.close()
    except BotError as error:
        return None, failed("index", error)
    if settings.qdrant.url is None and (closed := _unwritable(settings.data_dir / "index")):
        return None, misconfigured(
            "index", f"{closed} cannot be written: give it to the account that runs Glossator."
        )
    where = "in the data folder" if settings.qdrant.url is None else "at the Qdrant URL"
    return held, Finding("index", f"{counted(len(held), 'collection')} {where}")


def _unwritable(folder: Path) -> Path | None:
    """Return what may not be written in the index's folder, if any, though its disk may be."""
    if is_read_only(folder):
        return None
    found = os.walk(folder)
    below = [Path(at, name) for at, folders, files in found for name in [*folders, *files]]
    closed = (path for path in (folder, *below) if path.exists() and not os.access(path, os.W_OK))
    return next(closed, None)


async def _check_courses(
    settings: Settings, course_file: CourseFile, held: frozenset[str]
) -> AsyncIterator[Finding]:
    """Check that the index holds what the database says it holds."""
    engine = create_engine(settings.database_url, needs_room=False)
    try:
        catalogue = Catalogue(engine)
        known = await catalogue.courses()
        documents = {
            course.course_id: await catalogue.documents(edition.generation)
            for course, edition in known
            if edition
        }
        accounts = await IngestAccounts(engine, Origins.of(settings.data_dir)).all()
        there = {course.course_id for course, _ in known} | set(course_file.tables)
        async for finding in check_staff(engine, course_file, there):
            yield finding
    except BotError as error:
        yield failed("course", error)
        return
    finally:
        await dispose(engine)
    try:
        course_file.check_channels({HANDBOOK.course_id, *(course.course_id for course, _ in known)})
    except ConfigurationError as error:
        yield failed("channels", error)
    for course, edition in known:
        again = f"run 'glossator ingest' for the course {course.course_id}"
        if edition is None:
            yield misconfigured("course", f"No text yet: {again}.")
        elif not edition.collections <= held:
            yield misconfigured("course", missing_text(course.course_id))
        else:
            yield await _check_edition(settings, course_file, edition, again)
            tables = read_tables(settings, course_file.models)
            for finding in check_judge(settings, tables, course_file, course.course_id):
                yield finding
            for finding in check_marks(settings, tables, course_file, edition):
                yield finding
            accounted = accounts.get(course.course_id, [])
            # The handbook is no operator's to ingest: a start does it, once its text changes.
            if accounted or course.course_id != HANDBOOK.course_id:
                least = settings.ingest.least_share
                texts = documents.get(course.course_id, [])
                yield check_account(course.course_id, accounted, least, texts)
    named = {name for _, edition in known if edition for name in edition.collections}
    strange = {course_of(collection) for collection in held - named}
    if unknown := strange - {course.course_id for course, _ in known}:
        yield warning("index", _UNKNOWN.format(courses=", ".join(sorted(unknown))))
    own = {course.course_id for course, _ in known} - {HANDBOOK.course_id}
    if not own:
        yield _no_course(course_file)
    else:
        for name in sorted(set(course_file.tables) - own):
            text = (
                f"{name} is described, but not ingested yet: run 'glossator ingest --course {name}'"
            )
            yield warning("course", text)


def _no_course(course_file: CourseFile) -> Finding:
    """Return what to do where there is nothing to ask about but the handbook."""
    if not course_file.tables:
        return warning("course", "There is no course yet: run 'glossator ingest SOURCE'.")
    names = ", ".join(sorted(course_file.tables))
    return warning(
        "course", f"There is no course yet, only described: {names}: run 'glossator ingest'."
    )


async def _check_edition(
    settings: Settings, course_file: CourseFile, edition: Edition, again: str
) -> Finding:
    """Check that an edition can be read, is whole, and can be searched."""
    name, tables = edition.course_id, read_tables(settings, course_file.models)
    try:
        index = open_index(settings)
        try:
            found = [await index.count(segment.collection) for segment in edition.segments]
        finally:
            await index.close()
    except BotError:
        text = f"The text of {name} in the index is damaged: {again} again."
        return misconfigured("course", text)
    stored = [segment.chunks for segment in edition.segments]
    if found != stored:
        chunks = counted(sum(stored), "chunk")
        text = f"The index holds {sum(found)} of {chunks} of {name}: {again} again."
        return misconfigured("course", text)
    try:
        if edition.embedding_model != LocalEmbedder.name:
            preferred = course_file.embedding(name) or settings.embedding.provider
            embedding_model(tables, edition.embedding_model, preferred)
    except ConfigurationError as error:
        return misconfigured("course", f"{name}: {error}")
    text = f"{name}: {counted(edition.chunks, 'chunk')}, embedded with {edition.embedding_model}"
    wanted = meant_model(settings, tables, course_file, name)
    if wanted == edition.embedding_model:
        return Finding("course", text)
    source = "" if course_file.sources(name) else "SOURCE "
    command = f"glossator ingest {source}--course {name}"
    return warning("course", f"{text}, not with {wanted} as is configured: run '{command}'")
