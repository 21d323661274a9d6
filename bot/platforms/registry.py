"""The chat platforms that there are; settings, course file, doctor and wiring follow from them."""

from collections.abc import Mapping
from typing import Any

from bot.platforms.discord import DISCORD
from bot.platforms.entry import Platform
from bot.platforms.slack import SLACK

PLATFORMS: Mapping[str, Platform[Any]] = {entry.name: entry for entry in (DISCORD, SLACK)}
"""By name, in the order in which they are named to people."""
