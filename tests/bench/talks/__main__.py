"""What follow-ups are taken for and how they are answered, and the heads that tell.

`python -m tests.bench.talks fit` fits the heads; with `--write` it ships them. `python -m
tests.bench.talks ask` holds the conversations of `talks.jsonl`, and prints the figures.
"""

import asyncio
from argparse import Namespace

from tests.bench.asked import arguments, corpora_of
from tests.bench.corpora import Corpus
from tests.bench.talks import fitting, holding


async def _ask(corpora: dict[str, Corpus], options: Namespace) -> None:
    said = [one async for one in holding.hold(corpora, options.data)]
    if options.show:
        print("\n".join(holding.shown([one for one in said if one.split == options.show])))
    print("\n".join(holding.report(said)))


def main() -> int:
    """Do what is asked for, and return the exit code."""
    parser = arguments("tests.bench.talks", __doc__)
    parser.add_argument("what", choices=["fit", "ask"])
    parser.add_argument("--write", action="store_true", help="ship the weights")
    parser.add_argument("--show", choices=["fit", "untouched"], help="print its answers, to read")
    options = parser.parse_args()
    corpora = corpora_of(options)
    if corpora is None:
        return 0
    if options.what == "ask":
        asyncio.run(_ask(corpora, options))
    else:
        asyncio.run(fitting.fit_acts(corpora, options.data, write=options.write))
        asyncio.run(fitting.run(corpora, options.data, write=options.write))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
