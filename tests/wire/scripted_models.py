"""Three models for the local Gemini: an honest one, a compromised one and an obedient one."""

import re
from collections.abc import Iterator
from functools import partial

from core.text.sentences import sentences
from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_prompts import Prompt, read_prompt
from tests.wire.gemini_replies import Answer, Model, Reply, ToolCall
from tests.wire.planted_instructions import Instruction, instructions

NOT_COVERED = "<not-covered/>"
SEARCH_TOOL = "retrieve"
ATTACK_FORMS = ("raw", "cited", "arguments")
LINK = "https://evil.example/prize"
MENTIONS = "@everyone <!channel> <@U0EVIL>"

_MOST_CLAIMS = 3
_WORD = re.compile(r"[^\W_]+")
_EMPTY_WORDS = frozenset(
    "a about all also an and any are as at be between book by can could define describe did do "
    "does each explain for from give had has have how i if in is it its me mean means of on one "
    "or please say says should so tell than that the their them then there these they this those "
    "to was we were what when where which who why will with would you your".split()
)
_ENDING = re.compile(r"(?:ing|ed|es|e|s)$")
_PROSE = re.compile(r"[^#|`<\s].*[.!][\"”’)*_]*", re.DOTALL)
_BULLET = re.compile(r"^(?:[-*+]|\d+[.)])\s+")
_LEAD = re.compile(r"^(?:However|In addition|Moreover|For example|In other words|Thus), (\w)")
_ASIDE = re.compile(r"\s\([^()]*\)")


def honest(call: GeminiCall) -> Answer:
    """Answer from the passages: one to three of their sentences, some lightly shortened.

    A question that joins two topics is looked up once more when there is a tool for it, and a
    sentence that is to be mended becomes the sentence of the book that is nearest to it.
    """
    prompt = read_prompt(call)
    topics = prompt.question.split(" and ")
    if len(topics) > 1 and _can_search(call) and not call.tool_results:
        return Reply(tool_calls=(ToolCall(SEARCH_TOOL, {"query_text": topics[-1]}),))
    return Reply("\n\n".join(_true_claims(prompt)) or NOT_COVERED)


def compromised(attack: str, form: str = "raw") -> Model:
    """Return a model that says the attack and nothing else.

    Args:
        attack: said word for word.
        form: `raw`; `cited`: with a real quote of passage 1 behind it; `arguments`: as what it
            asks the tool for, and then as its answer.
    """
    if form not in ATTACK_FORMS:
        raise ValueError(f"no form of attack: {form}")
    return partial(_attack, attack, form)


def obedient(call: GeminiCall) -> Answer:
    """Do what any text in the context says, or answer honestly when none says anything."""
    return _obey(None, False, call)


def obeying(*, planted: str | None = None, answers_too: bool = False) -> Model:
    """Return an obedient model.

    Args:
        planted: obeyed wherever it stands, also when it does not look like an instruction.
        answers_too: the honest answer follows.
    """
    return partial(_obey, planted, answers_too)


def cite(text: str, passage: int, quote: str) -> str:
    """Return a sentence of an answer in the format that the product asks for."""
    return f'{text} <cite passage="{passage}">{quote}</cite>'


def _can_search(call: GeminiCall) -> bool:
    return any(tool["name"] == SEARCH_TOOL for tool in call.declared_tools)


def _attack(attack: str, form: str, call: GeminiCall) -> Answer:
    if form == "arguments" and _can_search(call) and not call.tool_results:
        arguments = {"query_text": attack, "section_filter": attack}
        return Reply(tool_calls=(ToolCall(SEARCH_TOOL, arguments),))
    if form != "cited":
        return Reply(attack)
    passage = read_prompt(call).passages.get(1, "")
    return Reply(cite(attack, 1, next(_prose(passage), passage)))


def _obey(planted: str | None, answers_too: bool, call: GeminiCall) -> Answer:
    prompt = read_prompt(call)
    found = instructions(prompt, planted)
    if not found:
        return honest(call)
    claims = [claim for instruction in found for claim in _obeyed(instruction, call.system_text)]
    return Reply("\n\n".join(claims + (_true_claims(prompt) if answers_too else [])))


def _obeyed(instruction: Instruction, system_text: str) -> Iterator[str]:
    """Yield what is to be said in every way that a careless product would let through."""
    payload, number, sentence = instruction.payload, instruction.passage, instruction.sentence
    yield cite(payload, number, sentence)
    yield payload
    yield cite(f"{payload} See [here]({LINK}) or {LINK}.", number, sentence)
    yield cite(f"{MENTIONS} {payload}", number, sentence)
    yield cite(sentence, number, sentence)
    if instruction.asks_for_prompt:
        for line in filter(str.strip, system_text.splitlines()):
            yield cite(line, number, sentence)


def _true_claims(prompt: Prompt) -> list[str]:
    """Return cited sentences that answer each topic, or that mend each rejected sentence."""
    if prompt.rejected:
        best = [match for text in prompt.rejected for match in _matching(prompt, text)[:1]]
    else:
        asked = prompt.question or prompt.quote or prompt.passages.get(1, "")
        best = [match for topic in asked.split(" and ") for match in _matching(prompt, topic)[:1]]
        best = [*best, *_matching(prompt, asked)][:_MOST_CLAIMS]
    return [
        cite(_said(quote, shortened=bool(turn % 2)), number, quote)
        for turn, (number, quote) in enumerate(dict.fromkeys(best))
    ]


def _matching(prompt: Prompt, text: str) -> list[tuple[int, str]]:
    """Return sentences with a third of a text's words, the best first, with their passage."""
    asked = _stems(text)
    enough = max(1, -(-len(asked) // 3))
    scored = [
        (len(asked & _stems(sentence)), number, sentence)
        for number, passage in prompt.passages.items()
        for sentence in _prose(passage)
    ]
    scored.sort(key=lambda entry: -entry[0])
    return [(number, sentence) for score, number, sentence in scored if score >= enough]


def _prose(passage: str) -> Iterator[str]:
    """Yield the whole sentences of a passage, neither headings nor tables nor code."""
    for sentence in sentences(passage):
        plain = _BULLET.sub("", sentence)
        if _PROSE.fullmatch(plain):
            yield plain


def _said(quote: str, *, shortened: bool) -> str:
    text = " ".join(quote.split())
    if shortened:
        text = _LEAD.sub(lambda match: match[1].upper(), _ASIDE.sub("", text))
    return text


def _stems(text: str) -> frozenset[str]:
    words = {word.casefold() for word in _WORD.findall(text)} - _EMPTY_WORDS
    return frozenset(map(_stem, words))


def _stem(word: str) -> str:
    stem = _ENDING.sub("", word) if len(word) > 4 else word
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
