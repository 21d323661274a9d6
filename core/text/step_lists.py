"""Finds the lists of steps in a section's text, which may be cut into several passages."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.markdown.fences import fence_opened_by
from core.text.sentences import sentence_spans
from core.text.telling_to_do import tells_to_do

MOST_PASSAGES = 12
"""Passages of one list that are read; a longer list is one that goes on."""

_MARK = re.compile(
    r"(?P<mark>(?:[-*•+]|(?P<number>\d{1,3})[.)]))[ \t]+(?:\[[ xX]\][ \t]+)?"
    r"|(?P<said>(?:Step|Schritt) (?P<told>\d{1,3})\b)(?=\s*[.:)–—-])",
    re.IGNORECASE,
)
_LAID_OUT = ("|", "$$")
"""What a table or a formula begins with."""
_ITEM = re.compile(rf"^[ \t]*(?:{_MARK.pattern})", re.IGNORECASE | re.MULTILINE)
_ASKS = re.compile(r"[?？]\W*$")
_WARNS = re.compile(
    r"\W*(?:warnings?|caution|danger|important|attention|note|never|do not|don['’]t|always"
    r"|be careful|take care|make sure|beware|avoid|keep (?:away|out|clear)|achtung|vorsicht|warnung"
    r"|gefahr|wichtig|hinweis|nie|niemals|nicht|immer)\b|.{0,80}\b(?:must not|must never|darf nicht"
    r"|dürfen nicht|niemals)\b",
    re.IGNORECASE,
)
_OFFERS = re.compile(
    r"\b(?:learn\w*|how to|able to|ideas?|options?|ways|either|any of|one of|may|might|could"
    r"|can|want|suggest\w*|examples?|like to|such as)\b[^.!?]*[:：]$",
    re.IGNORECASE,
)
"""Leads in to what may be done, or was learnt, and not to what is done one after the other."""


@dataclass(frozen=True, slots=True)
class Part:
    """A run of characters of one of the section's texts."""

    text_number: int
    start: int
    end: int


@dataclass(slots=True)
class Item:
    """One item of a list with what stands below it: a step, or a part of one."""

    mark: str
    """What stands in front of its words, such as `3.`; empty where the words say it: `Step 3:`."""
    depth: int
    """0 for a step, more for what a step consists of."""
    parts: list[Part] = field(default_factory=list)


@dataclass(slots=True)
class Step:
    """A step with the items that it consists of."""

    items: list[Item]

    @property
    def parts(self) -> list[Part]:
        """All of its text, in order."""
        return [part for item in self.items for part in item.parts]


@dataclass(frozen=True, slots=True)
class StepList:
    """A list of steps as the book has it."""

    steps: tuple[Step, ...]
    first_number: int
    """The number of the first step; 1 where they are not numbered."""
    lead_in: tuple[Part, ...] = ()
    """The line that announces it, and warnings in front."""
    warnings: tuple[Part, ...] = ()
    """Warnings right behind it."""
    tells_to_do: bool = True
    """Whether most of its items tell what to do, rather than what happens or what there is."""
    is_clear: bool = True
    """False: another item stands right behind it, or in front, and does not fit in. It may be a
    part of a step, or a step with a wrong number."""

    @property
    def parts(self) -> list[Part]:
        """The text of all steps, in order."""
        return [part for step in self.steps for part in step.parts]


@dataclass(slots=True)
class _Token:
    """An item's own text, or what stands between items."""

    part: Part
    text: str
    mark: str | None = None
    number: int | None = None
    indent: int = 0
    """Blanks in front of its line: an item stands below those with fewer."""
    is_block: bool = False


