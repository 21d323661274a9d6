"""Written answers read next to the book's passages: `python -m tests.bench.writing.pairs`.

`ask FOLDER` draws 60 questions of two books to which no labels were given before, and asks them
over real HTTP of a server that says what FOLDER/replies.jsonl holds; the judge is the lexical one.
Prompts without a reply are written to FOLDER/prompts.jsonl. Once there is none, FOLDER/pairs.jsonl
holds each written answer next to the passages, on sides drawn by the seed, and FOLDER/key.jsonl
which is which. `take FOLDER ONE.jsonl TWO.jsonl` takes up what readers said, `{"id", "reader",
"better": "left" | "right" | "same", "left": LABEL, "right": LABEL, "why"}` with the labels
`whole`, `partly`, `wrong` and `none`; with `--write` it keeps ids, digests and labels. `report`
prints the figures of what is kept.
"""

import asyncio
import random
from argparse import Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import SecretStr

from bot.cli.evaluate import rehearsed
from bot.services import Services
from bot.settings import AnswerSettings, Settings
from bot.wiring import open_services
from core.domain import EXTRACTIVE, AgentResponse
from core.teaching.evaluation.report import GoldQuestion
from tests.bench.asked import arguments, corpora_of
from tests.bench.corpora import ECONOMICS, RUST, Corpus, ingest
from tests.bench.reading.drawing import digest_of
from tests.bench.reading.labels import committed as read_before
from tests.bench.verified.pairs import groups_of
from tests.bench.writing.__main__ import WRITER, writing_agent
from tests.bench.writing.compared import LABELS as KEPT
from tests.bench.writing.compared import (
    Key,
    Pair,
    committed,
    pair_of,
    read_keys,
    read_reader,
    report,
    together,
    write_rows,
)
from tests.bench.writing.recorded import RecordedGenerator
from tests.bench.writing.replayed import ReplayedModel, read_replies, write_prompts
from tests.wire.openai_server import MODELS, OpenAIServer

_BOOKS = (ECONOMICS, RUST)
_EVIDENCE = 4_000
_SECONDS = 180.0
"""For one answer: how busy the machine is makes no difference."""


def drawn(corpora: Mapping[str, Corpus], number: int, seed: int) -> list[tuple[str, GoldQuestion]]:
    """Return questions of both books, half of `number` each, none of which has labels already."""
    labelled = {(one.course, one.question) for one in read_before()}
    rows: list[tuple[str, GoldQuestion]] = []
    for name in _BOOKS:
        known = {group.question for group in groups_of(name)}
        known |= {asked.text for group in groups_of(name) for asked in group.asked}
        free = [
            row
            for row in corpora[name].questions
            if (name, row.id) not in labelled and row.question not in known
        ]
        lot = random.Random(f"{seed} {name}")
        rows += [(name, row) for row in lot.sample(free, min(number // len(_BOOKS), len(free)))]
    return rows


def _settings(data: Path, server: OpenAIServer) -> Settings:
    table = {
        "kind": "openai",
        "model": MODELS[0],
        "base_url": server.url,
        "api_key": server.api_key,
        "context": "32000",
    }
    models = {WRITER: {name: SecretStr(value) for name, value in table.items()}}
    return Settings(
        _env_file=None,
        data_dir=data,
        models=models,
        generator=WRITER,
        answer=AnswerSettings(first_sentence=_SECONDS, whole=_SECONDS),
    )


async def _ask(corpora: Mapping[str, Corpus], options: Namespace) -> int:
    folder: Path = options.folder
    model = ReplayedModel(read_replies(folder / "replies.jsonl"))
    rows = drawn(corpora, options.number, options.seed)
    async with OpenAIServer() as server:
        server.answer_with(model)
        async with open_services(_settings(options.data, server), announce=print) as services:
            for name in _BOOKS:
                await ingest(services, corpora[name])
            await services.local.warm_up()
            found = await _both(services, rows, model, options)
    if model.lacking:
        print(f"{len(model.lacking)} prompts wait for a reply in {folder / 'prompts.jsonl'}")
        return 0
    known = {one.id for one in committed()}
    unread = sorted((pair for pair, _ in found if pair.id not in known), key=lambda pair: pair.id)
    write_rows(unread, folder / "pairs.jsonl")
    write_rows([key for _, key in found], folder / "key.jsonl")
    print(f"{len(found)} pairs, {len(unread)} of which were not read yet")
    return 0


async def _both(
    services: Services,
    rows: Sequence[tuple[str, GoldQuestion]],
    model: ReplayedModel,
    options: Namespace,
) -> list[tuple[Pair, Key]]:
    writer = RecordedGenerator(services.generator(WRITER))
    writing = writing_agent(services, writer, _EVIDENCE)
    passages = services.agent(EXTRACTIVE)
    found = []
    for course, row in rows:
        model.begin(row.id)
        writer.drafts.clear()
        _, written = await rehearsed(writing, course, row, "bench")
        write_prompts(model.lacking, options.folder / "prompts.jsonl")
        if model.lacking:
            continue
        _, shown = await rehearsed(passages, course, row, "bench")
        found.append(_compared(course, row, written, shown, writer, options))
    return found


def _compared(
    course: str,
    row: GoldQuestion,
    written: AgentResponse,
    shown: AgentResponse,
    writer: RecordedGenerator,
    options: Namespace,
) -> tuple[Pair, Key]:
    pair, side = pair_of(row, written, shown, options.seed)
    draft = writer.drafts[-1] if writer.drafts else None
    key = Key(
        id=pair.id,
        program=options.program,
        course=course,
        question=row.id,
        written=digest_of(written),
        passages=digest_of(shown),
        written_is=side,
        calls=len(draft.calls) if draft else 0,
        claims=written.claims_written,
        dropped=written.claims_dropped,
        refused=draft is not None and draft.has_nothing,
        fell_back=draft is not None and written.model_name == EXTRACTIVE,
    )
    return pair, key


def _take(options: Namespace) -> int:
    reads = [one for path in options.labels for one in read_reader(path)]
    kept = committed()
    keys = read_keys(options.folder / "key.jsonl")
    now = together(keys, reads, kept)
    programs = {one.program for one in now}
    everything = [*(one for one in kept if one.program not in programs), *now]
    print("\n".join(report(everything)))
    if len(now) < len(keys):
        print(f"{len(keys) - len(now)} pairs were not read")
    if options.write:
        write_rows(everything, KEPT)
        print(f"written to {KEPT}")
    return 0


def main() -> int:
    """Ask, take up labels, or report; return the exit code."""
    parser = arguments("tests.bench.writing.pairs", __doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    steps = parser.add_subparsers(dest="step", required=True)
    ask = steps.add_parser("ask", help="ask the questions, and draw the pairs or the prompts")
    ask.add_argument("folder", type=Path)
    ask.add_argument("--number", type=int, default=60, help="questions of both books together")
    ask.add_argument("--seed", type=int, default=21)
    ask.add_argument("--program", default="main", help="what the key calls this program")
    take = steps.add_parser("take", help="take up what readers said")
    take.add_argument("folder", type=Path)
    take.add_argument("labels", type=Path, nargs="+", help="a reader's file each")
    take.add_argument("--write", action="store_true", help="keep the labels in the repository")
    steps.add_parser("report", help="print the figures of the labels that are kept")
    options = parser.parse_args()
    if options.step == "report":
        print("\n".join(report(committed())))
        return 0
    if options.step == "take":
        return _take(options)
    corpora = corpora_of(options)
    if corpora is None:
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)
    return asyncio.run(_ask(corpora, options))


if __name__ == "__main__":
    raise SystemExit(main())
