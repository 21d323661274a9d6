"""Recognises the lines that only lead in to what stands after them, such as `For example:`."""

import re

from core.markdown.code import code_in, without_code

_LEADS = re.compile(
    r"(?:for (?:example|instance)|(?:an |another )?example|zum beispiel|beispiele?|beispielsweise"
    r"|par exemple|por ejemplo|por exemplo|per esempio|bijvoorbeeld|na przykład|например"
    r"|例如|例えば|たとえば|예를 들어|(?:\w+ ){0,3}looks? like this|as follows|wie folgt|(?P<named>"
    r"(?:so |thus |and )?(?:here(?:['’]s| is| are)|hier (?:ist|sind)|voici|(?:the|this|these)"
    r" (?:following|next)|below (?:is|are)|this is|these are|look at|consider"
    r"|let(?:['’]s| us) look at)\b[^\d\n@]*))\s*[:：]",
    re.I,
)
_LONGEST = 90
"""Characters."""
_CLAUSE = re.compile(
    r"//|\b(?:that|which|who|why|when|because|if|while|not|never|no|without|than)\b"
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_NEUTRAL = frozenset(
    "here this these following next below look consider some other example examples code snippet "
    "list table steps points ways result output show shows illustrates using hier sind".split()
)


def leads_in(line: str, block: str) -> bool:
    """Return whether a line with a colon at its end states no fact about what it leads to.

    Args:
        line: What stands in front.
        block: What it leads to, with the quotes and the question: their words may name the
            topic in `Here is an example of a closure:`.
    """
    line, source = line.strip().strip("*_").casefold(), block.casefold()
    match = _LEADS.fullmatch(line) if len(line) <= _LONGEST else None
    if match is None or _CLAUSE.search(line):
        return False
    words = {*_WORD.findall(without_code(match["named"] or ""))} - _NEUTRAL
    names = {word.removesuffix("s") for word in words} | {code.content for code in code_in(line)}
    return all(name in source for name in names)
