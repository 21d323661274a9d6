"""Pointing the real discord.py at a local server."""

from typing import TYPE_CHECKING

import discord
import yarl

from tests.wire.discord.server import DiscordServer

if TYPE_CHECKING:
    import pytest


def point_library_at(server: DiscordServer, patch: "pytest.MonkeyPatch") -> None:
    """Let discord.py talk to `server`, REST and every connect of the gateway."""
    patch.setattr(discord.http.Route, "BASE", server.api_url)
    gateway = yarl.URL(server.gateway_url)
    patch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", gateway)
