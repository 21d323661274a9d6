"""The embedding model's engine reports nothing to its maker."""

import subprocess
import sys
from pathlib import Path

import pytest

from bot.embedders import installed_model
from tests.command_line import ROOT

pytestmark = pytest.mark.costly

EMBED = """\
import asyncio, sys
from pathlib import Path
from core.providers.embeddings.local import LocalEmbedder

embedder = LocalEmbedder(Path(sys.argv[1]), Path(sys.argv[2]))
asyncio.run(embedder.embed_queries(["Who is told of this?"]))
embedder.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it looks for traces where Linux has them")
def test_no_device_id_and_no_events_are_kept_for_sending(models: Path, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", EMBED, installed_model(), models],
        env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    assert [*tmp_path.iterdir()] == []
