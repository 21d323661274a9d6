"""The platform's figures, settable so that tests need not wait for them."""

from dataclasses import dataclass, field

Window = tuple[int, float]
"""So many calls in so many seconds."""

TIER_2: Window = (20, 60.0)
TIER_3: Window = (50, 60.0)
TIER_4: Window = (100, 60.0)
_WIDE: Window = (1_000_000, 1.0)


def _by_method() -> dict[str, Window]:
    return {
        "agents.sessions.rename": TIER_3,
        "agents.sessions.setStatus": TIER_3,
        "apps.connections.open": (20, 60.0),
        "assistant.threads.setStatus": (600, 60.0),
        "assistant.threads.setSuggestedPrompts": (600, 60.0),
        "auth.test": (300, 60.0),
        "bots.info": TIER_3,
        "chat.appendStream": TIER_4,
        "chat.delete": TIER_3,
        "chat.getPermalink": (300, 60.0),
        "chat.postEphemeral": TIER_4,
        "chat.postMessage": (300, 60.0),
        "chat.startStream": TIER_2,
        "chat.stopStream": TIER_2,
        "chat.update": TIER_3,
        "conversations.history": TIER_3,
        "conversations.info": TIER_3,
        "conversations.join": TIER_3,
        "conversations.members": TIER_4,
        "conversations.open": TIER_3,
        "conversations.replies": TIER_3,
        "files.completeUploadExternal": TIER_4,
        "files.getUploadURLExternal": TIER_4,
        "oauth.v2.access": TIER_4,
        "reactions.add": TIER_3,
        "reactions.remove": TIER_2,
        "team.info": TIER_3,
        "usergroups.list": TIER_2,
        "usergroups.users.list": TIER_2,
        "users.conversations": TIER_3,
        "users.info": TIER_4,
        "views.open": TIER_4,
        "views.publish": TIER_4,
        "views.push": TIER_4,
        "views.update": TIER_4,
    }


@dataclass
class Limits:
    """Figures of docs.slack.dev; times in seconds.

    A tier's figure is taken as exact, though the platform promises "20+": whoever keeps to it
    is safe. Windows count for one method, app and workspace.
    """

    methods: dict[str, Window] = field(default_factory=_by_method)
    other_methods: Window = TIER_2
    posts_in_a_channel: Window = (1, 1.0)
    distributed_history: Window = (1, 60.0)
    """conversations.history and .replies of apps sold outside the Marketplace."""
    distributed_page: int = 15
    ack: float = 3.0
    retry_delays: tuple[float, ...] = (0.0, 60.0, 300.0)
    """Before each new delivery of an event that was not acknowledged."""
    trigger_life: float = 3.0
    response_url_life: float = 1800.0
    response_url_uses: int = 5
    code_life: float = 600.0
    rotated_token_life: float = 43_200.0
    sockets: int = 10
    warning: float = 10.0
    """Between a socket's warning and its end."""
    text: int = 40_000
    update_text: int = 4_000
    markdown: int = 12_000
    """Of all markdown blocks of a message, of `markdown_text`, and of one streaming call."""
    blocks_text: int = 13_200
    """Characters in all blocks of a message."""
    message_blocks: int = 50
    view_blocks: int = 100
    attachments: int = 100
    metadata: int = 8_000
    stream_idle: float = 300.0
    """After this long without a call a stream has ended by itself."""

    @classmethod
    def relaxed(cls) -> "Limits":
        """Return limits that no ordinary test meets: wide windows, quick redelivery."""
        return cls(
            methods={},
            other_methods=_WIDE,
            posts_in_a_channel=_WIDE,
            distributed_history=_WIDE,
            retry_delays=(0.02, 0.2, 1.0),
            warning=0.2,
        )
