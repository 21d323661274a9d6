"""The connections to Gemini, shared by all that speak to it.

The SDK takes a second to import, so it is loaded at first use, in a thread.
"""

import asyncio
import warnings
from typing import TYPE_CHECKING

from core.providers.failures import SettingNames
from core.providers.gemini.failures import NAMES

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client
    from google.genai.models import AsyncModels

GOOGLE = "https://generativelanguage.googleapis.com"
_TIMEOUT_MS = 40_000
"""Between two reads. The service is told it too and refuses less than 10 s, so that whoever
asks keeps shorter limits by itself."""
_BUILT_LATE = (
    "Content",
    "Part",
    "Tool",
    "FunctionDeclaration",
    "Candidate",
    "GenerateContentConfig",
    "GenerateContentResponse",
)


class GeminiClient:
    """The connections to one Gemini API, opened at first use."""

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str | None = None,
        api_version: str = "v1beta",
        names: SettingNames = NAMES,
    ) -> None:
        """Speak to Google's own API, or to what is at `base_url`.

        Args:
            api_key: Google's.
            base_url: Of another API of that kind; None: Google's.
            api_version: Of the API.
            names: How the operator knows these settings.
        """
        self.names = names
        self._api_key = api_key
        self._base_url = base_url or GOOGLE
        self._api_version = api_version
        self._opening = asyncio.Lock()
        self._opened: tuple[Client, httpx2.AsyncClient] | None = None

    async def models(self) -> "AsyncModels":
        """Return the SDK's calls; the first time it takes about a second."""
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._open)
        return self._opened[0].aio.models

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
        http = open_http(measure, context)
        options = types.HttpOptions(
            base_url=self._base_url,
            api_version=self._api_version,
            timeout=_TIMEOUT_MS,
            httpx_async_client=http,
            # Else the SDK reads the machine's certificates again, twice.
            client_args={"verify": context},
            async_client_args={"verify": context, "ssl": context},
            retry_options=types.HttpRetryOptions(attempts=1),
        )
        return genai.Client(enterprise=False, api_key=self._api_key, http_options=options), http
