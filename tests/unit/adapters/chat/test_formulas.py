"""Formulas that can be read in a chat."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.chat.markdown.formulas import readable, render_png, with_readable_formulas


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{1}{2} m v^2 \leq E_0", "(1/2)mv² ≤ E₀"),
        (r"\sum_{i=1}^{n} i = \frac{n(n+1)}{2}", "∑ᵢ₌₁ⁿ i = n(n + 1)/2"),
        (r"x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}", "x = (−b ± √(b² − 4ac))/(2a)"),
        (r"\int_0^\infty e^{-x^2}\,dx", "∫₀^∞ e^(−x²) dx"),
        (r"\hat{\beta} = (X^T X)^{-1}", "β̂ = (XᵀX)⁻¹"),
        (r"P(A \mid B) = \frac{P(A \cap B)}{P(B)}", "P(A | B) = P(A ∩ B)/P(B)"),
        (r"\bar{x} \in \mathbb{R}^n", "x̄ ∈ ℝⁿ"),
        (r"\left( \frac{a}{b} \right)^2", "(a/b)²"),
        (r"x_{\text{max}} \to \infty", "xₘₐₓ → ∞"),
        (r"O(n log n)", "O(n log n)"),
        (r"90^\circ", "90°"),
        (r"1{,}000 \times 2", "1,000 × 2"),
        (r"\sqrt[3]{x+1} \neq -x", "∛(x + 1) ≠ −x"),
        (r"\neg p \land q \implies r", "¬p ∧ q ⟹ r"),
        (r"f'(x) \cdot \log_2 n", "f′(x) · log₂ n"),
    ],
)
def test_latex_is_readable_in_unicode(latex: str, text: str) -> None:
    assert readable(latex) == text


@pytest.mark.parametrize(
    "latex",
    [
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"\begin{aligned} a &= b \\ &= c \end{aligned}",
        r"\frac{1}{1+\frac{1}{x}}",
        r"\unknown{x}",
        r"x^",
        r"{x",
        "{" * 500,
        "",
    ],
)
def test_what_a_line_cannot_show_is_said_to_be_unreadable(latex: str) -> None:
    assert readable(latex) is None


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10.",
        "US$5, or 10$ more",
        "$5, or 10$ x",
        "$HOME and $PATH",
        "`$x^2$` and ``$y^2$``",
        "```\n$x^2$\n```",
        "    $x^2$",
        r"a price of \$5 and \$6",
    ],
)
def test_prices_and_code_are_no_formulas(text: str) -> None:
    assert with_readable_formulas(text).text == text


def test_formulas_of_every_kind_of_mark_become_readable() -> None:
    text = "$x_1$, $$x^2$$, \\(y*z\\) and\n\n\\[\na|b\n\\]\n"
    assert with_readable_formulas(text).text == "x₁, x², y ∗ z and\n\na\\|b\n"


def test_unreadable_formulas_stay_as_code_and_are_told() -> None:
    latex = r"\begin{matrix} a \\ b \end{matrix}"
    found = with_readable_formulas(f"So $${latex}$$ and ${latex}$.")
    assert found.text == f"So `{latex}` and `{latex}`."
    assert found.unreadable == (latex,)


@given(st.text(r"\{}^_$&abc12+-=()[] '", max_size=60) | st.text(max_size=40))
def test_any_text_is_read_without_failing(latex: str) -> None:
    readable(latex)
    assert isinstance(with_readable_formulas(f"${latex}$").text, str)


def test_a_matrix_is_drawn() -> None:
    picture = render_png(
        r"\begin{pmatrix} a & \frac{1}{1+\frac{1}{x}} \\ c & \sqrt{d} \end{pmatrix}"
    )
    assert picture is not None
    assert picture.startswith(b"\x89PNG")
    assert 500 < len(picture) < 50_000


@pytest.mark.costly
@pytest.mark.parametrize(
    "latex",
    [
        r"\frac{",
        r"\left(",
        "{" * 600,
        r"\frac{1}{" * 38 + "x" + "}" * 38,
        r"\sqrt" * 80,
        "x+" * 240,
    ],
)
def test_what_cannot_be_drawn_is_refused_soon(latex: str) -> None:
    began = time.process_time()
    assert render_png(latex) is None
    assert time.process_time() - began < 5
