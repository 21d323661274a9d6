"""Which questions ask for steps, and for which of them."""

import pytest

from core.text.step_questions import LAST, StepsAsked, names_no_subject, read_steps_asked

ALL = StepsAsked()
PERHAPS = StepsAsked(plainly=False)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("How do I sharpen a chisel?", ALL),
        ("How to bleed the brake", ALL),
        ("How is the stove started?", ALL),
        ("Explain how to cook lentils.", ALL),
        ("Can you tell me how to cook lentils?", ALL),
        ("I want to know how to cook lentils.", ALL),
        ("The chisel is blunt. How should one best sharpen it?", ALL),
        ("If the pot is burnt, how can I clean it?", ALL),
        ("When the pot is burnt what should I do?", ALL),
        ("How do I set up two step verification?", ALL),
        ("What are the steps for bleeding the brake?", ALL),
        ("What is the procedure for an oil change?", ALL),
        ("What is the emergency procedure?", ALL),
        ("What are the exact assembly instructions for the shelf?", ALL),
        ("List the steps of an oil change.", ALL),
        ("Which steps are needed to start the stove?", ALL),
        ("Give me the instructions for the brake.", ALL),
        ("Instructions for the brake, please", ALL),
        ("Explain the oil change step by step", ALL),
        ("What should I do when the pot is burnt?", ALL),
        ("What can I do if the water is cloudy?", ALL),
        ("What has to be done after a spill?", ALL),
        ("Walk me through the oil change.", ALL),
        ("Wie wechsle ich das Wasser?", ALL),
        ("Wie kann man den Filter reinigen?", ALL),
        ("Wie wird der Filter gereinigt?", ALL),
        ("Was muss ich bei einem Leck tun?", ALL),
        ("Was sind die Schritte beim Wasserwechsel?", ALL),
        ("Zeig mir die Anleitung für den Filter", ALL),
        ("Comment nettoyer le filtre ?", ALL),
        ("Comment dois-je nettoyer le filtre ?", ALL),
        ("¿Cómo limpiar el filtro?", ALL),
        ("¿Cómo puedo limpiar el filtro?", ALL),
        ("Come pulire il filtro?", ALL),
        ("Come posso pulire il filtro?", ALL),
        ("What is the first step when there is a leak?", StepsAsked(place=1)),
        ("What is the second safety step?", StepsAsked(place=2)),
        ("What do I do in step 12?", StepsAsked(number=12)),
        ("What does step two say?", StepsAsked(number=2)),
        ("Step 0", StepsAsked(number=0)),
        ("What is the 3rd step?", StepsAsked(place=3)),
        ("What is the last step of bleeding the brake?", StepsAsked(place=LAST)),
        ("What do I do first when the alarm rings?", StepsAsked(place=1)),
        ("When the alarm rings, what should I do last?", StepsAsked(place=LAST)),
        ("What happens first in a trial?", StepsAsked(place=1, plainly=False)),
        ("Was ist der letzte Schritt beim Wasserwechsel?", StepsAsked(place=LAST)),
        ("Was ist der 3. Schritt?", StepsAsked(place=3)),
        ("Was ist Schritt 4?", StepsAsked(number=4)),
        ("What is the next step?", StepsAsked(beside=1)),
        ("What should I do next?", StepsAsked(beside=1)),
        ("Was mache ich als nächstes?", StepsAsked(beside=1)),
        (
            "What do I do after I closed the valve?",
            StepsAsked(beside=1, words="I closed the valve"),
        ),
        ("What is the step before rinsing?", StepsAsked(beside=-1, words="rinsing")),
        ("What comes after step 2 of baking bread?", StepsAsked(number=2, beside=1)),
        ("What do I do after step 2 of baking bread?", StepsAsked(number=2, beside=1)),
        ("Which step comes before step 3 of baking bread?", StepsAsked(number=3, beside=-1)),
        ("What follows the second step?", StepsAsked(place=2, beside=1)),
        ("What has to be done after step 2?", StepsAsked(number=2, beside=1)),
        ("Was kommt nach Schritt 2?", StepsAsked(number=2, beside=1)),
        (
            "What comes after the Middle Ages?",
            StepsAsked(beside=1, words="the Middle Ages", plainly=False),
        ),
    ],
)
def test_a_question_for_steps_is_read(question: str, asked: StepsAsked) -> None:
    assert read_steps_asked(question) == asked


