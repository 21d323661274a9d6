"""Who owns a course, who else may read it, and which tenants were met."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from core.storage.database import UtcDateTime

revision = "0008"
down_revision = "0007"

_COURSES = sa.table("courses", sa.column("course_id", sa.Text))
_SESSIONS = sa.table(
    "sessions",
    sa.column("course_id", sa.Text),
    sa.column("created_at", UtcDateTime),
    sa.column("details", sa.JSON),
)
_INBOX = sa.table(
    "inbox",
    sa.column("platform", sa.Text),
    sa.column("workspace", sa.Text),
    sa.column("course_id", sa.Text),
    sa.column("address", sa.JSON),
    sa.column("accepted_at", UtcDateTime),
)
_RULES = sa.table(
    "channel_rules",
    sa.column("platform", sa.Text),
    sa.column("workspace", sa.Text),
    sa.column("rules", sa.JSON),
    sa.column("set_at", UtcDateTime),
)
_INSTALLATIONS = sa.table(
    "installations",
    sa.column("platform", sa.Text),
    sa.column("place", sa.Text),
    sa.column("organisation", sa.Text),
    sa.column("installed_at", UtcDateTime),
)
_HANDBOOK = "handbook"
_TERMINAL = "console"
_NO_TENANTS = frozenset({None, "", "@me"})
"""What stands for a workspace where there is none, as in direct messages on Discord."""


def upgrade() -> None:
    op.add_column("courses", sa.Column("tenant", sa.Text(), nullable=True))
    tenants = op.create_table(
        "tenants",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("organisation", sa.Text(), nullable=True),
        sa.Column("home", sa.Boolean(), nullable=False),
        sa.Column("met_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("platform", "workspace", name=op.f("pk_tenants")),
    )
    grants = op.create_table(
        "course_grants",
        sa.Column("course_id", sa.Text(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("granted_at", UtcDateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["course_id"],
            ["courses.course_id"],
            name=op.f("fk_course_grants_course_id_courses"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "course_id", "platform", "workspace", name=op.f("pk_course_grants")
        ),
    )
    _keep_what_worked(op.get_bind(), tenants, grants)
    op.drop_table("install_states")  # installations under way are signed from now on


def downgrade() -> None:
    op.create_table(
        "install_states",
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("expires_at", UtcDateTime(), nullable=False),
        sa.PrimaryKeyConstraint("state", name=op.f("pk_install_states")),
    )
    op.create_index(op.f("ix_install_states_expires_at"), "install_states", ["expires_at"])
    op.drop_table("course_grants")
    op.drop_table("tenants")
    with op.batch_alter_table("courses") as courses:
        courses.drop_column("tenant")


def _keep_what_worked(db: sa.Connection, tenants: sa.Table, grants: sa.Table) -> None:
    """Note the tenants of before, and grant them what they are bound to or have asked."""
    used = [*_talked(db), *_asked(db), *_bound(db)]
    if met := _met([*used, *_installed(db)], _organisations(db)):
        db.execute(tenants.insert(), met)
    known = set(db.scalars(sa.select(_COURSES.c.course_id))) - {_HANDBOOK}
    granted: dict[tuple[str, str, str], datetime] = {}
    for platform, workspace, course_id, moment in used:
        if course_id in known:
            grant = (course_id, platform, workspace)
            granted[grant] = min(moment, granted.get(grant, moment))
    if granted:
        names = ("course_id", "platform", "workspace", "granted_at")
        rows = [dict(zip(names, (*key, at), strict=True)) for key, at in granted.items()]
        db.execute(grants.insert(), rows)


def _met(
    found: list[Any], organisations: dict[tuple[str, str], str]
) -> list[dict[str, str | bool | datetime | None]]:
    """Return a row for each tenant; the earliest of each platform is the operator's own."""
    met: dict[tuple[str, str], datetime] = {}
    for platform, workspace, _, moment in found:
        tenant = (platform, workspace)
        met[tenant] = min(moment, met.get(tenant, moment))
    homes: dict[str, tuple[str, str]] = {}
    for tenant in sorted(met, key=lambda one: (met[one], one)):
        homes.setdefault(tenant[0], tenant)
    return [
        {
            "platform": tenant[0],
            "workspace": tenant[1],
            "organisation": organisations.get(tenant),
            "home": homes[tenant[0]] == tenant,
            "met_at": moment,
        }
        for tenant, moment in met.items()
    ]


def _talked(db: sa.Connection) -> list[Any]:
    """Return platform, workspace, course and first moment of all conversations."""
    details = _SESSIONS.c.details
    where = [details["platform"].as_string(), details["workspace"].as_string()]
    return _first(db, [*where, _SESSIONS.c.course_id], _SESSIONS.c.created_at)


def _asked(db: sa.Connection) -> list[Any]:
    """Return the same of all events, of which some may be yet to be answered."""
    row = _INBOX.c
    return _first(db, [row.platform, row.workspace, row.course_id], row.accepted_at)


def _bound(db: sa.Connection) -> list[Any]:
    """Return the same of all that staff have set."""
    row = _RULES.c
    course = row.rules["course_id"].as_string()
    return _first(db, [row.platform, row.workspace, course], row.set_at)


def _installed(db: sa.Connection) -> list[Any]:
    row = _INSTALLATIONS.c
    return _first(db, [row.platform, row.place, sa.null()], row.installed_at)


def _first(db: sa.Connection, columns: list[Any], moment: Any) -> list[Any]:
    """Return the distinct values of columns, each with its earliest moment."""
    labelled = [column.label(f"c{n}") for n, column in enumerate(columns)]
    every = sa.select(*labelled, moment.label("moment")).subquery()
    keys = [every.c[f"c{n}"] for n in range(len(columns))]
    earliest = sa.func.min(every.c.moment, type_=UtcDateTime())
    found = db.execute(sa.select(*keys, earliest).group_by(*keys))
    return [row for row in found if row[0] not in {None, _TERMINAL} and row[1] not in _NO_TENANTS]


def _organisations(db: sa.Connection) -> dict[tuple[str, str], str]:
    """Return the organisation of each workspace that belongs to one."""
    row, enterprise = _INBOX.c, _INBOX.c.address["enterprise"].as_string()
    asked = sa.select(row.platform, row.workspace, enterprise).where(
        row.workspace != "", enterprise.is_not(None)
    )
    place = _INSTALLATIONS.c
    installed = sa.select(place.platform, place.place, place.organisation).where(
        place.organisation.is_not(None), place.organisation != place.place
    )
    found = [*db.execute(asked.distinct()), *db.execute(installed)]
    return {(platform, workspace): of for platform, workspace, of in found if of}
