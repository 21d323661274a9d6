"""What is asked, without the courtesy around it; a polite word that is the topic stays."""

import re

import pytest

from core.models import EXPLAIN_QUOTE
from core.text import courtesy
from core.text.courtesy import asked_plainly
from tests.patterns import at_most, patterns_of


def nothing(words: str) -> bool:
    return False


def everything(words: str) -> bool:
    return True


@pytest.mark.parametrize(
    "question",
    [
        "What is tessin, please?",
        "What is tessin? Thanks!",
        "What is tessin?\n\nThank you so much in advance :)\nAnna",
        "What is tessin? Any help would be appreciated!",
        "Hi! What is tessin?",
        "Good morning everyone,\n\nwhat is tessin?\n\nBest regards, Anna",
        "Hi Professor Miller, what is tessin?",
        "Dear Prof. Miller,\nwhat is tessin?",
        "hey bot what is tessin?",
        "Could you please tell me what tessin is?",
        "can anyone tell me what tessin is, please? thx",
        "Does anybody know what tessin is?",
        "I was wondering if you could tell me what tessin is.",
        "i'd like to know what tessin is",
        "Quick question: what is tessin?",
        "sorry if this is a dumb question but what is tessin?",
        "Sorry to bother you again, what is tessin?",
        "This might be a stupid question, but what is tessin?",
        "Ok so what is tessin?",
        "Great, thanks! What is tessin?",
        "Excuse me, what is tessin, please, guys?",
        "whats tessin?",
    ],
)
def test_courtesy_is_no_part_of_what_is_asked(question: str) -> None:
    plain = asked_plainly(question, everything)
    assert plain.casefold().removesuffix("?") == "what is tessin"


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        (
            "Hi there, how do I make a backup, please? Thanks in advance!",
            "how do I make a backup?",
        ),
        ("Could you explain tessin, please?", "explain tessin?"),
        ("I was wondering how much a permit costs", "how much a permit costs"),
        ("Hello, does anyone know what tessin means?", "what does tessin mean?"),
        ("Hallo zusammen, kann mir jemand sagen, was Tessin ist? Danke!", "was ist Tessin?"),
        ("Sorry für die dumme Frage, aber was kostet das?", "was kostet das?"),
        ("Könntet ihr mir bitte erklären, wie man webt?", "wie man webt?"),
        ("Kurze Frage: was ist Tessin? Vielen Dank im Voraus", "was ist Tessin?"),
        ("Hi, what does tessin mean?", "what does tessin mean?"),
        ("Can you tell me what year it was?", "what year it was?"),
        ("Why say “tessin?” Thanks!", "Why say “tessin?”"),
        ("Hi, and why?", "and why?"),
        ("Can you give an example, please?", "give an example?"),
    ],
)
def test_what_is_asked_stays_as_it_is_worded(question: str, plain: str) -> None:
    assert asked_plainly(question, everything) == plain


@pytest.mark.parametrize(
    "question",
    [
        "What does 'please' do in INTERCAL?",
        'What does INTERCAL mean by "please"?',
        "What is the difference between hello and please?",
        "How do I say thank you in Ardo?",
        "What is a thanks clause?",
        "What does hello world print?",
        "Hello, world!",
        "Who is Hi?",
        "hello.py what does it print?",
        "Liebe, was ist das?",
        "Why does Mill say sorry?",
        "Can you keep bees in the town?",
        "Can anyone keep bees?",
        "Would someone who keeps bees pay?",
        "Please is what kind of keyword?",
        "Quick sort: how many comparisons does it need?",
        "Thanks to whom did the guild grow?",
        "Do you know the fee?",
        "What is shown where the beam shows up?",
        EXPLAIN_QUOTE,
    ],
)
def test_a_polite_word_that_is_asked_about_stays(question: str) -> None:
    assert asked_plainly(question, nothing) == question


@pytest.mark.parametrize("question", ["Hi", "Hi there!", "thanks", "Thank you so much!", "Please?"])
def test_courtesy_alone_is_left_as_it_is(question: str) -> None:
    assert asked_plainly(question, nothing) == question


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("What is tessin please?", "What is tessin?"),
        ("what is tessin thanks", "what is tessin"),
        ("Hello is tessin a yarn?", "is tessin a yarn?"),
        ("please fees of a permit", "fees of a permit"),
    ],
)
def test_where_nothing_parts_them_the_books_own_words_stay(question: str, plain: str) -> None:
    assert asked_plainly(question, nothing) == plain
    assert asked_plainly(question, everything) == question


