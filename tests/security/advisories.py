"""`make audit`: asks an advisory database about every locked package, and says what it could ask.

Exit codes: 0 when every package was looked up and none is named, 1 when one is, 69 when the
database could not be reached or does not know all of them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LOCKS = ("build", "runtime", "model")
"""What an installation consists of."""
FINE, NAMED, UNKNOWN = 0, 1, 69
_SHOWN = 5


def report(asked: Mapping[str, Any] | None, database: str) -> tuple[int, list[str]]:
    """Return the exit code and the lines for what the database said.

    Args:
        asked: pip-audit's report as JSON; None: there is none, as nothing could be asked.
    """
    if asked is None:
        return UNKNOWN, [f"NOT CHECKED: the advisory database {database} cannot be reached."]
    packages = asked["dependencies"]
    named = [one for one in packages if one.get("vulns")]
    skipped = [one["name"] for one in packages if "skip_reason" in one]
    lines = [
        f"{one['name']} {one['version']}: {vuln['id']}, mended in "
        f"{', '.join(vuln['fix_versions']) or 'no version yet'}"
        for one in named
        for vuln in one["vulns"]
    ]
    checked = len(packages) - len(skipped)
    lines.append(f"{checked} of {len(packages)} packages looked up in {database}.")
    if skipped:
        more = ", ..." if len(skipped) > _SHOWN else ""
        lines.append(f"NOT CHECKED: {', '.join(skipped[:_SHOWN])}{more}: not known there.")
    if named:
        return NAMED, lines
    return (UNKNOWN if skipped or not packages else FINE), lines


def ask(python: str, database: str) -> Mapping[str, Any] | None:
    """Return pip-audit's report on all that is locked; None where the database is not reached."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "report.json"
        command = [python, "-m", "pip_audit", "--vulnerability-service", database]
        command += ["--disable-pip", "--require-hashes", "--progress-spinner", "off"]
        command += ["--format", "json", "--output", str(out)]
        for lock in LOCKS:
            command += ["--requirement", str(ROOT / "requirements" / f"{lock}.txt")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not out.exists() or not out.stat().st_size:
            print(done.stderr.strip().rpartition("\n")[2][:300], file=sys.stderr)
            return None
        found: Mapping[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, print what was said, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.security.advisories")
    parser.add_argument("--python", default=sys.executable, help="has pip-audit installed")
    parser.add_argument("--database", default="osv", choices=("osv", "pypi"))
    given = parser.parse_args(arguments)
    code, lines = report(ask(given.python, given.database), given.database)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
