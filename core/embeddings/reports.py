"""Keeps onnxruntime from reporting to its maker, which it otherwise does from its import on."""

import os


def forbid_reports() -> None:
    """Call this before each import of onnxruntime: nothing leaves the machine then.

    Without it, onnxruntime 1.31 for Linux puts a device id and a database of events into the
    user's cache folder, and sends them. Its own `disable_telemetry_events` comes too late: the
    id and the first events are there once the import is done.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
