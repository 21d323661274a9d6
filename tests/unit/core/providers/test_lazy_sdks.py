"""Who asks no model waits for no SDK: each takes a second to load."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.costly


def test_no_sdk_is_loaded_before_it_is_used() -> None:
    code = """\
import sys
from core.providers.embeddings.remote import GeminiEmbedder
from core.providers.gemini import GeminiClient
from core.providers.gemini import GeminiWire
from core.providers.guarded import GuardedModel
from core.providers.capabilities import SettingNames
from core.providers.openai import OpenAIClient
from core.providers.openai import OpenAIWire
client = GeminiClient("key")
other = OpenAIClient(None, base_url="http://127.0.0.1:1/v1", names=SettingNames("", "", ""))
GuardedModel(OpenAIWire(other, "local"))
GuardedModel(GeminiWire(client, "gemini-x")), GeminiEmbedder(client)
print(*sys.modules)
"""
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert "core.providers.gemini" in loaded
    assert not {"google.genai", "openai", "httpx2"} & set(loaded)
