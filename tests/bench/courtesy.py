"""Fits the heads that know courtesy, and prints how they do; `--write` also writes the weights.

The lines of courtesy are written for the purpose; what is none are the parts of questions about
the shared books. That a message is courtesy alone is also learned from the made-up chats, from
wishes to see an answer again, and from pleas, which say that there is a question. Every fourth
line is not fitted on.
"""

import asyncio
import re
from argparse import ArgumentParser
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adapters.attention.intents import Intent
from core.retrieval.question.courtesy import ALONE, AROUND, SURE, WEIGHTS, courtesy
from tests.bench.again import labelled
from tests.bench.asked import marked_rows
from tests.bench.corpora import read_corpora
from tests.bench.followups import ROWS
from tests.bench.pointing.__main__ import Floats, embedded, fit
from tests.bench.speaking.labelled import TRAIN, labelled_in

POLITE = """
hi
hello
hey
hi there!
hello everyone
hey all,
hi everyone!
hey guys
hi folks,
good morning
good evening everyone
good afternoon,
dear team
dear professor,
hello bot
hi Glossator!
hiya
greetings
howdy
hello again
hi, it's me again
thanks
thank you
thank you!
thanks a lot!
thanks so much
thanks in advance
thanks in advance!
many thanks
thank you very much
thank you in advance for your help
thanks for your help
thanks everyone
thx
ty
tia
cheers
cheers everyone
please
please help
pls
any help appreciated
any help would be appreciated
any help is much appreciated
I'd appreciate any help
much appreciated
sorry
sorry to bother you
sorry for the basic question
sorry if this is a dumb question
sorry if this was asked before
excuse me
apologies for the long question
quick question
quick question:
a quick question
just a quick question here
I have a question
I have a short question:
one more question
another question
stupid question
noob question
dumb question but
maybe a silly question
could you please tell me
could you tell me:
can you tell me
can you help me
can someone help me?
can anyone help?
could somebody explain please
I was wondering
I am wondering
I would like to know
I'd like to ask something
I want to ask you something
may I ask you something?
does anyone know
does somebody know this?
help
help me please
please help me out
I'm stuck
I am really stuck
I'm a bit confused
I'm lost here
I don't get it
I am new here
ok
okay
ok so
well
great
great, thanks
perfect, thank you
got it, thanks
cool
all the best
best regards
kind regards
best wishes
have a nice day
have a great day!
bye
see you
hope you are well
hope you're doing fine
hallo
hallo zusammen
guten morgen
guten tag
danke
vielen dank
danke im voraus
danke schön
bitte
liebe grüße
kurze frage
eine frage:
entschuldigung
kannst du mir sagen
könnt ihr mir helfen?
""".strip().splitlines()
PLEAS = frozenset(
    """
please
please help
pls
any help appreciated
any help would be appreciated
any help is much appreciated
I'd appreciate any help
sorry for the basic question
sorry if this is a dumb question
sorry if this was asked before
apologies for the long question
quick question
quick question:
a quick question
just a quick question here
I have a question
I have a short question:
one more question
another question
stupid question
noob question
dumb question but
maybe a silly question
could you please tell me
could you tell me:
can you tell me
can you help me
can someone help me?
can anyone help?
could somebody explain please
I was wondering
I am wondering
I would like to know
I'd like to ask something
I want to ask you something
may I ask you something?
does anyone know
does somebody know this?
help
help me please
please help me out
I'm stuck
I am really stuck
I'm a bit confused
I'm lost here
I don't get it
I am new here
well
bitte
kurze frage
eine frage:
kannst du mir sagen
könnt ihr mir helfen?
""".strip().splitlines()
)
"""Those lines of courtesy that a question comes with, or that ask for more of an answer."""
CLOSING = """
that helps
that helps a lot
that helped me a lot
that was helpful
this is very helpful
that makes sense
makes sense now
that is clear now
now I understand
now I get it
understood
all clear
awesome
wonderful
excellent
nice
very good
good answer
great answer
good bot
thank you bot
you are great
well done
nice one
never mind
no more questions
that's all
that was all
goodbye
good night
see you tomorrow
bye for now
how are you?
how are you doing?
how is it going?
nice to meet you
is anyone there?
are you there?
das hilft
das hilft mir sehr
das war hilfreich
super
super, danke
sehr gut
sehr gut, danke
toll
perfekt
genial
gut, danke
hi, ich bin es wieder
danke dir
danke, das hilft
prima
alles klar
verstanden
jetzt verstehe ich
tschüss
bis bald
bis morgen
schönen tag noch
gute nacht
guten abend
servus
moin
hi zusammen
wie geht es dir?
""".strip().splitlines()
"""What is said when an answer was read, or to begin with, and asks nothing."""
SUBJECTS = """
hello world
hello world program
a "hello, world" in C
thank you letters
a thank you letter
welcome page
the greeting function
greeting cards
good morning routine
best practice
best response
best regards in a letter
great depression
great powers
the good life
kind
kinds
nice values
cheers in parliament
okay signal
thanks to trade
thanksgiving
who are you?
what are you?
who is glad?
who is happy about it?
who is kind?
who was nice to him?
who thanks whom?
who welcomes it?
who greets them?
who likes that?
wer bist du?
wer freut sich darüber?
wer dankt wem?
das höchste Gut
nein
no
yes
}
};
""".strip().splitlines()
"""Subjects and questions that share words with courtesy, and marks."""
_PARTS = re.compile(r"(?<=[.!?,:;])\s+")
_MOST_WORDS = 8