def find_step_lists(
    texts: Sequence[str], language: str = "en", *, keeps_depth: bool = False
) -> list[StepList]:
    """Return the lists of steps in neighbouring passages of one section, in order.

    Steps have numbers, or are bullets most of which tell what to do. What stands between two
    numbers that follow each other belongs to the first of them.

    Args:
        texts: The passages.
        language: The language of the book.
        keeps_depth: Whether the format of the book tells lists within a list by their indent.
    """
    tokens = list(_tokens(texts))
    found: list[StepList] = []
    position = 0
    unclear_from = -1
    while position < len(tokens):
        end = position + 1
        if tokens[position].mark is not None:
            steps, end = _read_list(tokens, position, keeps_depth=keeps_depth)
            breaks_off = _breaks_off(tokens, position, end, keeps_depth=keeps_depth)
            is_clear = not breaks_off and position != unclear_from
            is_within = breaks_off and _begins_outside(tokens[end], tokens[position])
            if breaks_off and not is_within:
                unclear_from = end
            fewest = 2 if is_clear or is_within else 1
            announcing = tokens[position - 1] if position else None
            if len(steps) >= fewest and _are_steps(
                tokens[position], announcing, steps, texts, language
            ):
                number = tokens[position].number
                before = tokens[_start_of_lead_in(tokens, position) : position]
                behind = tokens[end : _end_of_warnings(tokens, end)]
                found.append(
                    StepList(
                        steps=tuple(steps),
                        first_number=1 if number is None else number,
                        lead_in=tuple(token.part for token in before),
                        warnings=tuple(token.part for token in behind),
                        tells_to_do=_mostly_tell(tokens[position], steps, texts, language),
                        is_clear=is_clear,
                    )
                )
        position = end
    return found


def begins_block(text: str) -> bool:
    """Return whether a text begins with code, a table or a formula on lines of its own."""
    line = text.lstrip().partition("\n")[0]
    return line.startswith(_LAID_OUT) or fence_opened_by(line) is not None


def may_hold_items(text: str) -> bool:
    """Return whether a line of a text begins as an item of a list does; quickly."""
    return _ITEM.search(text) is not None


def _tokens(texts: Sequence[str]) -> Iterator[_Token]:
    for number, text in enumerate(texts):
        own: list[_Token] = []
        for start, end in sentence_spans(text):
            gap = text[own[-1].part.end : start] if own else "\n"
            is_block = "\n" in gap and begins_block(text[start:end])
            match = _MARK.match(text, start) if "\n" in gap and not is_block else None
            in_item = own and own[-1].mark is not None and gap.count("\n") < 2
            if in_item and not match and not is_block:
                own[-1].part = Part(number, own[-1].part.start, end)
                own[-1].text = text[own[-1].part.start : end]
                continue
            token = _Token(Part(number, start, end), text[start:end], is_block=is_block)
            line = text.rfind("\n", 0, start) + 1
            token.indent = start - line if "\n" in gap else own[-1].indent
            if match:
                told = match["number"] or match["told"]
                token.mark = match["mark"] or ""
                token.number = int(told) if told else None
            own.append(token)
        yield from own


def _read_list(
    tokens: Sequence[_Token], first: int, *, keeps_depth: bool
) -> tuple[list[Step], int]:
    """Return the steps of the list that begins at `first`, and the position behind it."""
    steps, end = _read_items(tokens, first, len(tokens))
    if keeps_depth and (own_end := _end_before_bullets(tokens, first, end)) < end:
        return _read_items(tokens, first, own_end)
    return steps, end


def _end_before_bullets(tokens: Sequence[_Token], first: int, end: int) -> int:
    """Return where a numbered list ends that has bullets at its own indent behind its last step.

    Those are another list, unless the step announces them, or a step before has some as well.
    """
    opening = tokens[first]
    own = [
        position
        for position in range(first, end)
        if tokens[position].mark is not None and tokens[position].indent == opening.indent
    ]
    bullets = [position for position in own if tokens[position].number is None]
    last = max(position for position in own if position not in bullets or position == first)
    if opening.number is None or not bullets or bullets[0] < last or _announces(tokens[last]):
        return end
    return bullets[0]


