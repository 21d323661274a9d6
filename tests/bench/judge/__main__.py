"""How a judge does on labelled claims: `python -m tests.bench.judge --claims FILE`.

With `--each FILE` every probability is kept as soon as it is known, and a run that was ended goes
on where it was. With `--fit` the mark is fitted on the claims of the split `fit`.
"""

import argparse
import asyncio
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from core.answering.grounding.certain import Support, certain_flaw, is_copied
from core.answering.grounding.judge import MARK, Judge, Setting, fitted_mark
from core.providers.capabilities import SettingNames
from core.providers.guarded import GuardedModel
from core.providers.openai import OpenAIClient, OpenAIWire
from core.providers.pacing import Timeouts
from tests.bench.judge.claims import OWN, LabelledClaim, digest, read_claims
from tests.bench.judge.figures import Judged, as_json, lines, summary

_PATIENCE = 600.0
"""Seconds; what a claim waits is measured elsewhere."""


class Known:
    """The probabilities that a judge gave before, by claim; each new one is kept at once."""

    def __init__(self, file: Path | None) -> None:
        """Keep them in `file`; None: nowhere."""
        self._file = file
        rows = [] if file is None or not file.exists() else file.read_text("utf-8").splitlines()
        self._likely = dict[str, float](map(json.loads, rows))

    def of(self, claim: LabelledClaim) -> float | None:
        """Return the probability of a claim; None: it was not judged yet."""
        return self._likely.get(_key(claim))

    def keep(self, claim: LabelledClaim, likely: float) -> None:
        """Keep the probability of a claim."""
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([_key(claim), likely]) + "\n")


def _key(claim: LabelledClaim) -> str:
    return digest("\n".join((claim.statement.text, *claim.statement.sentences)))


async def judged(judge: Judge, claim: LabelledClaim) -> Judged:
    """Return what an answer would make of a claim: certain code first, then the judge.

    What the judge does not judge is shown.
    """
    started, said = time.perf_counter(), claim.statement
    support, likely = Support(said.sentences, said.headings), 1.0
    if certain_flaw(said.text, support) is not None:
        likely = 0.0
    elif not is_copied(said.text, support):
        [found] = await judge.judge([said], Setting(claim.question))
        likely = 1.0 if found is None else found
    return Judged(claim, likely, likely >= judge.mark, (time.perf_counter() - started) * 1_000)


def _groups(found: Sequence[Judged]) -> Iterator[tuple[str, Sequence[Judged]]]:
    """Yield the claims of each split, or all where a file has none."""
    splits = {one.claim.split: None for one in found}
    for split in splits:
        title = {"fit": "claims that the marks were fitted on", "held": "untouched claims"}
        yield title.get(split, split or "all claims"), [j for j in found if j.claim.split == split]


def _model(options: argparse.Namespace) -> GuardedModel:
    """Return the model that is named, at any server of chat completions."""
    names = SettingNames("JUDGE_KEY", "--model", "--base-url")
    key = os.environ.get("JUDGE_KEY")
    client = OpenAIClient(key, base_url=options.base_url, names=names, timeout=_PATIENCE)
    wire = OpenAIWire(client, options.model or options.judge)
    return GuardedModel(wire, timeouts=Timeouts(_PATIENCE, _PATIENCE))


async def _all_judged(
    judge: Judge, claims: Sequence[LabelledClaim], options: argparse.Namespace
) -> list[Judged]:
    """Return what is made of each claim; those of a run before are not judged again."""
    known, found = Known(options.each), list[Judged]()
    for claim in claims:
        likely = known.of(claim)
        if likely is None:
            found.append(await judged(judge, claim))
            known.keep(claim, found[-1].probability)
        else:
            found.append(Judged(claim, likely, likely >= options.mark, math.nan))
    return found


def mark_of(found: Sequence[Judged]) -> float:
    """Return the mark with the fewest mistakes on the true and false claims of the split `fit`."""
    kept = [one for one in found if one.claim.split == "fit" and one.claim.label != "over"]
    truths = [one.claim.label == "true" for one in kept]
    return fitted_mark([one.probability for one in kept], truths, MARK).mark


async def main(options: argparse.Namespace) -> None:
    """Judge the claims of the file and print the figures."""
    claims = [
        claim
        for claim in read_claims(options.claims, options.corpora)
        if options.split in ("all", claim.split)
    ]
    if not claims:
        sys.exit(f"{options.claims} has no claims of this split.")
    judge = Judge(_model(options), mark=options.mark, wait=_PATIENCE)
    found = await _all_judged(judge, claims, options)
    if options.fit:
        mark = mark_of(found)
        found = [replace(one, holds=one.probability >= mark) for one in found]
        print(f"fitted mark {mark:.4f}", file=sys.stderr)
    groups = {title: summary(part) for title, part in _groups(found)}
    if options.json:
        print(json.dumps({title: as_json(part) for title, part in groups.items()}, indent=2))
        return
    for title, part in groups.items():
        print(f"{judge.name}, {title}", *lines(part), sep="\n", end="\n\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.judge",
        description=__doc__,
        epilog="The key of a server that wants one is read from the variable JUDGE_KEY.",
    )
    add = parser.add_argument
    add("--claims", type=Path, default=OWN, metavar="FILE", help="JSONL (default: our own)")
    add("--corpora", type=Path, default=Path("../shared/corpora"), help="where the books are")
    add("--judge", required=True, help="the model that judges")
    add("--base-url", default="http://127.0.0.1:8080/v1", help="the model's server")
    add("--model", help="the model's name at its server (default: the judge's)")
    add("--mark", type=float, default=MARK, help="least probability of a claim that holds")
    add("--split", choices=("all", "fit", "held"), default="all", help="which claims of the file")
    add("--each", type=Path, metavar="FILE", help="keep every claim's probability, and go on")
    add("--fit", action="store_true", help="fit the mark on the split 'fit'")
    add("--json", action="store_true", help="print JSON")
    try:
        asyncio.run(main(parser.parse_args()))
    except ValueError as error:
        sys.exit(str(error))
