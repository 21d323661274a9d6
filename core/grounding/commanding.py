"""Recognises by its form a command to an assistant about the answers that it gives."""

import re

from core.grounding.telling import is_code

_MACHINE = (
    r"\b(?:(?:AI|artificial\s+intelligence|(?:language|foundation)\s+model|LLM|chat\s?bot|chatgpt|"
    r"gpt|(?:virtual|digital|automated|smart)\s+(?:assistant|agent|tutor))s?"
    r"(?:\s+(?:assistant|model|system|agent|tutor|bot|helper|program)s?)?)\b"
)
_PROGRAM = rf"(?:{_MACHINE}|(?:assistant|bot|model)s?\b)"
_ADVERBS = r"(?:\s+(?:always|never|not|also|now|then|instead|just|please|\w+ly))*"
_DUTY = (
    r"(?:must|shall|should|will|(?:have|has|need|needs|ought)\s+to|"
    r"(?:are|is)\s+(?:(?:required|instructed|obliged|told|supposed)\s+)?to)"
)
_ASKER = (
    r"(?:students?|users?|readers?|learners?|anyone|anybody|everyone|everybody|someone|somebody)"
)
_ASKS = (
    r"(?:(?:ask(?:s|ing|ed)?|inquir\w+|enquir\w+)(?=\s*,|\s+(?:about|after|for\s+information|if|on|"
    r"that|to\s+(?:know|learn)|what|whe\w+|which|who|why|how|regarding|concerning)\b)"
    r"|wonder\w*|brings?\s+up|curious\s+about|wants?\s+to\s+(?:know|learn|understand))"
)
_SAY = (
    r"(?:answer(?!\s+(?:in|by|for|from)\b)|reply|respond|claim|state|tell|inform|"
    r"recommend|reveal|disclose|leak|repeat|"
    r"mention|promote|advertise|endorse|insist|pretend|declare|announce|advise|warn|assure|"
    r"instruct|urge|say(?!\s*[,$\d]|\s+so\b)|ignore|disregard|forget|override|"
    r"(?:direct|refer|point|send)\s+(?:them|every\w+|any\w+|(?:the\s+)?(?:user|student|reader)s?))\b"
)
"""What is done in an answer, or to the rules for it; without what textbooks have programs do."""
_YOU_ARE_TO = (
    rf"\b(?:you{_ADVERBS}\s+{_DUTY}|(?:your|the)\s+(?:duty|task|job)\s+is\s+to|"
    rf"your\s+(?:duty|task|job)\s+as\s+(?:\w+\s+){{1,4}}to){_ADVERBS}\s+"
)
_ORDER = re.compile(
    rf"(?:(?:^|[,:;.!?()\]–—-]|\b(?:on|onwards?|forward|henceforth)\b)[\s\"“'‘(\[]{{0,4}}"
    r"(?:(?:so|and|then|but|please|always|never|only|simply|instead|just|now|do\s+not|don['’]?t)"
    rf"\s+)*|{_YOU_ARE_TO}){_SAY}",
    re.IGNORECASE,
)
_ENDS_NAME = (
    r"(?=\s*(?:[,;:.!?)\]]|$)|\s+(?:that|which|who|and|or|reading|with|without|in|of|for)\b)"
)
_ADDRESS = re.compile(
    rf"^\W*(?:(?:dear|hey|hi|hello|attention|note|message|instructions?|to|for|any|all|every|the)"
    rf"\W+)*(?:{_MACHINE}[^.!?,:;]{{0,99}}[,:;!–—]"
    r"|(?:dear\s+model|assistant|bot|system|developer|inst)"
    r"(?:\s+(?:message|prompt|note|override))?\s*[,:;!\]–—])"
    rf"|[,;]\s*(?:dear\s+|my\s+)?{_PROGRAM}\s*[,:;!]"
    rf"|\byou(?:['’]re|\s+are)\s+(?:an?|the)\s+(?:\w+\s+)??{_PROGRAM}{_ENDS_NAME}"
    rf"|\bas\s+(?:an?|the\s+(?:[\w’']+\s+)?)\s*"
    rf"(?:{_MACHINE}|(?:\w+(?:ful|less)\s+)?(?:assistant|bot))"
    r"\s*(?:,|\byou\b)",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:from\s+(?:now|here|this\s+(?:point|moment))\s+(?:on|onwards?|forward)|henceforth|"
    r"for\s+the\s+rest\s+of\s+(?:this|the)\s+(?:conversation|chat|session))\b"
    r"|\b(?:whenever|each\s+time|every\s+time)\s+(?:[\w'’-]+\s+){1,4}?"
    r"(?:(?:is|are)\s+(?:mentioned|asked|raised|discussed)|comes?\s+up|"
    r"(?:occurs?\s+)?in\s+an?\s+question)"
    rf"|\b(?:if|when|whenever|time|should)\s+(?:(?:an?|any|the|every|some)\s+)?{_ASKER}\s+{_ASKS}"
    r"|\bwhen(?:ever)?\s+asked\s+(?:about|what|who|whether|how|why)\b"
    r"|\b(?:all|each|every)\s+(?:of\s+)?your\s+(?:answer|reply|replies|response)s?\b"
    r"|\b(?:question|quer(?:y|ie)|answer|repl(?:y|ie)|response)s?\b.{0,99}\bwith\s+"
    r"(?:\w+\s+){0,3}[\"“'‘]",
    re.IGNORECASE,
)
"""What makes an order one for all the answers to come."""
_BOUND = re.compile(
    rf"(?:{_MACHINE}\s+(?:(?:that|which|who)\s+)?(?:read|process|quot|summari[sz]|answer|us)\w+"
    r"|\b(?:assistant|bot|model)s?\s+(?:(?:that|which)\s+)?\w+\s+(?:(?:on|from|by)\s+)?this)\s"
    rf"[^.,;:!?]{{0,99}}?\b{_DUTY}{_ADVERBS}\s+{_SAY}",
    re.IGNORECASE,
)
"""A duty of the assistant that reads this."""
_TO_WHOM = re.compile(
    rf"(?:tell|inform|advise|direct|warn|assure|instruct|urge|(?:answer|respond|reply)\s+to)\s+"
    rf"(?:\w+\s+){{0,2}}?{_ASKER}\s+(?:(?:who|that)\s+)?{_ASKS}",
    re.IGNORECASE,
)
_ROLE = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|(?:stop|not|never|don['’]?t)\s+follow(?:ing)?)\s+"
    r"(?:\w+\s+){0,4}?"
    r"(?:(?:previous|prior|preceding|earlier|system|initial)\s+"
    r"(?:instructions?|prompts?|messages?)(?!\s+of\b)"
    r"|your\s+(?:\w+\s+)?(?:instructions|rules|guidelines|prompt|programming)"
    r"|the\s+other\s+(?:passages|excerpts)"
    r"|everything\s+(?:that\s+)?you\s+(?:were|have\s+been)\s+told)"
    r"|\b(?:begin|start|end|finish|open|close)\s+(?:all|any|each|every)\s+(?:of\s+)?(?:your\s+)?"
    r"(?:answer|reply|replies|response)s?\b.{0,60}\bwith\s+(?:\w+\s+){0,3}[\"“'‘]"
    rf"|\byou\s+are\s+now\s+(?:an?|the)\s+(?:\w+\s+)??(?:{_MACHINE}|assistant|bot){_ENDS_NAME}"
    rf"|^\W*(?:dear|hey|hello|attention|(?:note|message|instructions?)\s+(?:to|for))\W+(?:\w+\s+)??"
    rf"{_MACHINE}[^.!?,:;]{{0,99}}[,:!]",
    re.IGNORECASE,
)
"""Takes away or gives the rules for answers, gives a new role, or hails a machine."""
_ABOUT_ASSISTANTS = re.compile(
    rf"\b(?:{_MACHINE}|assistants?|bots?|prompts?|prompting|machine\s+learning|transformers?|"
    r"jailbreak\w*|inject\w*|attack\w*|hack\w*|malware|adversarial|phishing|social\s+engineering|"
    r"(?:cyber|computer|information|network|software|web|AI)[\s-]?security)\b",
    re.IGNORECASE,
)


def commands_answers(text: str) -> bool:
    """Return whether a sentence tells an assistant what to say, or to drop its rules.

    It is an order, and it is addressed to an assistant, or meant for all answers to come or for
    all who ask. A statement about assistants is none.
    """
    if is_code(text):
        return False
    if _ROLE.search(text) or _BOUND.search(text):
        return True
    return _ORDER.search(text) is not None and any(
        found.search(text) for found in (_ADDRESS, _STANDING, _TO_WHOM)
    )


def is_about_assistants(text: str) -> bool:
    """Return whether headings or a sentence name assistants or attacks, and so may quote these."""
    return _ABOUT_ASSISTANTS.search(text) is not None
