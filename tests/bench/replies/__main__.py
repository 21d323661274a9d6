"""What is shown of frozen replies of a strong model's hand: `python -m tests.bench.replies`.

The replies go through the product as it is, with a judge that says yes to everything, so that what
code takes out is seen alone (`--judge yes`), or with a model at any server of chat completions
(`--judge NAME --base-url URL`). Falsehoods, each a true claim with one thing changed, go the same
way one by one; the mark of each book is fitted on the other one. `--memory FILE` keeps what the
judge said, and a run that was ended goes on where it was. `--show FILE` writes each reply next to
what a student sees of it, for blind readers. `--prompts FOLDER` writes the prompts instead, and
`--freeze FOLDER` takes FOLDER/replies.jsonl, written to them by number, into the repository.
"""

import asyncio
import json
import logging
import os
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.answering.grounding.judge import MARK
from core.answering.writers.base import ClaimKind
from core.providers.capabilities import SettingNames
from core.providers.guarded import GuardedModel
from core.providers.openai import OpenAIClient, OpenAIWire
from core.providers.pacing import Timeouts
from tests.bench.asked import arguments, corpora_of
from tests.bench.corpora import ECONOMICS, RUST, Corpus
from tests.bench.replies import frozen
from tests.bench.replies.asking import Asking, asking
from tests.bench.replies.figures import (
    Replayed,
    Trial,
    apart,
    fates_of,
    faults,
    passed,
    report,
    trial_report,
)
from tests.bench.replies.frozen import FrozenClaim, FrozenReply, Question, Sentences
from tests.bench.replies.scripted import Memory, RememberingJudge, YesModel

_BOOKS = (ECONOMICS, RUST)
_PATIENCE = 600.0
"""Seconds of one call of the judge."""


