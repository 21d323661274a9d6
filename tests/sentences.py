"""Finds sentences that a user would read in the code, and the ids of messages that it shows."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

OUTSIDE = {
    "core/domain/disk.py": "what the operator has to free, in an exception's own text",
    "core/teaching/evaluation/": "its reader is who runs `glossator eval`",
    "core/providers/": "details of exceptions, a trial call, what a terminal shows of a download",
    "core/answering/writers/": "written for a model",
    "core/answering/writers/base.py": "written for a model",
    "core/answering/checks.py": "written for a model",
    "core/answering/grounding/judge.py": "written for a model",
    "core/teaching/policy_stage.py": "written for a model",
    "core/answering/verified.py": "written for a model",
    "core/index/": "details of exceptions, put together by functions",
    "core/ingestion/": "its reader is the owner of the book, at the terminal",
    "core/domain/telemetry.py": "descriptions of metrics, for the operator",
    "core/domain/request.py": "what is stored as the question to a bare quote",
}
"""Where a sentence may stand in the code, and why."""

_LOGS = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log"})
_PATTERNS = frozenset({"compile", "match", "fullmatch", "search", "sub", "split", "finditer"})
_DEFINES = frozenset({"command", "describe", "ContextMenu", "GroupCog", "Cog"})
"""Calls that define Discord's commands, whose texts its `translator` translates."""
_DEFINED = frozenset({"description", "group_description"})
_SHOWS = frozenset({"label", "title", "placeholder", "user_message", "content"})
"""Arguments that a user reads, whatever they look like."""
_SHOWING = frozenset({"plain", "_plain", "_header", "_section", "tell", "told", "shown_modal"})
"""Functions whose first argument a user reads."""
_MESSAGES = frozenset({"text", "Message", "described"})
_DEFINING = frozenset({"Message", "described"})
"""Names by which the modules that define them look messages up, too."""
_EXCEPTIONS = frozenset({"Unclear", "LeaseLost", "MembershipUnknown"})
"""Exceptions that are not named as errors; the positional arguments of all are details."""
_SETTING = "GLOSSATOR_"
_LOOKED_UP_IN = frozenset({"core.domain.i18n", "adapters.discord.commands"})
_VALUE = "\N{WHITE SQUARE}"
_SENTENCE = re.compile(r"[\W_]*[A-Z].*\w.*\s.*\w.*[.!?…:](?:[*_`\n).]*)$", re.DOTALL)
_SQL = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|PRAGMA|LOCK|CREATE|ALTER|BEGIN)\b")
_GROUP = "(?"
"""Stands in patterns alone."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def sentences_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each literal that reads like a sentence for a user."""
    tree = ast.parse(source)
    passed = {id(inner) for node in _for_others(tree) for inner in ast.walk(node)}
    shown = {id(node) for node in _for_readers(tree)}
    for node in ast.walk(tree):
        if id(node) in passed or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        literal = _literal(node)
        if isinstance(node, ast.JoinedStr):
            passed |= {id(part) for part in node.values if isinstance(part, ast.Constant)}
        if literal is None or _SQL.match(literal) or _GROUP in literal:
            continue
        is_shown = id(node) in shown and _WORD.search(literal.replace(_VALUE, " "))
        if is_shown or _SENTENCE.match(literal.strip()):
            yield node.lineno, literal


def ids_in(source: str) -> Iterator[tuple[int, str | None]]:
    """Yield the line and the id of each message that is shown; None: the id is no literal."""
    tree = ast.parse(source)
    lookups = {"i18n.text", "i18n.Message", *_lookups(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in lookups:
            given = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            yield node.lineno, given if isinstance(given, str) else None


def modules(*rooms: str) -> Iterator[tuple[str, str]]:
    """Yield the path, from the repository's root, and the source of each module of rooms."""
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def _literal(node: ast.Constant | ast.JoinedStr) -> str | None:
    if isinstance(node, ast.JoinedStr):
        parts = [p.value if isinstance(p, ast.Constant) else _VALUE for p in node.values]
        return "".join(map(str, parts))
    return node.value if isinstance(node.value, str) else None


def _for_others(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what no user reads: docstrings, logs, patterns, details of exceptions, commands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
        elif isinstance(node, ast.Assert) and node.msg is not None:
            yield node.msg
        elif isinstance(node, ast.Subscript | ast.AnnAssign | ast.arg | ast.FunctionDef):
            yield from _annotations(node)
        elif isinstance(node, ast.Call):
            name = _name(node.func)
            if name in _LOGS or name in _PATTERNS or name in _DEFINES:
                yield node
            elif _is_exception(name):
                yield from node.args
            yield from (k.value for k in node.keywords if k.arg in _DEFINED)
        elif isinstance(node, ast.Assign) and _is_detail(node):
            yield node


def _annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Yield types that are written as text, and the values of Literal."""
    for name in ("annotation", "returns"):
        if (written := getattr(node, name, None)) is not None:
            yield written
    if isinstance(node, ast.Subscript) and _name(node.value) == "Literal":
        yield node


def _for_readers(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what a user reads though it may be no whole sentence, as on a button."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _is_exception(_name(node.func)):
            yield from _said_of(node)
            continue
        if _name(node.func) in _SHOWING:
            yield from node.args
        yield from (k.value for k in node.keywords if k.arg in _SHOWS)


def _said_of(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call):
        yield from (k.value for k in node.keywords if k.arg == "user_message")
    if isinstance(node, ast.ClassDef):
        yield from (k.value for k in node.keywords if k.arg == "title")


def _lookups(tree: ast.AST) -> Iterator[str]:
    """Yield the names by which a module looks messages up; others have a function `text`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in _LOOKED_UP_IN:
            yield from (n.asname or n.name for n in node.names if n.name in _MESSAGES)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in _DEFINING:
            yield node.name


def _is_exception(name: str) -> bool:
    return name.endswith(("Error", "Exception")) or name in _EXCEPTIONS


def _is_detail(node: ast.Assign) -> bool:
    """Return whether a constant says to the operator which setting is to be changed."""
    literals = (_literal(n) for n in ast.walk(node) if isinstance(n, ast.Constant | ast.JoinedStr))
    return any(_SETTING in (literal or "") for literal in literals)


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
