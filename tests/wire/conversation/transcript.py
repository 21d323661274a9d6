"""What a conversation left behind, without what must differ from platform to platform."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.wire.conversation.recording import RECORD

Json = dict[str, Any]

_OF_A_REQUEST = frozenset({"request_id", "created_at", "user_context"})
_OF_A_RESPONSE = frozenset({"id", "query_id", "requested_at", "generated_at"})
_OF_CHAT = frozenset({"similarity_score", "confidence", "located", "outcome", "notices", "leans"})
"""The scores, and what is told because of them."""
_MOMENTS = frozenset({"retrieved_at", "timestamp"})


@dataclass(frozen=True)
class Transcript:
    """The turns of one asker, in order."""

    requests: tuple[Json, ...]
    """Each `AgentRequest`; people and conversations are numbered as they came."""
    responses: tuple[Json, ...]
    """Each `AgentResponse`, likewise: a thread that opens for an answer begins a conversation."""
    of_chat: frozenset[int] = frozenset()
    """The numbers of the turns that began with a command, which takes along what a chat said."""


@dataclass(frozen=True)
class Stored:
    """What a database holds of all askers."""

    contents: int
    """Turns whose question and answer can be read."""
    votes: tuple[tuple[int, bool, str | None], ...]
    """The number of the voted-on turn, whether it helped, and why not."""


def recorded(folder: Path) -> Transcript:
    """Return the turns that a bot's agent has taken."""
    lines = (folder / RECORD).read_text("utf-8").splitlines()
    turns = [json.loads(line) for line in lines]
    asked, answered = dict[str, int](), dict[str, int]()
    return Transcript(
        tuple(_request(turn["request"], asked) for turn in turns),
        tuple(_response(turn["response"], answered) for turn in turns),
        frozenset(number for number, turn in enumerate(turns) if turn["has_chat"]),
    )


def without_scores(record: Any) -> Any:
    """Return a record without what a chat changes in a turn that takes it along, at any depth."""
    if isinstance(record, list):
        return [without_scores(one) for one in record]
    if not isinstance(record, dict):
        return record
    return {name: without_scores(one) for name, one in record.items() if name not in _OF_CHAT}


def stored(folder: Path) -> Stored:
    """Return what a bot's database holds."""
    lines = (folder / RECORD).read_text("utf-8").splitlines()
    asked = [json.loads(line)["request"]["request_id"] for line in lines]
    with closing(sqlite3.connect(folder / "data" / "glossator.db")) as db:
        [contents] = db.execute("SELECT count(content) FROM turns").fetchone()
        votes = db.execute("SELECT request_id, helpful, reason FROM votes ORDER BY voted_at")
        numbered = [(_number_of(asked, i), bool(good), why) for i, good, why in votes]
    return Stored(contents, tuple(numbered))


def _request(request: Json, numbers: dict[str, int]) -> Json:
    kept = {name: value for name, value in request.items() if name not in _OF_A_REQUEST}
    for name in ("user_id", "session_id"):
        kept[name] = _numbered(str(kept[name]), numbers)
    return kept


def _response(response: Json, numbers: dict[str, int]) -> Json:
    kept = {name: value for name, value in response.items() if name not in _OF_A_RESPONSE}
    kept["conversation_id"] = _numbered(str(kept["conversation_id"]), numbers)
    return dict(_timeless(kept))


def _numbered(name: str, numbers: dict[str, int]) -> int:
    return numbers.setdefault(name, len(numbers))


def _timeless(record: Json) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a record, at any depth, that hold no moment and no duration."""
    for name, value in record.items():
        if name not in _MOMENTS and not name.endswith("_ms"):
            yield name, _without_time(value)


def _without_time(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(_timeless(value))
    return [_without_time(each) for each in value] if isinstance(value, list) else value


def _number_of(asked: list[str], request_id: str) -> int:
    return [each.replace("-", "") for each in asked].index(request_id.replace("-", ""))
