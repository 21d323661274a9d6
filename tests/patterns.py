"""The regular expressions of the program, what keeps them trying, and how long they may."""

import importlib
import inspect
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import Any

_reader = importlib.import_module("re._parser")
_op = importlib.import_module("re._constants")

_REPEATS = (_op.MAX_REPEAT, _op.MIN_REPEAT, _op.POSSESSIVE_REPEAT)
_MANY = 10
"""Repetitions from which on a repeat may take long."""
_OFTEN = 30
"""Times at which doubling with every repetition takes minutes."""
_MOST_EXAMPLES = 400
_CHARACTERS = "a1 .,-\n'\"(A_"
_ENDS = ("\0", "xyz!")
"""What stands behind the repetitions, where hardly any pattern goes on."""

_Items = Sequence[tuple[Any, Any]]


class OutOfPatienceError(Exception):
    """Raised in the midst of what computes for too long, even of a single match."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let the block compute for so many seconds of this process's own, however busy others are.

    Raises:
        OutOfPatienceError: It has computed for longer; it is stopped, so nothing hangs.
    """

    def stop(signal_number: int, frame: FrameType | None) -> None:
        raise OutOfPatienceError(f"it takes more than {seconds} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def patterns_of(module: ModuleType) -> dict[str, re.Pattern[str]]:
    """Return every compiled pattern for text that a module holds, by the name that leads to it."""
    return {
        name: pattern
        for variable, value in vars(module).items()
        for name, pattern in _patterns_in(variable, value)
    }


def uses_of(module: ModuleType, name: str) -> set[str]:
    """Return how a module applies its pattern of that name: `search`, `match`, `fullmatch`.

    Everything that looks for it anywhere is a `search`. All three, where it does not show.
    """
    code = inspect.getsource(module)
    used = set(re.findall(rf"\b{re.escape(name)}\.(\w+)\(", code)) if name.startswith("_") else None
    if not used:
        return {"search", "match", "fullmatch"}
    return {use if use in {"match", "fullmatch"} else "search" for use in used}


def hostile_to(pattern: re.Pattern[str], longest: int) -> Iterator[str]:
    """Yield texts that make a pattern try for long, where its repeats may divide them in many ways.

    They are made of its own words: what leads to a repeat, and what this repeats, again and again,
    up to `longest` characters or 30 times, followed by what it does not go on with.
    """
    for lead, piece, most in dict.fromkeys(_repeats(_reader.parse(pattern.pattern, pattern.flags))):
        for said in (piece, f"{piece} "):
            for times in {min(_OFTEN, most - 1), min(longest // len(said), most - 1)}:
                for end in _ENDS:
                    yield lead + said * times + end


def _patterns_in(name: str, value: object) -> Iterator[tuple[str, re.Pattern[str]]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield name, value
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for number, one in enumerate(value):
            yield from _patterns_in(f"{name}[{number}]", one)


def _repeats(items: _Items) -> Iterator[tuple[str, str, int]]:
    """Yield what leads to each repeat, an example of what it repeats, and how often it may."""
    lead = ""
    for op, argument in items:
        if op in _REPEATS and argument[1] >= _MANY:
            for example in filter(None, _examples(argument[2])):
                yield lead, example, int(argument[1])
        for inner in _inside(op, argument):
            for before, example, most in _repeats(inner):
                yield lead + before, example, most
        lead += _examples_of(op, argument)[0]


def _inside(op: Any, argument: Any) -> list[_Items]:
    if op is _op.BRANCH:
        return list(argument[1])
    if op is _op.SUBPATTERN:
        return [argument[3]]
    if op is _op.ATOMIC_GROUP:
        return [argument]
    if op in _REPEATS:
        return [argument[2]]
    if op in {_op.ASSERT, _op.ASSERT_NOT}:
        return [argument[1]]
    return []


def _examples(items: _Items) -> list[str]:
    """Return texts that match: one, and others that differ from it in one item each."""
    choices = [_examples_of(op, argument) for op, argument in items]
    usual = [choice[0] for choice in choices]
    found = {"".join(usual): None}
    for number, choice in enumerate(choices):
        for other in choice[1:]:
            found["".join([*usual[:number], other, *usual[number + 1 :]])] = None
    return list(found)[:_MOST_EXAMPLES]


def _examples_of(op: Any, argument: Any) -> list[str]:
    if op is _op.LITERAL:
        return [chr(argument)]
    if op is _op.ANY or op is _op.NOT_LITERAL:
        return ["b" if argument == ord("a") else "a"]
    if op is _op.IN:
        return _examples_of_class(argument)
    if op in _REPEATS:
        least = argument[0]
        some = [example * max(least, 1) for example in _examples(argument[2])]
        return some if least else [*some, ""]
    if op in {_op.BRANCH, _op.SUBPATTERN, _op.ATOMIC_GROUP}:
        return [example for inner in _inside(op, argument) for example in _examples(inner)]
    return [""]


def _examples_of_class(members: _Items) -> list[str]:
    if members[0][0] is _op.NEGATE:
        others = [one for one in _CHARACTERS if not any(_is(one, *some) for some in members[1:])]
        return others or ["é"]
    return [_first_of(kind, what) for kind, what in members]


def _first_of(kind: Any, what: Any) -> str:
    if kind is _op.CATEGORY:
        return next(one for one in _CHARACTERS if _is(one, kind, what))
    return chr(what[0] if kind is _op.RANGE else what)


def _is(character: str, kind: Any, what: Any) -> bool:
    if kind is _op.CATEGORY:
        return re.match(_CATEGORIES[what], character) is not None
    first, last = what if kind is _op.RANGE else (what, what)
    return bool(first <= ord(character) <= last)


_CATEGORIES = {
    _op.CATEGORY_WORD: r"\w",
    _op.CATEGORY_DIGIT: r"\d",
    _op.CATEGORY_SPACE: r"\s",
    _op.CATEGORY_NOT_WORD: r"\W",
    _op.CATEGORY_NOT_DIGIT: r"\D",
    _op.CATEGORY_NOT_SPACE: r"\S",
}
