"""Shortens a long question to what it asks, and keeps the whole as thread messages."""

from collections.abc import Iterator, Sequence

from core.errors import QuestionTooLong
from core.models import MAX_QUESTION, MAX_THREAD_MESSAGE, ThreadMessage
from core.text.sentences import sentences

LONGEST_QUESTION = 4_000
"""Characters that a person may ask with at once; Discord's own limit is lower."""
_MOST_PIECES = 14


def gist(text: str, most: int = MAX_QUESTION) -> str:
    """Return what a long text asks, in at most `most` characters; a shorter text as it is.

    These are the sentences that end with a question mark, each of few words with the sentence
    in front of it, which says what it is about. A text that asks nothing gives its beginning.
    """
    if len(text) <= most:
        return text
    parts = sentences(text) or [text]
    chosen, room = set[int](), most
    for number in _that_ask(parts) or range(len(parts)):
        if len(parts[number]) >= room:
            break
        chosen.add(number)
        room -= len(parts[number]) + 1
    if not chosen:
        return text[:most].rsplit(None, 1)[0]
    return " ".join(parts[number] for number in sorted(chosen))


def asks(text: str) -> bool:
    """Return whether a sentence of a text ends with a question mark."""
    return any(sentence.rstrip(_CLOSING).endswith(_MARKS) for sentence in sentences(text))


def as_material(text: str, *, by_asker: bool) -> tuple[ThreadMessage, ...]:
    """Return a text in pieces that a request takes along, each of at most 2,000 characters."""
    pieces = _pieces(text)
    return tuple(ThreadMessage(text=piece, by_asker=by_asker) for piece in pieces if piece.strip())


def shortened_question(text: str) -> tuple[str, tuple[ThreadMessage, ...]]:
    """Return what is searched for, and the whole question where that is longer.

    Raises:
        QuestionTooLong: for more than 4,000 characters.
    """
    if len(text) > LONGEST_QUESTION:
        raise QuestionTooLong(len(text), LONGEST_QUESTION)
    if len(text) <= MAX_QUESTION:
        return text, ()
    return gist(text), as_material(text, by_asker=True)


_FEWEST_WORDS = 4
"""Words of a question that is understood by itself."""
_MARKS = ("?", "？", "؟")
_CLOSING = "\"'”’»)]* \n"


def _that_ask(parts: Sequence[str]) -> list[int]:
    """Return the numbers of the sentences that ask, and of those that these lean on."""
    found = list[int]()
    for number, part in enumerate(parts):
        if part.rstrip(_CLOSING).endswith(_MARKS):
            leans = number > 0 and len(part.split()) < _FEWEST_WORDS
            found += [number - 1, number] if leans else [number]
    return list(dict.fromkeys(found))


def _pieces(text: str) -> Iterator[str]:
    for _ in range(_MOST_PIECES):
        if len(text) <= MAX_THREAD_MESSAGE:
            yield text
            return
        cut = text.rfind("\n", 0, MAX_THREAD_MESSAGE)
        cut = cut if cut > MAX_THREAD_MESSAGE // 2 else MAX_THREAD_MESSAGE
        yield text[:cut]
        text = text[cut:]
