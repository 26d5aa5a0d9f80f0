"""Sweeps and maps of models are as they were: what is asked of a model, and cells of a map."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.experiments.sweep import landscape, point
from core.experiments.sweep.findings import _tension_point
from core.experiments.sweep.landscape import _RATES, LandscapePlan, MapCell
from core.stats.estimates import Estimate
from core.studies.config import AuditConfig
from tests import samples
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.unit.charts import nasty_studies as nasty

BASE = AuditConfig(dataset="sample", roles=samples.ROLES)


def measured() -> NamedValues:
    """Yield what is asked of a model's attackers, and the point of a study that has a number or none."""
    calls: list[Any] = []
    correction = SimpleNamespace(disclose=lambda *arguments, **more: calls.append((*arguments, *more.values())))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point, "subject_of", lambda *_: SimpleNamespace(model=None))
        patch.setattr(point.CorrectionResult, "of", staticmethod(lambda *_, as_published: correction))
        patch.setattr(point.SweepPoint, "of", classmethod(lambda *arguments, disclosures, **_: list(disclosures)))
        for method in ("exponentiated_gradient", "unmitigated"):
            yield f"measured {method}", str(point.measure(replace(BASE, method=method), None))
    yield "disclosed", [str(call) for call in calls]
    study = SimpleNamespace(
        name="s",
        unavailable=lambda subject, settings: settings,
        run=lambda *_: iter([1, 2]),
        checks=lambda result, _: {"a": SimpleNamespace(estimate=result), "b": SimpleNamespace(estimate=None)},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point, "subject_of", lambda *_: SimpleNamespace(model=None))
        patch.setattr(point.StudyPoint, "of", classmethod(lambda *_, study, checks: (study, checks)))
        for settings in ("", "It cannot."):
            measure = point.StudyMeasure(study, settings)
            yield f"study {settings}", (measure.parts, refused(measure, BASE, None))


def maps() -> NamedValues:
    for seed in range(3):
        grid = nasty.landscape(np.random.default_rng(seed))
        grid = replace(grid, attribute="sex", majority_name="men")
        frame = grid.to_frame()
        yield f"{seed}.frame", frame.select_dtypes("number").to_numpy(dtype=float)[::7]
        yield f"{seed}.columns", [*frame, *frame["trained tolerance"][::5], *frame["epsilon"][::5]]
        yield f"{seed}.controls", grid.controls()
        yield f"{seed}.cells", [(cell.measured, cell.n_true, cell.told) for cell in grid.cells[::4]]
        yield f"{seed}.cell", grid.cell(None, math.inf)
    tied = landscape.Readings(
        tolerance=0.1,
        epsilon=1.0,
        told=(0.1, 0.1, math.nan),
        after=(0.5, 0.75, math.nan),
        unfairness_train=(0.1 + 1e-7, 0.1 + 2e-6, 0.05),
        **dict.fromkeys(
            ("unfairness_test", "difference_train", "difference_test", "accuracy", "members"), (0.25, 1.0, 0.5)
        ),
    )
    few = replace(grid, before=(0.5, 0.25, 0.3), strong=(0.5, 0.5, 0.5), readings=(tied,))
    yield "tied", few.cells
    for gain in ((0.1, 0.2), (0.0, 0.2), (-0.2, 0.0), (-0.2, -0.1)):
        yield (
            f"measured {gain}",
            replace(few.cells[0], gain=Estimate(value=0.0, low=gain[0], high=gain[1], n=2)).measured,
        )
    for change in (
        {"tolerances": (0.1, 0.1)},
        {"epsilons": (1.0, 1.0)},
        {"seeds": tuple(range(51))},
        {"seeds": tuple(range(50))},
        {"tolerances": (None, None)},
        {"tree_share": 1.0},
    ):
        outcome = refused(LandscapePlan, **change)
        yield f"plan {str(change)[:40]}", outcome if isinstance(outcome, str) else landscape.landscape_steps(outcome)
    yield "by name", landscape._by_name([{"a": 0.12345649, "b": math.nan}, {"a": 1, "b": 0.5}])


def spoken() -> NamedValues:
    """What a map is taken to show, by one cell with noise and one without."""

    def rate(low: float, high: float) -> Estimate:
        return Estimate(value=(low + high) / 2, low=low, high=high, n=4)

    def cell(
        tolerance: float | None, epsilon: float, gain: tuple[float, float], members: Estimate, true: int
    ) -> MapCell:
        some = dict.fromkeys(_RATES, rate(0.4, 0.6)) | {"members": members}
        more = {
            "gain": rate(*gain),
            "after": rate(0.5, 0.7),
            "lead": rate(-0.1, 0.1),
            "told": tolerance or math.nan,
            "n_seeds": 4,
        }
        return MapCell(tolerance=tolerance, epsilon=epsilon, n_true=true, **some, **more)

    helps, nothing, misleads = (0.01, 0.05), (0.0, 0.05), (-0.05, -0.01)
    strong, weaker, chance, touching = rate(0.7, 0.8), rate(0.55, 0.65), rate(0.5, 0.6), rate(0.6, 0.7)
    for (loud, quiet), member, true in product(
        ((helps, nothing), (helps, helps), (nothing, helps), (nothing, misleads)),
        (strong, weaker, chance, touching),
        (1, 2),
    ):
        cells = [
            cell(0.01, math.inf, quiet, strong, 2),
            cell(None, math.inf, helps, strong, 4),
            cell(0.05, math.inf, (0.02, 0.1), strong, 4),
            cell(0.01, 1.0, loud, member, true),
            cell(0.2, 1.0, (0.03, 0.04), member, 4),
            cell(0.05, 3.0, nothing, strong, 3),
        ]
        for some in (cells, cells[:4], cells[3:], cells[:1]):
            controls = {"strong": rate(0.5, 0.7)}
            plan = SimpleNamespace(seeds=(1, 2, 3, 4))
            result = SimpleNamespace(plan=plan, cells=some, controls=lambda controls=controls: controls)
            sentence, about = _tension_point(result)
            yield f"{loud} {quiet} {member.low} {true} of {len(some)}", f"{sentence} / {about and about.tolerance}"


def trained() -> NamedValues:
    progress: list[tuple[int, int]] = []
    dataset = samples.dataset(400)
    plan = LandscapePlan(tolerances=(0.02, None, 0.3), epsilons=(math.inf, 8.0), seeds=(3,), tree_share=0.6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landscape, "AuditConfig", partial(AuditConfig, forest=(("n_estimators", 5),)))
        grid = landscape.landscape(dataset, plan, report=lambda *done: progress.append(done))
        models = landscape._Models(dataset, replace(plan, metric="predictive_equality"), 4)
    yield "map", replace(grid, made_from="", made_by=())
    yield "steps", progress
    tree = models.tree(math.inf, 0.6)
    yield "members", models.members(tree)
    drawn = tree.unchanged().predict(dataset.features, dataset.sensitive, seed=1)
    for tolerance in (None, 0.0, 0.2, 1.0):
        yield f"corrected {tolerance}", models.corrected(drawn, tolerance)
        yield f"corrected to ones {tolerance}", models.corrected(np.ones_like(drawn), tolerance)
    yield "read", models.read(tree.fair(0.1, metric="predictive_equality"), 0.1)


CASES: dict[str, Callable[[], NamedValues]] = {
    "measured": measured,
    "maps": maps,
    "spoken": spoken,
    "trained": trained,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"sweep_{case}", CASES[case]())
