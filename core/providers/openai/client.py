"""The connections to a service that speaks chat completions, as OpenAI's does.

The SDK takes most of a second to import, so it is loaded at first use, in a thread.
"""

import asyncio
from typing import TYPE_CHECKING

from core.providers.failures import SettingNames

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

OPENAI = "https://api.openai.com/v1"
_NO_KEY = "none"
"""Is sent where no key is set: servers of one's own ask for none, and the SDK insists on one."""


class OpenAIClient:
    """The connections to one service, opened at first use."""

    def __init__(
        self,
        api_key: str | None,
        *,
        base_url: str | None = None,
        names: SettingNames,
        timeout: float = 40.0,
    ) -> None:
        """Speak to OpenAI's own API, or to what is at `base_url`.

        Args:
            api_key: None: the server asks for none.
            base_url: Of another service, up to and including `/v1`; None: OpenAI's.
            names: How the operator knows these settings.
            timeout: Seconds between two reads at most; who asks keeps shorter limits.
        """
        self.names = names
        self.base_url = base_url or OPENAI
        self._api_key = api_key or _NO_KEY
        self._timeout = timeout
        self._opening = asyncio.Lock()
        self._opened: tuple[AsyncOpenAI, httpx2.AsyncClient] | None = None

    @property
    def authorization(self) -> dict[str, str]:
        """The header that a request without the SDK needs."""
        return {"authorization": f"Bearer {self._api_key}"}

    @property
    def is_own(self) -> bool:
        """Whether this is OpenAI's service, and not one that is like it."""
        return self.base_url == OPENAI

    async def sdk(self) -> "AsyncOpenAI":
        """Return the SDK's calls; the first time it takes most of a second."""
        return (await self._open())[0]

    async def http(self) -> "httpx2.AsyncClient":
        """Return the connections, for what the SDK has no call for."""
        return (await self._open())[1]

    def without_key(self, text: str) -> str:
        """Return a text in which the key does not stand."""
        return text.replace(self._api_key, "(a key)")

    async def aclose(self) -> None:
        """Close all connections; the next use opens them again."""
        if self._opened is None:
            return
        _, http = self._opened
        self._opened = None
        await http.aclose()

    async def _open(self) -> "tuple[AsyncOpenAI, httpx2.AsyncClient]":
        async with self._opening:
            if self._opened is None:
                self._opened = await asyncio.to_thread(self._connect)
        return self._opened

    def _connect(self) -> "tuple[AsyncOpenAI, httpx2.AsyncClient]":
        import httpx2
        from openai import AsyncOpenAI
        from openai.types.chat import ChatCompletion, ChatCompletionChunk

        from core.providers.http import open_http
        from core.providers.openai.events import put_into_events
        from core.providers.openai.limits import measure

        # What the SDK builds at first use would hold up the event loop there.
        for built in (ChatCompletion, ChatCompletionChunk):
            built.model_rebuild()
        context = httpx2.create_ssl_context()
        http = open_http(measure, context, self._timeout, put_into_events)
        sdk = AsyncOpenAI(
            api_key=self._api_key,
            # All that is left out the SDK takes from variables of the environment.
            admin_api_key="",
            webhook_secret="",
            organization="",
            project="",
            base_url=self.base_url,
            timeout=self._timeout,
            max_retries=0,
            http_client=http,
        )
        sdk.organization = sdk.project = None  # an empty one would be sent
        return sdk, http
