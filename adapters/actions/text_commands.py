"""Commands as lines of text, for platforms that have no forms for what is given with one."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adapters.actions.commands import (
    COMMANDS,
    Argument,
    ArgumentKind,
    Arguments,
    Command,
    Commands,
    Question,
    in_group,
)
from adapters.actions.use import Extent, Notice, Result, Use
from core.domain.errors import RequestError
from core.domain.i18n import Message, text
from core.storage.access import NamedStaff

_USUAL = {
    ("glossator",): "help",
    ("course",): "show",
    ("course", "policy"): "list",
    ("course", "radar"): "show",
}
"""What is meant where nothing follows."""
_HOW_TO: Mapping[tuple[str, ...], Message] = {
    ("course", "staff"): Message("slack-how-to-name"),
    ("course", "queue"): Message("slack-how-to-queue"),
    ("course", "policy"): Message("slack-how-to-policy"),
    ("course", "radar"): Message("slack-how-to-radar"),
    ("course",): Message("slack-how-to-set"),
}
_FLAGS = {"yes": True, "on": True, "no": False, "off": False}
_IN_SECTION = re.compile(
    r"in\s+[\"“”„«](?P<name>[^\"“”„«»\n]{1,200})[\"“”»](?=\s|$)", re.IGNORECASE
)
"""As people write it, and as phones change their quotation marks."""
_DATES = frozenset({"from", "until"})
"""Arguments whose text ends before any word."""
_ONE_WORD = frozenset({ArgumentKind.CHOICE, ArgumentKind.FLAG, ArgumentKind.COURSE})

Whom = Callable[[str, str | None], NamedStaff]
"""Returns who is meant by a word, as staff of a course; raises RequestError."""


@dataclass(frozen=True, slots=True)
class Call:
    """A line that is a command."""

    command: Command
    words: tuple[str, ...]
    """What follows its name."""
    line: str
    """The same as it was typed."""


class TextCommands:
    """Reads commands from lines, and does them."""

    def __init__(
        self, commands: Commands, *, wide: Mapping[str, Extent], whom: Whom, platform: str
    ) -> None:
        """Prepare for a platform.

        Args:
            wide: The words at the end of a command by which it is for a wider place.
        """
        self._commands = commands
        self._wide = wide
        self._whom = whom
        self._platform = platform

    def question(self, group: str, line: str) -> Question | None:
        """Return what a line asks after `/ask` or `/glossator help`; None: it asks nothing."""
        call = _called(group, line)
        if call is None or call.command.does is not None:
            return None
        asked = _asked(call.line) if group == "ask" else {"question": call.line}
        return self._commands.question(call.command, asked, self._platform)

    async def answer(self, group: str, line: str, use: Use) -> Result:
        """Do what a line says after a command's name, that asks nothing."""
        call = _called(group, line)
        if group == "ask":
            return Notice(text("asking-how"))
        if call is None:
            return await self._refused(group, _words(line), use)
        if call.command.does is None:
            return Notice(str(use.terms.how_to_ask))
        if not call.command.arguments and call.words and group == "glossator":
            return Notice(_unknown_word())
        call, extent = self._extent(call)
        read = partial(self._read, call, extent)
        return await self._commands.run(call.command, use, read, extent or Extent.CHANNEL)

    async def _refused(self, group: str, words: Sequence[str], use: Use) -> Result:
        """Return how a group of commands is used; what staff set, only staff learn."""
        if group == "glossator":
            return Notice(_unknown_word())
        if not in_group(group):
            return Notice(text("command-none-such", words=", ".join(self._groups())))
        show = in_group("course", "show")[0]

        def refuse() -> Arguments:
            raise RequestError(user_message=_how_to((group, *words[:1])))

        return await self._commands.run(show, use, refuse)

    def _groups(self) -> Iterator[str]:
        """Yield the words that commands begin with, in the order of the list."""
        return (f"`/{group}`" for group in dict.fromkeys(one.path[0] for one in COMMANDS))

    def _extent(self, call: Call) -> tuple[Call, Extent | None]:
        """Return a call without the word that says how wide a place it is for, and what it says.

        The last word of a section's name says nothing, unless the name is in quotation marks.
        """
        *words, last = call.words or ("",)
        takes_extent = any(one.kind is ArgumentKind.EXTENT for one in call.command.arguments)
        if not takes_extent or last.lower() not in self._wide:
            return call, None
        texts = [one.name for one in call.command.arguments if one.kind is ArgumentKind.TEXT]
        named = [re.split("[:=]", word)[0].lower() for word in words]
        begun = [name for name in named if name in texts]
        is_quoted = re.search(r"[\"']\s+\S+$", call.line.rstrip()) is not None
        if begun and begun[-1] not in _DATES and not is_quoted:
            return call, None
        return replace(call, words=tuple(words)), self._wide[last.lower()]

    def _read(self, call: Call, extent: Extent | None) -> Arguments:
        """Return the arguments of a call; raises RequestError where they cannot be read."""
        arguments, words = call.command.arguments, [*call.words]
        read = dict[str, object]()
        if extent is not None:
            read["where"] = extent
        nexts = [one for one in arguments if one.required or one.is_next]
        named = {
            one.name.replace("_", "-"): one
            for one in arguments
            if one not in nexts and one.kind not in (ArgumentKind.EXTENT, ArgumentKind.PERSON)
        }
        pairs = not nexts and bool(named)
        current: tuple[str, Argument] | None = None
        for word in _apart(words, named):
            if (found := named.get(word.lower())) is not None and current is None:
                current = word, found
                read[found.name] = ""
            elif current is not None:
                name, argument = current
                if (another := named.get(word.lower())) is not None:
                    current = word, another
                    read[another.name] = ""
                    continue
                before = str(read[argument.name])
                read[argument.name] = f"{before} {word}".strip()
                if argument.kind in _ONE_WORD:
                    read[argument.name] = _value(name, argument, word.lower())
                    current = None
            elif nexts:
                argument = nexts.pop(0)
                read[argument.name] = self._next(call, argument, word, nexts, words)
            elif pairs:
                name, known = re.split("[:=]", word)[0], ", ".join(named)
                raise RequestError(
                    user_message=text("slack-settings-unknown", name=name, known=known)
                )
            else:
                raise RequestError(user_message=_how_to(call.command.path))
        if pairs and (not read.keys() - {"where"} or current is not None):
            raise RequestError(user_message=text("settings-nothing"))
        if any(one.required and one.name not in read for one in arguments):
            raise RequestError(user_message=_how_to(call.command.path))
        if call.command.path[:2] == ("course", "staff") and arguments and "role" not in read:
            raise RequestError(user_message=_how_to(call.command.path))
        return read

    def _next(
        self,
        call: Call,
        argument: Argument,
        word: str,
        nexts: Sequence[Argument],
        words: Sequence[str],
    ) -> object:
        if argument.kind is ArgumentKind.GROUP:
            if len(words) > 2:
                raise RequestError(user_message=_how_to(call.command.path))
            return self._whom(word, words[1] if len(words) > 1 else None)
        if argument.kind is ArgumentKind.CHOICE:
            for value, _ in argument.choices:
                if word.lower() == value.split()[0]:
                    return value
            raise RequestError(user_message=_how_to(call.command.path))
        return word


