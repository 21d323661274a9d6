"""Fits the head that knows courtesy, and prints how it does; `--write` also writes the weights.

The lines of courtesy are written for the purpose; what is none are the parts of questions about
the shared books. Every fourth line is not fitted on.
"""

import asyncio
import re
from argparse import ArgumentParser
from pathlib import Path

import numpy as np

from core.retrieval.question.courtesy import SURE, WEIGHTS, courtesy
from tests.bench.corpora import read_corpora
from tests.bench.pointing.__main__ import embedded, fit

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
    vectors = await embedded([*POLITE, *plain], models)
    labels = np.array([1.0] * len(POLITE) + [0.0] * len(plain))
    held = np.arange(len(labels)) % 4 == 3
    head = fit(vectors[~held], labels[~held])
    sure = np.array(courtesy(vectors.astype(np.float32), head.astype(np.float32))) >= SURE
    polite = labels == 1
    print(
        f"held back: {sure[held & polite].mean():.2f} of {(held & polite).sum()} lines known, "
        f"{sure[held & ~polite].sum()} of {(held & ~polite).sum()} others taken for courtesy"
    )
    print("taken:", [plain[n - len(POLITE)] for n in np.flatnonzero(sure & ~polite)][:20])
    if write:
        np.save(WEIGHTS, fit(vectors, labels).astype(np.float16))


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
