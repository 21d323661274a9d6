"""What the settings of a course and the head of a page say, for the places that name it."""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property

from core.ingestion.formats.includes import MarkdownFlavour

_LONGEST_SETTINGS = 200_000
_NAME = re.compile(r"[A-Za-z_][\w-]*(?:(?:\.|\[['\"]?)[\w-]+(?:['\"]?\])?)*")
_STEP = re.compile(r"[\w-]+")
_FILTER = re.compile(r"\s*\|\s*(\w+)\s*(?:\(([^()]*)\)|:\s*([^|]+))?")
_TEST = re.compile(r"(.+?)\s*(==|!=)\s*(.+)")


class Values:
    """The values that a page may name.

    Args:
        dialect: decides which files of the course hold them, and under which names.
        head: the front matter of the page, nested as it is written.
        read: gives the text of a file of the course, or none.
    """

    def __init__(
        self,
        dialect: MarkdownFlavour,
        head: Mapping[object, object],
        read: Callable[[str], str | None],
    ) -> None:
        self._dialect, self._head, self._read = dialect, head, read
        self._own: dict[str, object] = {}
        self._file = cache(self._settings)

    def set(self, name: str, value: object) -> None:
        """Note a value that the page itself gives a name."""
        self._own[name] = value

    def text(self, name: str) -> str | None:
        """Return the value of a name such as `course.room`, if it is known and a text."""
        value = self.value(name)
        if isinstance(value, bool):
            return str(value).lower()
        return str(value).strip() if isinstance(value, str | int | float) else None

    def value(self, name: str) -> object:
        """Return the value of a name such as `course.room`, or none."""
        steps = _STEP.findall(name)
        places = (_below(place, steps) for place in (self._own, *self._places))
        return next((value for value in places if value is not None), None)

    def written(self, expression: str) -> str | None:
        """Return what an expression of a template prints, where that is known.

        Known are names, texts, and what takes another text in place of none.
        """
        expression = expression.strip()
        name = _NAME.match(expression)
        if literal := re.fullmatch(r"'([^']*)'|\"([^\"]*)\"", expression):
            return literal[1] if literal[1] is not None else literal[2]
        if name is None:
            return None
        text, position = self.text(name[0]), name.end()
        while position < len(expression):
            step = _FILTER.match(expression, position)
            if step is None:
                return None
            position = step.end()
            argument = (step[2] or step[3] or "").strip()
            if step[1] == "default":
                text = text if text is not None else argument.strip("'\"")
            elif text is not None and step[1] in {"upper", "upcase", "lower", "downcase", "title"}:
                text = {"u": text.upper, "l": text.lower, "d": text.lower}.get(
                    step[1][0], text.title
                )()
            elif step[1] not in {"safe", "e", "escape", "trim", "strip", "string"}:
                return None
        return text

    def holds(self, condition: str) -> bool | None:
        """Return whether a condition of a template holds, if that can be said."""
        condition = condition.strip()
        if condition.startswith("not "):
            inner = self.holds(condition[4:])
            return None if inner is None else not inner
        if test := _TEST.fullmatch(condition):
            left, right = self.written(test[1]), self.written(test[3])
            if left is None or right is None:
                return None
            return (left == right) is (test[2] == "==")
        if not _NAME.fullmatch(condition):
            return None
        value = self.value(condition)
        if value is None:  # no value is false where those around it are known
            around = self.value(_STEP.findall(condition)[0])
            return False if isinstance(around, Mapping) else None
        return value not in {"", "false", "null"} if isinstance(value, str) else bool(value)

    @cached_property
    def _places(self) -> Sequence[object]:
        match self._dialect:
            case MarkdownFlavour.MKDOCS:
                config = self._file("mkdocs.yml", "mkdocs.yaml")
                page = {"page": {"meta": self._head, **self._head}}
                return (_below(config, ["extra"]), {"config": config}, page, self._head)
            case MarkdownFlavour.QUARTO:
                variables = {"var": self._file("_variables.yml", "_variables.yaml")}
                config = self._file("_quarto.yml", "_quarto.yaml")
                book = _below(config, ["book"]) or _below(config, ["website"])
                return (
                    variables,
                    {"meta": self._head},
                    {"meta": config},
                    {"meta": book},
                    self._head,
                )
            case MarkdownFlavour.MYST:
                book, myst = self._file("_config.yml"), self._file("myst.yml")
                paths = (
                    (self._head, "myst", "substitutions"),
                    (self._head, "substitutions"),
                    (book, "parse", "myst_substitutions"),
                    (book, "sphinx", "config", "myst_substitutions"),
                    (myst, "project", "substitutions"),
                    (self.program, "myst_substitutions"),
                )
                return [_below(place, steps) for place, *steps in paths]
            case MarkdownFlavour.JEKYLL:
                site = self._file("_config.yml", "_config.yaml")
                return ({"site": site, "page": self._head},)
            case MarkdownFlavour.HUGO:
                names = ("hugo.toml", "config.toml", "hugo.yaml", "config.yaml", "hugo.json")
                config = self._file(*names)
                return (
                    self._head,
                    _below(self._head, ["params"]),
                    _below(config, ["params"]),
                    config,
                )
        return ({"frontMatter": self._head},)

    @cached_property
    def program(self) -> Mapping[str, object]:
        """What `conf.py` of Sphinx gives a name; it is read, and never run."""
        texts = (self._read(f"@site/{folder}conf.py") for folder in ("", "source/", "docs/"))
        text = next((one for one in texts if one is not None), "")
        return constants(text[:_LONGEST_SETTINGS])

    def _settings(self, *names: str) -> object:
        for name in names:
            text = self._read(f"@site/{name}")
            if text is not None and len(text) <= _LONGEST_SETTINGS:
                return settings(text, name)
        return None


