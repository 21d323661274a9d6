"""What LaTeX's commands look like as characters."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final


def _pairs(table: str) -> Mapping[str, str]:
    words = table.split()
    return MappingProxyType(dict(zip(words[::2], words[1::2], strict=True)))


LETTERS: Final = _pairs(
    """
    alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ
    iota ι kappa κ lambda λ mu μ nu ν xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ
    varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ
    Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ hbar ℏ
    ell ℓ Re ℜ Im ℑ aleph ℵ emptyset ∅ varnothing ∅ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬
    top ⊤ bot ⊥ angle ∠ degree ° prime ′ dots … ldots … cdots ⋯ vdots ⋮ ddots ⋱ therefore ∴
    because ∵ square □ blacksquare ■ qed ∎ imath ı jmath ȷ wp ℘ dagger † checkmark ✓ S § euro €
    pounds £ surd √ flat ♭ sharp ♯ triangle △ star ⋆ bullet • diamond ⋄ N ℕ R ℝ Z ℤ Q ℚ
    | ‖ Vert ‖ lVert ‖ rVert ‖ vert | lvert | rvert | backslash \\
    $ $ % % # # & & _ _
    """
)
OPENERS: Final = _pairs("{ { lbrace { langle ⟨ lfloor ⌊ lceil ⌈ lbrack [")
CLOSERS: Final = _pairs("} } rbrace } rangle ⟩ rfloor ⌋ rceil ⌉ rbrack ]")
BINARY: Final = _pairs(
    """
    times × cdot · div ÷ pm ± mp ∓ ast ∗ circ ∘ cup ∪ cap ∩ setminus ∖ oplus ⊕ otimes ⊗
    ominus ⊖ odot ⊙ wedge ∧ land ∧ vee ∨ lor ∨ sqcup ⊔ sqcap ⊓ uplus ⊎ bmod mod
    """
)
RELATIONS: Final = _pairs(
    """
    leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅ propto ∝ ll ≪ gg ≫
    lt < gt > leqslant ⩽ geqslant ⩾ prec ≺ succ ≻ preceq ⪯ succeq ⪰ in ∈ notin ∉ ni ∋
    subset ⊂ subseteq ⊆ subsetneq ⊊ supset ⊃ supseteq ⊇ to → rightarrow → longrightarrow ⟶
    leftarrow ← gets ← leftrightarrow ↔ Rightarrow ⇒ implies ⟹ Longrightarrow ⟹ Leftarrow ⇐
    iff ⟺ Leftrightarrow ⇔ Longleftrightarrow ⟺ mapsto ↦ hookrightarrow ↪ uparrow ↑ downarrow ↓
    rightleftharpoons ⇌ perp ⟂ parallel ∥ vdash ⊢ models ⊨ asymp ≍ doteq ≐ mid |
    triangleq ≜ coloneqq ≔
    """
)
BIG: Final = _pairs(
    "sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂"
    " bigvee ⋁ bigwedge ⋀"
)
FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp lim limsup"
    " liminf max min sup inf arg argmax argmin det dim ker deg gcd lcm hom Pr mod".split()
)
ACCENTS: Final = MappingProxyType(
    {
        "bar": "\u0304",
        "overline": "\u0305",
        "underline": "\u0332",
        "hat": "\u0302",
        "widehat": "\u0302",
        "tilde": "\u0303",
        "widetilde": "\u0303",
        "vec": "\u20d7",
        "dot": "\u0307",
        "ddot": "\u0308",
        "check": "\u030c",
        "breve": "\u0306",
        "acute": "\u0301",
        "grave": "\u0300",
        "mathring": "\u030a",
    }
)
ALPHABETS: Final = MappingProxyType(
    {
        "mathbb": ("DOUBLE-STRUCK", "DOUBLE-STRUCK"),
        "mathcal": ("SCRIPT", "SCRIPT"),
        "mathscr": ("SCRIPT", "SCRIPT"),
        "mathfrak": ("BLACK-LETTER", "FRAKTUR"),
    }
)
"""How Unicode names an alphabet's oldest letters, and all its others."""
SPACES: Final = MappingProxyType(
    dict.fromkeys(("!", ">", "displaystyle", "textstyle", "limits"), "")
    | dict.fromkeys(("nolimits", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl"), "")
    | dict.fromkeys(("Bigr", "biggl", "biggr", "Biggl", "Biggr", "nonumber", "scriptstyle"), "")
    | dict.fromkeys((" ", ",", ":", ";", "quad", "qquad", "enspace", "thinspace", "\n"), " ")
)
SUPERSCRIPTS: Final = str.maketrans(
    "0123456789+−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδθφχ′⊤∗",
    "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᶿᵠᵡ′ᵀ*",
)
SUBSCRIPTS: Final = str.maketrans(
    "0123456789+−=()aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ"
)
