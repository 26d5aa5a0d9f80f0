"""Every chart under a slider: a dot at each curve's number there, the head told, and axes that do not move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from core.charts import Drawing
from core.stats.estimates import Estimate, epsilon_text
from core.studies.attriguard import AttriGuardSettings
from core.studies.attriguard.charts import draw_budget
from core.studies.correction import run
from core.studies.correction.charts import draw_disclosure
from core.studies.membership.charts import draw_accuracy_by_epsilon, draw_epsilon_curve, draw_fairpick
from core.studies.subject import AuditConfig
from tests.samples import ROLES, dataset
from tests.unit.charts.checks import check
from tests.unit.charts.guard_samples import study
from tests.unit.charts.membership_samples import bands, fairpick_bands


class At(NamedTuple):
    """A chart with its slider at a place, how the head tells it, and the numbers that stand there, as drawn."""

    drawing: Drawing
    head: str
    position: float
    heights: list[float]


def percents(*numbers: Estimate) -> list[float]:
    return [100 * number.value for number in numbers]


def disclosures() -> Iterator[At]:
    correction = run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=dataset(600, seed=11))
    curve = [correction.disclose(tolerance) for tolerance in (0.01, 0.05, 0.1, 0.2, 0.4)]
    for now in curve:
        drawing = draw_disclosure(curve, now, correction.strong, attribute="origin", attacker="Attacker")
        assert now.after is not None
        yield At(drawing, f"at {now.disclosed_tolerance:g}", now.disclosed_tolerance, percents(now.after))


def budgets(values: int, *, balanced: bool) -> Iterator[At]:
    exposure_study = study(values)
    for budget in (0.0, 0.1, 1.0, exposure_study.last_budget):
        points = exposure_study.at(budget)
        drawing = draw_budget(exposure_study, AttriGuardSettings(budget=budget, balanced=balanced))
        yield At(drawing, f"at {budget:g}", budget, percents(*(point.rate(balanced=balanced) for point in points)))


def over_epsilon(draw: Callable[..., Drawing], fields: tuple[str, ...], scale: float = 1.0) -> Iterator[At]:
    for band in bands():
        heights = [scale * band.values[field].value for field in fields]
        position = 2.75 if math.isinf(band.at) else math.log10(band.at)
        yield At(draw(bands(), now=band.at), f"at ε = {epsilon_text(band.at)}", position, heights)


def over_theta() -> Iterator[At]:
    for theta in (0.4, 0.6, 0.8, 1.0):
        values = {band.variant: band.values["vd"].value for band in fairpick_bands() if band.at == theta}
        drawing = draw_fairpick(fairpick_bands(), now=theta)
        assert "+0.131 before" in drawing.alt
        yield At(drawing, f"at θ = {theta:g}", theta, [values["random"], values["fairpick"]])


SLIDERS: dict[str, Callable[[], Iterator[At]]] = {
    "disclosure": disclosures,
    "budget": lambda: budgets(25, balanced=True),
    "gaps": lambda: over_epsilon(draw_epsilon_curve, ("vd", "fpr_gap", "advantage_gap")),
    "accuracy": lambda: over_epsilon(draw_accuracy_by_epsilon, ("accuracy_train", "accuracy_test"), 100),
    "fairpick": over_theta,
}


@pytest.mark.long
@pytest.mark.parametrize("name", SLIDERS)
def test_dots_stand_at_the_slider_and_the_axes_do_not_move(name: str):
    axes = set()
    for drawing, head, position, heights in SLIDERS[name]():
        figure = check(drawing)
        (dots,) = (trace for trace in figure.data if trace.name == "slider")
        assert list(dots.x) == pytest.approx([position] * len(heights)) and list(dots.y) == pytest.approx(heights)
        assert head in drawing.alt and any(head in str(note.text) for note in figure.layout.annotations)
        low, high = figure.layout.yaxis.range
        assert all(low <= height <= high for height in heights)
        axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
    assert len(axes) == 1
