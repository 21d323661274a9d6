"""The connections to Gemini, shared by all that speak to it.

The SDK takes a second to import, so it is loaded at first use, in a thread.
"""

import asyncio
import importlib
import logging
import warnings
from typing import TYPE_CHECKING

from core.providers.failures import SettingNames
from core.providers.gemini.failures import NAMES

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client
    from google.genai.models import AsyncModels

GOOGLE = "https://generativelanguage.googleapis.com"
_LEAST = 10.0
"""Seconds: the service reads our time-out in a header, and refuses fewer."""
_BUILT_LATE = (
    "Content",
    "Part",
    "Tool",
    "FunctionDeclaration",
    "Candidate",
    "GenerateContentConfig",
    "GenerateContentResponse",
)


logging.getLogger("google_genai.types").setLevel(logging.ERROR)
# Where a schema is asked for, the SDK reads each piece as JSON and warns of a piece that is none.


class GeminiClient:
    """The connections to one Gemini API, opened at first use."""

    def __init__(
        self,
        api_key: str | None,
        *,
        base_url: str | None = None,
        api_version: str = "v1beta",
        project: str | None = None,
        location: str | None = None,
        names: SettingNames = NAMES,
        timeout: float = 40.0,
    ) -> None:
        """Speak to Google's own API, or to what is at `base_url`.

        Args:
            api_key: Google's; None: the credentials of this machine are those of Google Cloud.
            base_url: Of another API of that kind; None: Google's.
            api_version: Of the API; Google Cloud has its own.
            project: Of Google Cloud, for its Vertex AI.
            location: Of the same.
            names: How the operator knows these settings.
            timeout: Seconds between two reads at most; who asks keeps shorter limits.
        """
        self.names = names
        self._api_key = api_key
        self._base_url = base_url or (GOOGLE if project is None else None)
        self._project, self._location = project, location
        self._api_version = api_version
        self._timeout = max(timeout, _LEAST)
        self._opening = asyncio.Lock()
        self._opened: tuple[Client, httpx2.AsyncClient] | None = None

    async def models(self) -> "AsyncModels":
        """Return the SDK's calls; the first time it takes about a second."""
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open)
        return self._opened[0].aio.models

    async def load(self) -> None:
        """Load the SDK, without a look at key or credentials."""
        await asyncio.to_thread(importlib.import_module, "google.genai")

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        if self._opened is None:
            return
        client, http = self._opened
        self._opened = None
        await client.aio.aclose()
        client.close()
        await http.aclose()

    def _open(self) -> "tuple[Client, httpx2.AsyncClient]":
        import httpx2
        from google import genai
        from google.genai import types

        from core.providers.gemini.limits import measure
        from core.providers.http import open_http

        # A word that the SDK does not know, such as a new finish reason, is no news to anybody.
        warnings.filterwarnings("ignore", r".* is not a valid \w+", UserWarning, r"google\.genai\.")
        # What the SDK builds at first use would hold up the event loop there.
        for name in _BUILT_LATE:
            getattr(types, name).model_rebuild()
        context = httpx2.create_ssl_context()
        # With aiohttp about, the SDK would use that, and its timeout is one for the whole answer.
        http = open_http(measure, context, self._timeout)
        options = types.HttpOptions(
            base_url=self._base_url,
            api_version=self._api_version if self._project is None else "v1beta1",
            timeout=round(1_000 * self._timeout),
            httpx_async_client=http,
            # Else the SDK reads the machine's certificates again, twice.
            client_args={"verify": context},
            async_client_args={"verify": context, "ssl": context},
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        if self._project is None:
            return genai.Client(enterprise=False, api_key=self._api_key, http_options=options), http
        cloud = genai.Client(
            enterprise=True, project=self._project, location=self._location, http_options=options
        )
        return cloud, http