async def _run(corpora_folder: Path, models: Path, *, write: bool) -> None:
    corpora = read_corpora(corpora_folder)
    if corpora is None:
        print(f"The corpora are not in {corpora_folder}: there is nothing to fit on.")
        return
    asked = [row.question for corpus in corpora.values() for row in corpus.questions]
    parts = {part for text in asked for part in _PARTS.split(text)}
    plain = sorted(part for part in parts if 0 < len(part.split()) <= _MOST_WORDS)[::2]
    heads = {AROUND: await _fitted(POLITE, plain, models), ALONE: await _alone(plain, models)}
    if write:
        np.save(WEIGHTS, np.array([heads[AROUND], heads[ALONE]], np.float16))


async def _alone(plain: list[str], models: Path) -> Floats:
    """Return the head that knows a message which asks nothing at all."""
    chats = [one for one in labelled_in(TRAIN) if len(one.line.text.split()) <= _MOST_WORDS]
    thanks = [one.line.text for one in chats if one.intent is Intent.THANKS]
    polite = [*(line for line in POLITE if line not in PLEAS), *CLOSING, *thanks]
    said = {line.casefold().strip("!. ") for line in polite}
    others = [one.line.text for one in chats if one.intent.is_for_the_bot]
    others += [line for line, _ in labelled()] + SUBJECTS
    others += [row.question for row in marked_rows(ROWS)]
    others = [line for line in others if len(line.split()) <= _MOST_WORDS]
    others = [line for line in others if line.casefold().strip("!. ") not in said]
    return await _fitted(polite, [*sorted(PLEAS), *others, *plain], models)


async def _fitted(polite: list[str], plain: list[str], models: Path) -> Floats:
    """Return the weights fitted on all lines, after the figures of every fourth were printed."""
    vectors = await embedded([*polite, *plain], models)
    labels = np.array([1.0] * len(polite) + [0.0] * len(plain))
    held = np.arange(len(labels)) % 4 == 3
    sure = _is_sure(vectors, fit(vectors[~held], labels[~held]))
    is_polite = labels == 1
    print(
        f"held back: {sure[held & is_polite].mean():.2f} of {(held & is_polite).sum()} lines "
        f"known, {sure[held & ~is_polite].sum()} of {(held & ~is_polite).sum()} others taken "
        "for courtesy"
    )
    print("taken:", [plain[n - len(polite)] for n in np.flatnonzero(sure & ~is_polite)][:20])
    return fit(vectors, labels)


def _is_sure(vectors: Floats, head: Floats) -> npt.NDArray[np.bool_]:
    chances = courtesy(vectors.astype(np.float32), head.astype(np.float32))
    return np.array(chances) >= SURE


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = ArgumentParser(prog="python -m tests.bench.courtesy", description=__doc__)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    parser.add_argument("--data", type=Path, default=Path(".glossator/bench"))
    parser.add_argument("--write", action="store_true", help="ship the weights")
    options = parser.parse_args()
    asyncio.run(_run(options.corpora, options.data / "models", write=options.write))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
