"""What the noise costs: the audited model's accuracy and unfairness, or the recommendations somebody gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from core.estimates import Estimate, proportion
from core.fairness import METRIC_TITLES, difference_title
from core.models import GIVEN
from core.wording import interval, percent
from pages.common import panels, shell, wording
from pages.common.guarding.defence import last_budget
from pages.common.guarding.work import Grown, Guarding

__all__ = ["draw", "recommended_told", "unfairness_told"]

_POINTS = 20
_NUMBERS = {10: "ten"}


def draw(work: Guarding, grown: Grown, budget: float) -> None:
    """Draw what gets worse with the noise."""
    (_of_table if grown.study.unit == "columns" else _of_ratings)(work, grown, budget)


def _budgets(grown: Grown) -> list[float]:
    return [float(b) for b in np.linspace(0.0, last_budget(grown.study), _POINTS + 1)]


def _of_table(work: Guarding, grown: Grown, budget: float) -> None:
    from core.attriguard import table_utility
    from core.figures import draw_cost

    who, last = work.who, last_budget(grown.study)
    assert who.dataset is not None and who.config is not None
    dataset, config = who.dataset, who.config
    if config.method == GIVEN:
        st.info(wording.needs_training("Decisions about records with noise"))
        return
    made = work.need(
        "utility",
        "Asking the audited model",
        lambda report: _curve(table_utility(grown.guard, dataset, config), grown),
    )
    utility, curve = made
    here, before = utility.at(budget), utility.without_noise()
    more_frequent = int(np.bincount(utility.labels, minlength=2).max())
    control = proportion(more_frequent, utility.labels.size)
    shell.whisper(
        f"The model is right for {percent(here.accuracy)} instead of {percent(before.accuracy)}; its "
        f"unfairness {unfairness_told(before.unfairness, here.unfairness)}",
        f"Unfairness: largest deviation of a group from the overall rate. {difference_title(config.metric)}: "
        f"{here.gap:.3f}, {before.gap:.3f} without noise. "
        f"Right: 95% {interval(here.accuracy)} with noise, {interval(before.accuracy)} without. Baseline: always the "
        f"more frequent label is right for {percent(control)}. AttriGuard is no fairness method: "
        "decisions made from noisy records may treat the groups less alike than before",
    )
    left, right = st.columns(2, gap="large")
    drawings = {}
    for place, title, quality, controls in (
        (left, "Is the model still right?", "accuracy", {"Majority": control}),
        (right, "Is it still as fair?", "unfairness", {}),
    ):
        with place:
            gap = quality == "unfairness"
            metric = METRIC_TITLES[config.metric].lower()
            told = (
                f"Unfairness (largest deviation of a group, {metric}) by {{}} changed"
                if gap
                else "Right decisions on unseen people by {} changed"
            )
            shell.whisper(title, told.format("columns"))
            drawings[title] = draw_cost(
                [(point.budget, getattr(point, quality)) for point in curve],
                (budget, getattr(here, quality)),
                {"No noise": getattr(before, quality), **controls},
                shell.palette(),
                last=last,
                quality=quality,
                unit="columns",
                gap=gap,
            )
            panels.chart(drawings[title], key=f"cost_{quality}_chart")
    panels.numbers({name: drawing.table for name, drawing in drawings.items()}, key="guard-cost")


def unfairness_told(before: Estimate, here: Estimate) -> str:
    """Say how the unfairness changes; the interval with noise decides whether it does."""
    limits = f"95% {here.low:.3f} to {here.high:.3f}"
    if here.low <= before.value <= here.high:
        return (
            f"shows no statistically significant change: {here.value:.3f} ({limits}), {before.value:.3f} without noise"
        )
    return f"changes from {before.value:.3f} to {here.value:.3f} ({limits})"


def _curve(utility: Any, grown: Grown) -> tuple[Any, Any]:
    return utility, utility.curve(_budgets(grown))


def _of_ratings(work: Guarding, grown: Grown, budget: float) -> None:
    from core.attriguard.recommendation import recommendation
    from core.figures import draw_cost

    made, curve = work.need(
        "recommendation", "Recommending items", lambda report: _precision(recommendation(grown.guard), grown)
    )
    here = made.at(budget)
    shell.whisper(
        recommended_told(made.before, here, made.recommended),
        f"Right is what she rated: five ratings of each of {made.clean.size} people were set aside, a factorisation "
        f"recommends from the others. Without noise 95% {interval(made.before)}. Baseline: the most popular items, "
        f"right for {percent(made.control)}",
    )
    drawn = draw_cost(
        curve,
        (budget, here),
        {"No noise": made.before, "Most popular": made.control},
        shell.palette(),
        last=last_budget(grown.study),
        quality="precision of the recommendations",
        unit="ratings",
    )
    panels.chart(drawn, key="cost_chart")
    panels.numbers({"Recommendations": drawn.table}, key="guard-cost")


def recommended_told(before: Estimate, here: Estimate, recommended: int) -> str:
    """Say how many of the items recommended are right; the interval with noise decides whether that changed."""
    items = f"{_NUMBERS.get(recommended, str(recommended))} items recommended"
    limits = f"95% {interval(here)}"
    if here.low <= before.value <= here.high:
        none = f"no statistically significant change from {percent(before)}"
        return f"{percent(here)} of the {items} are right ({limits}): {none}"
    return f"{percent(here)} of the {items} are right ({limits}), instead of {percent(before)}"


def _precision(made: Any, grown: Grown) -> tuple[Any, Any]:
    return made, [(budget, made.at(budget)) for budget in _budgets(grown)]
