"""How a scripted model reads the product's prompt: by the marks of its blocks, as told to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.wire.gemini_calls import GeminiCall, texts_of

_MARK = re.compile(r"\bthe mark (\w+)\.")
_BLOCK = (
    r"<(?P<kind>passage|quote|question|sentence)-{mark}(?P<attributes>[^>]*)>\n"
    r"(?P<text>.*?)\n</(?P=kind)-{mark}>"
)
_CITED = re.compile(r"^Cited: passage \d+: ", re.MULTILINE)
_NUMBER = re.compile(r'\bnumber="(\d+)"')
_PLACE = re.compile(r'\bplace="([^"]*)"')


@dataclass(frozen=True)
class Prompt:
    """What a model is asked, and what it may read; tags inside of it are still escaped."""

    question: str = ""
    """Empty: only a quoted text was given, or sentences to mend."""
    passages: dict[int, str] = field(default_factory=dict)
    """By the number they are cited with, from 1."""
    places: dict[int, str] = field(default_factory=dict)
    """The headings above each passage."""
    quote: str | None = None
    rejected: tuple[str, ...] = ()
    """Sentences of an earlier answer that are to be mended, each with the words it cited."""
    history: tuple[str, ...] = ()
    """Everything said before, by either side."""


class _Block(NamedTuple):
    kind: str
    number: int
    place: str
    text: str


def read_prompt(call: GeminiCall) -> Prompt:
    """Return the parts of a prompt; what a tool found since belongs to the passages.

    Raises:
        ValueError: when the prompt does not say which mark its blocks carry.
    """
    told = [number for number, content in enumerate(call.contents) if texts_of(content)]
    asked = max(number for number in told if call.contents[number].get("role") != "model")
    text = "\n".join(texts_of(call.contents[asked]))
    match = _MARK.search(text)
    if match is None:
        raise ValueError(f"the prompt names no mark: {text[:200]!r}")
    found = "\n".join(string for result in call.tool_results for string in _strings(result))
    blocks = list(_blocks(text, match[1])) + list(_blocks(found, match[1]))
    passages = [block for block in blocks if block.kind == "passage"]
    return Prompt(
        question="\n".join(block.text for block in blocks if block.kind == "question"),
        passages={block.number: block.text for block in passages},
        places={block.number: block.place for block in passages if block.place},
        quote=next((block.text for block in blocks if block.kind == "quote"), None),
        rejected=tuple(
            _CITED.sub("", block.text.rpartition("\nRefused: ")[0])
            for block in blocks
            if block.kind == "sentence"
        ),
        history=tuple(said for content in call.contents[:asked] for said in texts_of(content)),
    )


def _blocks(text: str, mark: str) -> Iterator[_Block]:
    for match in re.finditer(_BLOCK.replace("{mark}", mark), text, re.DOTALL):
        number = _NUMBER.search(match["attributes"])
        place = _PLACE.search(match["attributes"])
        yield _Block(
            match["kind"],
            int(number[1]) if number else 0,
            place[1] if place else "",
            match["text"],
        )


def _strings(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
