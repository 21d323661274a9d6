"""A model of Vertex AI: reached by project and location, with the machine's own credentials."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from core.domain.errors import ConfigurationError
from core.providers.base import Finish
from core.providers.capabilities import ProviderFailure, SettingNames
from core.providers.gemini import GeminiClient, GeminiWire
from tests.wire.chat_stations import SAID, chat_model, hear
from tests.wire.gemini_exchange import event

NAMES = SettingNames(
    "the credentials of Google Cloud", "models.cloud.model", "models.cloud.base_url"
)
MODEL = (
    "/v1beta1/projects/our-university/locations/europe-west4/publishers/google/models/"
    "gemini-3.8-flash"
)
TOKEN = "ya29.a-secret-token"


@dataclass
class Cloud:
    """Google Cloud, as far as the product speaks to it, and the credentials file for it."""

    url: str = ""
    bodies: list[Any] = field(default_factory=list)
    tokens: int = 0

    async def token(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        self.tokens += 1
        return web.json_response({"access_token": TOKEN, "expires_in": 3_600})

    async def serve(self, request: web.Request) -> web.StreamResponse:
        path, _, method = request.path.rpartition(":")
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            error = {"code": 401, "status": "UNAUTHENTICATED", "message": "No token."}
            return web.json_response({"error": error}, status=401)
        if path != MODEL:
            error = {"code": 404, "status": "NOT_FOUND", "message": f"{path} was not found."}
            return web.json_response({"error": error}, status=404)
        self.bodies.append(await request.json())
        if method == "countTokens":
            return web.json_response({"totalTokens": 4})
        assert method == "streamGenerateContent"
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        parts = {"role": "model", "parts": [{"text": SAID}]}
        usage = {
            "promptTokenCount": 30,
            "cachedContentTokenCount": 20,
            "candidatesTokenCount": 9,
        }
        candidate = {"content": parts, "finishReason": "STOP"}
        await stream.write(event({"candidates": [candidate], "usageMetadata": usage}))
        return stream


@pytest.fixture
async def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cloud]:
    cloud = Cloud()
    app = web.Application()
    app.router.add_post("/token", cloud.token)
    app.router.add_post("/{rest:.*}", cloud.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    cloud.url = f"http://{host}:{port}"
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    account = {
        "type": "service_account",
        "client_email": "glossator@our-university.iam.gserviceaccount.com",
        "private_key": pem.decode(),
        "private_key_id": "1",
        "token_uri": f"{cloud.url}/token",
    }
    path = tmp_path / "account.json"
    path.write_text(json.dumps(account), encoding="utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    yield cloud
    await runner.cleanup()


def wire(cloud: Cloud, model: str = "gemini-3.8-flash") -> GeminiWire:
    client = GeminiClient(
        None,
        base_url=cloud.url,
        project="our-university",
        location="europe-west4",
        names=NAMES,
    )
    return GeminiWire(client, model)


@pytest.mark.costly
async def test_a_reply_comes_by_project_and_location_with_one_token(cloud: Cloud) -> None:
    async with chat_model(wire(cloud)) as model:
        await model.check()
        end = (await hear(model)).end
    assert (end.finish, end.message.text) == (Finish.STOP, SAID)
    assert (end.query_tokens, end.cached_tokens, end.response_tokens) == (30, 20, 9)
    assert cloud.tokens == 1
    assert cloud.bodies[-1]["generationConfig"]["maxOutputTokens"] == 500


@pytest.mark.costly
async def test_a_model_that_there_is_not_is_told_by_its_setting(cloud: Cloud) -> None:
    async with chat_model(wire(cloud, "gemini-0-none")) as model:
        with pytest.raises(ConfigurationError, match=r"404 NOT_FOUND.*models\.cloud\.model"):
            await model.check()


async def test_credentials_that_are_missing_are_told_by_their_setting(
    cloud: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "account.json").write_text('{"type": "service_account"}', encoding="utf-8")
    async with chat_model(wire(cloud)) as model:
        with pytest.raises(ProviderFailure, match="check the credentials of Google Cloud"):
            await hear(model)
        with pytest.raises(ConfigurationError, match="the credentials of Google Cloud"):
            await model.check()
