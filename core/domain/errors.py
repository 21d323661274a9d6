"""Every failure the product names, ordered by who can put it right.

BotError                  .user_message: one safe sentence for the reader
├── RequestError          the person asking
│   ├── EmptyQuestion · QuestionTooShort · QuestionTooLong · UnknownSection
│   ├── RateLimited
│   └── Stopped
├── ServiceError          no user; the same request may succeed later
│   ├── EmbeddingError · VectorIndexError (CollectionMissing, CollectionDamaged, IndexFull) ·
│   │   GenerationError (TokenLimitReached) ·
│   │   StoreError (StoreRefused, StoreDamaged, StoreDataError, StoreUnwritable)
│   └── NoRoom (IndexFull)
├── IngestionError        the owner of the document
│   ├── UnsupportedDocument (permanent; ProgramMissing, EmptyDocument) ·
│   │   SourceUnavailable (transient)
│   └── IngestionBusy · InvalidQuestions
├── UnusableBackup        the operator: a backup's file is no good
├── DeliveryError         the platform refused the message, for now or for good
└── ConfigurationError    the operator, before the bot starts
"""

from collections.abc import Sequence
from math import ceil

from core.domain.i18n import FALLBACK, Message, current_language, in_language


class _Shown:
    """An error's sentence in the language of its reader, also of a class."""

    def __get__(self, error: "BotError | None", kind: type["BotError"]) -> str:
        return in_language((kind if error is None else error).sentence, current_language())


class BotError(Exception):
    """A failure with one sentence that is safe to show to anybody.

    The exception's own text is for the operator and the log; `user_message`
    never carries a secret, a path or another library's words.
    """

    sentence: Message | str = Message("error-unexpected")
    """What the reader sees; text only where the reader is the operator."""
    user_message = _Shown()

    def __init__(self, detail: str = "", *, user_message: Message | str | None = None) -> None:
        super().__init__(detail)
        if user_message is not None:
            self.sentence = user_message

    def __str__(self) -> str:
        return super().__str__() or in_language(self.sentence, FALLBACK)


class RequestError(BotError):
    """The person asking can put it right."""


class EmptyQuestion(RequestError):
    """The question has no text."""

    sentence = Message("error-no-question")


class QuestionTooShort(RequestError):
    """The question is shorter than `limit` characters."""

    def __init__(self, length: int, limit: int) -> None:
        self.length, self.limit = length, limit
        super().__init__(user_message=Message("error-question-too-short", {"count": limit}))


class QuestionTooLong(RequestError):
    """The question is longer than `limit` characters."""

    def __init__(self, length: int, limit: int) -> None:
        self.length, self.limit = length, limit
        values = {"length": length, "limit": limit}
        super().__init__(user_message=Message("error-question-too-long", values))


class UnknownSection(RequestError):
    """No section of the course goes by the name asked for; `nearest` are close names."""

    def __init__(self, name: str, nearest: Sequence[str]) -> None:
        self.name, self.nearest = name, tuple(nearest)
        self.bare = said = Message("error-no-section", {"name": name})
        """The sentence without the names, for who shows those apart."""
        if self.nearest:
            values = {"name": name, "nearest": "; ".join(self.nearest)}
            said = Message("error-no-section-but-near", values)
        super().__init__(user_message=said)


class RateLimited(RequestError):
    """The person asks faster than allowed; `retry_after` is in seconds."""

    def __init__(self, retry_after: float, said: Message | None = None) -> None:
        self.retry_after = retry_after
        said = said or Message("error-too-fast", {"count": ceil(retry_after)})
        super().__init__(user_message=said)


class ChannelFull(RateLimited):
    """So many questions wait in a channel that one more would get too old."""

    def __init__(self, retry_after: float) -> None:
        super().__init__(retry_after, Message("error-channel-full", {"count": ceil(retry_after)}))


class Stopped(RequestError):
    """The person who asked stopped the answer."""

    sentence = Message("error-stopped")


class ServiceError(BotError):
    """A service we depend on failed; the same request may succeed later."""

    sentence = Message("error-service")


class EmbeddingError(ServiceError):
    """The embedding model gave no usable vectors."""


class VectorIndexError(ServiceError):
    """The vector index could not be read or written."""

    sentence = Message("error-search")


class CollectionMissing(VectorIndexError):
    """The index does not hold a course's text any more, until it is ingested again."""

    sentence = Message("error-text-missing")


class CollectionDamaged(VectorIndexError):
    """What the index holds of a course is not whole, until it is ingested again."""

    sentence = Message("error-text-damaged")


class NoRoom(ServiceError):
    """A disk is full, or will be; the exception's own text says how much is needed, and where."""

    sentence = Message("error-disk-full")


class IndexFull(NoRoom, VectorIndexError):
    """The vector index's disk has no room for what is to be written, or read."""


class GenerationError(ServiceError):
    """The language model gave no usable answer."""


class TokenLimitReached(GenerationError):
    """The question needs more tokens than one question may use."""


class StoreError(ServiceError):
    """The database could not be read or written."""


class StoreRefused(StoreError):
    """The database does not let us in: its URL names a wrong user, password or database."""


class StoreDamaged(StoreError):
    """The database's file is broken, and will be until it is replaced."""

    sentence = Message("error-memory-damaged")


class StoreUnwritable(StoreError):
    """The database can be read but not written: its disk is full, or only for reading."""


class StoreDataError(StoreError):
    """The database cannot hold what it was given, however often it is tried."""

    sentence = Message("error-not-noted")


class IngestionError(BotError):
    """The owner of the document can put it right."""


class UnsupportedDocument(IngestionError):
    """This document cannot be read, now or later."""


class ProgramMissing(UnsupportedDocument):
    """This document cannot be read without a program that is not on this machine."""


class EmptyDocument(UnsupportedDocument):
    """This document has nothing that could be read."""


class SourceUnavailable(IngestionError):
    """The document could not be fetched; a later try may succeed."""


class InvalidQuestions(IngestionError):
    """A file of questions cannot be used; the text names the line."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, user_message=detail)


class IngestionBusy(IngestionError):
    """Another process is ingesting the same course."""


class UnusableBackup(BotError):
    """A backup cannot be written, or restored from; the text says why."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, user_message=detail)


class DeliveryError(BotError):
    """The chat platform refused a message.

    `permanent`: trying again is useless, as where the channel is gone or closed to us.
    `retry_after`: seconds to wait before the next try, when the platform said so.
    """

    def __init__(
        self, detail: str = "", *, permanent: bool = False, retry_after: float | None = None
    ) -> None:
        self.permanent, self.retry_after = permanent, retry_after
        super().__init__(detail)


class Unclear(DeliveryError):
    """It is unknown whether the chat platform did what it was asked to."""


class ConfigurationError(BotError):
    """The operator has to change a setting; the exception's own text says which and how."""

    sentence = Message("error-not-set-up")
