"""Reads the attack corpora beside the project; where they are absent, tests skip and say so."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "shared" / "attacks"
_NO_ATTACKS = frozenset({"LICENSE", "SOURCE.txt", "CybersecurityBenchmarks_LICENSE", "README.md"})
_NOT_HOSTILE = frozenset({"notinject", "ssrf"})
_EXPECTATIONS = frozenset({"html", "expected", "expect", "section", "title", "judge_question"})
_SHORTEST = 4


def attack_texts(*folders: str, step: int = 1) -> list[str]:
    """Return every `step`-th attack of these folders (none: of all), each text once.

    Texts are strings of JSON and YAML files, lines of line-based files, and paragraphs of others.
    """
    if not FOLDER.is_dir():
        pytest.skip("the attack corpora are not beside the project")
    files = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    texts = [
        text
        for path in files
        if path.name not in _NO_ATTACKS and _is_wanted(path, folders)
        for text in _texts(path)
        if len(text.strip()) >= _SHORTEST
    ]
    return list(dict.fromkeys(texts))[::step]


def benign_questions() -> list[str]:
    """Return harmless questions full of words that attacks use, too."""
    path = FOLDER / "notinject" / "datasets_NotInject_one.json"
    if not path.is_file():
        pytest.skip("the benign questions are not beside the project")
    return [row["prompt"] for row in json.loads(path.read_text(encoding="utf-8"))]


def _is_wanted(path: Path, folders: tuple[str, ...]) -> bool:
    corpus = path.relative_to(FOLDER).parts[0]
    return corpus in folders if folders else corpus not in _NOT_HOSTILE


def _texts(path: Path) -> Iterator[str]:
    if path.suffix == ".pdf":
        return
    content = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".json":
        yield from _strings(json.loads(content))
    elif path.suffix == ".jsonl":
        for line in content.splitlines():
            yield from _strings(json.loads(line))
    elif path.suffix in {".txt", ".tsv", ".test"} and path.name != "spec.txt":
        yield from content.splitlines()
    else:
        yield from content.split("\n\n")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in _EXPECTATIONS:
                yield from _strings(item)
