"""Finds the messages of an answer again, so that nothing is posted twice."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any
from uuid import UUID

from adapters.buttons import parsed
from adapters.discord.message_texts import text_in
from adapters.payloads import mapping

Json = Mapping[str, Any]


def nonce(key: str, channel: int, part: int, again: int = 0) -> str:
    """Return what Discord knows a post by for some minutes; 24 characters.

    Args:
        key: The key of the event that is answered.
        channel: Where the part is posted.
        again: How often this part was deleted by a user and posted again.
    """
    post = f"{key}:{channel}:{part}:{again}"
    return hashlib.blake2b(post.encode(), digest_size=12).hexdigest()


def first_part(
    messages: Iterable[Json],
    me: str,
    written: str,
    *,
    request_id: UUID | None,
    question: int | None,
) -> str | None:
    """Return the id of the message that answers a request already; None: there is none.

    It is ours, and has a button of the request, or has no button, replies to the question and
    shows the same. A reply with another text, such as that the question waits, is left as it
    is: it stands where an earlier answer may still have to go.

    Args:
        written: The part's text, as `layout.text_of` gives it.
        question: The message that the part replies to.
    """
    requests = set() if request_id is None else {request_id}
    found = (
        str(message["id"])
        for message in _ours(messages, me)
        if (buttons := _buttons(message)) & requests
        or (not buttons and _answers(message, requests, question) and _shows(message, written))
    )
    return next(found, None)


def same_text(
    messages: Iterable[Json], me: str, written: str, *, question: int | None, known: Collection[str]
) -> str | None:
    """Return the id of a message that shows a further part already; None: there is none.

    Args:
        written: The part's text, as `layout.text_of` gives it.
        question: The message that the part replies to.
        known: The messages of other parts.
    """
    for message in _ours(messages, me):
        is_it = _shows(message, written) and _replied(message) == question
        if is_it and message["id"] not in known:
            return str(message["id"])
    return None


def strays(
    messages: Iterable[Json],
    me: str,
    known: Collection[str],
    *,
    requests: Collection[UUID],
    question: int | None,
    own_thread: bool,
) -> list[str]:
    """Return the ids of our messages that answer a question other than the known ones.

    They have a button of the request, or reply to the question. In a thread that was opened
    for the answer, whose messages reply to nothing, they repeat a known one.
    """
    ours = list(_ours(messages, me))
    texts = {text_in(one) for one in ours if one["id"] in known and own_thread}
    return [
        str(one["id"])
        for one in ours
        if one["id"] not in known
        and (
            _answers(one, requests, question)
            or (text_in(one) in texts and _replied(one) is None and not _buttons(one))
        )
    ]


def _answers(message: Json, requests: Collection[UUID], question: int | None) -> bool:
    """Return whether a message is the answer: by its buttons, or without any by its reply."""
    if buttons := _buttons(message):
        return not buttons.isdisjoint(requests)
    return question is not None and _replied(message) == question


def _shows(message: Json, written: str) -> bool:
    return text_in(message) == written.strip()


def _replied(message: Json) -> int | None:
    number = (message.get("message_reference") or {}).get("message_id")
    return None if number is None else int(number)


def _buttons(message: Json) -> set[UUID]:
    """Return the requests that a message's buttons belong to."""
    return set(_requests(message.get("components") or ()))


def _ours(messages: Iterable[Json], me: str) -> Iterator[Json]:
    """Yield our own messages; others may have any form."""
    return (one for one in messages if mapping(one.get("author")).get("id") == me)


def _requests(components: Iterable[Json]) -> Iterator[UUID]:
    """Yield the requests that the buttons belong to, those inside rows included."""
    for component in components:
        if button := parsed(component.get("custom_id") or ""):
            yield button[1]
        yield from _requests(component.get("components") or ())
