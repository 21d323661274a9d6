"""What the holder of an event writes, and no worker that lost it."""

from typing import Any

from sqlalchemy import Connection, delete, insert, update

from core.inbox.base import Job, LeaseLost, Posted
from core.inbox.rows import InboxRow, PostRow, is_waiting, moved_to, posts_of


def keep(db: Connection, job: Job, posted: Posted) -> None:
    """Keep what was posted for a job in place of what was known, and move it to its thread."""
    root, arrival = root_key(job), job.arrival
    moved = moved_to(arrival, posted.thread)
    write(db, job, InboxRow.key, **moved)
    if posted.thread is not None:
        changes = (InboxRow.about == root, is_waiting())
        db.execute(update(InboxRow).where(*changes).values(lane=moved["lane"]))
    db.execute(delete(PostRow).where(PostRow.key == root))
    if posted.messages:
        db.execute(insert(PostRow), posts_of(root, arrival.platform, posted.messages))


def root_key(job: Job) -> str:
    """Return the key of the event that asked the question."""
    return job.arrival.about or job.arrival.key


def write(db: Connection, job: Job, returned: Any, **values: Any) -> Any:
    """Change a job's event as its holder, and return what was asked for."""
    held = (InboxRow.key == job.arrival.key, InboxRow.fence == job.fence, is_waiting())
    found = db.execute(update(InboxRow).where(*held).values(**values).returning(returned)).first()
    if found is None:
        raise LeaseLost(f"{job.arrival.key} is not held with fence {job.fence} any more")
    return found[0]
