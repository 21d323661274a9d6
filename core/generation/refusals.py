"""Recognises a model that says in its own words that the passages do not answer."""

import re
from typing import NamedTuple

_LONGEST = 400
"""Characters; a refusal is one sentence."""


class _Wording(NamedTuple):
    """How one language says it: all three have to occur."""

    source: str
    denial: str
    saying: str


_WORDINGS = (
    _Wording(  # English
        r"\b(?:the|these|this|those|your|any)\s+(?:(?:provided|given|supplied|available|quoted|"
        r"above|course|whole)\s+){0,2}(?:passages?|book(?!\s+value)|textbook|text|excerpts?|"
        r"sections?|chapters?)\b"
        r"|\b(?:provided|given|supplied|course|reading)\s+(?:materials?|context|sources?|texts?|"
        r"passages?|information)\b"
        r"|^\W*(?:(?:unfortunately|sorry|i['’]m sorry|i apologi[sz]e)\W+(?:but\s+)?)?i\b",
        r"\b(?:not|no|nothing|none|never|cannot|unable|without|lacks?|neither)\b|n['’]t\b",
        r"\b(?:say|mention|contain|cover|provide|include|address|discuss|explain|state|answer|"
        r"specif|describe|tell|give|offer|define|list|indicate|find|found|know|information|"
        r"detail|enough|appear|treat)",
    ),
    _Wording(  # German
        r"\b(?:die|den|der|das|dem|des|diese[nrms]?|im|vom)\s+(?:(?:vorliegend|bereitgestellt|"
        r"gegeben|angegeben|zitiert|genannt)\w*\s+)?(?:passagen?|buch(?:es)?|textstellen?|texte?s?|"
        r"auszüge?n?|abschnitte?n?|lehrbuchs?|kapiteln?)\b"
        r"|\b(?:vorliegend|bereitgestellt|gegeben|angegeben)\w*\s+(?:materiali?e?n?s?|quellen?|"
        r"kontext|informationen)\b"
        r"|^\W*(?:leider\s+)?(?:kann\s+)?ich\b",
        r"\b(?:nicht|nichts|kein\w*|weder|ohne)\b",
        r"erwähn|enthalten|enthält|beantwort|behandel|erklär|\bsag|\bsteh|auskunft|information|"
        r"angabe|genannt|beschr[ie]+b|hervor|eingegangen|finden?\b|erläuter|antwort",
    ),
    _Wording(  # French
        r"\b(?:les?|la|ces?|cette|l['’]|du|des|aux?)\s*(?:passages?|livre|textes?|extraits?|"
        r"documents?|manuel|ouvrage|sources?|contexte)\b|^\W*(?:désolé\w*\W+)?je\b",
        r"\b(?:ne|n['’])\s*\w+(?:\s+\w+)?\s+(?:pas|rien|aucun\w*|point|ni)\b|\baucun\w*\b|\brien\b",
        r"mentionn|contien|contenu|trait|répon|expliqu|\bdi(?:t|sent)\b|précis|indiqu|information|"
        r"abord|fourni|parle|trouv|couvr|décri|défini",
    ),
    _Wording(  # Spanish and Portuguese
        r"\b(?:el|la|los|las|estos?|estas?|o|os|as|d[oa]s?|n[oa]s?|del|al|ao)\s+(?:pasajes?|"
        r"libro|textos?|fragmentos?|extractos?|material|contexto|fuentes?|passagens|livro|"
        r"trechos?|fontes?)\b|^\W*(?:lo siento\W+)?(?:no puedo|no encuentro|não (?:posso|encontr))",
        r"\b(?:no|não|nada|ning[uú]n\w*|nenhum\w*|nem)\b",
        r"mencion|conti?[eé]n|cont[eé]m|trata|respon|explic|dice|diz|indic|informa|aborda|"
        r"proporcion|fornec|cubr|cobr|habla|fala|encontr|defin|describ|descrev",
    ),
    _Wording(  # Italian
        r"\b(?:il|la|lo|i|gli|le|l['’]|questi?|nel|nei|dal|dai)\s*(?:brani?|libro|test[oi]|passaggi|"
        r"passi|estratti|material[ei]|contesto|fonti)\b|^\W*non (?:posso|trovo)\b",
        r"\b(?:non|nulla|niente|nessun\w*|né)\b",
        r"menzion|contien|contengono|tratta|rispo|spieg|dic(?:e|ono)\b|indica|informazion|"
        r"affront|forni|parla|trov|copr|descri|defini",
    ),
    _Wording(  # Dutch
        r"\b(?:de|het|deze|dit)\s+(?:\w+\s+)?(?:passages?|boek|teksten?|tekst|fragmenten|"
        r"materiaal|bronnen|context)\b|^\W*(?:helaas\s+)?(?:kan\s+)?ik\b",
        r"\b(?:niet|niets|geen|noch)\b",
        r"noem|vermeld|bevat|behandel|beantwoord|leg\w* uit|uitleg|zeg|informatie|besproken|"
        r"bespre|genoemd|staat|vind",
    ),
    _Wording(  # Russian and Ukrainian
        r"\b(?:книг\w*|текст\w*|отрыв\w*|фрагмент\w*|материал\w*|источник\w*|урив\w*|джерел\w*)\b",
        r"\b(?:не|нет|ничего|нема|немає|нічого)\b",
        r"упомина|упомян|содерж|говор|объясн|отвеча|ответ|сказано|описа|указа|рассматрива|информац|"
        r"згаду|містить|містять|інформац|відповід|поясн",
    ),
    _Wording(  # Chinese
        r"段落|文中|课文|課文|教材|书中|書中|本书|本書|课本|課本|文本|材料|原文",
        r"没有|沒有|未|无|無|不",
        r"提到|提及|说明|說明|包含|涉及|回答|解释|解釋|信息|資訊|讨论|討論|介绍|介紹",
    ),
    _Wording(  # Japanese
        r"本文|本書|教科書|抜粋|資料|文章|テキスト|この本|箇所",
        r"ない|なし|ません|おらず|なかった",
        r"記載|言及|書かれ|述べ|説明|含まれ|触れ|情報|答え",
    ),
    _Wording(  # Korean
        r"본문|교재|책|지문|자료|구절",
        r"않|없|못",
        r"언급|설명|포함|나와|다루|정보|답",
    ),
)
_REFUSALS = tuple(
    tuple(re.compile(part, re.IGNORECASE) for part in wording) for wording in _WORDINGS
)


def is_refusal(sentence: str) -> bool:
    """Return whether the sentence says that the book does not answer what was asked."""
    if len(sentence) > _LONGEST:
        return False
    return any(all(part.search(sentence) for part in refusal) for refusal in _REFUSALS)
