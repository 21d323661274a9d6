"""The questions that a model is asked about a claim and an answer, by kind of model."""

from dataclasses import dataclass

from core.grounding.judge.base import CitedClaim
from core.text.characters import visible

_ONE_WORD = "Answer with one word: yes or no."
_CLAIM = (
    "You check claims against a textbook's text. Answer yes if the text says what the claim says, "
    "also in other words. Answer no if the claim says anything that the text does not say, or "
    f"says otherwise. {_ONE_WORD}"
)
_CLAIM_GRADE = (
    "You check claims against a textbook's text. Give one grade from 0 to 10: 10 if the text "
    "surely says what the claim says, 0 if it does not say it or says otherwise."
)
_ANSWER = (
    "You judge answers to students' questions. Answer yes if the answer gives what the question "
    f"asks for, no if it is about something else. {_ONE_WORD}"
)
_ANSWER_GRADE = (
    "You judge answers to students' questions. Give one grade from 0 to 10: 10 if the answer "
    "surely gives what the question asks for, 0 if it is about something else."
)
_ASSIGNMENT = (
    "You see an assignment of a course, and a student's question. Answer yes if an answer to the "
    "question could be used in the student's solution of the assignment, in its own case or with "
    "other names and numbers, no if it is about another task or only about a general concept. "
    f"{_ONE_WORD}"
)
_TWO_QUESTIONS = (
    "You compare two questions of students. A teacher has answered the first one. Answer yes if "
    "this answer would be right and whole for the second question as well. Answer no if the second "
    "question differs in a number, a name, a negation, a direction, a condition or in what it asks "
    f"about. {_ONE_WORD}"
)
GRADE_ALONE = "Write the grade alone."
"""For a model that knows no JSON."""


@dataclass(frozen=True, slots=True)
class YesOrNo:
    """A question that a model answers in one word, or else with a grade."""

    system: str
    """The same for every question of its kind, so that a server reads it once; may be empty."""
    user: str
    graded: tuple[str, str] | None = None
    """Instruction and message that ask for a grade from 0 to 10; None: none is asked for."""


def checks_facts_alone(model: str) -> bool:
    """Return whether a model was trained to judge nothing but claims, by its name."""
    return "minicheck" in model.casefold()


def about_claim(claim: CitedClaim, model: str = "") -> YesOrNo:
    """Return the question whether the cited sentences say what a claim says.

    Claims about one text share its reading: the text stands first. A model that checks facts
    alone is asked as bespoke-minicheck was trained: Tang et al., MiniCheck (2024).
    """
    said = _on_one_line(claim.text)
    graded = f"Text: {_on_one_line(' '.join(claim.sentences))}\nClaim: {said}"
    title = " > ".join(claim.headings)
    lines = [title, *claim.sentences] if title else claim.sentences
    text = "\n".join(map(_on_one_line, lines))
    if checks_facts_alone(model):
        return YesOrNo("", f"Document: {text}\nClaim: {said}", (_CLAIM_GRADE, graded))
    asked = "Does the text say what the claim says? yes or no:"
    return YesOrNo(_CLAIM, f"Text:\n{text}\n\nClaim: {said}\n\n{asked}", (_CLAIM_GRADE, graded))


def about_answer(question: str, answer: str) -> YesOrNo:
    """Return the question whether an answer answers its question."""
    asked = f"Question: {question}\n\nAnswer: {answer}\n\nDoes it answer the question? yes or no:"
    return YesOrNo(_ANSWER, asked, (_ANSWER_GRADE, asked))


def about_assignment(question: str, assignment: str) -> YesOrNo:
    """Return the question whether a question belongs to an assignment."""
    told = f"Assignment: {_on_one_line(assignment)}\n\nQuestion: {_on_one_line(question)}"
    return YesOrNo(_ASSIGNMENT, f"{told}\n\nDoes the question belong to the assignment? yes or no:")


def about_two_questions(answered: str, answer: str, asked: str) -> YesOrNo:
    """Return the question whether the answer to one question would serve another."""
    told = f"First question: {_on_one_line(answered)}\n\nAnswer: {_on_one_line(answer)}"
    told = f"{told}\n\nSecond question: {_on_one_line(asked)}"
    return YesOrNo(_TWO_QUESTIONS, f"{told}\n\nWould the answer serve both? yes or no:")


def _on_one_line(text: str) -> str:
    """Return a text that cannot be taken for another line of the message."""
    return " ".join(visible(text).split())
