"""Fits the lexical judge on the claims of the split `fit`: `python -m tests.bench.judge.fit`."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from core.grounding.judge.certain import certain_flaw
from core.grounding.judge.lexical import WEIGHTS, figures
from core.retrieval.calibration import Floats
from core.text.logistic import Logistic, probability
from tests.bench.judge.claims import OWN, LabelledClaim, read_claims
from tests.bench.logistic_fit import fit

_MAY_BE_DROPPED = 0.2
"""Share of the true claims; a judge of words that drops more spares few of the false ones."""
_OF_OVER = 0.5
"""What an overreaching claim counts as an example of a false one."""
_RIDGE = 3.0
_SPEAK_AGAINST = frozenset({"adds_denial", "drops_denial"})


def highest_mark(likely: Sequence[float], labels: Sequence[str]) -> float:
    """Return the highest mark that drops no more of the true claims than may be dropped."""
    true = sorted(p for p, label in zip(likely, labels, strict=True) if label == "true")
    return true[int(_MAY_BE_DROPPED * len(true))]


def fitted_by_sense(
    counted: Sequence[Mapping[str, float]], wanted: Floats, mass: Floats
) -> Logistic:
    """Return the regression without the figures whose weight says the opposite of their sense.

    Such a weight shows how the claims' writers write, not what is true.
    """
    names = list(counted[0])
    while True:
        rows = [{name: row[name] for name in names} for row in counted]
        found = fit(rows, wanted, mass, ridge=_RIDGE)
        weights = dict(zip(names, found.weights, strict=True))
        wrong = [name for name in names if (weights[name] > 0) == (name in _SPEAK_AGAINST)]
        if not wrong:
            return found
        names.remove(max(wrong, key=lambda name: abs(weights[name])))


def main(claims: Sequence[LabelledClaim]) -> None:
    """Write the weights and the mark, and print them."""
    kept = [one for one in claims if one.split == "fit" and certain_flaw(one.cited) is None]
    labels = [one.label for one in kept]
    counted = [figures(one.cited) for one in kept]
    wanted = np.array([label == "true" for label in labels], np.float64)
    mass = np.array([_OF_OVER if label == "over" else 1.0 for label in labels])
    mass[wanted == 1] *= mass[wanted == 0].sum() / wanted.sum()
    fitted = fitted_by_sense(counted, wanted, mass)
    likely = [probability(fitted.log_odds(row)) for row in counted]
    fitted.save(WEIGHTS)
    stored = json.loads(WEIGHTS.read_text())
    stored["mark"] = round(highest_mark(likely, labels), 4)
    WEIGHTS.write_text(json.dumps(stored, indent=1) + "\n")
    print(json.dumps(stored, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=Path, default=OWN)
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"))
    options = parser.parse_args()
    main(list(read_claims(options.claims, options.corpora)))
