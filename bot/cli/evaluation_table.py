"""Shows the report of `glossator eval` to people."""

from collections.abc import Iterator
from typing import Any

from bot.cli.counted import counted

_BY_KIND = ("hit@5", "ndcg@10", "answer@3", "refused_unanswerable", "refused_answerable")
_NOT_FIGURES = frozenset({"n", "failed", "by_kind", "ci95", "answers", "reference"})


def table(report: dict[str, Any]) -> str:
    """Return the report as lines: figures with their intervals, kinds, answers, then references."""
    failed = f", {report['failed']} more failed" if report["failed"] else ""
    lines = [f"{counted(report['n'], 'question')}{failed}"]
    for name, value in report.items():
        if name not in _NOT_FIGURES:
            bounds = report["ci95"].get(name)
            spread = f"  [{bounds[0]:.3f}, {bounds[1]:.3f}]" if bounds else ""
            lines.append(f"  {name:<22} {_shown(value)}{spread}")
    for kind, figures in report["by_kind"].items():
        shown = ", ".join(f"{name} {_shown(figures[name])}" for name in _BY_KIND)
        lines.append(f"  kind {kind} ({figures['n']}): {shown}")
    lines += _answers(report.get("answers", {}))
    return "\n".join([*lines, *_references(report.get("reference", {}))])


def _answers(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the lines on the answers themselves; none when they were not judged."""
    for name, value in figures.items():
        if name == "n":
            yield f"{value} answers"
        elif name == "follow_ups":
            shown = ", ".join(f"{n} {_shown(v)}" for n, v in value.items() if n != "n")
            yield f"  follow-ups ({value['n']}): {shown}"
        else:
            yield f"  {name:<22} {_shown(value)}"


def _references(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the lines on what is shown of the references; none when it was not measured."""
    if not figures:
        return
    yield counted(figures["n"], "answerable question")
    yield from _referred("all", figures)
    for kind, part in figures["by_kind"].items():
        yield from _referred(f"kind {kind} ({part['n']})", part)


def _referred(name: str, figures: dict[str, Any]) -> Iterator[str]:
    yield f"  {name}: words_shown {_shown(figures['words_shown'])}"
    for figure in ("reference_share", "span_shown"):
        if (bounds := figures[f"{figure}_ci95"]) is not None:
            spread = f"[{bounds[0]:.3f}, {bounds[1]:.3f}]"
            yield f"    {figure:<20} {_shown(figures[figure])}  {spread}"


def _shown(value: float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, int):
        return str(value)
    if 0 < value < 0.001:
        return f"{value:.6f}"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"
