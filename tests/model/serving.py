"""Runs the real model behind chat completions on loopback, by the server's own interpreter."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.model.weights import server_python, weights

CONTEXT = 2_048
"""Tokens that the model reads and writes at most, unless more are asked for."""
_SERVE = """\
import sys, time
import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = int(sys.argv[2])
params.n_parallel = 1
params.warmup = False
params.hostnames = ["127.0.0.1"]
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def served(context: int = CONTEXT) -> Iterator[str]:
    """Yield the address, up to `/v1`, while the model is served.

    Args:
        context: Tokens that it reads and writes at most in one call.
    """
    process = subprocess.Popen(
        [str(server_python()), "-c", _SERVE, str(weights()), str(context)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "the server of the model did not start"
        yield f"{address}/v1"
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    with served(int(sys.argv[1]) if sys.argv[1:] else CONTEXT) as url:
        print(f"GLOSSATOR_MODELS__LOCAL__BASE_URL={url}", flush=True)
        sys.stdin.read()