@pytest.mark.parametrize(
    "question",
    [
        "How does the brake work?",
        "How do plants make sugar?",
        "How do first aiders stop bleeding?",
        "How does a bill become law?",
        "How can a cell divide?",
        "How do last wills work?",
        "Wie funktioniert die Bremse?",
    ],
)
def test_a_how_of_something_that_happens_is_no_plain_question_for_steps(question: str) -> None:
    assert read_steps_asked(question) == PERHAPS


WHO_WHAT_WHERE = [
    "Who introduced the procedure of lumbar puncture?",
    "Who signs the instructions for the lumbar puncture?",
    "Who approves the procedure?",
    "Who can explain how to cook lentils?",
    "Where are the instructions?",
    "Where do the steps lead to?",
    "When was the procedure introduced?",
    "When do I take the second step?",
    "Why is the brake bled?",
    "Why do I knead the dough in step 2 of baking bread?",
    "Why are there three steps?",
    "Which tool do I need for step 3?",
    "What is a chisel?",
    "What is civil procedure?",
    "What is the Criminal Procedure Act?",
    "What is the procedure called?",
    "What is a step in a staircase?",
    "What are baby steps?",
    "What are instructions?",
    "What is the most common risk of the procedure of lumbar puncture?",
    "What is the purpose of the instructions?",
    "What is the penalty for ignoring the instructions of a policeman?",
    "What was the first peace step?",
    "What is the last step pyramid that was built?",
    "What does two step verification keep out?",
    "What do first aiders do about bleeding?",
    "What do plants do at night?",
    "What did he do first?",
    "Do I need two step authentication?",
    "Is one small step enough?",
    "Does the first step hurt?",
]
HOW = [
    "How long do I wait when sharpening?",
    "How much oil do I need?",
    "How many steps are there in the tower?",
    "How often do I change the water?",
    "How hot should I bake the loaf?",
    "How long does the lumbar puncture procedure take?",
    "How safe is the procedure?",
    "How come the instructions are wrong?",
    "How about the instructions?",
    "How do I know that the loaf is done?",
    "How can you tell that the dough is ready?",
    "How do we call this?",
    "How do you spell the word?",
    "How do you best recognise a stroke?",
    "How are the children?",
    "How is the breastbone of children?",
    "How is green light different?",
    "How is this bacterium called?",
    "How is inflation defined?",
    "How was the bridge built?",
    "How did the war begin?",
    "How did people travel in 1800?",
    "How does a virus differ from a bacterium?",
    "How do the two methods compare?",
]
OTHER_LANGUAGES = [
    "Wie lange kocht die Suppe?",
    "Wie viele Stufen hat der Turm?",
    "Wie viele Schritte hat die Anleitung?",
    "Wie nennt man die Bakterien im Filter?",
    "Wie werden die Bakterien im Filter genannt?",
    "Wie erkenne ich, dass der Teig fertig ist?",
    "Wie heißt der erste Schritt?",
    "Wie wird das Wetter?",
    "Wie geht es den Kindern?",
    "Wie lange muss ich warten?",
    "Wer hat das Vorgehen eingeführt?",
    "Wo steht die Anleitung?",
    "Warum kommt Schritt 2 vor Schritt 3?",
    "Was nennt man Nitrosomonas?",
    "Comment s'appelle la bactérie du filtre ?",
    "Comment reconnaître une fracture ?",
    "Comment vivent les abeilles ?",
    "Qui a écrit les instructions ?",
    "¿Cómo se llama la bacteria?",
    "¿Cómo viven las abejas?",
    "¿Quién escribió las instrucciones?",
    "Come si chiama il batterio?",
    "Come vivono le api?",
    "Chi ha scritto le istruzioni?",
]


@pytest.mark.parametrize("question", [*WHO_WHAT_WHERE, *HOW, *OTHER_LANGUAGES])
def test_a_question_for_something_else_is_not_one_for_steps(question: str) -> None:
    assert read_steps_asked(question) is None


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("What are the steps?", True),
        ("What are all three steps?", True),
        ("What is the first step?", True),
        ("What is step 3?", True),
        ("How do I do it?", True),
        ("List the steps.", True),
        ("Was sind die Schritte?", True),
        ("Was ist der nächste Schritt?", True),
        ("What are the steps for the brake?", False),
        ("How do I do the laundry?", False),
        ("What is the emergency procedure?", False),
        ("What are the safety instructions?", False),
        ("assembly instructions", False),
        ("What is the bail procedure?", False),
        ("Was sind die Backschritte?", False),
        ("Was sind die wichtigen Schritte?", False),
    ],
)
def test_steps_of_nothing_are_asked_of_the_section_at_hand(question: str, alone: bool) -> None:
    assert names_no_subject(question) is alone
