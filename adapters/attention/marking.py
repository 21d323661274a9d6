"""Writes into an arrival what was decided about it."""

import hashlib
import re
from dataclasses import replace

from adapters.attention.deciding import Decision
from adapters.attention.intents import Band, Intent
from adapters.context.message_parts import NO_PARTS
from adapters.intake.incoming_message import IncomingMessage
from core.i18n import language_of
from core.inbox.base import Arrival, Kind

META = "meta"
"""In an arrival's address: what is asked about the last answer, as an `Intent`."""
LANGUAGE = "language"
"""In the address of a question that others may ask at once: the language of its answer."""
OFFERED = "offered"
"""In an arrival's address: that a reaction offers, or offered, to answer it."""
_WORDS = re.compile(r"\w+")


def decided_on(arrival: Arrival, incoming: IncomingMessage, decision: Decision) -> Arrival:
    """Return an arrival as what it was decided to be: a question, a request about one, an offer."""
    if decision.band is Band.REACT:
        return replace(arrival, kind=Kind.THANK, request=None, refusal=None)
    if arrival.request is None:
        return arrival
    if decision.intent.is_meta and not _brings_its_own(incoming):
        arrival = replace(arrival, address={**arrival.address, META: decision.intent.value})
    elif decision.intent is Intent.ASK and decision.band is Band.SPEAK:
        arrival = _as_one_of_many(arrival, incoming)
    if decision.band is Band.OFFER:
        arrival = replace(arrival, kind=Kind.OFFER, address={**arrival.address, OFFERED: True})
    return arrival


def meta_of(arrival: Arrival) -> Intent | None:
    """Return what an arrival asks about the last answer; None: it asks about the book."""
    found = arrival.address.get(META)
    return Intent(found) if found in set(Intent) else None


def _as_one_of_many(arrival: Arrival, incoming: IncomingMessage) -> Arrival:
    """Return a question with what it has in common with those of a crowd, if it may be of one."""
    gist = gist_of(incoming, arrival)
    if gist is None:
        return arrival
    address = {**arrival.address, LANGUAGE: language_of(incoming.locale)}
    return replace(arrival, gist=gist, address=address)


def _brings_its_own(incoming: IncomingMessage) -> bool:
    """Return whether "this" is what a message comes with, and not the last answer."""
    return incoming.quote is not None or incoming.parts != NO_PARTS


def gist_of(incoming: IncomingMessage, arrival: Arrival) -> str | None:
    """Return what identical questions have in common; None for one of a conversation.

    Those that are to be answered in different languages are not identical, and one that brings
    something with it is about that, whatever others say in the same words.
    """
    request = arrival.request
    alone = (
        incoming.thread is not None
        or incoming.private
        or incoming.direct
        or _brings_its_own(incoming)
    )
    if alone or request is None:
        return None
    words = " ".join(_WORDS.findall(incoming.text.casefold()))
    said = "\0".join(
        (request.course_id, incoming.section or "", language_of(incoming.locale), words)
    )
    return hashlib.sha256(said.encode()).hexdigest() if words else None
