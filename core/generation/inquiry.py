"""What an answer has to be about: the question, and the quote or turn it depends on."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.generation.base import GenerationTask
from core.generation.cues import Cue, cues_of, defined_term
from core.index.terms import TermStatistics
from core.models import ConversationTurn, gist_of
from core.text.sentences import sentences
from core.text.step_questions import StepsAsked, read_steps_asked

EncodeTerms = Callable[[str], Sequence[int]]
"""Returns the distinct term ids of a text: stemmed, without stop words."""

PREVIOUS_QUESTION = 0.5
PREVIOUS_ANSWER = 0.25
QUOTE = 0.5
"""What a word of these counts beside a word of the question itself."""
KEY_TERMS = 12
"""The rarest words of a quote are what it is about."""
LONGEST_EMBEDDED = 600
"""Characters of a quote or of an earlier question that are embedded."""
SAME = 0.8
"""Share of a text's terms that another has, from which it only says the same again."""

_GENERIC = re.compile(
    r"\b(?:explain|describe|define|definition|meaning|passage|paragraph|quote|examples?|"
    r"instances?|give|tell|show|elaborate|details?|again|another|answer|reasons?|many|much|"
    r"steps?|procedure|instructions?|understand|clarify|rephrase|simple(?:r)? (?:words|terms)|"
    r"(?:this|that|it) means?)\b",
    re.I,
)
_CONTINUES = re.compile(
    r"^\W*(?:and|but|so|or|then|why|how so|really|what about|how about|what else|more|another|"
    r"which one|such as|like what|in what way)\b(?!\s+(?:is|are|was|were|do|does|did|can|has|have)"
    r"\s+(?!it\b|they\b|that\b|this\b|these\b|those\b))",
    re.I,
)
_WANTS_MORE = re.compile(
    r"^\W*(?:and )?(?:(?:tell|give|show) (?:me |us )?)?"
    r"(?:(?:some|any) ?)?(?:more|another|what else|anything else|mehr|noch mehr|was noch)\b",
    re.I,
)
_REFERS_BACK = re.compile(
    r"\b(?:it|its|they|them|their|this|that|these|those|he|she|him|her|his|former|latter|"
    r"(?:first|second|third|last|other|same|right|wrong) one|ones|above|previous|instead)\b"
    r"|^\W*(?:give|show|name|tell) (?:me |us )?(?:an?|another|some|"
    r"more) (?:more )?(?:examples?|details?|reasons?)\W*$",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question as sentences are scored against it."""

    text: str
    weights: Mapping[int, float]
    """What each term counts; they sum to 1 unless there are none."""
    embedded: tuple[str, ...]
    """Texts whose mean vector stands for the question."""
    cues: frozenset[Cue] = frozenset()
    defines: frozenset[int] = frozenset()
    """The terms of X in "What is X?"."""
    explains: frozenset[int] = frozenset()
    """The key terms of a quote that is to be explained."""
    steps: StepsAsked | None = None
    """Which steps of a list are asked for; None: something else is."""
    given: tuple[frozenset[int], ...] = ()
    """The terms of each sentence that need not be said again."""
    named: frozenset[int] = frozenset()
    """What only the new question names; where nothing else speaks of it, `given` does so again."""

    def speaks_of_named(self, terms: frozenset[int]) -> bool:
        """Return whether half or more of what is newly named is among `terms`."""
        return bool(self.named) and len(self.named & terms) * 2 >= len(self.named)

    def coverage(self, terms: frozenset[int]) -> float:
        """Return the weight of the question's terms among `terms`, 0 to 1."""
        return sum(weight for term, weight in self.weights.items() if term in terms)


def read_inquiry(task: GenerationTask, encode_terms: EncodeTerms) -> Inquiry:
    """Return what the task asks, with the quote, turn or section that its question rests on."""
    own = own_terms(task.question, encode_terms)
    if task.selected_text is not None:
        inquiry = _about_quote(task, task.selected_text, own, encode_terms)
    elif task.history and continues(task.question, own):
        inquiry = _about_turn(task, task.history[-1], own, encode_terms)
    elif task.thread and continues(task.question, own):
        inquiry = _about_thread(task, own, encode_terms)
    elif task.section is not None and continues(task.question, own):
        inquiry = _about_section(task, task.section, own, encode_terms)
    else:
        terms = own or encode_terms(task.question)
        weights = _weigh([(terms, 1.0)], task.statistics)
        inquiry = Inquiry(task.question, weights, (task.question,))
    term = defined_term(task.question)
    return replace(
        inquiry,
        cues=cues_of(task.question),
        defines=frozenset(encode_terms(term)) if term else frozenset(),
        steps=read_steps_asked(task.question),
    )


def _about_quote(
    task: GenerationTask, quote: str, own: Sequence[int], encode_terms: EncodeTerms
) -> Inquiry:
    """Mix question and quote; without a question of its own, ask for what explains the quote."""
    key = _key_terms(quote, encode_terms, task.statistics)
    weights = _weigh([(own, 1.0), (key, QUOTE)], task.statistics)
    start = quote[:LONGEST_EMBEDDED]
    if own:
        return Inquiry(task.question, weights, (f"{task.question} {start}",))
    said = tuple(frozenset(encode_terms(sentence)) for sentence in sentences(quote))
    return Inquiry(task.question, weights, (start,), explains=frozenset(key), given=said)


def _about_turn(
    task: GenerationTask, turn: ConversationTurn, own: Sequence[int], encode_terms: EncodeTerms
) -> Inquiry:
    """Mix the question with the turn before it, whose answer need not be given again.

    What it said of a thing that only the new question names may answer where nothing else does.
    """
    said = [encode_terms(citation.quote) for citation in turn.agent_response.citations]
    asked = turn.user_input
    before = own_terms(asked, encode_terms)
    parts = [(own, 1.0), (before, PREVIOUS_QUESTION), *((one, PREVIOUS_ANSWER) for one in said)]
    named = frozenset() if _WANTS_MORE.match(task.question) else frozenset(own) - {*before}
    with_context = f"{asked[:LONGEST_EMBEDDED]} {task.question}"
    return Inquiry(
        task.question,
        _weigh(parts, task.statistics),
        (task.question, with_context),
        given=tuple(frozenset(one) for one in said),
        named=named,
    )


def _about_thread(task: GenerationTask, own: Sequence[int], encode_terms: EncodeTerms) -> Inquiry:
    """Mix the question with what people said before it in its thread."""
    said = gist_of(task.thread)
    before = [(own_terms(one, encode_terms), PREVIOUS_QUESTION) for one in said]
    return Inquiry(
        task.question,
        _weigh([(own, 1.0), *before], task.statistics),
        (task.question, " ".join([*said, task.question])),
    )


def _about_section(
    task: GenerationTask, section: str, own: Sequence[int], encode_terms: EncodeTerms
) -> Inquiry:
    """Mix the question with the section's heading, which a pronoun in it stands for."""
    heading = encode_terms(section)
    return Inquiry(
        task.question,
        _weigh([(own, 1.0), (heading, PREVIOUS_QUESTION)], task.statistics),
        (task.question, f"{section} {task.question}"),
    )


def own_terms(question: str, encode_terms: EncodeTerms) -> Sequence[int]:
    """Return the terms that say what the question is about, without words such as "explain"."""
    return encode_terms(defined_term(question) or _GENERIC.sub(" ", question))


def continues(question: str, own: Sequence[int]) -> bool:
    """Return whether the question needs the turn before it to be understood."""
    if not own or _CONTINUES.match(question) or _REFERS_BACK.search(question):
        return True
    return len(own) == 1 and defined_term(question) is None and len(question.split()) < 4


def _key_terms(quote: str, encode_terms: EncodeTerms, statistics: TermStatistics) -> Sequence[int]:
    terms = encode_terms(quote)
    rarity = statistics.rarity(terms)
    rarest = sorted(range(len(terms)), key=lambda i: -rarity[i])[:KEY_TERMS]
    return [terms[i] for i in sorted(rarest)]


def _weigh(
    parts: Sequence[tuple[Sequence[int], float]], statistics: TermStatistics
) -> dict[int, float]:
    """Return each term's share of the rarity of all; a term's largest factor counts."""
    factors: dict[int, float] = {}
    for terms, factor in parts:
        for term in terms:
            factors[term] = max(factor, factors.get(term, 0.0))
    rarity = statistics.rarity(list(factors))
    weights = {
        term: factor * float(rare)
        for (term, factor), rare in zip(factors.items(), rarity, strict=True)
    }
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}


def says_again(terms: frozenset[int], said: Sequence[frozenset[int]]) -> bool:
    """Return whether a text with these terms adds next to nothing to one already said."""
    return any(len(terms & other) >= SAME * max(1, len(terms)) for other in said)
