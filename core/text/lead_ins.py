"""Recognises the lines that only lead in to what stands after them, such as `For example:`."""

import re

from core.markdown.code import code_in, without_code

_COLONS = (":", "：")
_LONGEST = 90
"""Characters."""
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SAYS_NOTHING = frozenset(
    "a an the this that these those it its here's here there is are be was looks look as follows "
    "following follow for example examples instance e.g i.e such like so to in on of with and or "
    "some other more another below above next first then now also how you we they can could may "
    "might do does would will let let's see consider illustrate illustrates show shows shown "
    "shows demonstrates give gives given use using your our code snippet listing program output "
    "result results table list steps step points ways way things cases case reasons form syntax "
    "formula equation definition definitions text book passage passages detail details summary "
    "short particular specifically namely including include includes instead try run written "
    "write putting put together part parts answer rust-like one both each "
    "zum beispiel beispielsweise beispiele etwa hier ist sind das folgende folgendes folgenden so "
    "sieht wie folgt aus der die ein eine par exemple exemples voici comme suit le la les un une "
    "por ejemplo ejemplos así aquí el esto es son los las como sigue ad esempio esempi ecco per "
    "por exemplo exemplos eis bijvoorbeeld voorbeeld na przykład например пример вот так 例如 "
    "例えば たとえば 예를 들어".split()
)
_LEADS = re.compile(
    r"(?:so |thus |and )?(?:here(?:['’]s| is| are)|(?:the|this|these) (?:following|next)|below is"
    r"|below are|this is|these are|look at|consider|let(?:['’]s| us) look at)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\b(?:that|which|who|why|when|because|if|while|not|never|no|without|than)\b")


def leads_in(line: str, block: str) -> bool:
    """Return whether a line with a colon at its end states no fact about what it leads to.

    Args:
        line: What stands in front.
        block: What it leads to, with the quotes and the question: their words may name the
            topic in `Here is an example of a closure:`.
    """
    line = line.strip().strip("*_")
    if not line.endswith(_COLONS) or len(line) > _LONGEST or re.search(r"\d|//|@|\n", line):
        return False
    source = block.casefold()
    if any(code.content.strip().casefold() not in source for code in code_in(line)):
        return False
    words = _WORD.findall(without_code(line).casefold())
    telling = [word for word in words if word not in _SAYS_NOTHING]
    if not telling:
        return True
    names_topic = _LEADS.match(line) is not None and _CLAUSE.search(line.casefold()) is None
    known = set(_WORD.findall(source))
    return names_topic and all(_forms(word) & known for word in telling)


def _forms(word: str) -> set[str]:
    """Return the word and its plain plural or singular."""
    return {word, word.removesuffix("s"), f"{word}s"}
