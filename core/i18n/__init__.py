"""Every sentence a chat user reads, by id, in the language of the person who asked."""

from core.i18n.catalogues import FALLBACK, LANGUAGES, MessageCatalogue, catalogue
from core.i18n.locale import current_language, language_of, use_locale
from core.i18n.message import Message, in_language, text
from core.i18n.terms import current_terms, use_terms

__all__ = [
    "FALLBACK",
    "LANGUAGES",
    "Message",
    "MessageCatalogue",
    "catalogue",
    "current_language",
    "current_terms",
    "in_language",
    "language_of",
    "text",
    "use_locale",
    "use_terms",
]