def _called(group: str, line: str) -> Call | None:
    """Return the command that a line means; None: there is no such command."""
    line, typed = line.strip(), _words(line)
    path: tuple[str, ...] = (group,)
    lower = [word.lower() for word in typed]
    while len(path) <= len(lower):
        longer = (*path, lower[len(path) - 1])
        if not in_group(*longer):
            break
        path = longer
    given = len(path) - 1
    exact = next((one for one in COMMANDS if one.path == path), None)
    if exact is None and given == len(lower) and path in _USUAL:
        exact = next(one for one in COMMANDS if one.path == (*path, _USUAL[path]))
    if exact is None:
        return None
    rest = line
    for _ in range(given):
        rest = rest.partition(" ")[2].strip()
    return Call(exact, tuple(typed[given:]), rest)


def _asked(line: str) -> Arguments:
    """Return what was asked: `private in "Section" question`, all but the last optional."""
    first, _, rest = line.partition(" ")
    private = {"private": True, "public": False}.get(first.lower())
    question = line if private is None else rest.strip()
    asked: dict[str, object] = {} if private is None else {"private": private}
    if (found := _IN_SECTION.match(question)) is not None:
        asked["section"] = found["name"]
        question = question[found.end() :].strip()
    return {**asked, "question": question}


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # a quotation mark without its other half
        return line.split()


def _apart(words: Sequence[str], names: Mapping[str, Argument]) -> list[str]:
    """Return words, a name such as `length:` or `length=short` apart from its value."""
    apart = list[str]()
    for word in words:
        name, mark, value = (
            re.split(r"([:=])", word, maxsplit=1) if re.search("[:=]", word) else (word, "", "")
        )
        if mark and (name.lower() in names or name == ""):
            apart += [one for one in (name, value) if one]
        else:
            apart.append(word)
    return apart


def _value(name: str, argument: Argument, typed: str) -> object:
    known: Mapping[str, object] = _FLAGS
    if argument.kind is ArgumentKind.COURSE:
        return typed
    if argument.kind is ArgumentKind.CHOICE:
        known = {value: value for value, _ in argument.choices}
    if typed not in known:
        values = ", ".join(known)
        raise RequestError(user_message=text("slack-settings-value", name=name, known=values))
    return known[typed]


def _how_to(path: tuple[str, ...]) -> str:
    if path[0] == "glossator":
        return _unknown_word()
    return str(_HOW_TO.get(path[:2]) or _HOW_TO.get(path[:1]) or _unknown_word())


def _unknown_word() -> str:
    *words, last = (f"`{command.path[1]}`" for command in in_group("glossator"))
    return text("command-unknown", words=", ".join(words), last=last)
