"""Tells whether an item of a list tells what to do, in English and German."""

import re

_LABEL = re.compile(r"[^\n.:;!?]{1,40}[:.–—]\s+(?=\w)")
_ADVERB = r"(?:(?:first|then|next|now|also|always|never|please|do not|don['’]t|\w+ly),?\s+)*"
_DOING = (
    "add adjust agree aim alert align allow apply arrange ask assemble attach autoclave avoid "
    "back bake bandage baste beat begin bend blend block boil bolt book boot breathe bring brown "
    "brush build bury calibrate call cancel carry catch centrifuge change charge check choose "
    "chop clamp clean clear click clip close coat collect combine complete confirm connect "
    "contact continue cook cool copy count cover crack create cross crouch crush cut dab "
    "deactivate decant delete depress detach dig dilute dip disassemble discard disconnect "
    "dismantle dispose dissolve divide double drag drain draw drill drink drive drop dry eject "
    "elevate empty enable ensure enter evacuate examine exhale exit extend extinguish fasten feed "
    "fetch file fill filter find finish fit fix flip flush fold follow free freeze fry gather get "
    "give glue go grab grate grease grind grip ground hang heat help hold inform inhale insert "
    "inspect install isolate join keep knead kneel knock label lay leave let lift light list load "
    "lock log loosen lower make marinate mark mash measure melt mince mix moisten mop mount move "
    "navigate note notify open order pack paddle paint park paste peel pick pierce pinch pipette "
    "place plant plug point polish pour preheat prepare press prick protect prune pull pump punch "
    "push put raise read reattach rebuild reconnect record reduce refill refit release reload "
    "remove rename repeat replace replug report reset rest restart restore return reverse ring "
    "rinse roast roll rotate row rub run sail sand save scan scoop scrape screw scrub seal search "
    "season secure see select send separate serve set shake shape sharpen shift shovel shut sieve "
    "sift sign simmer sit slice slide slip smooth soak sow spin splice spray spread sprinkle "
    "squeeze stain stand start stay steep stick stir stop store strain stretch strip submit "
    "support swab sweep swing switch take tap tear tell test thaw thread throw tie tighten tip "
    "titrate toast toss touch trace transfer trim try tug turn twist type undo unfold uninstall "
    "unlock unpack unplug unscrew unwrap update upload use vacuum ventilate verify wait walk warm "
    "warn wash watch water wear weigh wet whisk wind wipe wrap write"
).replace(" ", "|")
_OF_A_THING = r"(?:is|are|was|were|has|have|(?<!dispose )of)\b"
"""Comes behind one of these words where it is a noun: "Use of the slide is free."."""
_IMPERATIVE = re.compile(rf"\W*{_ADVERB}(?:{_DOING})(?:\s+(?!{_OF_A_THING})[\w`“\"']|[.!]?$)", re.I)
_GERMAN = re.compile(r"\W*(?:\w+, )?\w+e?n Sie\b|[^.!?\n]*\b[a-zäöüß]+(?:en|ern|eln)[.!]?\s*$")


def tells_to_do(text: str, language: str) -> bool:
    """Return whether an item tells what to do, at its start or behind a label: "Base: fit it".

    Args:
        text: The item's words, without its mark.
        language: The language of the book; German, or read as English.
    """
    starts = [text, *(text[label.end() :] for label in [_LABEL.match(text)] if label)]
    if language.startswith("de"):
        return any(_GERMAN.match(start) for start in starts)
    return any(_IMPERATIVE.match(start) for start in starts)
