"""Words of general English that mean a direction, and their opposites."""

from core.grounding.words import base_form

_OPPOSITES = (
    # Two sides of one axis, each a list of words; a word may stand on several axes.
    (
        "increase increasing rise rising rose risen raise grow growth grew climb soar surge expand "
        "expansion expansionary gain higher high highest more most greater greatest larger largest "
        "upward upwards up above bigger biggest accelerate swell escalate boost heighten enlarge "
        "widen lengthen amplify strengthen appreciate upper ascend upturn many longer longest "
        "large big huge "
        "faster fastest stronger older deeper heavier wider",
        "decrease decreasing fall falling fell fallen lower lowering low lowest decline drop "
        "shrink contract contraction contractionary lose loss fewer fewest less least smaller "
        "smallest reduce reduction downward downwards down below beneath underneath diminish slow "
        "decelerate dwindle slump plunge plummet lessen curtail small tiny narrow shorten weaken "
        "depreciate cut descend downturn few shorter shortest slower slowest weaker younger "
        "shallower lighter narrower halve halved",
    ),
    ("supply supplier suppliers", "demand demander demanders"),
    ("buy buyer purchase purchaser buying", "sell seller sale selling"),
    (
        "before precede prior earlier previously preceding",
        "after follow afterward later subsequently following",
    ),
    ("surplus excess abundance abundant", "shortage deficit scarcity scarce shortfall"),
    ("inflation inflationary", "deflation deflationary"),
    ("gain profit profitable win winner", "lose loss unprofitable loser"),
    ("positive positively", "negative negatively"),
    ("maximum maximize maximise maximal max", "minimum minimize minimise minimal min"),
    ("first initial initially begin start beginning", "last final finally end finish ending"),
    ("always", "never"),
    ("all every", "none no"),
    ("left leftward", "right rightward"),
    ("rich wealthy richer richest", "poor poorer poorest"),
    ("strong stronger strength", "weak weaker weakness"),
    ("export exporter", "import importer"),
    ("benefit advantage advantageous", "cost drawback disadvantage disadvantageous harm"),
    ("input", "output"),
    ("producer production produce", "consumer consumption consume"),
    ("lender lend", "borrower borrow"),
    ("income revenue receipt", "expenditure expense spending"),
    ("saving save saver", "spending spend spender"),
    ("asset", "liability"),
    ("credit creditor", "debt debit debtor"),
    ("include inclusion including", "exclude exclusion excluding"),
    ("accept acceptance", "reject rejection refuse"),
    ("allow permit enable", "forbid prohibit prevent disallow ban"),
    ("encourage encouragement incentive", "discourage deter disincentive"),
    ("support favor favour", "oppose opposition"),
    ("true correct valid right", "false incorrect invalid wrong"),
    ("public publicly", "private privately"),
    ("internal inside inner interior inward", "external outside outer exterior outward"),
    ("domestic", "foreign"),
    ("short", "long"),
    ("early earlier earliest", "late later latest"),
    ("old older oldest", "new young younger newer newest"),
    ("easy easier simple simpler simplest ease", "difficult hard harder complex difficulty"),
    ("cheap cheaper inexpensive cheapest", "expensive costly dear costlier dearer dearest"),
    ("good better best", "bad worse worst"),
    ("open opening", "close closed shut closing"),
    ("add addition", "subtract remove removal subtraction"),
    ("multiply", "divide"),
    ("create build construct", "destroy destruction demolish"),
    ("enter entry", "exit leave"),
    ("push", "pull"),
    ("attract attraction", "repel repulsion"),
    ("hot warm heat warmer hotter", "cold cool colder cooler"),
    ("wet", "dry"),
    ("fast quick quickly rapidly rapid faster", "slow slowly slower gradual gradually"),
    ("heavy heavier", "light lighter"),
    ("near nearer nearest close closer closest", "far distant"),
    ("horizontal horizontally", "vertical vertically"),
    ("elastic elasticity", "inelastic inelasticity"),
    ("equal equality", "unequal inequality"),
    ("present presence", "absent absence"),
    ("active", "passive inactive"),
    ("absorb", "emit release"),
    ("attack", "defend defense defence"),
    ("victory win winner", "defeat lose loser"),
    ("north northern", "south southern"),
    ("east eastern", "west western"),
    ("male man men", "female woman women"),
    ("mutable", "immutable"),
    ("static statically", "dynamic dynamically"),
    ("synchronous", "asynchronous"),
    ("signed", "unsigned"),
    ("encode encrypt", "decode decrypt"),
    ("read reader", "write writer"),
    ("push append insert", "pop delete"),
    ("lock acquire", "unlock release"),
    ("success succeed successful", "failure fail unsuccessful"),
    ("majority", "minority"),
    ("major", "minor"),
    ("necessary required mandatory", "unnecessary optional"),
    ("same identical similar alike", "different dissimilar opposite distinct"),
    ("peace", "war"),
    ("complement complementary", "substitute"),
    ("micro microeconomics", "macro macroeconomics"),
    ("explicit explicitly", "implicit implicitly"),
    ("direct directly", "indirect indirectly inverse inversely"),
    ("nominal", "real"),
    ("average", "marginal"),
    ("pass", "fail failure"),
    ("hurt", "help"),
    ("boil", "freeze"),
    ("significant significantly substantial substantially considerable considerably sharp sharply "
     "dramatic dramatically steep steeply", "slight slightly marginally modest modestly minor "
     "negligible insignificant"),
    ("fixed constant", "variable varying"),
    ("efficient efficiency", "inefficient inefficiency"),
    ("teacher", "student"),
    ("parent", "child"),
    ("cause", "effect"),
    ("day", "night"),
    ("birth born", "death die died"),
    ("life alive live", "dead death"),
    ("love", "hate"),
    ("ancient", "modern"),
    ("top", "bottom"),
    ("front", "back rear"),
    ("remember", "forget"),
    ("send transmit", "receive"),
    ("optimistic", "pessimistic"),
    ("voluntary voluntarily", "involuntary involuntarily compulsory"),
    ("possible possibly", "impossible"),
    ("legal legally", "illegal illegally"),
    ("formal", "informal"),
    ("artificial", "natural"),
    ("urban", "rural"),
    ("progressive", "regressive"),
    ("recession depression", "boom recovery"),
    ("endothermic", "exothermic"),
    ("acid acidic", "alkaline base basic"),
    ("predator", "prey"),
    ("dominant", "recessive"),
    ("convex", "concave"),
    ("thick thicker thickest thickness", "thin thinner thinnest"),
    ("dense denser densest", "sparse sparser sparsest"),
    ("tall taller tallest", "short shorter shortest"),
    ("deep deeper deepest", "shallow shallower shallowest"),
    ("wide wider widest broad broader", "narrow narrower narrowest"),
    ("bright brighter brightest", "dark darker darkest dim dimmer"),
    ("loud louder loudest", "quiet quieter quietest soft"),
    ("hard harder hardest", "soft softer softest"),
    ("rough rougher", "smooth smoother"),
    ("sharp sharper", "blunt blunter dull"),
    ("full fuller", "empty emptier"),
    ("safe safer safest", "dangerous unsafe risky riskier"),
    ("clean cleaner", "dirty dirtier"),
    ("speed accelerate hasten", "slow decelerate delay"),
    ("dilate dilation widen", "constrict constriction narrow"),
    ("inhale inhalation", "exhale exhalation"),
    ("flex flexion", "extend extension"),
    ("abduct abduction", "adduct adduction"),
    ("anterior ventral", "posterior dorsal"),
    ("superior", "inferior"),
    ("medial", "lateral"),
    ("proximal", "distal"),
    ("superficial", "deep"),
    ("afferent", "efferent"),
    ("systole systolic", "diastole diastolic"),
    ("artery arterial", "vein venous"),
    ("sympathetic", "parasympathetic"),
    ("sensory", "motor"),
    ("excite excitatory excitation stimulate activate", "inhibit inhibitory inhibition suppress"),
    ("introvert introverted introversion", "extrovert extravert extroverted extraverted"),
    ("conscious consciously", "unconscious unconsciously"),
    ("voluntary", "reflex"),
    ("acute", "chronic"),
    ("benign", "malignant"),
    ("qualitative", "quantitative"),
    ("abstract", "concrete"),
    ("ally", "enemy"),
    ("employer", "employee"),
    ("landlord", "tenant"),
    ("numerator", "denominator"),
    ("cation", "anion"),
    ("oxidation oxidize", "reduction reduce"),
    ("reactant reagent", "product"),
    ("reward", "punish punishment penalty"),
    ("arrive arrival", "depart departure"),
    ("sink", "float"),
    ("freeze solidify", "melt thaw"),
    ("evaporate evaporation", "condense condensation"),
    ("attach", "detach"),
    ("connect", "disconnect"),
    ("compress compression", "stretch decompress"),
    ("stack", "heap"),
    ("compile compiler", "interpret interpreter"),
    ("client", "server"),
    ("upstream", "downstream"),
    ("longitude", "latitude"),
    ("dawn sunrise", "dusk sunset"),
    ("summer", "winter"),
    ("king", "queen"),
    ("father son brother husband", "mother daughter sister wife"),
    ("odd", "even"),
)  # fmt: skip

