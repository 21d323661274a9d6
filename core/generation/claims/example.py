"""Whether a model's own example may be shown: nothing of the book carries it."""

import re

from core.generation.base import GenerationTask
from core.generation.claims.prompt import render_system
from core.markdown.code import code_in
from core.markdown.locating import CodeKind

LONGEST = 600
"""Characters."""
_RUN = 5
"""Words in a row that the instructions have as well."""
_TELLING = 6
"""Letters of a word that tells where it is from."""
_LEADS_AWAY = re.compile(r"\w:\S|[<>\\@{}|]|\bwww\.|\w\.\w+/")
"""What may be an address, a mention or markup."""
_NAMED = re.compile(
    r"(?<![.!?:;\"“”'(\[] )(?<!^)\b[A-ZÄÖÜ][^\W_]+|\b(?=\w*\d)(?=\w*[^\W\d_])\w+\b|\b\d{3,}\b"
)
"""Words with a capital inside of a sentence, codes, and numbers of three digits and more."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def is_fit(text: str, task: GenerationTask) -> bool:
    """Return whether an example is short, plain, and names nothing but what is known.

    Known are the question and the passages: a name, a code or a large number that neither has is
    no example of what they say, and the operator's words in `task.system_prompt` are secret as far
    as neither has them. It repeats nothing of the instructions, and no run of words that people
    gave: a quote, what they asked before, what was said in the thread.
    """
    if not text.strip() or len(text) > LONGEST or _LEADS_AWAY.search(text):
        return False
    if any(code.kind is not CodeKind.SPAN for code in code_in(text)):
        return False
    words = _words(text)
    told = _words(render_system(task))
    given = [task.selected_text or "", *(turn.user_input for turn in task.history)]
    given += [turn.selected_text or "" for turn in task.history]
    given += [message.text for message in task.thread]
    runs = {run for one in (told, *map(_words, given)) for run in _runs(one)}
    if not runs.isdisjoint(_runs(words)):
        return False
    known = set(_words(" ".join([task.question, *(p.text for p in task.passages())])))
    if not {word.casefold() for word in _NAMED.findall(text)} <= known:
        return False
    secret = {word for word in _words(task.system_prompt or "") if _is_telling(word)} - known
    return not secret & set(words)


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1)}


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _is_telling(word: str) -> bool:
    return len(word) >= _TELLING or any(character.isdigit() for character in word)