REPEATED = ("hi ", "please, ", "thanks! ", "sorry if this ", "\n ", "....", "? ", "i was ")


@pytest.mark.parametrize(
    ("question", "of_the_book", "plain"),
    [
        ("Hello Kitty, who owns it?", "Kitty", "who owns it?"),
        ("Hey Jude, who wrote it?", "Jude", "who wrote it?"),
        ("Liebe Sünde, was ist das?", "Sünde", "was ist das?"),
        ("Hi Anna Miller, team, what is it?", "Anna Miller", "what is it?"),
        ("Help, what does it print?", "help", "what does it print?"),
        ("Does it bind judges, clerks, folks?", "folks", "Does it bind judges, clerks?"),
        ("Who does the rule apply to, Professor?", "professor", "Who does the rule apply to?"),
    ],
)
def test_who_is_addressed_stays_where_the_book_is_about_them(
    question: str, of_the_book: str, plain: str
) -> None:
    def of_book(words: str) -> bool:
        return words.strip().casefold() == of_the_book.casefold()

    assert asked_plainly(question, nothing) == plain
    assert asked_plainly(question, of_book) == question


@pytest.mark.parametrize("title", ["Professor", "Prof.", "Dr."])
def test_whoever_is_addressed_by_a_title_is_no_topic(title: str) -> None:
    assert asked_plainly(f"Dear {title} Miller, what is it?", everything) == "what is it?"


def test_everyone_at_the_end_of_a_list_stays() -> None:
    question = "Does the vote include women, men, everyone?"
    assert asked_plainly(question, nothing) == question


@pytest.mark.parametrize(
    "asked",
    [
        "what makes a contract void and what the consequences are?",
        "what happens when the value is",
        "what causes rust and where rust is",
        "what the law says the rights of tenants are",
        "what the fee is and what the deadlines are",
        "what the guild does when the price is",
        "was ein Vertrag und was ein Angebot ist",
    ],
)
def test_several_sentences_keep_their_order(asked: str) -> None:
    assert asked_plainly(f"Hi, could you tell me {asked}", nothing) == asked


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("what supply and demand are", "what are supply and demand?"),
        ("who the person who does the weaving is", "who is the person who does the weaving?"),
        ("what the fees that were owed are", "what are the fees that were owed?"),
        ("what the UN and WHO are", "what are the UN and WHO?"),
        ("what a will is", "what is a will?"),
    ],
)
def test_one_topic_is_asked_for_directly(asked: str, plain: str) -> None:
    assert asked_plainly(f"Could you tell me {asked}", nothing) == plain


@pytest.mark.parametrize(
    "question",
    [
        "hi guys, " + "guys, " * 160 + "x",
        "please " + "you! " * 190 + "x",
        "What is a heap? thanks" + "\n" * 900 + "x",
        "What is a heap? thanks" + " \n!" * 300 + "x",
        "sorry" + " ,a" * 320,
        "x " + "thanks " * 140,
        "x" + "…" * 990,
        *((piece * 999)[:998] + "x" for piece in REPEATED),
    ],
)
def test_whoever_is_polite_without_end_keeps_nobody_waiting(question: str) -> None:
    with at_most(seconds=0.5):
        asked_plainly(question, nothing)


POLITE_WORDS = sorted(
    {
        word
        for pattern in patterns_of(courtesy).values()
        for word in re.findall(r"[^\W\d_]+(?:[ '][^\W\d_]+)*", pattern.pattern)
    }
)


@pytest.mark.parametrize(
    "before", ["", "Hi, ", "sorry ", "can you ", "I was wondering ", "What is it? thanks "]
)
def test_a_polite_word_said_again_and_again_keeps_nobody_waiting(before: str) -> None:
    others = [*POLITE_WORDS[1:], "?"]
    with at_most(seconds=2):
        for word, other in zip(POLITE_WORDS, others, strict=True):
            for said in (f"{word} ", f"{word}, ", f"{word} {other} "):
                for end in ("xyz", "?"):
                    question = before + said * (100 // len(said)) + end
                    asked_plainly(question, nothing)
