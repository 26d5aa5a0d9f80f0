"""Charts of the audited data and model: groups and base rates, selection rates, accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..charts.drawing import Drawing, Scale, percents, shares
from ..charts.rows import TALL, Mark, Row, draw_rows
from ..charts.theme import group_style, plain_name
from ..datasets.dataset import AuditDataset
from ..stats.estimates import Estimate, count, percent
from ..stats.fairness import GroupRate
from ..studies.subject import ModelFindings
from .policy import UNITS

_TALL = 58  # pixels of a row whose bar is as high as its group is large


def draw_groups(dataset: AuditDataset) -> Drawing:
    """Draw each group as a bar as high as its share, filled as far as its rate of the favourable label."""
    base_rates = dataset.base_rates
    two = dataset.n_groups == 2
    largest = max(rate.n for rate in base_rates.values())
    label = f"{plain_name(dataset.roles.label)} = {plain_name(dataset.label_names[1])}"
    lines = []
    for i, (group, rate) in enumerate(base_rates.items()):
        color = group_style(1 - i).color if two else "ink 55"  # the first group first
        look: dict[str, Any] = {
            "bar": 0.0,
            "symbol": "",
            "thick": max(0.08, 0.84 * rate.n / largest),
        }
        lines.append(
            Row(
                name=group,
                bold=True,
                below=f"{count(rate.n)} records",
                value=f"<b>{percent(rate)}</b>",
                marks=[
                    Mark(of=1.0, color="grid", hover=None, **look),
                    Mark(of=rate, color=color, name="base rate", **look),
                ],
                facts={"records": rate.n, "share": rate.n / dataset.n},
            )
        )
    mark = Mark(of=float(dataset.labels.mean()), color="ink", symbol="", name="base rate")
    facts = {"records": dataset.labels.size, "share": 1.0}
    lines.append(Row(name="all", bold=True, marks=[mark], dash="dot", facts=facts))
    axis = shares(f"Share with {label} (%)")
    head = "Group (height = size)"
    return draw_rows(
        "Group sizes and base rates", lines, axis, first="group", head=head, pitch=_TALL
    )


_LABELS = {"label 0": "negative label", "label 1": "positive label"}

SEEN = ("training", "test")
"""What to call the records the model learned from and the others."""


def draw_rates(
    model: ModelFindings, *, names: Sequence[str], seen: tuple[str, str] = SEEN
) -> Drawing:
    """Draw each group's selection rate on training and test set, and the overall rate.

    Each group has a row, training above test. `seen` is what to call the two sets.
    """
    sets = list(zip(seen, (model.rates_train, model.rates_test), strict=True))
    parts = sorted({r.part for _, rates in sets for r in rates})
    lines = [line for part in parts for line in _part_rows(part, sets, names)]
    head = " → ".join(seen)
    return draw_rows(
        "Selection rate by group", lines, percents("Selection rate (%)"), first="group", value=head
    )


def _part_rows(
    part: str, sets: Sequence[tuple[str, Sequence[GroupRate]]], names: Sequence[str]
) -> list[Row]:
    """Return a row for all and one a group, each set at a height of its own, a ring for the first."""
    inside = []
    for side, rates_of_set in sets:
        group_rates = [rate for rate in rates_of_set if rate.part == part]
        if group_rates:
            inside.append((side, group_rates))
    among = "overall" if part == "all" else f"overall, {_LABELS[part]}"
    kinds = [(among, "ink", "circle", [group_rates[0].overall for _, group_rates in inside])]
    for code, name in reversed(list(enumerate(names))):
        rates = [r.rate for _, group_rates in inside for r in group_rates if int(r.group) == code]
        look = group_style(code) if len(names) == 2 else ("grey", "circle")
        kinds.append((name, *look, rates))
    rows: list[Row] = []
    for name, color, symbol, rates in kinds:
        marks = []
        for rate, (side, _), up, ring in zip(rates, inside, (6, -6), ("-open", ""), strict=False):
            mark_symbol = f"{symbol}{ring}"
            marks.append(Mark(of=rate, color=color, symbol=mark_symbol, up=up, name=f"{side} set"))
        rows.append(Row(name=name, bold=True, color=color, separated=not rows, marks=marks))
    return rows


def draw_accuracy(model: ModelFindings, *, seen: tuple[str, str] = SEEN) -> Drawing:
    """Draw the model's accuracy on training and test set above the majority class; `seen` as in `draw_rates`."""
    accuracies: list[tuple[str, Estimate, str, str]] = [
        (f"{seen[0]} set", model.accuracy_train, "ink", "circle"),
        (f"{seen[1]} set", model.accuracy_test, "ink", "circle"),
        ("majority class", model.majority_test, "chance", "diamond-open"),
    ]
    lines = [
        Row(
            name=name,
            bold=True,
            below=f"of {e.n:,}",
            marks=[Mark(of=e, color=color, symbol=symbol, name="accuracy")],
            facts={"n": e.n},
        )
        for name, e, color, symbol in accuracies
    ]
    return draw_rows("Accuracy", lines, percents("Accuracy (%)"), first="records")


def draw_checks(
    checks: Sequence[tuple[str, str, Estimate, Estimate | None]], *, unit: str
) -> Drawing:
    """Draw numbers of one unit with their intervals, and beside each its control, a hollow diamond.

    A number is its name, of which what stands before a colon goes below, its estimate in words and as a share, and its
    control where that is of the same unit.
    """
    factor = UNITS[unit].factor
    title = UNITS[unit].axis
    lines = []
    for name, text, estimate, control in checks:
        marks = [Mark(of=estimate, color="leak", name="estimate")]
        if control is not None:
            marks.append(Mark(of=control, color="chance", symbol="diamond-open", name="control"))
        group, _, part = name.rpartition(": ")
        facts = {"of": group} if group else {}
        lines.append(
            Row(name=part, below=group, bold=True, value=f"<b>{text}</b>", marks=marks, facts=facts)
        )
    axis = Scale(title=title, span=0.02 * factor, start=0.0, position=lambda share: factor * share)
    return draw_rows(title, lines, axis, first="check", pitch=TALL)
