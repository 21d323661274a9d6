"""The platform's figures, settable so that tests need not wait for them."""

from dataclasses import dataclass, field

Bucket = tuple[int, float]
"""So many requests in so many seconds."""


def _observed() -> dict[str, Bucket]:
    return {
        "POST /channels/{channel_id}/messages": (5, 5.0),
        "PATCH /channels/{channel_id}/messages/{message_id}": (5, 5.0),
        "DELETE /channels/{channel_id}/messages/{message_id}": (5, 1.0),
        "POST /webhooks/{webhook_id}/{webhook_token}": (5, 2.0),
        "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original": (5, 2.0),
        "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/{message_id}": (5, 2.0),
        "PATCH /channels/{channel_id}": (5, 15.0),
        "POST /channels/{channel_id}/typing": (5, 5.0),
    }


@dataclass
class Limits:
    """Figures of docs.discord.com; times in seconds.

    The buckets are what the platform was seen to use; it publishes none.
    """

    first_response: float = 3.0
    token_life: float = 900.0
    nonce_window: float = 180.0
    global_requests: int = 50
    """In one second, for one bot, interactions exempt."""
    buckets: dict[str, Bucket] = field(default_factory=_observed)
    default_bucket: Bucket = (50, 1.0)
    old_message: float = 3600.0
    edits_when_old: Bucket = (5, 60.0)
    heartbeat_interval: float = 41.25
    identifies_a_day: int = 1000
    identifies_again_after: float = 86_400.0
    max_concurrency: int = 1
    identify_interval: float = 5.0
    gateway_commands: Bucket = (120, 60.0)
    resume_window: float = 90.0
    """How long a session without a connection can be taken up again."""
    shards: int = 1
    """As many as it recommends."""
    guilds_a_shard: int = 2500
    """More of them need more shards."""
    attachment_bytes: int = 10 * 1024**2

    @classmethod
    def relaxed(cls) -> "Limits":
        """Return limits that no ordinary test meets: wide buckets, identifies at any pace."""
        wide = (1_000_000, 1.0)
        return cls(
            buckets={}, default_bucket=wide, global_requests=1_000_000, identify_interval=0.0
        )