def _read_items(tokens: Sequence[_Token], first: int, until: int) -> tuple[list[Step], int]:
    """Return the steps of the list that begins at `first`, and the position behind it."""
    opening = tokens[first]
    steps = [Step([Item(opening.mark or "", 0, [opening.part])])]
    above = [opening]
    end = first + 1
    is_apart = False
    for position in range(first + 1, until):
        token = tokens[position]
        if token.mark is None:
            is_apart = is_apart or not (token.is_block or token.indent > opening.indent)
            continue
        depth = _depth(token, above)
        if depth is None or (is_apart and opening.number is None):
            break
        if is_apart and depth:
            continue  # it is of this list if the next number comes
        steps[-1].items[-1].parts += [other.part for other in tokens[end:position]]
        item = Item(token.mark, depth, [token.part])
        if depth:
            steps[-1].items.append(item)
        else:
            steps.append(Step([item]))
        above = [*above[:depth], token]
        end = position + 1
        is_apart = False
    return steps, _with_rest(tokens, end, steps, opening)


def _with_rest(tokens: Sequence[_Token], end: int, steps: Sequence[Step], opening: _Token) -> int:
    """Add what is of the last item still: text that is indented, and code that it announces."""
    while end < len(tokens) and tokens[end].mark is None:
        announced = tokens[end].is_block and _announces(tokens[end - 1])
        if not announced and tokens[end].indent <= opening.indent:
            break
        steps[-1].items[-1].parts.append(tokens[end].part)
        end += 1
    return end


def _depth(token: _Token, above: Sequence[_Token]) -> int | None:
    """Return how deep an item stands in the list whose open items are `above`; None: outside.

    Bullets below a number need no indent.
    """
    outermost = above[0]
    if token.indent > outermost.indent:
        return sum(other.indent < token.indent for other in above)
    if token.indent < outermost.indent:
        return None
    if token.number is None:
        return 0 if outermost.number is None else 1
    return 0 if outermost.number is not None and token.number == outermost.number + 1 else None


def _breaks_off(tokens: Sequence[_Token], first: int, end: int, *, keeps_depth: bool) -> bool:
    """Return whether the item behind a list may be of it, and is not one of the next list."""
    if end == len(tokens) or tokens[end].mark is None:
        return False
    opening, token = tokens[first], tokens[end]
    if token.indent != opening.indent or _announces(tokens[end - 1]):
        return True
    if opening.number is None:
        return token.number not in {0, 1}
    return not keeps_depth or token.number not in {None, 0, 1}


def _announces(token: _Token) -> bool:
    return token.text.endswith((":", "："))


def _begins_outside(token: _Token, opening: _Token) -> bool:
    """Return whether an item is of the list around another one, and its number says which."""
    return token.number is not None and token.indent < opening.indent


def _are_steps(
    opening: _Token,
    before: _Token | None,
    steps: Sequence[Step],
    texts: Sequence[str],
    language: str,
) -> bool:
    if any(_ASKS.search(text) for text in _openings(opening, steps, texts)):
        return False
    if opening.number is None and before is not None and _OFFERS.search(before.text):
        return False
    return opening.number is not None or _mostly_tell(opening, steps, texts, language)


def _mostly_tell(
    opening: _Token, steps: Sequence[Step], texts: Sequence[str], language: str
) -> bool:
    """Return whether most steps tell what to do; numbered ones of other languages are taken to."""
    if opening.number is not None and not language.startswith(("en", "de")):
        return True
    words = _openings(opening, steps, texts)
    return 2 * sum(tells_to_do(text, language) for text in words) > len(words)


def _openings(opening: _Token, steps: Sequence[Step], texts: Sequence[str]) -> list[str]:
    """Return the words that each step begins with, without its mark."""
    parts = [step.items[0].parts[0] for step in steps]
    own = [texts[part.text_number][part.start : part.end] for part in parts]
    return [_MARK.sub("", text, count=1) for text in own]


def _start_of_lead_in(tokens: Sequence[_Token], first: int) -> int:
    start = first
    while start and tokens[start - 1].mark is None and not tokens[start - 1].is_block:
        text = tokens[start - 1].text
        leads = start == first and _announces(tokens[start - 1])
        if not leads and not _WARNS.match(text):
            break
        start -= 1
    return start


def _end_of_warnings(tokens: Sequence[_Token], end: int) -> int:
    while end < len(tokens) and tokens[end].mark is None and _WARNS.match(tokens[end].text):
        end += 1
    return end
