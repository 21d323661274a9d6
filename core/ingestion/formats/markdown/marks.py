"""Teaches markdown-it what raises, lowers, strikes and marks words: `10^6^`, `H~2~O`, `{--x--}`."""

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_SHIFT = re.compile(
    r"\^(?![\^\s\[])((?:[^\s^\\]|\\.){1,60})\^(?!\^)|~(?![~\s])((?:[^\s~\\]|\\.){1,60})~(?!~)"
)
_STRUCK = re.compile(r"~(?![~\s])((?:[^~\n\\]|\\.){1,500}?)(?<!\s)~(?![~\w])")
_CRITIC = re.compile(
    r"\{(?:--(?P<deleted>[^{}]*?)--|\+\+(?P<added>[^{}]*?)\+\+|==(?P<marked>[^{}]*?)=="
    r"|~~(?P<old>(?:(?!~>)[^{}])*)~>(?P<new>[^{}]*?)~~|>>(?P<comment>[^{}]*?)<<)\}"
)
_MARKED = re.compile(
    r"==(?![=\s])((?:(?!==)[^\n]){1,500}?)(?<!\s)==(?!=)|\^\^(?![\^\s])([^\^\n]{1,500}?)(?<!\s)\^\^(?!\^)"
)
_KEYS = re.compile(r"\+\+((?:[\w.-]+|\"[^\"\n]+\")(?:\+(?:[\w.-]+|\"[^\"\n]+\"))*)\+\+")
_NOTE = re.compile(r"\^\[((?:[^\[\]\n]|\[[^\[\]\n]{0,500}+\](?:\([^()\n]{0,500}+\))?+){1,2000}+)\]")
_LONGEST = 2_000


def marks_plugin(md: MarkdownIt, *, pandoc: bool, critic: bool) -> None:
    """Add pairs of tokens `sup`, `sub`, `s` and `comment`, each with `_open` and `_close`.

    Args:
        pandoc: whether `^x^` and `~x~` are part of the language; elsewhere they are read so only
            where they cannot mean anything else, and one tilde around words strikes them.
        critic: whether `{--x--}`, `{++x++}`, `++key++` are.
    """

    def shifted(state: StateInline, silent: bool) -> bool:
        mark = state.src[state.pos]
        if mark not in "^~":
            return False
        if note := _NOTE.match(state.src, state.pos) if mark == "^" else None:
            return _pushed(state, "", f" ({note[1].strip()})", note.end(), silent)
        found = _SHIFT.match(state.src, state.pos, min(state.posMax, state.pos + _LONGEST))
        before = state.src[state.pos - 1 : state.pos]
        after = state.src[found.end() : found.end() + 1] if found else ""
        is_certain = pandoc or (before.isalnum() and not after.isalnum()) or before in {")", "]"}
        if found and mark == "~" and not pandoc:  # one tilde strikes on GitHub
            is_certain = before.isalnum() or before in {")", "]"}
        if found and is_certain:
            inner = re.sub(r"\\(.)", r"\1", found[1] or found[2])
            return _pushed(state, "sup" if mark == "^" else "sub", inner, found.end(), silent)
        if mark == "~" and not pandoc and before != "~" and not before.isalnum():
            struck = _STRUCK.match(state.src, state.pos, min(state.posMax, state.pos + _LONGEST))
            return struck is not None and _pushed(state, "s", struck[1], struck.end(), silent)
        return False

    def criticised(state: StateInline, silent: bool) -> bool:
        opening = state.src[state.pos]
        if opening == "+":
            keys = _KEYS.match(state.src, state.pos)
            names = (keys[1].replace('"', "").split("+")) if keys else []
            shown = "+".join(name[:1].upper() + name[1:] for name in names)
            return keys is not None and _pushed(state, "", shown, keys.end(), silent)
        end = min(state.posMax, state.pos + _LONGEST)
        found = _CRITIC.match(state.src, state.pos, end) if opening == "{" else None
        if found is None:
            return False
        if not silent:
            struck = found["deleted"] if found["deleted"] is not None else found["old"]
            if struck:
                _pushed(state, "s", struck, found.end(), silent)
            if found["comment"]:
                _pushed(state, "comment", found["comment"], found.end(), silent)
            shown = found["added"] or found["new"] or found["marked"]
            if shown:
                _pushed(state, "", shown, found.end(), silent)
        state.pos = found.end()
        return True

    def marked(state: StateInline, silent: bool) -> bool:
        found = _MARKED.match(state.src, state.pos) if state.src[state.pos] in "=^" else None
        shown = (found[1] or found[2]) if found else ""
        return found is not None and _pushed(state, "", shown, found.end(), silent)

    md.inline.ruler.before("strikethrough", "shifted", shifted)
    md.inline.ruler.before("strikethrough", "marked", marked)
    if critic:
        md.inline.ruler.before("strikethrough", "criticised", criticised)


def _pushed(state: StateInline, kind: str, inner: str, end: int, silent: bool) -> bool:
    """Put a pair of tokens, and what the words between them are, in the place of a mark."""
    if not silent:
        if kind:
            state.push(f"{kind}_open", "", 1)
        tokens = state.md.parseInline(inner, state.env)[0].children or []
        if state.pending:
            state.pushPending()
        state.tokens.extend(tokens)
        state.tokens_meta.extend([None] * len(tokens))
        if kind:
            state.push(f"{kind}_close", "", -1)
    state.pos = end
    return True