def settings(text: str, name: str) -> object:
    """Return what a YAML, TOML or JSON file says, or none."""
    try:
        if name.endswith(".toml"):
            import tomllib

            return tomllib.loads(text)
        if name.endswith(".json"):
            return json.loads(text)
        from core.ingestion.sites.site import plain_values

        return plain_values(text.replace("\t", "  "))
    except (ValueError, RecursionError):
        return None


def _below(place: object, steps: Sequence[str]) -> object:
    for step in steps:
        if isinstance(place, Mapping):
            place = next((place[key] for key in (step, step.lower()) if key in place), None)
        elif isinstance(place, list) and step.isdecimal() and int(step) < len(place):
            place = place[int(step)]
        else:
            return None
    return place


def constants(program: str) -> Mapping[str, object]:
    """Return what a Python program gives a name at its top, where that is written out in it."""
    found: dict[str, object] = {}
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = _constant(node.value, found)
            for target in targets:
                if not isinstance(target, ast.Name) or value is None:
                    continue
                before = found.get(target.id)
                if not isinstance(node, ast.AugAssign):
                    found[target.id] = value
                elif isinstance(before, str) and isinstance(value, str):
                    found[target.id] = before + value
    return found


def _constant(node: ast.expr, known: Mapping[str, object]) -> object:
    match node:
        case ast.Constant(value=str() | int() | float() | bool()):
            return node.value
        case ast.Name():
            return known.get(node.id)
        case ast.JoinedStr():
            parts = [_constant(part, known) for part in node.values]
            return None if None in parts else "".join(map(str, parts))
        case ast.FormattedValue(value=inner):
            return _constant(inner, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            pair = _constant(left, known), _constant(right, known)
            return (
                pair[0] + pair[1] if isinstance(pair[0], str) and isinstance(pair[1], str) else None
            )
        case ast.Dict():
            pairs = zip(node.keys, node.values, strict=True)
            return {_constant(key, known): _constant(value, known) for key, value in pairs if key}
        case ast.List() | ast.Tuple():
            return [_constant(one, known) for one in node.elts]
        case ast.Call(func=ast.Attribute(value=inner, attr="strip" | "lstrip" | "dedent")):
            return _constant(inner, known)
    return None
