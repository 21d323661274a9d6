"""Names the files of a source: each by a name of its own, whatever bytes it is made of."""

from collections.abc import Iterable

from core.ingestion.sites.page_files import well_formed


def unique_names(prefix: str, paths: Iterable[str]) -> dict[str, str]:
    """Return a name for each path; two that differ only in bytes outside UTF-8 get two.

    Such bytes become `�`, and where that makes a name that is taken, `\\xNN`.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for path in dict.fromkeys(paths):
        name = well_formed(prefix + path)
        if name in taken:
            escaped = (prefix + path).encode(errors="surrogateescape")
            name = escaped.decode(errors="backslashreplace")
        taken.add(name)
        names[path] = name
    return names
