"""Claims that keep most words of their quote: what they turn round, and what they may."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.embedders import installed_model
from core.embeddings.local import LocalEmbedder
from core.grounding.support import Flaw, QuotedPassage, SupportChecker

Pairs = list[tuple[str, str]]
"""Sentences, each with its quote."""

ROLES_FALSE: Pairs = [
    ("Households lend money to banks.", "Banks lend money to households."),
    ("The vassal granted land to the king.", "The king granted land to the vassal."),
    ("Anxiety causes poor sleep.", "Poor sleep causes anxiety."),
    ("Granite is harder than quartz.", "Quartz is harder than granite."),
    ("The parser calls the compiler.", "The compiler calls the parser."),
    ("Athens defeated Sparta in the war.", "Sparta defeated Athens in the war."),
    (
        "The left ventricle receives blood from the aorta.",
        "The aorta receives blood from the left ventricle.",
    ),
]
ROLES_TRUE: Pairs = [
    ("Households are lent money by banks.", "Banks lend money to households."),
    ("Land was granted to the vassal by the king.", "The king granted land to the vassal."),
    ("Anxiety is caused by poor sleep.", "Poor sleep causes anxiety."),
    ("Granite is softer than quartz.", "Quartz is harder than granite."),
    ("In the war, Sparta defeated Athens.", "Sparta defeated Athens in the war."),
    ("In many countries the price of oil rose.", "The oil price rose in many countries."),
    ("Households get money that banks lend.", "Banks lend money to households."),
]
STRENGTH_FALSE: Pairs = [
    ("All firms in the market earn a profit.", "Most firms in the market earn a profit."),
    ("Most patients recover within a week.", "Some patients recover within a week."),
    ("Some mammals breathe with lungs.", "All mammals breathe with lungs."),
    ("Every reference is checked at run time.", "Some references are checked at run time."),
    ("A tariff will raise the price.", "A tariff may raise the price."),
    ("The borrower must repay the loan early.", "The borrower may repay the loan early."),
    ("The council may approve the budget.", "The council must approve the budget."),
    ("Smoking must cause the disease.", "Smoking can cause the disease."),
    ("The kiln has to reach at most 900 degrees.", "The kiln has to reach at least 900 degrees."),
    ("The panel has exactly 12 members.", "The panel has at least 12 members."),
    ("The panel has at least 12 members.", "The panel has 12 members."),
    ("The trip takes less than 40 minutes.", "The trip takes more than 40 minutes."),
    ("The heart always beats faster in summer.", "The heart often beats faster in summer."),
    ("Only banks lend money to households.", "Banks lend money to households."),
]
STRENGTH_TRUE: Pairs = [
    (
        "The majority of firms in the market earn a profit.",
        "Most firms in the market earn a profit.",
    ),
    ("Several patients recover within a week.", "Some patients recover within a week."),
    ("Every mammal breathes with lungs.", "All mammals breathe with lungs."),
    ("A tariff can raise the price.", "A tariff may raise the price."),
    ("The borrower has to repay the loan early.", "The borrower must repay the loan early."),
    ("A minimum of 12 members sit on the panel.", "The panel has at least 12 members."),
    ("The panel has 12 or more members.", "The panel has at least 12 members."),
    ("The trip takes over 40 minutes.", "The trip takes more than 40 minutes."),
    ("The trip takes roughly 40 minutes.", "The trip takes about 40 minutes."),
    ("The most important glaze is celadon.", "Celadon is the most important glaze."),
    (
        "Some of the glazes fade, and most of them crack.",
        "Some of the glazes fade, and most of them crack in the kiln.",
    ),
    ("Declare the variable with `let`.", "You must declare the variable with `let`."),
]
DIRECTIONS_FALSE: Pairs = [
    (
        "It fails when one or less of the parts are missing.",
        "It fails when one or more of the parts are missing.",
    ),
    ("A program has at most one runtime in place.", "A program has at least one runtime in place."),
    (
        "Raising the rate slows borrowing and slows saving.",
        "Raising the rate slows borrowing and speeds saving.",
    ),
    ("A thinner wall cools more slowly.", "A thicker wall cools more slowly."),
    (
        "When the price rises, supply rises and demand rises.",
        "When the price rises, supply rises and demand falls.",
    ),
    ("Insulin treats hypoglycemia in adults.", "Insulin treats hyperglycemia in adults."),
    ("The afferent fibres carry signals away.", "The efferent fibres carry signals away."),
    ("The pupil constricts in the dark.", "The pupil dilates in the dark."),
    ("The elbow is distal to the wrist.", "The elbow is proximal to the wrist."),
    ("The overvalued currency hurts trade.", "The undervalued currency hurts trade."),
    ("Prenatal care is free of charge.", "Postnatal care is free of charge."),
    (
        "The bank buys bonds, which raises interest rates.",
        "The bank buys bonds from firms, which increases the supply of money and lowers interest "
        "rates.",
    ),
    (
        "The right ventricle pumps oxygen-rich blood into the aorta.",
        "The left ventricle pumps oxygen-rich blood into the aorta, while the right ventricle "
        "pumps blood to the lungs.",
    ),
    ("The new rule hurts borrowers.", "The new rule helps borrowers."),
    ("Output fell sharply after the war.", "Output fell slightly after the war."),
]
DIRECTIONS_TRUE: Pairs = [
    (
        "Raising the rate slows borrowing and makes saving faster.",
        "Raising the rate slows borrowing and speeds saving.",
    ),
    (
        "The thicker a wall is, the more slowly it cools.",
        "A thicker wall cools more slowly, and a thinner one faster.",
    ),
    (
        "The market price is not set by one farmer but solely by supply and demand in the market.",
        "Supply and demand in the market solely set the market price, not any one farmer.",
    ),
    (
        "Oxygen-rich blood is pumped into the aorta by the left ventricle.",
        "The left ventricle pumps oxygen-rich blood into the aorta, while the right ventricle "
        "pumps blood to the lungs.",
    ),
    (
        "Demand falls and supply rises when the price is going up.",
        "When the price rises, supply rises and demand falls.",
    ),
    ("In the dark, pupils dilate.", "The pupil dilates in the dark."),
]
NUMBERS_FALSE: Pairs = [
    ("The park covers 3 square meters.", "The park covers 3 square kilometers."),
    ("The plant supplies 5 MW of power.", "The plant supplies 5 kW of power."),
    ("The plant supplies 5 kilowatts of power.", "The plant supplies 5 megawatts of power."),
    ("The daily dose is 40 g.", "The daily dose is 40 mg."),
    ("The dose is 40 µg of iron.", "The dose is 40 mg of iron."),
    ("The file holds 3 GB of text.", "The file holds 3 MB of text."),
    ("Clerks earned $15 per day.", "Clerks earned $15 per hour."),
    ("The pump moves 30 litres an hour.", "The pump moves 30 litres a minute."),
    ("The dose is 5 mg/l.", "The dose is 5 mg/kg."),
    ("The car goes at 90 miles per hour.", "The car goes at 90 kilometers per hour."),
    ("The signal lasts 20 seconds.", "The signal lasts 20 milliseconds."),
]
NUMBERS_TRUE: Pairs = [
    (
        "The park covers 2 km² and 3 square kilometers of forest.",
        "The park covers 2 km² and 3 square kilometres of forest.",
    ),
    ("The plant supplies 5 kilowatts of power.", "The plant supplies 5 kW of power."),
    ("The walk is 1,500 m long.", "The walk is 1.5 km long."),
    ("The daily dose is 40 milligrams.", "The daily dose is 40 mg."),
    ("Clerks earned $15 an hour.", "Clerks earned $15 per hour."),
    ("Clerks earned 15 dollars each hour.", "Clerks earned $15 per hour."),
    ("A barrel of crude oil cost $12.", "The price of crude oil was $12 a barrel."),
    ("Crude oil cost $12 per barrel.", "A barrel of crude oil cost $12."),
    ("The car goes at 90 km/h.", "The car goes at 90 kilometers per hour."),
    ("The car has 4 doors and 2 keys.", "The car has four doors and two keys."),
    ("In the 1990s, $5m went to schools.", "In the 1990s, $5 million went to schools."),
]
BOILING = "Water boils at 100 °C at sea level; at 3,000 m it boils at about 90 °C."
VACCINE = "The vaccine was 95% effective against disease and 60% effective against infection."
REVENUE = "The company's revenue grew from $2.5 million in 2010 to $4 million in 2015."
RETAKE = "One third of the students failed the exam, and 45 of 60 passed the retake."
PRIZES = "Marie Curie won the Nobel Prize in Physics in 1903 and in Chemistry in 1911."
TRADE = "Chile imported 500 tons of grain in 2018, but exported only 120 tons to Peru."
EXCHANGED_FALSE: Pairs = [
    ("Water boils at 90 °C at sea level.", BOILING),
    ("At sea level, water boils at 100 degrees Fahrenheit.", BOILING),
    ("The vaccine was 95% effective against infection.", VACCINE),
    ("The company's revenue grew from $4 million in 2010 to $2.5 million in 2015.", REVENUE),
    ("The company's revenue grew to $4 million in 2010.", REVENUE),
    ("60 of 45 students passed the retake.", RETAKE),
    ("45 of 60 failed the retake.", RETAKE),
    ("Marie Curie won the Nobel Prize in Physics in 1911.", PRIZES),
    ("The license lasts no more than 26 weeks.", "The license lasts no less than 26 weeks."),
    ("The treaty lasted for one month.", "The treaty lasted for a year."),
]
EXCHANGED_TRUE: Pairs = [
    ("At sea level, water boils at 100 degrees Celsius.", BOILING),
    ("At an altitude of 3 km, water boils at around 90 °C.", BOILING),
    ("Against infection, the vaccine was 60% effective.", VACCINE),
    ("Between 2010 and 2015 the company's revenue grew from $2.5 million to $4 million.", REVENUE),
    ("The company's revenue was $4 million in 2015.", REVENUE),
    (
        "The poverty rate was cut in half between 1990 and 2010.",
        "Between 1990 and 2010 the poverty rate fell by half, from 36% to 18%.",
    ),
    ("45 of the 60 students passed the retake.", RETAKE),
    ("In 1911 Marie Curie won the Nobel Prize in Chemistry.", PRIZES),
    ("Chile exported only 120 tons of grain to Peru.", TRADE),
    ("The license lasts no more than 26 weeks.", "The license lasts up to 26 weeks."),
    ("The treaty lasted for one year.", "The treaty lasted for a year."),
]
NAMES_FALSE: Pairs = [
    (
        "Sicily exported more grain to the cities on the mainland than any other province.",
        "Tuscany exported more grain to the cities on the mainland than any other province.",
    ),
    (
        "Hayes argued that a gold standard would hurt the farmers of the poorer countries.",
        "Only Keynes knew. Keynes argued that a gold standard would hurt the farmers of the poorer "
        "countries.",
    ),
    (
        "Kansas was annexed by the union after a long war that few of its people had wanted.",
        "Utah was annexed by the union after a long war that few of its people had wanted.",
    ),
    (
        "Italy is the largest producer of wine and olive oil in the south of the continent.",
        "Spain is the largest producer of wine and olive oil in the south of the continent.",
    ),
    ("The WHO lends money to poor countries.", "The IMF lends money to poor countries."),
    ("The IMF lends money to poor countries.", "The WHO lends money to poor countries."),
    ("The EU sent troops to the border.", "The UN sent troops to the border."),
    ("The UN set a rule under every name.", "The EU set a rule under every name."),
]
NAMES_TRUE: Pairs = [
    ("Typically, grain was exported to the coast.", "Grain was exported to the coast."),
    ("Companies argued for a gold standard.", "Firms argued for a gold standard."),
    (
        "Declare the variable with `let mut` to change it.",
        "To change a variable, you declare it with `let mut`.",
    ),
    (
        "Use `let mut` to declare a mutable variable.",
        "You declare a mutable variable by writing `let mut`.",
    ),
    ("The World Health Organization fights malaria.", "The WHO fights malaria."),
    ("The WHO fights malaria.", "The World Health Organization fights malaria."),
    ("Italian wine is exported.", "Italy exports its wine."),
    ("Physics is a science.", "The science of physics is old, and physics is a science."),
    ("Economics doesn't deny it.", "It is not denied by economics."),
]
POLARITY_FALSE: Pairs = [
    (
        "A program that breaks the rules compiles.",
        "Ownership rules are checked by the compiler, so a program that breaks them does not "
        "compile.",
    ),
    ("It is impossible to stop the press.", "It is not impossible to stop the press."),
    ("Iron and copper rust in dry air.", "Neither iron nor copper rusts in dry air."),
    ("The cell has a nucleus.", "The cell lacks a nucleus."),
    ("The cell lacks a nucleus.", "The cell has a nucleus."),
    ("The function fails to return a value.", "The function returns a value."),
    (
        "The program compiles unless the type is known.",
        "The program compiles if the type is known.",
    ),
    ("Plants grow without light.", "Plants grow with light."),
    ("The reform hardly changed wages.", "The reform changed wages."),
    ("The reform changed wages.", "The reform hardly changed wages."),
    ("The function returns a value.", "The function fails to return a value."),
    ("Plants grow with water and light.", "Plants grow with water and without light."),
    ("Banks refuse to lend to small firms.", "Banks lend to small firms."),
    ("Nobody reads the report in time.", "Everybody reads the report in time."),
    ("The absence of oxygen feeds the fire.", "Oxygen feeds the fire."),
    ("It is a myth that banks lend to firms.", "Banks lend to firms."),
]
POLARITY_TRUE: Pairs = [
    (
        "The compiler checks the rules of ownership.",
        "Ownership rules are checked by the compiler, so a program that breaks them does not "
        "compile.",
    ),
    (
        "Iron does not rust in dry air, and copper does not either.",
        "Neither iron nor copper rusts in dry air.",
    ),
    ("The cell has no nucleus.", "The cell lacks a nucleus."),
    ("The cell lacks a nucleus.", "The cell does not have a nucleus."),
    ("The function doesn't return a value.", "The function fails to return a value."),
    (
        "The program does not compile unless the type is known.",
        "The program compiles only if the type is known.",
    ),
    ("Plants cannot grow without light.", "Without light, plants can't grow."),
    ("Wages hardly changed.", "Wages barely changed."),
    ("No one reads the report.", "Nobody reads the report."),
]
FALSE = [*ROLES_FALSE, *STRENGTH_FALSE, *DIRECTIONS_FALSE, *NUMBERS_FALSE, *EXCHANGED_FALSE,
         *NAMES_FALSE, *POLARITY_FALSE]  # fmt: skip
TRUE = [*ROLES_TRUE, *STRENGTH_TRUE, *DIRECTIONS_TRUE, *NUMBERS_TRUE, *EXCHANGED_TRUE,
        *NAMES_TRUE, *POLARITY_TRUE]  # fmt: skip


@pytest.fixture(scope="module")
def checker(models: Path) -> Iterator[SupportChecker]:
    embedder = LocalEmbedder(installed_model(), models)
    yield SupportChecker(embedder)
    embedder.close()


async def flaw(checker: SupportChecker, sentence: str, quote: str) -> Flaw | None:
    return await checker.flaw_of(sentence, [QuotedPassage(quote, 0, len(quote))], quote)


@pytest.mark.parametrize(("sentence", "quote"), FALSE)
async def test_what_is_turned_round_is_caught(
    checker: SupportChecker, sentence: str, quote: str
) -> None:
    assert await flaw(checker, sentence, quote) is not None


@pytest.mark.parametrize(("sentence", "quote"), TRUE)
async def test_the_same_in_other_words_passes(
    checker: SupportChecker, sentence: str, quote: str
) -> None:
    assert await flaw(checker, sentence, quote) is None


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        (
            "Die Stadt hat 3 Brücken und 12 Türme.",
            "Die Stadt hat drei Brücken und zwölf Türme.",
        ),
        (
            "Mitochondrien erzeugen in der Zelle Energie.",
            "Die Mitochondrien erzeugen die Energie der Zelle.",
        ),
        ("Kupfer schmilzt bei 1085 Grad.", "Das Metall Kupfer schmilzt bei 1085 Grad Celsius."),
        ("La ville compte six ponts.", "La ville compte 6 ponts sur le fleuve."),
        (
            "De stad heeft ten minste vijf bruggen over de rivier.",
            "De stad heeft minstens vijf bruggen over de rivier.",
        ),
        (
            "El precio baja cuando sube la oferta.",
            "Cuando sube la oferta, el precio baja en el mercado.",
        ),
    ],
)
async def test_words_of_english_judge_no_other_language(
    checker: SupportChecker, sentence: str, quote: str
) -> None:
    assert await flaw(checker, sentence, quote) is None


@pytest.mark.parametrize(
    ("sentence", "quote", "expected"),
    [
        (
            "Die Stadt hat 4 Brücken über den Fluss.",
            "Die Stadt hat drei Brücken über den Fluss.",
            Flaw.NUMBER,
        ),
        (
            "Die Stadt hat nicht viele Brücken über den Fluss.",
            "Die Stadt hat viele Brücken über den Fluss.",
            Flaw.NEGATION,
        ),
    ],
)
async def test_numbers_and_denials_are_compared_in_other_languages(
    checker: SupportChecker, sentence: str, quote: str, expected: Flaw
) -> None:
    assert await flaw(checker, sentence, quote) is expected
