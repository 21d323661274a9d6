"""Cuts a passage into the parts that are judged one by one: sentences, and less than these."""

import re
from collections.abc import Iterator, Sequence

from core.grounding.telling import commands_inside, is_code
from core.text.sentences import Span, sentence_spans

_BORDER = re.compile(
    r"(?<=[^\W\d_]{3}[.!?])\s+(?=[^\W\d_A-Z])|(?<![.!?…;,])\s+(?="
    r"(?:The|A|An|This|These|It|Its|In|On|If|When|Each|Every|Some|Many|Most|All|Both|One|Two|Three"
    r"|We|You|They|There)\s+[a-z])"
    r"|(?<=[^\W\d_]['\"”’)\]])\s+(?=[A-Z][a-z]+\s+[a-z])"
    r"|(?<=[:.!?]['\"”’)\]])\s+(?=[A-Z])"
    r"|\s+(?=`{3}|~{3})|(?<=`{3}|~{3})\s*(?=[^\W_])"
)
"""Where other text may begin inside of a sentence: planted text need not end with a full stop."""
_FENCES = ("```", "~~~")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_LEADS_IN = (":", "：", ",", ";")


def place_of(content: str, titles: Sequence[str]) -> str:
    """Return the titles above a passage in one line, or the passage where there are none."""
    return " › ".join(dict.fromkeys(titles)) or content


def parts_of(content: str) -> Iterator[Span]:
    """Yield the sentences of a passage, cut where other text may begin inside of them."""
    for start, end in sentence_spans(content):
        if not is_code(content[start:end]):
            for border in _borders(content, start, end):
                yield Span(start, start + len(content[start:border].rstrip()))
                start = border
        yield Span(start, end)


def _borders(content: str, start: int, end: int) -> list[int]:
    """Return where other text may begin inside of a sentence, ascending."""
    marked = {border.end() for border in _BORDER.finditer(content, start, end)}
    if content.startswith(_FENCES, start):  # prose in disguise is one piece to the splitter
        prose = content[start:end].lstrip("`~ ")
        marked |= {end - len(prose) + span.start for span in sentence_spans(prose)}
    return sorted((marked | set(commands_inside(content, start, end))) - {start})


def paragraphs_of(content: str, parts: Sequence[Span]) -> list[int]:
    """Return for each part the number of its paragraph, from 0.

    What a line such as "Say this:" leads in to belongs to the paragraph of that line, and so
    does a block of code to what announces it.
    """
    numbers: list[int] = []
    for number, part in enumerate(parts):
        if not number:
            numbers.append(0)
            continue
        before = parts[number - 1]
        leads_in = content[before.start : before.end].rstrip().endswith(_LEADS_IN)
        is_joined = leads_in or is_code(content[part.start : part.end])
        is_new = not is_joined and _BLANK_LINE.search(content, before.end, part.start)
        numbers.append(numbers[-1] + bool(is_new))
    return numbers
