"""Finds the lists of steps in a section's text, which may be cut into several passages."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.text.sentences import sentence_spans

MOST_PASSAGES = 12
"""Passages of one list that are read; a longer list is one that goes on."""

_MARK = re.compile(
    r"(?P<mark>(?:[-*•+]|(?P<number>\d{1,3})[.)]))[ \t]+(?:\[[ xX]\][ \t]+)?"
    r"|(?P<said>(?:Step|Schritt) (?P<told>\d{1,3})\b)(?=\s*[.:)–—-])",
    re.IGNORECASE,
)
BLOCK_OPENINGS = ("```", "~~~", "|", "$$")
"""What code, a table or a formula begins with."""
_ITEM = re.compile(rf"^[ \t]*(?:{_MARK.pattern})", re.IGNORECASE | re.MULTILINE)
_ASKS = re.compile(r"[?？]\W*$")
_WARNS = re.compile(
    r"\W*(?:warnings?|caution|danger|important|attention|note|never|do not|don['’]t|always"
    r"|be careful|take care|make sure|beware|avoid|keep (?:away|out|clear)|achtung|vorsicht|warnung"
    r"|gefahr|wichtig|hinweis|nie|niemals|nicht|immer)\b|.{0,80}\b(?:must not|must never|darf nicht"
    r"|dürfen nicht|niemals)\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[^\n.:;!?]{1,40}[:.–—]\s+(?=\w)")
_OFFERS = re.compile(
    r"\b(?:learn\w*|how to|able to|ideas?|options?|ways|either|any of|one of|may|might|could"
    r"|can|want|suggest\w*|examples?|like to|such as)\b[^.!?]*[:：]$",
    re.IGNORECASE,
)
"""Leads in to what may be done, or was learnt, and not to what is done one after the other."""
_ADVERB = r"(?:(?:first|then|next|now|also|always|never|please|do not|don['’]t|\w+ly),?\s+)*"
_DOING = (
    "add adjust agree aim alert align allow apply arrange ask assemble attach autoclave avoid "
    "back bake bandage baste beat begin bend blend block boil bolt book boot breathe bring brown "
    "brush build bury calibrate call cancel carry catch centrifuge change charge check choose "
    "chop clamp clean clear click clip close coat collect combine complete confirm connect "
    "contact continue cook cool copy count cover crack create cross crouch crush cut dab "
    "deactivate decant delete depress detach dig dilute dip disassemble discard disconnect "
    "dismantle dispose dissolve divide double drag drain draw drill drink drive drop dry eject "
    "elevate empty enable ensure enter evacuate examine exhale exit extend extinguish fasten feed "
    "fetch file fill filter find finish fit fix flip flush fold follow free freeze fry gather get "
    "give glue go grab grate grease grind grip ground hang heat help hold inform inhale insert "
    "inspect install isolate join keep knead kneel knock label lay leave let lift light list load "
    "lock log loosen lower make marinate mark mash measure melt mince mix moisten mop mount move "
    "navigate note notify open order pack paddle paint park paste peel pick pierce pinch pipette "
    "place plant plug point polish pour preheat prepare press prick protect prune pull pump punch "
    "push put raise read reattach rebuild reconnect record reduce refill refit release reload "
    "remove rename repeat replace replug report reset rest restart restore return reverse ring "
    "rinse roast roll rotate row rub run sail sand save scan scoop scrape screw scrub seal search "
    "season secure see select send separate serve set shake shape sharpen shift shovel shut sieve "
    "sift sign simmer sit slice slide slip smooth soak sow spin splice spray spread sprinkle "
    "squeeze stain stand start stay steep stick stir stop store strain stretch strip submit "
    "support swab sweep swing switch take tap tear tell test thaw thread throw tie tighten tip "
    "titrate toast toss touch trace transfer trim try tug turn twist type undo unfold uninstall "
    "unlock unpack unplug unscrew unwrap update upload use vacuum ventilate verify wait walk warm "
    "warn wash watch water wear weigh wet whisk wind wipe wrap write"
).replace(" ", "|")
_OF_A_THING = r"(?:is|are|was|were|has|have|(?<!dispose )of)\b"
"""Comes behind one of these words where it is a noun: "Use of the slide is free."."""
_IMPERATIVE = re.compile(rf"\W*{_ADVERB}(?:{_DOING})(?:\s+(?!{_OF_A_THING})[\w`“\"']|[.!]?$)", re.I)
_GERMAN = re.compile(r"\W*(?:\w+, )?\w+e?n Sie\b|[^.!?\n]*\b[a-zäöüß]+(?:en|ern|eln)[.!]?\s*$")


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


def find_step_lists(texts: Sequence[str], language: str = "en") -> list[StepList]:
    """Return the lists of steps in neighbouring passages of one section, in order.

    Steps have numbers, or are bullets most of which tell what to do. What stands between two
    numbers that follow each other belongs to the first of them.
    """
    tokens = list(_tokens(texts))
    found: list[StepList] = []
    position = 0
    unclear_from = -1
    while position < len(tokens):
        end = position + 1
        if tokens[position].mark is not None:
            steps, end = _read_list(tokens, position)
            breaks_off = end < len(tokens) and tokens[end].mark is not None
            is_clear = not breaks_off and position != unclear_from
            if breaks_off and not _begins_outside(tokens[end], tokens[position]):
                unclear_from = end
            announcing = tokens[position - 1] if position else None
            if _are_steps(tokens[position], announcing, steps, texts, language):
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


def may_hold_items(text: str) -> bool:
    """Return whether a line of a text begins as an item of a list does; quickly."""
    return _ITEM.search(text) is not None


def _tokens(texts: Sequence[str]) -> Iterator[_Token]:
    for number, text in enumerate(texts):
        own: list[_Token] = []
        for start, end in sentence_spans(text):
            gap = text[own[-1].part.end : start] if own else "\n"
            is_block = "\n" in gap and text.startswith(BLOCK_OPENINGS, start)
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


def _read_list(tokens: Sequence[_Token], first: int) -> tuple[list[Step], int]:
    """Return the steps of the list that begins at `first`, and the position behind it."""
    opening = tokens[first]
    steps = [Step([Item(opening.mark or "", 0, [opening.part])])]
    above = [opening]
    end = first + 1
    is_apart = False
    for position in range(first + 1, len(tokens)):
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
        announced = tokens[end].is_block and tokens[end - 1].text.endswith((":", "："))
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
    if len(steps) < 2:
        return False
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
    return 2 * sum(_tells_to_do(text, language) for text in words) > len(words)


def _openings(opening: _Token, steps: Sequence[Step], texts: Sequence[str]) -> list[str]:
    """Return the words that each step begins with, without its mark."""
    parts = [step.items[0].parts[0] for step in steps]
    own = [texts[part.text_number][part.start : part.end] for part in parts]
    return [_MARK.sub("", text, count=1) for text in own]


def _tells_to_do(text: str, language: str) -> bool:
    """Return whether an item tells what to do, at its start or behind a label: "Base: fit it"."""
    starts = [text, *(text[label.end() :] for label in [_LABEL.match(text)] if label)]
    if language.startswith("de"):
        return any(_GERMAN.match(start) for start in starts)
    return any(_IMPERATIVE.match(start) for start in starts)


def _start_of_lead_in(tokens: Sequence[_Token], first: int) -> int:
    start = first
    while start and tokens[start - 1].mark is None and not tokens[start - 1].is_block:
        text = tokens[start - 1].text
        leads = start == first and text.endswith((":", "："))
        if not leads and not _WARNS.match(text):
            break
        start -= 1
    return start


def _end_of_warnings(tokens: Sequence[_Token], end: int) -> int:
    while end < len(tokens) and tokens[end].mark is None and _WARNS.match(tokens[end].text):
        end += 1
    return end
