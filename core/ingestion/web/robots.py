"""Reads robots.txt as RFC 9309 says; the standard library knows neither `*` nor `$` in a path."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

_PRINTABLE_ASCII = "".join(map(chr, range(0x21, 0x7F)))
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
_PRODUCT = re.compile(r"[A-Za-z_-]*")
_SECONDS = re.compile(r"\d{1,9}(\.\d*)?")


@dataclass(slots=True)
class RobotsRules:
    """What one robots.txt says to one crawler; empty rules allow everything."""

    patterns: dict[str, bool] = field(default_factory=dict)
    """From a path pattern to whether such paths may be fetched."""
    crawl_delay: float = 0.0
    """Seconds that the site wants between two requests."""

    def allows(self, path: str) -> bool:
        """Return whether `path`, with its query, may be fetched.

        The longest pattern that fits decides; of equally long ones, the one that allows.
        """
        path = _normalised(path)
        fitting = [
            (len(pattern), allowed)
            for pattern, allowed in self.patterns.items()
            if _fits(pattern, path)
        ]
        return max(fitting, default=(0, True))[1]


@dataclass(slots=True)
class _Group:
    agents: set[str] = field(default_factory=set)
    rules: RobotsRules = field(default_factory=RobotsRules)


def parse_robots(text: str, user_agent: str) -> RobotsRules:
    """Return the rules that `text` has for `user_agent`, else those for everybody.

    Lines that make no sense are skipped. Several groups for one agent count as one.

    Source: RFC 9309; `Crawl-delay` is a common extension.
    """
    product = _product(user_agent)
    groups = _groups(text)
    chosen = [group for group in groups if product in group.agents]
    return _merged(chosen or [group for group in groups if "*" in group.agents])


def _merged(groups: list[_Group]) -> RobotsRules:
    merged = RobotsRules()
    for group in groups:
        for pattern, allowed in group.rules.patterns.items():
            merged.patterns[pattern] = allowed or merged.patterns.get(pattern, False)
        merged.crawl_delay = max(merged.crawl_delay, group.rules.crawl_delay)
    return merged


def _groups(text: str) -> list[_Group]:
    groups: list[_Group] = []
    naming_agents = False
    for name, value in _lines(text):
        if name == "user-agent":
            if not naming_agents:
                groups.append(_Group())
            groups[-1].agents.add("*" if value == "*" else _product(value))
        elif groups:
            _add_rule(groups[-1].rules, name, value)
        naming_agents = name == "user-agent"
    return groups


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield name.strip().lower(), value.strip()


def _add_rule(rules: RobotsRules, name: str, value: str) -> None:
    if name in ("allow", "disallow") and value:
        pattern = _normalised(value)
        rules.patterns[pattern] = name == "allow" or rules.patterns.get(pattern, False)
    elif name == "crawl-delay" and _SECONDS.fullmatch(value):
        rules.crawl_delay = float(value)


def _product(user_agent: str) -> str:
    found = _PRODUCT.match(user_agent.strip())
    return found[0].lower() if found else ""


def _fits(pattern: str, path: str) -> bool:
    """Whether `path` begins as `pattern` says; `*` is any text, a final `$` the path's end.

    Taking the leftmost place for each part is enough, and never tries a place twice.
    """
    first, *parts = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    rest = path[len(first) :]
    if not pattern.endswith("$"):
        return _follow_each_other(parts, rest)
    if not parts:
        return not rest
    last = parts.pop()
    return rest.endswith(last) and _follow_each_other(parts, rest[: len(rest) - len(last)])


def _follow_each_other(parts: list[str], text: str) -> bool:
    for part in parts:
        position = text.find(part)
        if position < 0:
            return False
        text = text[position + len(part) :]
    return True


def _normalised(path: str) -> str:
    return _ESCAPE.sub(_plain_if_unreserved, quote(path, safe=_PRINTABLE_ASCII))


def _plain_if_unreserved(escape: re.Match[str]) -> str:
    character = chr(int(escape[0][1:], 16))
    return character if _UNRESERVED.fullmatch(character) else escape[0].upper()
