"""Reads and names the files of a site without leaving its folder."""

import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import count
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import yaml

from core.ingestion.formats.decoding import decode_text
from core.ingestion.formats.includes import MarkdownFlavour
from core.ingestion.sandbox.child import is_below

_MAX_BYTES = 1_000_000
_NUMBER_PREFIX = re.compile(r"\d+\s*[-_.)]+\s*(?=[^-_.\s])")
_DATE_OR_VERSION = re.compile(r"\d+[-_.]\d+")
_FOLDER_PAGES = frozenset({"index", "readme", "_index"})


def file_inside(root: Path, path: str) -> Path | None:
    """Return the file at `path`, if it really is in `root`, links followed; else none."""
    try:
        found = (root / path).resolve()
        return found if found.is_relative_to(root.resolve()) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def read_inside(root: Path, path: str) -> str | None:
    """Return the text of a file in `root`, or none if it is missing, outside or too large."""
    found = file_inside(root, path)
    try:
        if found is None or found.stat().st_size > _MAX_BYTES:
            return None
        return decode_text(found.read_bytes()).text
    except OSError:
        return None


def include_reader(
    folder: Path, page: str, include_roots: Sequence[str], dialect: str
) -> Callable[[str], str | None]:
    """Return what gives the text of a file that `page` includes, never from outside `folder`.

    Hidden files are no part of a course: `.env` and `.git` may hold what nobody wrote for it.

    Args:
        folder: the site's.
        page: the page's path in it.
        include_roots: folders in it where MkDocs looks first, the others after the page's own.
        dialect: a value of `Dialect`.
    """
    beside = PurePosixPath(page).parent.as_posix()
    roots = [beside, *include_roots]
    if dialect == MarkdownFlavour.MKDOCS:
        roots = [*include_roots, beside]

    def read(path: str) -> str | None:
        if path.startswith("@site/"):
            return read_visible(path.removeprefix("@site/"))
        relative = path.lstrip("/")
        texts = (read_visible(f"{root}/{relative}") for root in roots)
        return next((text for text in texts if text is not None), None)

    def read_visible(path: str) -> str | None:
        found = file_inside(folder, path)
        if found is None or not is_below(found, folder.resolve()):
            return None
        return read_inside(folder, path)

    return read


def is_folder_page(name: str) -> bool:
    """Return whether a file stands for its folder: `index.md`, `README.md`."""
    return PurePosixPath(name).stem.lower() in _FOLDER_PAGES


def reading_order(path: str) -> tuple[tuple[object, ...], ...]:
    """Return a sort key: numbers by value, the page of a folder before the others in it."""
    *folders, name = path.split("/")
    return (*map(_natural, folders), (not is_folder_page(name), *_natural(name)[1:]))


def _natural(name: str) -> tuple[object, ...]:
    pieces = re.split(r"(\d{1,18})", name.lower())
    return (
        True,
        *((piece.isdigit(), int(piece) if piece.isdigit() else piece) for piece in pieces),
    )


def without_number(name: str) -> str:
    """Return a name without the number that orders it: `01-intro`; dates and versions stay."""
    prefix = _NUMBER_PREFIX.match(name)
    return name if prefix is None or _DATE_OR_VERSION.match(name) else name[prefix.end() :]


def readable(name: str) -> str:
    """Return the name of a folder as words: `02-supply_and_demand`, Supply and demand."""
    words = re.sub(r"[-_\s]+", " ", without_number(well_formed(name))).strip()
    return words[:1].upper() + words[1:]


