"""How a scripted model reads the product's prompt: by the marks of its blocks, as told to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.wire.gemini_calls import GeminiCall, texts_of

_MARK = re.compile(r"\bthe mark (\w+)\.")
_BLOCK = (
    r"<(?P<kind>passage|quote|question)-{mark}(?P<attributes>[^>]*)>\n"
    r"(?P<text>.*?)\n</(?P=kind)-{mark}>"
)
_SENTENCE = re.compile(r"^\[(\d+)\]\s(.*?)(?=\n+\[\d+\]\s|\Z)", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"(?<!\S)\[\d+\]\s")
_PLACE = re.compile(r'\bplace="([^"]*)"')


@dataclass(frozen=True)
class Prompt:
    """What a model is asked, and what it may read."""

    question: str = ""
    """Empty: only a quoted text was given."""
    sentences: dict[int, str] = field(default_factory=dict)
    """By the number they are cited with, from 1."""
    given: dict[int, str] = field(default_factory=dict)
    """The asker's own sentences, by the number they are cited with."""
    places: tuple[str, ...] = ()
    """The headings above the passages."""
    quote: str | None = None
    history: tuple[str, ...] = ()
    """Everything said before, by either side."""


class _Block(NamedTuple):
    kind: str
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
        question="\n".join(plain(block.text) for block in blocks if block.kind == "question"),
        sentences={
            int(number): said for block in passages for number, said in numbered(block.text)
        },
        places=tuple(block.place for block in passages if block.place),
        quote=next((plain(block.text) for block in blocks if block.kind == "quote"), None),
        given={
            int(number): said
            for block in blocks
            if block.kind in ("quote", "question")
            for number, said in numbered(block.text)
        },
        history=tuple(said for content in call.contents[:asked] for said in texts_of(content)),
    )


def numbered(passage: str) -> list[tuple[str, str]]:
    """Return the sentences of a passage, each with its number."""
    return _SENTENCE.findall(passage)


def plain(given: str) -> str:
    """Return what a person wrote, without the numbers of its sentences."""
    return _NUMBER.sub("", given)


def number_of(prompt: Prompt, words: str) -> int:
    """Return the number of the first sentence that has these words."""
    plain = " ".join(words.split())
    return next(number for number, text in prompt.sentences.items() if plain in text)


def _blocks(text: str, mark: str) -> Iterator[_Block]:
    for match in re.finditer(_BLOCK.replace("{mark}", mark), text, re.DOTALL):
        place = _PLACE.search(match["attributes"])
        yield _Block(match["kind"], place[1] if place else "", match["text"])


def _strings(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)