_OPPOSITE_PREFIXES = (
    ("hyper", "hypo"), ("over", "under"), ("pre", "post"), ("ante", "post"), ("intra", "inter"),
    ("intra", "extra"), ("intro", "extro"), ("endo", "exo"), ("macro", "micro"), ("mega", "micro"),
    ("in", "out"), ("up", "down"), ("multi", "uni"), ("mono", "poly"), ("homo", "hetero"),
    ("super", "sub"), ("pro", "anti"), ("fore", "hind"), ("maxi", "mini"),
)  # fmt: skip
_SHORTEST_ROOT = 4

Side = tuple[int, bool]
"""A number of an axis, and which side of it."""


def sides_by_form() -> dict[str, frozenset[Side]]:
    """Return for each base form of a direction word the sides that it is on."""
    sides: dict[str, set[Side]] = {}
    for axis, pair in enumerate(_OPPOSITES):
        for words, is_positive in zip(pair, (True, False), strict=True):
            for word in words.split():
                sides.setdefault(base_form(word), set()).add((axis, is_positive))
    return {form: frozenset(found) for form, found in sides.items()}


def are_opposed(one: str, other: str) -> bool:
    """Return whether two words have the same root behind prefixes of opposite meaning.

    >>> are_opposed("hyperglycemia", "hypoglycemia"), are_opposed("prenatal", "predatory")
    (True, False)
    """
    return any(
        _swapped(one, other, *prefixes) or _swapped(other, one, *prefixes)
        for prefixes in _OPPOSITE_PREFIXES
    )


def _swapped(one: str, other: str, prefix: str, opposite: str) -> bool:
    root = one.removeprefix(prefix)
    return root != one and len(root) >= _SHORTEST_ROOT and other == opposite + root
