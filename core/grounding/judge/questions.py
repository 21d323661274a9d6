"""The questions that a model is asked about a claim and an answer, by kind of model."""

import re
from dataclasses import dataclass

from core.grounding.judge.base import CitedClaim
from core.text.characters import visible

_FIELD = re.compile(r"\{(text|claim)\}")

_RULE = (
    "You check claims against a textbook's text. Answer yes if the text says what the claim says, "
    "also in other words. Answer no if the claim says anything that the text does not say, or "
    "says otherwise. Answer with one word: yes or no."
)


@dataclass(frozen=True, slots=True)
class Template:
    """How a kind of model is asked whether a text says what a claim says."""

    system: str
    """The same for every claim, so that a server reads it once; empty: no system message."""
    user: str
    """With `{text}` and `{claim}`, in this order: claims about one text share its reading."""

    def fill(self, claim: CitedClaim) -> str:
        """Return the message about a claim: titles in one line, then the cited sentences."""
        title = " > ".join(claim.headings)
        lines = [title, *claim.sentences] if title else claim.sentences
        filled = {"text": "\n".join(map(_on_one_line, lines)), "claim": _on_one_line(claim.text)}
        return _FIELD.sub(lambda field: filled[field[1]], self.user)


def _on_one_line(text: str) -> str:
    """Return a text that cannot be taken for another line of the message."""
    return " ".join(visible(text).split())


CHAT = Template(
    _RULE, "Text:\n{text}\n\nClaim: {claim}\n\nDoes the text say what the claim says? yes or no:"
)
"""For any model that follows instructions."""
FACT_CHECKER = Template("", "Document: {text}\nClaim: {claim}")
"""As bespoke-minicheck was trained: Tang et al., MiniCheck (2024)."""
RELEVANCE = (
    "You judge answers to students' questions. Answer yes if the answer gives what the question "
    "asks for, no if it is about something else. Answer with one word: yes or no."
)
BELONGING = (
    "You see an assignment of a course, and a student's question. Answer yes if an answer to the "
    "question could be used in the student's solution of the assignment, in its own case or with "
    "other names and numbers, no if it is about another task or only about a general concept. "
    "Answer with one word: yes or no."
)
ONE_ANSWER = (
    "You compare two questions of students. A teacher has answered the first one. Answer yes if "
    "this answer would be right and whole for the second question as well. Answer no if the second "
    "question differs in a number, a name, a negation, a direction, a condition or in what it asks "
    "about. Answer with one word: yes or no."
)
_GRADE = (
    "You check claims against a textbook's text. Give one grade from 0 to 10: 10 if the text "
    "surely says what the claim says, 0 if it does not say it or says otherwise."
)
GRADE_ALONE = "Write the grade alone."
"""For a model that knows no JSON."""
RELEVANCE_GRADE = (
    "You judge answers to students' questions. Give one grade from 0 to 10: 10 if the answer "
    "surely gives what the question asks for, 0 if it is about something else."
)


def template_for(model: str) -> Template:
    """Return the template that a model of this name was trained with, else the general one."""
    return FACT_CHECKER if "minicheck" in model.casefold() else CHAT


def about_answer(question: str, answer: str) -> str:
    """Return the message that asks whether an answer answers its question."""
    return f"Question: {question}\n\nAnswer: {answer}\n\nDoes it answer the question? yes or no:"


def about_assignment(question: str, assignment: str) -> str:
    """Return the message that asks whether a question belongs to an assignment."""
    return (
        f"Assignment: {_on_one_line(assignment)}\n\nQuestion: {_on_one_line(question)}\n\n"
        "Does the question belong to the assignment? yes or no:"
    )


def about_two_questions(answered: str, answer: str, asked: str) -> str:
    """Return the message that asks whether the answer to one question would serve another."""
    return (
        f"First question: {_on_one_line(answered)}\n\nAnswer: {_on_one_line(answer)}\n\n"
        f"Second question: {_on_one_line(asked)}\n\nWould the answer serve both? yes or no:"
    )


def grade_of(claim: CitedClaim) -> tuple[str, str]:
    """Return the instruction and the message that have a claim graded."""
    text = _on_one_line(" ".join(claim.sentences))
    return _GRADE, f"Text: {text}\nClaim: {_on_one_line(claim.text)}"
