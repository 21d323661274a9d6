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
_BLOCK = ("```", "~~~", "|", "$$")
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
_IMPERATIVE = re.compile(
    rf"\W*{_ADVERB}(?:{_DOING})(?:\s+(?!(?:is|are|was|were|has|have)\b)[\w`“\"']|[.!]?$)", re.I
)
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
    indent: int | None = None
    """Blanks in front of the mark; None at the start of a text, where they are lost."""
    is_block: bool = False


def find_step_lists(texts: Sequence[str], language: str = "en") -> list[StepList]:
    """Return the lists of steps in neighbouring passages of one section, in order.

    Steps have numbers, or are bullets most of which tell what to do. What stands between two
    numbers that follow each other belongs to the first of them.
    """
    tokens = list(_tokens(texts))
    found: list[StepList] = []
    position = 0
    while position < len(tokens):
        end = position + 1
        if tokens[position].mark is not None:
            steps, end = _read_list(tokens, position)
            announcing = tokens[position - 1] if position else None
            if _are_steps(tokens[position], announcing, steps, texts, language):
                before = tokens[_start_of_lead_in(tokens, position) : position]
                behind = tokens[end : _end_of_warnings(tokens, end)]
                found.append(
                    StepList(
                        steps=tuple(steps),
                        first_number=tokens[position].number or 1,
                        lead_in=tuple(token.part for token in before),
                        warnings=tuple(token.part for token in behind),
                        tells_to_do=_mostly_tell(tokens[position], steps, texts, language),
                    )
                )
        position = end
    return found


def _tokens(texts: Sequence[str]) -> Iterator[_Token]:
    for number, text in enumerate(texts):
        own: list[_Token] = []
        for start, end in sentence_spans(text):
            line = text.rfind("\n", 0, start) + 1
            begins = not own or text.rfind("\n", own[-1].part.end, start) >= 0
            if own and not begins and not own[-1].is_block and own[-1].mark is not None:
                own[-1].part = Part(number, own[-1].part.start, end)
                own[-1].text = text[own[-1].part.start : end]
                continue
            token = _Token(Part(number, start, end), text[start:end])
            token.is_block = token.text.startswith(_BLOCK)
            if begins and not token.is_block and (match := _MARK.match(text, start)):
                told = match["number"] or match["told"]
                token.mark = match["mark"] or ""
                token.number = int(told) if told else None
                token.indent = start - line if own else None
            own.append(token)
        yield from own


def _read_list(tokens: Sequence[_Token], first: int) -> tuple[list[Step], int]:
    """Return the steps of the list that begins at `first`, and the position behind it."""
    opening = tokens[first]
    steps = [Step([Item(opening.mark or "", 0, [opening.part])])]
    above = [opening]
    end = first + 1
    for position in range(first + 1, len(tokens)):
        token = tokens[position]
        if token.mark is None:
            continue
        between = tokens[end:position]
        depth = _depth(token, above, between)
        if depth is None:
            if token.number is None and opening.number is not None:
                continue  # bullets between two numbers belong to the first of them
            break
        steps[-1].items[-1].parts += [other.part for other in between]
        item = Item(token.mark, depth, [token.part])
        if depth:
            steps[-1].items.append(item)
        else:
            steps.append(Step([item]))
        above = [*above[:depth], token]
        end = position + 1
    return steps, _with_blocks(tokens, end, steps)


def _with_blocks(tokens: Sequence[_Token], end: int, steps: Sequence[Step]) -> int:
    """Add the code right behind a step that announces it; return the position behind it."""
    while end < len(tokens) and tokens[end].is_block and tokens[end - 1].text.endswith((":", "：")):
        steps[-1].items[-1].parts.append(tokens[end].part)
        end += 1
    return end


def _depth(token: _Token, above: Sequence[_Token], between: Sequence[_Token]) -> int | None:
    """Return how deep an item stands in the list whose open items are `above`; None: outside."""
    said = [other for other in between if not other.is_block]
    levels = [depth for depth, other in enumerate(above) if _follows(token, other)]
    if said:
        levels = levels if token.number is not None else []
    fitting = [d for d in levels if token.indent is not None and above[d].indent == token.indent]
    if levels:
        return max(fitting or levels)
    last = above[-1]
    deeper = token.indent is not None and token.indent > (last.indent or 0)
    other_kind = (token.number is None) != (last.number is None)
    begins = token.number in {None, 1}
    nested = deeper or (other_kind and last.number is not None) or (token.number == 1 == len(above))
    return len(above) if begins and not said and nested else None


def _follows(token: _Token, before: _Token) -> bool:
    """Return whether an item is the next one behind another of the same list."""
    if token.number is None or before.number is None:
        apart = None not in (token.indent, before.indent) and token.indent != before.indent
        return token.number is before.number is None and not apart
    return token.number == before.number + 1


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
