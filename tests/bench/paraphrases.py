"""Faithful rewordings, by hand, of sentences of the economics book named by their openings."""

from typing import NamedTuple


class Paraphrase(NamedTuple):
    """A sentence of the book, by its first words, and what it says in other words."""

    opening: str
    text: str


LIGHT = (
    Paraphrase(
        "Because wages are sticky downward, they",
        "Wages are sticky downward, so at least in the short run they do not adjust toward the "
        "wage that would have been the new equilibrium (W1).",
    ),
    Paraphrase(
        "To this point in the chapter, we have been",
        "So far the chapter has assumed free markets, which operate with no government "
        "intervention.",
    ),
    Paraphrase(
        "The range of trades that will benefit",
        "Each country's opportunity cost of producing a good determines the range of trades that "
        "benefit it.",
    ),
    Paraphrase(
        "In this way, an unexpected deflation",
        "For borrowers, real interest payments are raised by an unexpected deflation.",
    ),
    Paraphrase(
        "Similarly, the law of supply states",
        "According to the law of supply, the quantity supplied increases when the price is higher.",
    ),
    Paraphrase(
        "A change in salary will lead to",
        "When salaries change, there is a movement along the labor demand or supply curves, but "
        "the curves themselves do not shift.",
    ),
    Paraphrase(
        "Supply and demand in the entire market",
        "The market price is not set by an individual farmer but solely by supply and demand in "
        "the whole market.",
    ),
    Paraphrase(
        "The cost of producing a firm",
        "How much labor and physical capital a firm uses determines what it costs to produce its "
        "output.",
    ),
    Paraphrase(
        "Productivity means how much output",
        "Productivity is the amount of output that a given quantity of labor can produce.",
    ),
    Paraphrase(
        "Some people may be more likely, because of",
        "Genetics or personal habits can make some people likelier to catch certain diseases.",
    ),
    Paraphrase(
        "To protect against bank runs, Congress",
        "Congress put in place two strategies against bank runs: deposit insurance and the lender "
        "of last resort.",
    ),
    Paraphrase(
        "Economic recessions should automatically",
        "Budget deficits automatically get larger, or surpluses smaller, in a recession, while an "
        "economic boom brings smaller deficits or larger surpluses.",
    ),
    Paraphrase(
        "The amount of inventories sitting on shelves",
        "Inventories on the shelves tend to rise when business is worse than expected and to "
        "decline when it is better than expected.",
    ),
    Paraphrase(
        "In the 1970s and 1980s, labor unions commonly",
        "Labor unions in the 1970s and 1980s often negotiated cost-of-living adjustments (COLAs), "
        "which guaranteed that wages kept up with inflation.",
    ),
    Paraphrase(
        "Corporate income taxes and social insurance",
        "Smaller shares of revenue come from corporate income taxes and social insurance taxes.",
    ),
    Paraphrase(
        "Women in the age bracket 18",
        "On average, women aged 18–44 use about 65 percent more health care spending than men.",
    ),
    Paraphrase(
        "In 1973, the price of crude oil",
        "Crude oil cost $12 a barrel in 1973, when the U.S. economy consumed 17 million barrels "
        "per day in total.",
    ),
    Paraphrase(
        "Countries around the world have enacted",
        "Laws to protect intellectual property exist in countries around the world, but their time "
        "periods and exact provisions vary.",
    ),
    Paraphrase(
        "Resources that we spend on life-saving",
        "Spending resources on life-saving regulations creates a tradeoff.",
    ),
    Paraphrase(
        "The European Central Bank that determines",
        "Representatives of all the euro nations sit in the European Central Bank, which decides "
        "on monetary policy for the euro.",
    ),
    Paraphrase(
        "The political process can take more months",
        "It can take the political process further months to enact a spending increase or a tax "
        "cut.",
    ),
    Paraphrase(
        "Wages could fluctuate according to market",
        "Above the price floor wages could move with market forces, but below the floor they would "
        "not be allowed to go.",
    ),
    Paraphrase(
        "The first production technology is heavy",
        "The first technology of production uses many workers and few machines, while the other "
        "two replace workers with machines.",
    ),
    Paraphrase(
        "In newspaper headlines, trade policy",
        "Trade policy mostly shows up in newspaper headlines as disputes and acrimony.",
    ),
    Paraphrase(
        "As output increases, marginal revenue",
        "Marginal revenue falls twice as fast as demand when output rises, so its horizontal "
        "intercept is halfway to the horizontal intercept of demand.",
    ),
)

SHORTENED = (
    Paraphrase("Because wages are sticky downward, they", "Wages are sticky downward."),
    Paraphrase(
        "We typically apply ceteris paribus",
        "Ceteris paribus is typically applied when we observe how price changes affect demand or "
        "supply.",
    ),
    Paraphrase(
        "Because we can use the budget constraint",
        "The budget constraint model can illustrate the logic underlying demand curves.",
    ),
    Paraphrase(
        "November 2020, according to the",
        "According to the Congressional Research Service, 1.0 million families received payments "
        "under TANF in November 2020.",
    ),
    Paraphrase(
        "Property rights, as you might recall",
        "Property rights let individuals and firms own property and use it as they see fit.",
    ),
    Paraphrase(
        "Again, an environmental law built on",
        "An environmental law built on incentives and flexibility offers greater promise than a "
        "command-and-control approach.",
    ),
    Paraphrase(
        "For reasons that we will explain in more detail",
        "Mathematically, a price index is a two-digit decimal number.",
    ),
    Paraphrase(
        "The GDP deflator, which the Bureau",
        "The GDP deflator is a price index that covers all the components of GDP.",
    ),
    Paraphrase(
        "Government can play a useful role in",
        "The government can usefully provide unemployment and welfare payments.",
    ),
    Paraphrase(
        "As you learned in the chapter on Elasticity",
        "Demand for home heating is generally inelastic in the short run.",
    ),
    Paraphrase(
        "Even if they cannot answer the question of",
        "Economists can play an important role in spelling out policy options and tradeoffs.",
    ),
    Paraphrase(
        "Their efforts began with a free trade",
        "What began as a free trade association evolved into a common market and then into the "
        "European Union.",
    ),
    Paraphrase(
        "Just as a few falling rocks can trigger",
        "A small piece of bad news about an economy can trigger an enormous outflow of short-term "
        "financial capital.",
    ),
    Paraphrase(
        "In the previous discussion, investment was",
        "Investment was $500, government spending $1,300 and exports $840.",
    ),
    Paraphrase(
        "The benefits and costs of increased trade in",
        "The benefits and costs of increased trade are not evenly distributed.",
    ),
)
