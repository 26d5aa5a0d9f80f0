"""Chart of privacy budgets: promised, spent, and the least that is measured."""

from __future__ import annotations

from collections.abc import Sequence

from ...charts.drawing import Drawing, Scale
from ...charts.rows import Mark, Row, draw_rows
from .audits import MechanismAudit


def draw_budgets(audited: Sequence[MechanismAudit], *, epsilon: float, confidence: float) -> Drawing:
    """Draw each mechanism: a bar up to the lower bound measured, the ε spent hollow, the ε promised as a line."""
    rows = []
    for audit in audited:
        bound = audit.measured(confidence)
        marks = [Mark(of=bound, color="leak", name="measured", symbol="", bar=0.0)]
        if audit.spent is not None:
            marks.append(Mark(of=audit.spent, color="before", symbol="circle-open", name="spent"))
        rows.append(Row(name=audit.mechanism, marks=marks, value=f"<b>at least {bound:.2f}</b>"))
    promised = Mark(of=epsilon, color="ink", symbol="diamond", name="promised")
    rows.append(Row(name="promised", bold=True, marks=[promised], dash="dot", value=f"{epsilon:g}"))
    axis = Scale(title="Privacy budget ε", start=0.0)
    return draw_rows("Privacy budget by mechanism", rows, axis, first="mechanism")
