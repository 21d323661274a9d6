"""Carries a run out: its parts one after the other, or some of them side by side."""

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.chaos.part import Outcome, Part, run_part
from tests.chaos.templates import BUOYS, Templates, make_models
from tests.postgres import postgres_server
from tests.program import program

_REAL = 500
"""Questions of each run that real models answer."""
_LARGEST = 250
"""Questions of one part."""
assert _LARGEST <= BUOYS
_SMALLEST = 40
"""Questions of one part, if there are so many: in a smaller one people only hold conversations."""
_PLACES = ((1, True), (2, True), (3, True), (1, False))
"""Replicas, and whether the database is PostgreSQL."""


def parts(questions: int, seed: int) -> Iterator[Part]:
    """Yield the parts of a run: all places in turn, real models in every fourth question.

    A small run has fewer places, so that everything happens in each of its parts.
    """
    real = min(_REAL, questions // 4)
    for stand_ins, left in ((True, questions - real), (False, real)):
        places = _PLACES[: max(1, left // _SMALLEST)]
        rounds = -(-left // (_LARGEST * len(places)))
        share = -(-left // (len(places) * max(1, rounds)))
        number = 0
        while left > 0:
            replicas, on_postgres = places[number % len(places)]
            count, number = min(share, left), number + 1
            yield Part(
                seed=seed * 1_000 + number + (0 if stand_ins else 500),
                replicas=replicas,
                on_postgres=on_postgres,
                stand_ins=stand_ins,
                questions=count,
            )
            left -= count


def run(todo: Sequence[Part], state: Path, at_a_time: int) -> list[Outcome]:
    """Carry out all parts that the state's folder has no outcome of; return all outcomes.

    Args:
        at_a_time: Parts; each has processes, servers and a database of its own.
    """
    models = asyncio.run(make_models(state / "models"))
    left = [part for part in todo if not _kept(part, state).exists()]
    shares = [left[number::at_a_time] for number in range(min(at_a_time, len(left)))]
    with ProcessPoolExecutor(max(1, len(shares)), mp_context=get_context("spawn")) as pool:
        for done in [pool.submit(_carry_out, share, state, models) for share in shares]:
            done.result()
    return [Outcome(**json.loads(_kept(part, state).read_text("utf-8"))) for part in todo]


def _carry_out(share: Sequence[Part], state: Path, models: Path) -> None:
    asyncio.run(_one_by_one(share, state, models))


async def _one_by_one(share: Sequence[Part], state: Path, models: Path) -> None:
    with TemporaryDirectory(prefix="glossator-chaos-") as name, postgres_server() as server:
        folder = Path(name)
        templates = Templates(folder, models, server)
        for part in share:
            place = folder / f"part-{part.seed}"
            outcome = await run_part(part, place, templates, server)
            kept = _kept(part, state)
            if outcome.anomalies:
                keep_logs(place, kept.with_suffix(""))
            shutil.rmtree(place)  # some hundred megabytes
            writing = kept.with_suffix(".new")  # whole, or not there
            writing.write_text(json.dumps(outcome.as_json()), encoding="utf-8")
            writing.replace(kept)
            seconds, wrong = outcome.counts["seconds"], len(outcome.anomalies)
            print(
                f"{part.name}, seed {part.seed}: {part.questions} questions in {seconds:.0f} s, "
                f"{wrong} anomalies",
                file=sys.stderr,
                flush=True,
            )


def keep_logs(part: Path, folder: Path) -> None:
    """Copy what the bots of a part have said, to find out what went wrong."""
    folder.mkdir(exist_ok=True)
    for log in part.glob("*/*.log"):
        shutil.copy(log, folder / f"{log.parent.name}.log")


def _kept(part: Part, state: Path) -> Path:
    """Return the file with what came of a part: of this very program, and of no other one."""
    return state / f"{part.seed}-{part.questions}-{program()}.json"
