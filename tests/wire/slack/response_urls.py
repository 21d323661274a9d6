"""What comes back through a response_url, or with the acknowledgement of a command."""

from typing import TYPE_CHECKING

from tests.wire.slack.block_checks import check_message_blocks
from tests.wire.slack.entities import Message
from tests.wire.slack.errors import Json, SlackError
from tests.wire.slack.interactions import Interaction, InteractionType
from tests.wire.slack.message_checks import check_attachments, check_metadata
from tests.wire.slack.payloads import message_payload
from tests.wire.slack.posting import Draft

if TYPE_CHECKING:
    from tests.wire.slack.world import World


class ResponseUrls:
    """Answers that need no token, so many times and so long after the deed."""

    def __init__(self, world: "World") -> None:
        self._world = world

    def use(self, interaction: Interaction, body: Json) -> None:
        """Spend one use and do what the body says, or refuse."""
        limits = self._world.limits
        if self._world.clock.now() - interaction.started > limits.response_url_life:
            raise SlackError("expired_url")
        if interaction.url_uses >= limits.response_url_uses:
            raise SlackError("used_url")
        self.respond(interaction, body)
        interaction.url_uses += 1

    def respond(self, interaction: Interaction, body: Json) -> None:
        """Post, replace or delete as a body says."""
        if body.get("delete_original"):
            self._delete(interaction)
        elif body.get("replace_original"):
            self._replace(interaction, body)
        else:
            self._post(interaction, body)

    def _post(self, interaction: Interaction, body: Json) -> None:
        installation, channel = interaction.installation, interaction.channel
        if channel is None:
            raise SlackError("invalid_payload")
        draft = self._draft(body)
        seen_by_all = body.get("response_type") == "in_channel"
        if seen_by_all:  # Slack shows what one user sees in the channel, whatever the body says
            draft.thread_ts = body.get("thread_ts")
        if draft.thread_ts and draft.thread_ts not in channel.messages:
            raise SlackError("thread_not_found")
        message = self._world.posting.create(
            installation.bot,
            channel,
            draft,
            installation=installation,
            visible_to=None if seen_by_all else interaction.user,
        )
        interaction.messages.append(message)

    def _replace(self, interaction: Interaction, body: Json) -> None:
        message = self._original(interaction)
        if message is None or message.deleted:
            self._post(interaction, body)
            return
        draft, before = self._draft(body), message_payload(message)
        message.text, message.blocks = draft.text, draft.blocks
        message.attachments, message.streamed = draft.attachments, False
        message.edited_ts = None if message.ephemeral else self._world.timestamps.next()
        self._world.posting.edit(message, before, names=draft.names)

    def _delete(self, interaction: Interaction) -> None:
        message = self._original(interaction)
        if message is None or message.deleted:
            raise SlackError("no_message")
        self._world.posting.delete(message)

    def _original(self, interaction: Interaction) -> Message | None:
        """Return what a body may replace: what was pressed, or a command's last response.

        Of commands Slack's documentation says this, while some report that a new message appears
        (slackapi/bolt-python#1268); the bot has to do for both.
        """
        if interaction.kind is not InteractionType.COMMAND:
            return interaction.message
        return interaction.messages[-1] if interaction.messages else None

    def _draft(self, body: Json) -> Draft:
        limits = self._world.limits
        text, blocks = str(body.get("text") or ""), body.get("blocks")
        attachments = body.get("attachments")
        if not (text.strip() or blocks or attachments):
            raise SlackError("no_text")
        unfurls = body.get("unfurl_links") is not False or body.get("unfurl_media") is not False
        return Draft(
            text=text,
            blocks=check_message_blocks(blocks, limits) if blocks else [],
            attachments=check_attachments(attachments, limits) if attachments else [],
            metadata=check_metadata(body.get("metadata"), limits),
            unfurls=unfurls,
            names=bool(body.get("link_names")) or body.get("parse") == "full",
        )