def well_formed(name: str) -> str:
    """Return the name of a file as text; bytes of it that are no UTF-8 become `�`."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


_HEAD_CHARACTERS = 20_000
_MAX_LINES = 400
_TOML = "+++"
_YAML = "---"


@dataclass(frozen=True, slots=True)
class PageHead:
    """What the front matter of a page says; all values are texts, lists or mappings."""

    values: Mapping[object, object]
    is_there: bool
    """Whether the page has front matter at all."""

    def text(self, *names: str) -> str | None:
        """Return the first text under one of the names, if there is any."""
        found = (self.values.get(name) for name in names)
        return next((one.strip() for one in found if isinstance(one, str) and one.strip()), None)

    def number(self, *names: str) -> float | None:
        """Return the first number under one of the names, if there is any."""
        for name in names:
            written = self.values.get(name)
            if isinstance(written, str) and re.fullmatch(r"[+-]?\d{1,12}(\.\d{1,12})?", written):
                return float(written)
        return None

    def says(self, name: str, value: str) -> bool:
        """Return whether a value is `true` or `false`, as YAML and TOML write it."""
        return (self.text(name) or "").lower() == value


NO_HEAD = PageHead({}, False)


def page_head(folder: Path, path: str) -> PageHead:
    """Return the front matter of a file: YAML between `---`, TOML between `+++`, or JSON."""
    text = (read_inside(folder, path) or "")[:_HEAD_CHARACTERS].lstrip("\ufeff")
    lines = re.sub(r"\r\n?", "\n", text).split("\n")
    mark = lines[0].rstrip()
    if mark in {_YAML, _TOML}:
        for number, line in enumerate(lines[1:_MAX_LINES], 1):
            if line.rstrip() == mark or (mark == _YAML and line.rstrip() == "..."):
                inside = "\n".join(lines[1:number])
                return PageHead(toml_values(inside) if mark == _TOML else _yaml(inside), True)
    if mark.startswith("{") and (end := text.find("\n}\n")) > 0:
        return PageHead(_yaml(text[: end + 2]), True)
    return NO_HEAD


def toml_values(text: str) -> Mapping[object, object]:
    """Return what a TOML text says, numbers and dates as texts; nothing where it is none."""
    try:
        return {name: _as_text(value) for name, value in tomllib.loads(text).items()}
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _as_text(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _as_text(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_text(inner) for inner in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _yaml(text: str) -> Mapping[object, object]:

    try:
        values = plain_values(text.replace("\t", "  "))
    except ValueError:
        return {}
    return values if isinstance(values, Mapping) else {}


def in_order(paths: Iterable[str], weights: Mapping[str, float | None]) -> list[str]:
    """Return paths by their weights, those without one after the others, in natural order."""

    def key(path: str) -> tuple[bool, float, object]:
        weight = weights.get(path)
        return weight is None, weight or 0.0, reading_order(path)

    return sorted(paths, key=key)


_ANY_FOLDERS = "**"
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_CHOICES = 100


def fits(path: str, pattern: str) -> bool:
    """Return whether a whole path fits; `*` stands for a part of a name, `**` for any folders."""
    return any(_is_whole(path.split("/"), one.split("/")) for one in _choices(pattern))


def begins_with(path: str, pattern: str) -> bool:
    """Return whether a path, or a folder that it is in, fits."""
    parts = path.split("/")
    return any(_is_whole(parts[:n], pattern.split("/")) for n in range(1, len(parts) + 1))


def _is_whole(path: Sequence[str], pattern: Sequence[str]) -> bool:
    reached = _onward({0}, pattern)
    for part in path:
        stays = {at for at in reached if at < len(pattern) and pattern[at] == _ANY_FOLDERS}
        passes = {
            at + 1 for at in reached - stays if at < len(pattern) and fnmatchcase(part, pattern[at])
        }
        reached = _onward(stays | passes, pattern)
    return len(pattern) in reached


def _onward(reached: Iterable[int], pattern: Sequence[str]) -> set[int]:
    """Return places in a pattern with those that come after marks which stand for nothing."""
    found = set[int]()
    for place in reached:
        at = place
        found.add(at)
        while at < len(pattern) and pattern[at] == _ANY_FOLDERS:
            at += 1
            found.add(at)
    return found


def _choices(pattern: str) -> Iterator[str]:
    """Yield the patterns that one with braces stands for."""
    waiting, count = [pattern], 0
    while waiting and count < _MOST_CHOICES:
        one = waiting.pop()
        count += 1
        braces = _BRACES.search(one)
        if braces is None:
            yield one
        else:
            head, tail = one[: braces.start()], one[braces.end() :]
            waiting += [f"{head}{choice}{tail}" for choice in braces[1].split(",")[:_MOST_CHOICES]]


MOST_PATTERNS = 200
"""How many entries are looked up among all files; a course has a few."""
_MAX_VISITS = 200_000
_MAX_DEPTH = 30


class NavigationKeys(NamedTuple):
    """Under which keys a generator keeps what; the first that is there counts."""

    files: tuple[str, ...]
    titles: tuple[str, ...]
    groups: tuple[str, ...]
    """What an entry is called for the entries below it; may be a file as well."""
    lists: tuple[str, ...]


class ListedFile(NamedTuple):
    """A file, or a pattern, that the navigation names."""

    path: str
    title: str | None
    groups: tuple[str, ...]


def listed(value: object, keys: NavigationKeys) -> Iterator[ListedFile]:
    """Yield what a value of the configuration lists, in order, addresses of the web left out.

    It ends after 200,000 values and 30 levels: YAML's aliases make a small file grow.
    """
    return _walk(value, keys, (), count(), 0)


def _walk(
    value: object, keys: NavigationKeys, groups: tuple[str, ...], visits: Iterator[int], depth: int
) -> Iterator[ListedFile]:
    if next(visits) > _MAX_VISITS or depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        yield from _entry(value, None, groups)
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, keys, groups, visits, depth + 1)
    elif isinstance(value, Mapping):
        title = text_of(value, keys.titles)
        group = text_of(value, keys.groups)
        is_file = group is not None and posixpath.splitext(group)[1] != "" and " " not in group
        yield from _entry(text_of(value, keys.files) or "", title, groups)
        if is_file:
            yield from _entry(group or "", title, groups)
        name = title or (None if is_file else group)
        inside = (*groups, name) if name else groups
        for key in keys.lists:
            yield from _walk(value.get(key), keys, inside, visits, depth + 1)


def _entry(path: str, title: str | None, groups: tuple[str, ...]) -> Iterator[ListedFile]:
    if path.strip() and "://" not in path and not path.startswith(("#", "mailto:")):
        yield ListedFile(posixpath.normpath(path.strip().lstrip("/")), title, groups)


def text_of(value: Mapping[object, object], keys: Sequence[str]) -> str | None:
    """Return the first text under one of `keys`, if there is any."""
    texts = (value.get(key) for key in keys)
    return next((text.strip() for text in texts if isinstance(text, str) and text.strip()), None)


def _nothing(loader: yaml.BaseLoader, tag: str, node: yaml.Node) -> None:
    """Stand for a value with a tag, such as `!ENV` or `!!python/name:`."""


class _PlainLoader(yaml.BaseLoader):
    yaml_multi_constructors = {"!": _nothing, "tag:yaml.org,2002:python/": _nothing}  # noqa: RUF012


def plain_values(text: str) -> object:
    """Return texts, lists, mappings, and none where a tag asked for something else.

    Raises:
        ValueError: when the text is no YAML, or too deep.
    """
    try:
        return yaml.load(text, Loader=_PlainLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("no YAML") from error


_MAX_CHARACTERS = 200_000


def read_yaml(folder: Path, name: str) -> dict[object, object] | None:
    """Return the mapping in a YAML or JSON file of the folder, or none if there is none.

    All values are texts, lists, mappings, or none where a tag asked for something else.
    """
    values = read_yaml_values(folder, name)
    return values if isinstance(values, dict) else None


def read_yaml_values(folder: Path, name: str) -> object:
    """Return what is in a YAML or JSON file of the folder, or none, as `read_yaml` does."""
    text = read_inside(folder, name)
    if text is None or len(text) > _MAX_CHARACTERS:
        return None
    # most folders have no such file

    try:
        return plain_values(text.replace("\t", "  "))
    except ValueError:
        return None
