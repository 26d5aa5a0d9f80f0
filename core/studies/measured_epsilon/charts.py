"""Chart of privacy budgets: promised, spent, and the least that is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...charts.drawing import Drawing, Scale
from ...charts.rows import Mark, Row, draw_rows

if TYPE_CHECKING:
    from .study import MeasuredEpsilon, MeasuredEpsilonSettings


def draw_budgets(result: MeasuredEpsilon, settings: MeasuredEpsilonSettings) -> Drawing:
    """Draw each mechanism: a bar up to the lower bound measured, the ε spent hollow, the ε promised as a line."""
    rows = []
    for audited in result.audited:
        bound = audited.measured(settings.confidence)
        marks = [Mark(of=bound, color="leak", name="measured", symbol="", bar=0.0)]
        if audited.spent is not None:
            marks.append(Mark(of=audited.spent, color="before", symbol="circle-open", name="spent"))
        rows.append(Row(name=audited.mechanism, marks=marks, value=f"<b>at least {bound:.2f}</b>"))
    promised = Mark(of=settings.epsilon, color="ink", symbol="diamond", name="promised")
    rows.append(Row(name="promised", bold=True, marks=[promised], dash="dot", value=f"{settings.epsilon:g}"))
    axis = Scale(title="Privacy budget ε", start=0.0)
    return draw_rows("Privacy budget by mechanism", rows, axis, first="mechanism")
