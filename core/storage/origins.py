"""How the place of a source is stored, so that a folder can move with the data folder in it."""

from pathlib import Path

from sqlalchemy import Connection, Text, column, delete, select, table, update
from sqlalchemy.ext.asyncio import AsyncEngine

from core.storage.database import reading, write

_HERE = "./"
_KEYED = ("ingest_accounts", "source_checks")
"""Tables whose key is a course and a source of it."""


class Origins:
    """Translates the names of sources: absolute for who works with them, portable in the tables.

    A source next to the data folder is stored as `./book`, whatever the folder around both is
    called: a folder that is copied or moved with its data keeps its sources. All other places are
    stored as they are.
    """

    def __init__(self, beside: Path | None = None) -> None:
        """Prepare to translate.

        Args:
            beside: The folder that the data folder lies in; None: every name is stored as it is.
        """
        self._beside = beside

    @classmethod
    def of(cls, data_dir: Path) -> "Origins":
        """Return those of an installation's data folder."""
        return cls(data_dir.absolute().parent.resolve())

    def stored(self, name: str) -> str:
        """Return what the tables hold of a source."""
        if self._beside is None or "://" in name or not Path(name).is_relative_to(self._beside):
            return name
        return f"{_HERE}{Path(name).relative_to(self._beside).as_posix()}"

    def known(self, stored: str) -> str:
        """Return the source that the tables hold as that."""
        if self._beside is None or not stored.startswith(_HERE):
            return stored
        return str(self._beside / stored)

    async def heal(self, engine: AsyncEngine) -> None:
        """Store the sources as `stored` does that an earlier version stored as absolute paths.

        Raises:
            StoreError: when the database fails.
        """
        if self._beside is None:
            return
        documents = table("documents", column("origin", Text))
        keyed = [table(name, column("course_id", Text), column("source", Text)) for name in _KEYED]
        async with reading(engine) as db:
            origins = (await db.scalars(select(documents.c.origin).distinct())).all()
            rows = [(one, (await db.execute(select(one))).all()) for one in keyed]

        def rewrite(db: Connection) -> None:
            for origin in origins:
                if (stored := self.stored(origin)) != origin:
                    of_it = update(documents).where(documents.c.origin == origin)
                    db.execute(of_it.values(origin=stored))
            for one, keys in rows:
                for course_id, source in keys:
                    if (stored := self.stored(source)) != source:
                        here = (one.c.course_id == course_id, one.c.source == source)
                        if (course_id, stored) in keys:
                            db.execute(delete(one).where(*here))
                        else:
                            db.execute(update(one).where(*here).values(source=stored))

        found = {*origins, *(source for _, keys in rows for _, source in keys)}
        if any(self.stored(one) != one for one in found):
            await write(engine, rewrite)


AS_THEY_ARE = Origins()
