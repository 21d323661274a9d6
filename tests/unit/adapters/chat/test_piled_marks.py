"""Marks that pile up on a letter are cut off; what scripts need is not."""

import unicodedata
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.access import choice_of
from adapters.chat.markdown.layout import visible, without_piles
from adapters.discord.outbound import thread_name
from core.storage.inbox.base import Arrival
from tests.samples import request

MOST = 5
WRITTEN = {
    "Vietnamese, decomposed": unicodedata.normalize("NFD", "Tiếng Việt có những dấu nào?"),
    "Devanagari": "क्षत्रिय और संस्कृति में क्या अन्तर है?",
    "Thai": "น้ำที่ไหลเชี่ยวคืออะไร เพื่อผู้ที่ซื้อ",
    "Hebrew of the Bible": "בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים אֵ֥ת הַשָּׁמַ֖יִם",
    "Arabic": "بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ ٱلرَّحِيمِ",
    "Tibetan": "ཨོཾ་མ་ཎི་པདྨེ་ཧཱུྃ བསྒྲུབས ཧྐྵྨླྺྼྻྂ",
    "Burmese": "မြန်မာဘာသာစကား",
    "Khmer": "ភាសាខ្មែរ ស្ត្រី",
    "emoji of several people": "👩‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 1️⃣",
    "mathematics": "x̂ ẋ̈ a⃗ ñ̄",
}
marks = st.characters(categories=["Mn", "Me"])
piled = st.tuples(st.characters(categories=["L"]), st.lists(marks, min_size=1, max_size=40)).map(
    lambda pile: pile[0] + "".join(pile[1])
)


def highest(text: str) -> int:
    kinds = ["mark" if unicodedata.category(one) in {"Mn", "Me"} else one for one in text]
    return max((len([*run]) for kind, run in groupby(kinds) if kind == "mark"), default=0)


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN.keys())
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert without_piles(text) == text
    assert thread_name(request(query_text=f"Why {text}"[:90])) == f"Why {text}"[:90]


@pytest.mark.parametrize("joiner", ["", "\u200d", "\u200c", "\u2060"])
@pytest.mark.parametrize("mark", ["\u0336", "\u0e47", "\u20dd", "\u0f71", "\u064b", "\u05b0"])
@pytest.mark.parametrize("code", ["", "`"])
def test_a_pile_is_cut_in_the_name_of_a_thread(mark: str, joiner: str, code: str) -> None:
    name = thread_name(request(query_text=f"What is {code}z{(mark + joiner) * 40}algo{code} here?"))
    assert name.count(mark) == MOST
    assert name.startswith("What is z")
    assert name.endswith("algo here?")


@pytest.mark.costly
@given(st.lists(piled, max_size=6).map("".join))
def test_no_letter_has_more_than_a_few_marks(text: str) -> None:
    shown = without_piles(text)
    assert highest(shown) <= MOST + 8  # the second is of Tibetan letters below each other
    assert without_piles(shown) == shown
    bases = [one for one in text if unicodedata.category(one) not in {"Mn", "Me"}]
    assert [one for one in shown if unicodedata.category(one) not in {"Mn", "Me"}] == bases
    assert highest(visible(text)) <= MOST + 8


def test_a_pile_is_cut_in_the_title_of_a_course_to_choose() -> None:
    arrival = Arrival(
        key="k",
        platform="discord",
        workspace="w",
        channel="c",
        lane="l",
        position=1,
        user_id="u",
        address={"choices": [["bio", "Bio" + "\u0336" * 40]]},
        pending=request(),
    )
    choice = choice_of(arrival)
    assert choice is not None
    assert choice.courses == (("bio", "Bio" + "\u0336" * MOST),)
