"""Sweeps and maps of models are as they were: configurations, seeds gathered, what is stored, and cells of a map."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.config import AuditConfig
from core.correction import Disclosure
from core.correction.problem import SolverCertificate
from core.estimates import Estimate
from core.sweep import FolderStore, MemoryStore, SweepPoint, engine, grid, landscape, point, summary
from core.sweep.findings import _spoken_of, method_rows
from core.sweep.landscape import _RATES, LandscapePlan, MapCell
from tests import samples
from tests.golden.numbers import Named, compare_numbers, refused
from tests.unit.charts import nasty_studies as nasty

BASE = AuditConfig(dataset="sample", roles=samples.ROLES, epsilon=3.0)


def _points(seeds: tuple[int, ...], *, method: str = "exponentiated_gradient", none: bool = False) -> list[SweepPoint]:
    """Return points of two tolerances with numbers of their own; without a correction in some seeds, or in all."""
    rng, made = np.random.default_rng(len(seeds) + none), []

    def rate(least: float = 0.0) -> Estimate:
        value = round(float(rng.uniform(least, 1.0)), 3)
        return Estimate(value=value, low=value - 0.05, high=value + 0.03, n=100)

    for seed, tolerance in product(seeds, (0.0, 0.1) if method in point.SWEPT_METHODS else (0.0,)):
        told = {}
        for attacker in (("features", "as_published", "published"), ("predictions", "as_published", "published")):
            lacking = none or (seed == 2 and tolerance == 0.0)
            found = {"after": rate(), "balanced_after": rate(), "gain": rate(-1.0)}
            told[attacker] = nasty.invent(
                Disclosure,
                rng,
                groups=(),
                certificate=nasty.invent(SolverCertificate, rng),
                used=0.1,
                achieved=0.1 * seed,
                majority=rate(),
                before=rate(),
                balanced_before=rate(),
                **(dict.fromkeys(found) if lacking else found),
            )
        if seed == 3:
            del told["predictions", "as_published", "published"]
        numbers = {name: rate() for name in ("unfairness_test", "accuracy_train", "accuracy_test", "majority_test")}
        made.append(
            SweepPoint(
                config=replace(BASE, seed=seed, tolerance=tolerance, method=method, epsilon=math.inf),
                achieved=round(rng.random(), 3),
                difference_train=round(rng.random(), 3),
                difference_test=rate(),
                disclosures=told,
                **numbers,
            )
        )
    return made


def gathered() -> Named:
    for methods, tolerances in product((None, ("dp_id3", "exponentiated_gradient"), ()), ((0.0, 0.1, 0.1), ())):
        made = refused(grid, BASE, tolerances=tolerances, methods=methods, seeds=(2, 1), metrics=("equal_opportunity",))
        told = made if isinstance(made, str) else [(c.method, c.metric, c.seed, c.tolerance, c.epsilon) for c in made]
        yield f"grid {methods} {tolerances}", told
    yield "grid of the base", [(c.method, c.metric, c.seed, c.tolerance, c.epsilon) for c in grid(BASE)]
    for seeds, none in (((1,), False), ((2, 1), False), ((3, 2, 1, 0), False), ((1, 2), True)):
        points = [*_points(seeds, none=none), *_points(seeds, method="threshold_optimizer", none=none)]
        rows = summary.summarise(points)
        name = f"{seeds} {none}"
        yield name, [(row.method, row.tolerance, row.adversary, row.seeds, row.n_true) for row in rows]
        for row in rows[:2]:
            yield f"{name}.row", (row.before, row.before_corrected, row.gain, row.unfairness_train)
        for frame in (summary.summary_frame(rows), summary.table_three(rows)):
            yield f"{name}.columns", list(frame) if not none else len(frame.columns)
            yield f"{name}.numbers", frame.select_dtypes("number").to_numpy(dtype=float)
        yield f"{name}.shown", method_rows(rows)
    yield "other table", len(summary.table_three(rows, protocol="held_out"))
    asked: list[Any] = []
    found = SimpleNamespace(disclose=lambda *given, **more: asked.append((*given, *more.values())))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point, "subject_of", lambda *_: SimpleNamespace(model=None))
        patch.setattr(point.CorrectionResult, "of", staticmethod(lambda *_, as_published: found))
        patch.setattr(point.SweepPoint, "of", classmethod(lambda *given, disclosures, **_: list(disclosures)))
        for method in ("exponentiated_gradient", "unmitigated"):
            yield f"measured {method}", str(point.measure(replace(BASE, method=method), None))
    yield "disclosed", [str(each) for each in asked]
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


def stored() -> Named:
    dataset, one = samples.dataset(200), _points((1,))[0]
    uploaded = replace(dataset, uploaded=True)
    measured: list[int] = []

    def measure(config: AuditConfig, dataset: Any) -> SweepPoint:
        measured.append(config.seed)
        return replace(one, config=config)

    configs = [replace(one.config, seed=seed) for seed in (5, 6, 5, 7)]
    store, told = MemoryStore(), []
    for wanted in (configs[:2], configs, configs[::-1]):
        found = engine.sweep(wanted, dataset, store=store, measure=measure, report=lambda *done: told.append(done))
        yield "swept", [each.config.seed for each in found]
    yield "reports", (told, measured, len(store.points))
    for data, jobs, scheduler, kept in (
        (dataset, 0, None, None),
        (uploaded, 1, "tcp://x", None),
        (uploaded, 1, None, SimpleNamespace(on_disk=True)),
        (uploaded, 1, None, store),
        (dataset, 1, None, SimpleNamespace(on_disk=True)),
    ):
        yield "checked", refused(engine._check, data, jobs, scheduler, kept)


def kept_in(folder: Path) -> Named:
    one = _points((1,))[0]
    store = FolderStore(folder)
    yield "none", (store.load("a"), len(store))
    for key in ("a", "b", "c", "d", "e"):
        store.save(key, one)
    yield "saved", (store.load("a") == one, len(store), oct(store._path("a").stat().st_mode))
    texts = {key: store._path(key).read_text(encoding="utf-8") for key in "bcde"}
    header = json.loads(texts["b"].partition("\n")[0])
    for key, text in {
        "b": json.dumps(header | {"format": 2}) + "\n" + texts["b"].partition("\n")[2],
        "c": texts["d"],
        "d": texts["d"].replace("0.1", "0.2", 1),
        "e": "[1]\n" + texts["e"].partition("\n")[2],
    }.items():
        store._path(key).write_text(text, encoding="utf-8")
        yield f"damaged {key}", store.load(key)
    yield "notes", store.notes
    own = store._own
    for name, age in (("old.part", 3700), ("new.part", 3500)):
        (own / name).write_text("", encoding="utf-8")
        past = (own / name).stat().st_mtime - age
        os.utime(own / name, (past, past))
    other = folder / "fairleak-0.0.0-abc"
    other.mkdir()
    (folder / "fairleak-0.0.0-empty").mkdir()
    for name in ("a.jsonl", "b.jsonl", "c.txt"):
        (other / name).write_text("", encoding="utf-8")
    again = FolderStore(folder)
    yield "again", (again.notes, sorted(path.name for path in own.glob("*.part")), len(again))


def maps() -> Named:
    for seed in range(3):
        found = nasty.landscape(np.random.default_rng(seed))
        found = replace(found, attribute="sex", majority_name="men")
        frame = found.to_frame()
        yield f"{seed}.frame", frame.select_dtypes("number").to_numpy(dtype=float)[::7]
        yield f"{seed}.columns", [*frame, *frame["trained tolerance"][::5], *frame["epsilon"][::5]]
        yield f"{seed}.controls", found.controls()
        yield f"{seed}.cells", [(cell.measured, cell.n_true, cell.told) for cell in found.cells[::4]]
        yield f"{seed}.cell", found.cell(None, math.inf)
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
    few = replace(found, before=(0.5, 0.25, 0.3), readings=(tied,))
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
        made = refused(LandscapePlan, **change)
        yield f"plan {str(change)[:40]}", made if isinstance(made, str) else landscape.landscape_steps(made)
    yield "by name", landscape._by_name([{"a": 0.12345649, "b": math.nan}, {"a": 1, "b": 0.5}])


def spoken() -> Named:
    """What a map is taken to show, by one cell with noise and one without."""

    def rate(low: float, high: float) -> Estimate:
        return Estimate(value=(low + high) / 2, low=low, high=high, n=4)

    def cell(
        tolerance: float | None, epsilon: float, gain: tuple[float, float], members: Estimate, true: int
    ) -> MapCell:
        some = dict.fromkeys(_RATES, rate(0.4, 0.6)) | {"members": members}
        more = {"gain": rate(*gain), "after": rate(0.5, 0.7), "told": tolerance or math.nan, "n_seeds": 4}
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
            found = SimpleNamespace(plan=SimpleNamespace(seeds=(1, 2, 3, 4)), cells=some)
            said, about = _spoken_of(found)
            yield f"{loud} {quiet} {member.low} {true} of {len(some)}", f"{said} / {about and about.tolerance}"


def trained() -> Named:
    told: list[tuple[int, int]] = []
    dataset = samples.dataset(400)
    plan = LandscapePlan(tolerances=(0.02, None, 0.3), epsilons=(math.inf, 8.0), seeds=(3,), tree_share=0.6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landscape, "AuditConfig", partial(AuditConfig, forest=(("n_estimators", 5),)))
        found = landscape.landscape(dataset, plan, report=lambda *done: told.append(done))
        models = landscape._Models(dataset, replace(plan, metric="predictive_equality"), 4)
    yield "map", replace(found, made_from="", made_by=())
    yield "steps", told
    tree = models.tree(math.inf, 0.6)
    yield "members", models.members(tree)
    drawn = tree.unchanged().predict(dataset.features, dataset.sensitive, seed=1)
    for tolerance in (None, 0.0, 0.2, 1.0):
        yield f"corrected {tolerance}", models.corrected(drawn, tolerance)
        yield f"corrected to ones {tolerance}", models.corrected(np.ones_like(drawn), tolerance)
    yield "read", models.read(tree.fair(0.1, metric="predictive_equality"), 0.1)


CASES: dict[str, Callable[[], Named]] = {
    "gathered": gathered,
    "stored": stored,
    "maps": maps,
    "spoken": spoken,
    "trained": trained,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"sweep_{case}", CASES[case]())


def test_kept_points(tmp_path: Path) -> None:
    compare_numbers("sweep_kept", kept_in(tmp_path))
