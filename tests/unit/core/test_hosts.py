"""Which addresses are of one's own network, as far as they say so."""

import pytest

from core.domain.telemetry import is_nearby


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1:11434/v1", "http://localhost/v1", "http://[::1]:8080/v1"),
        *("http://192.168.1.7/v1", "http://10.0.0.2:8000/v1", "http://ollama:11434/v1"),
        *("http://gpu.lan/v1", "http://host.docker.internal:1234/v1", "http://mac.local./v1"),
    ],
)
def test_a_server_of_ones_own_is_nearby(url: str) -> None:
    assert is_nearby(url)


@pytest.mark.parametrize(
    "url", [None, "", "https://api.openai.com/v1", "http://8.8.8.8/v1", "https://local.example.org"]
)
def test_a_service_of_others_is_not(url: str | None) -> None:
    assert not is_nearby(url)