@contextmanager
def taken_out() -> Iterator[list[str]]:
    """Yield a list that learns why claims are taken out, as the product logs it."""
    whys: list[str] = []

    class Listening(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno == logging.DEBUG and record.args:
                whys.append(str(record.args[0] if isinstance(record.args, tuple) else ""))

    logger, listening = logging.getLogger("core.answering.checks"), Listening()
    level, logger.propagate = logger.level, False
    logger.setLevel(logging.DEBUG)
    logger.addHandler(listening)
    try:
        yield whys
    finally:
        logger.removeHandler(listening)
        logger.setLevel(level)
        logger.propagate = True


async def replayed(
    product: Asking,
    judge: RememberingJudge,
    question: Question,
    reply: FrozenReply,
    only: int | None = None,
    instead: Mapping[int, str] | None = None,
) -> Replayed:
    """Return what becomes of a reply, or of one claim of it, with false claims in their place."""
    writer = product.writer
    writer.say(reply, only, instead)
    judge.begin()
    product.judge = judge
    with taken_out() as whys:
        response = await product.ask(question)
    drafts = len(writer.prompts)
    whys = whys[: len(whys) // max(drafts, 1)]  # a second draft says the same as the first
    fates = fates_of(question, writer.claims, response, whys, judge.asked)
    refused, tokens = reply.missing != "nothing", (writer.tokens, judge.tokens)
    return Replayed(question, fates, response, refused, drafts, writer.lacking, tokens)


def judge_of(options: Namespace, mark: float) -> RememberingJudge:
    """Return the judge that is named, with a mark."""
    if options.judge == "yes":
        return RememberingJudge(YesModel(), mark=mark)
    names = SettingNames("JUDGE_KEY", "--judge", "--base-url")
    client = OpenAIClient(
        os.environ.get("JUDGE_KEY"), base_url=options.base_url, names=names, timeout=_PATIENCE
    )
    wire = OpenAIWire(client, options.model or options.judge)
    model = GuardedModel(wire, timeouts=Timeouts(_PATIENCE, _PATIENCE))
    return RememberingJudge(
        model,
        is_asked=not options.known,
        mark=mark,
        wait=_PATIENCE,
        together=options.together,
        memory=Memory(options.memory),
    )


async def _replay(product: Asking, options: Namespace) -> None:
    known, judge = frozen.replies(), judge_of(options, options.mark)
    asked = [
        one
        for book in _BOOKS
        for one in [q for q in frozen.questions() if q.course == book][: options.number]
    ]
    if options.mixed:
        await _try_mixed(product, judge, asked)
        return
    judge.judges_whole = not options.known
    found = [await replayed(product, judge, one, known[one.id]) for one in asked]
    if not options.known:
        print("\n".join(report(found)))
    if options.each:
        print("\n".join(faults(found)))
    if options.show:
        options.show.write_text("\n".join(_side_by_side(found, known)), encoding="utf-8")
    trials = await _tried(product, judge, found)
    print("\n".join(apart(trials)))
    usual = dict.fromkeys(_BOOKS, options.mark)
    print("\n".join(trial_report(trials, usual, "at the default mark")))
    if options.each:
        print("\n".join(passed(trials, usual)))
    if options.judge == "yes" or not all(one.true and one.false for one in trials):
        return
    by_book = {one.book: one.fitted().mark for one in trials}
    marks = {book: by_book[other] for book, other in zip(_BOOKS, _BOOKS[::-1], strict=True)}
    print("\n".join(trial_report(trials, marks, "at the mark fitted on the other book")))
    if not options.known:
        judges = {book: judge_of(options, mark) for book, mark in marks.items()}
        again = [await replayed(product, judges[one.course], one, known[one.id]) for one in asked]
        print("replies at the mark fitted on the other book:")
        print("\n".join(report(again)))


async def _tried(
    product: Asking, judge: RememberingJudge, found: Sequence[Replayed]
) -> list[Trial]:
    """Return the facts of each book with what they score, and its falsehoods, asked one by one."""
    known, trials = frozen.replies(), {book: Trial(book) for book in _BOOKS}
    judge.judges_whole = False
    for one in found:
        for fate in one.fates:
            if fate.claim.kind is ClaimKind.FACT:
                trials[one.question.course].take(fate)
    by_id = {one.question.id: one.question for one in found}
    for made in frozen.falsehoods():
        if (question := by_id.get(made.id)) is not None:
            instead = {made.claim: made.text}
            one = await replayed(product, judge, question, known[made.id], made.claim, instead)
            trials[question.course].take(one.fates[-1], made)
    return list(trials.values())


async def _try_mixed(product: Asking, judge: RememberingJudge, asked: Sequence[Question]) -> None:
    """Print how falsehoods fare that stand in their replies, among true claims."""
    known, trials = frozen.replies(), {book: Trial(book) for book in _BOOKS}
    judge.judges_whole = False
    for question in asked:
        reply = known[question.id]
        false = {made.claim: made for made in frozen.falsehoods() if made.id == question.id}
        instead = {position: made.text for position, made in false.items()}
        one = await replayed(product, judge, question, reply, instead=instead)
        for position, fate in enumerate(one.fates):
            if fate.claim.kind is ClaimKind.FACT:
                trials[question.course].take(fate, false.get(position))
    tried = list(trials.values())
    print("\n".join(apart(tried)))
    marks = dict.fromkeys(_BOOKS, judge.mark)
    print("\n".join(trial_report(tried, marks, f"judged {judge.together} together at most")))


def _side_by_side(found: Sequence[Replayed], known: dict[str, FrozenReply]) -> Iterator[str]:
    """Yield Markdown for readers: what was written, and what a student sees."""
    for one in found:
        reply = known[one.question.id]
        yield f"# {one.question.id}\n"
        yield from (f"Asked before: {text}\n" for text in one.question.earlier)
        yield f"Asked: {one.question.question}\n\n## Written\n"
        for claim in reply.claims:
            yield f"{claim.text}\n" if not frozen.is_item(claim.text) else claim.text
        yield f"\n(missing: {reply.missing})\n\n## Shown\n\n{one.shown}\n"


async def _write_prompts(product: Asking, folder: Path) -> None:
    for question in frozen.questions():
        product.writer.say(None)
        await product.ask(question)
        for _, prompt in product.writer.prompts[:1]:
            said = "\n\n".join(f"{one.role}: {one.text}" for one in prompt.messages)
            (folder / f"{question.id}.txt").write_text(said, encoding="utf-8")
            (folder / "system.txt").write_text(prompt.system, encoding="utf-8")


async def _freeze(product: Asking, folder: Path) -> None:
    """Keep replies that were written by number with the places of their sentences."""
    rows = (folder / "replies.jsonl").read_text("utf-8").splitlines()
    written = {row["id"]: row for row in map(json.loads, rows)}
    kept = []
    for question in frozen.questions():
        product.writer.say(None)
        await product.ask(question)
        task, prompt = product.writer.prompts[0]
        sentences, row = Sentences(task, prompt.numbering), written[question.id]
        claims = [
            FrozenClaim(
                kind=one["kind"], text=one["text"], places=sentences.places(one["sentences"])
            )
            for one in row["claims"]
        ]
        kept.append(FrozenReply(id=question.id, missing=row["missing"], claims=tuple(claims)))
    frozen.write_rows(kept, frozen.REPLIES)
    print(f"{len(kept)} replies are frozen in {frozen.REPLIES.name}")


async def _run(corpora: Sequence[Corpus], options: Namespace) -> None:
    async with asking(options.data, corpora) as product:
        if options.prompts:
            await _write_prompts(product, options.prompts)
        elif options.freeze:
            await _freeze(product, options.freeze)
        else:
            await _replay(product, options)


def main() -> int:
    """Print the figures, and return the exit code."""
    parser = arguments("tests.bench.replies", __doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--judge", default="yes", help="`yes`, or the model that judges (default: yes)")
    add("--base-url", default="http://127.0.0.1:8080/v1", help="the judge's server, up to /v1")
    add("--model", help="the model's name at its server (default: the judge's)")
    add("--mark", type=float, default=MARK, help="least probability of a claim that holds")
    add("--together", type=int, default=8, help="claims that are judged in one call at most")
    add("--memory", type=Path, metavar="FILE", help="keep what the judge said, and go on")
    add("--known", action="store_true", help="judge nothing new; count what the memory has")
    add("--number", type=int, default=20, help="replies of each book, from the first on")
    add("--mixed", action="store_true", help="put all falsehoods into their replies at once")
    add("--each", action="store_true", help="tell every claim that is not shown, and why")
    add("--show", type=Path, metavar="FILE", help="write replies and answers side by side")
    add("--prompts", type=Path, metavar="FOLDER", help="write the prompts there, and end")
    add("--freeze", type=Path, metavar="FOLDER", help="take the replies there, and end")
    options = parser.parse_args()
    if options.prompts:
        options.prompts.mkdir(parents=True, exist_ok=True)
    corpora = corpora_of(options)
    if corpora is not None:
        asyncio.run(_run([corpora[book] for book in _BOOKS], options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
