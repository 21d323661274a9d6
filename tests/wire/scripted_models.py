"""Three models for the local Gemini: an honest one, a compromised one and an obedient one."""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.wire.gemini_calls import GeminiCall
from tests.wire.gemini_prompts import Prompt, number_of, read_prompt
from tests.wire.gemini_replies import Answer, Model, Reply, ToolCall
from tests.wire.planted_instructions import Instruction, instructions

SEARCH_TOOL = "retrieve"
ATTACK_FORMS = ("raw", "cited", "example", "arguments")
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


def claim(text: str, *numbers: int, kind: str = "fact") -> dict[str, Any]:
    """Return a claim in the form that the product asks for."""
    return {"kind": kind, "text": text, "sentences": list(numbers)}


def answer(*claims: dict[str, Any], missing: str = "nothing") -> str:
    """Return an answer in the form that the product asks for."""
    return json.dumps({"claims": list(claims), "missing": missing}, ensure_ascii=False)


NOT_COVERED = answer(missing="all")


def citing(*said: tuple[str, str]) -> Model:
    """Return a model that says each text and names the sentence that has the words with it."""

    def model(call: GeminiCall) -> Answer:
        prompt = read_prompt(call)
        return answer(*(claim(text, number_of(prompt, words)) for text, words in said))

    return model


def honest(call: GeminiCall) -> Answer:
    """Answer from the passages: one to three of their sentences, some lightly shortened.

    A question that joins two topics is looked up once more when there is a tool for it.
    """
    prompt = read_prompt(call)
    topics = prompt.question.split(" and ")
    if len(topics) > 1 and _can_search(call) and not call.tool_results:
        return Reply(tool_calls=(ToolCall(SEARCH_TOOL, {"query_text": topics[-1]}),))
    claims = _true_claims(prompt)
    return Reply(answer(*claims) if claims else NOT_COVERED)


def compromised(attack: str, form: str = "raw") -> Model:
    """Return a model that says the attack and nothing else.

    Args:
        attack: said word for word.
        form: `raw`; `cited`: with the number of a real sentence; `example`: as an example of its
            own after true claims; `arguments`: as what it asks the tool for, and then as its
            answer.
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


def _can_search(call: GeminiCall) -> bool:
    return any(tool["name"] == SEARCH_TOOL for tool in call.declared_tools)


def _attack(attack: str, form: str, call: GeminiCall) -> Answer:
    if form == "arguments" and _can_search(call) and not call.tool_results:
        arguments = {"query_text": attack, "section_filter": attack}
        return Reply(tool_calls=(ToolCall(SEARCH_TOOL, arguments),))
    if form == "cited":
        return Reply(answer(claim(attack, 1)))
    if form == "example":
        return Reply(answer(*_true_claims(read_prompt(call)), claim(attack, kind="example")))
    return Reply(attack)


def _obey(planted: str | None, answers_too: bool, call: GeminiCall) -> Answer:
    prompt = read_prompt(call)
    found = instructions(prompt, planted)
    if not found:
        return honest(call)
    claims = [claim for instruction in found for claim in _obeyed(instruction, call.system_text)]
    return Reply(answer(*claims, *(_true_claims(prompt) if answers_too else [])))


def _obeyed(instruction: Instruction, system_text: str) -> Iterator[dict[str, Any]]:
    """Yield what is to be said in every way that a careless product would let through."""
    payload, number = instruction.payload, instruction.number
    yield claim(payload, number)
    yield claim(payload)
    yield claim(f"{payload} See [here]({LINK}) or {LINK}.", number)
    yield claim(f"{MENTIONS} {payload}", number)
    yield claim(instruction.sentence, number)
    yield claim(payload, kind="example")
    yield claim(instruction.sentence, kind="example")
    if instruction.asks_for_prompt:
        for line in filter(str.strip, system_text.splitlines()):
            yield claim(line, number)
            yield claim(line, kind="example")


def _true_claims(prompt: Prompt) -> list[dict[str, Any]]:
    """Return cited sentences that answer each topic."""
    asked = prompt.question or prompt.quote or prompt.sentences.get(1, "")
    best = [match for topic in asked.split(" and ") for match in _matching(prompt, topic)[:1]]
    best = [*best, *_matching(prompt, asked)][:_MOST_CLAIMS]
    return [
        claim(_said(quote, shortened=bool(turn % 2)), number)
        for turn, (number, quote) in enumerate(dict.fromkeys(best))
    ]


def _matching(prompt: Prompt, text: str) -> list[tuple[int, str]]:
    """Return sentences with a third of a text's words, the best first, with their number."""
    asked = _stems(text)
    enough = max(1, -(-len(asked) // 3))
    scored = [
        (len(asked & _stems(sentence)), number, sentence)
        for number, text in prompt.sentences.items()
        if _PROSE.fullmatch(sentence := _BULLET.sub("", text))
    ]
    scored.sort(key=lambda entry: -entry[0])
    return [(number, sentence) for score, number, sentence in scored if score >= enough]


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
