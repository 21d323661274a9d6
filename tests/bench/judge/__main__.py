"""How a judge does on labelled claims: `python -m tests.bench.judge --claims FILE`."""

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.grounding.judge.base import SupportJudge
from core.grounding.judge.certain import certain_flaw, is_copied
from core.grounding.judge.lexical import LexicalJudge
from core.grounding.judge.model import MARK, ModelJudge
from core.providers.failures import SettingNames
from core.providers.guarded import GuardedModel
from core.providers.openai.client import OpenAIClient
from core.providers.openai.wire import OpenAIWire
from core.providers.pacing import Timeouts
from tests.bench.judge.baseline import BaselineJudge
from tests.bench.judge.claims import OWN, LabelledClaim, read_claims
from tests.bench.judge.figures import Judged, as_json, lines, summary

_PATIENCE = 600.0
"""Seconds; what a claim waits is measured elsewhere."""


async def judged(judge: SupportJudge, claim: LabelledClaim) -> Judged:
    """Return what an answer would make of a claim: certain code first, then the judge."""
    started = time.perf_counter()
    likely, holds = 1.0, True
    if certain_flaw(claim.cited) is not None:
        likely, holds = 0.0, False
    elif not is_copied(claim.cited):
        (verdict,) = await judge.judge(claim.question, [claim.cited])
        likely, holds = verdict.probability, verdict.holds
    return Judged(claim, likely, holds, (time.perf_counter() - started) * 1_000)


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
    client = OpenAIClient(key, base_url=options.base_url, names=names)
    wire = OpenAIWire(client, options.model or options.judge)
    return GuardedModel(wire, timeouts=Timeouts(_PATIENCE, _PATIENCE))


async def main(options: argparse.Namespace) -> None:
    """Judge the claims of the file and print the figures."""
    claims = [
        claim
        for claim in read_claims(options.claims, options.corpora)
        if options.split in ("all", claim.split)
    ]
    if not claims:
        sys.exit(f"{options.claims} has no claims of this split.")
    by_name: dict[str, SupportJudge] = {one.name: one for one in (LexicalJudge(), BaselineJudge())}
    judge = by_name.get(options.judge)
    if judge is None:
        judge = ModelJudge(_model(options), mark=options.mark, wait=_PATIENCE)
    found = [await judged(judge, claim) for claim in claims]
    if options.each:
        with options.each.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps([j.claim.cited.text, j.probability]) + "\n" for j in found)
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
    add("--judge", default="lexical", help="lexical, baseline, or a model (default: lexical)")
    add("--base-url", default="http://127.0.0.1:8080/v1", help="the model's server")
    add("--model", help="the model's name at its server (default: the judge's)")
    add("--mark", type=float, default=MARK, help="least probability of a claim that holds")
    add("--split", choices=("all", "fit", "held"), default="all", help="which claims of the file")
    add("--each", type=Path, metavar="FILE", help="write every claim's probability")
    add("--json", action="store_true", help="print JSON")
    try:
        asyncio.run(main(parser.parse_args()))
    except ValueError as error:
        sys.exit(str(error))
