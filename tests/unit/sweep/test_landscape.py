"""The map: its cells, what is kept of it, and the kept map of the demo, of which some cells are made anew."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import pytest

from core.base.errors import FairLeakError, InputError
from core.datasets import AuditDataset, Roles, build_dataset, demo_table
from core.experiments.sweep.findings import tension
from core.experiments.sweep.landscape import (
    EPSILONS,
    KEPT_MAP,
    TOLERANCES,
    Landscape,
    LandscapePlan,
    Readings,
    landscape,
    landscape_key,
    read_landscape,
    write_landscape,
)
from core.stats.estimates import mean_over_repeats, percent
from core.studies.config import AuditConfig
from tests import samples

PLAN = LandscapePlan(tolerances=(0.01, None), epsilons=(math.inf, 1.0), seeds=(0, 3))


@cache
def people() -> AuditDataset:
    return samples.dataset(900)


@cache
def small_map() -> Landscape:
    return landscape(people(), PLAN)


def test_cells_are_means_over_seeds_paired_with_what_was_before():
    cell = small_map().cell(0.01, math.inf)
    (readings,) = (r for r in small_map().readings if r.tolerance == 0.01 and r.epsilon == math.inf)
    changes = [after - before for after, before in zip(readings.after, small_map().before, strict=True)]
    assert cell.gain == mean_over_repeats(changes) and cell.n_seeds == 2
    assert cell.after.value == pytest.approx(sum(readings.after) / 2)
    true = [a <= t + 1e-6 for a, t in zip(readings.unfairness_train, readings.told, strict=True)]
    assert cell.n_true == sum(true)


def test_more_than_two_groups():
    table = samples.table(900)
    data = build_dataset(
        table,
        Roles(
            label="hired", positive="yes", favourable="yes", sensitive="score", cuts=(0.0, 1.0), excluded=("origin",)
        ),
    )
    three_group_map = landscape(data, LandscapePlan(tolerances=(0.0, 0.05), epsilons=(5.0,), seeds=(1,)))
    for cell, least in zip(
        three_group_map.cells, (1e-6, 0.05), strict=True
    ):  # nobody meets 0: the closest is disclosed instead
        assert 0 <= cell.after.value <= 1 and math.isnan(cell.after.low) and not cell.measured
        assert least <= cell.told < 0.2


def test_a_map_is_written_and_read(tmp_path: Path):
    path = tmp_path / "map.json"
    write_landscape(small_map(), path)
    again = read_landscape(path)
    assert again == small_map() and again.to_dict().keys() == small_map().to_dict().keys()
    assert json.loads(path.read_text("utf-8"))["made_by"][0].startswith("fairleak ")
    with pytest.raises(InputError, match="must be a file in a folder that exists"):
        write_landscape(small_map(), tmp_path / "none" / "map.json")


@pytest.mark.parametrize("content", ["", '{"plan": 3}', "\x00"])
def test_a_damaged_file_is_no_map(tmp_path: Path, content: str):
    path = tmp_path / "map.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FairLeakError, match=r"map\.json"):
        read_landscape(path)
    with pytest.raises(FairLeakError, match=r"gone\.json"):
        read_landscape(tmp_path / "gone.json")


def test_the_key_changes_with_whatever_decides_a_map():
    plans = [
        PLAN,
        *(replace(PLAN, **change) for change in ({"seeds": (0,)}, {"tree_share": 0.5}, {"epsilons": (1.0,)})),
    ]
    keys = [landscape_key(people(), plan) for plan in plans] + [landscape_key(samples.dataset(901), PLAN)]
    assert len(set(keys)) == len(keys) and small_map().made_from == keys[0]


# The kept map of the demo


@cache
def demo_map() -> Landscape:
    return read_landscape(KEPT_MAP)


@cache
def demo() -> AuditDataset:
    table = demo_table()
    return build_dataset(table, table.roles[0])


def test_the_kept_map_is_that_of_the_demo_and_of_the_pages_settings():
    plan = LandscapePlan(train_share=AuditConfig().train_share, seeds=tuple(range(20)))
    assert demo_map().plan == plan and demo_map().made_from == landscape_key(demo(), plan)
    assert [(r.epsilon, r.tolerance) for r in demo_map().readings] == [(e, t) for e in EPSILONS for t in TOLERANCES]
    assert all(len(r.after) == 20 for r in demo_map().readings)


def test_cells_of_the_kept_map_made_anew_are_the_same():
    epsilons, tolerances = (math.inf, 1.0), (0.001, None)
    again = landscape(demo(), replace(demo_map().plan, epsilons=epsilons, tolerances=tolerances, seeds=(0,)))
    for name in ("majority", "before", "strong", "majority_label"):
        assert getattr(again, name)[0] == pytest.approx(getattr(demo_map(), name)[0], abs=1e-6)
    for readings in again.readings:
        recorded = next(
            r for r in demo_map().readings if (r.tolerance, r.epsilon) == (readings.tolerance, readings.epsilon)
        )
        for name in {field.name for field in fields(readings)} - {"tolerance", "epsilon"}:
            now, then = getattr(readings, name)[0], getattr(recorded, name)[0]
            assert now == pytest.approx(then, abs=1e-6, nan_ok=True), (readings.tolerance, readings.epsilon, name)


# What is said of it


def unmoved(r: Readings) -> Readings:
    return replace(r, after=demo_map().before)


def test_the_kept_map_says_what_noise_stops_and_what_it_does_not():
    finding = tension(demo_map())
    cell, noiseless = demo_map().cell(0.1, 1.0), demo_map().cell(0.02, math.inf)
    areas, gain = f"{noiseless.members.value:.2f} → {cell.members.value:.2f}", f"+{100 * cell.gain.value:.1f} points"
    imputation = demo_map().controls()["strong"]
    assert finding.point == (
        f"At ε = 1 membership inference drops to chance (AUC {areas}); disclosing tolerance 0.1 adds {gain} to the "
        f"published attack ({percent(cell.after, decimals=1)}). That is no leak: imputation without the model reaches "
        f"{percent(imputation, decimals=1)}"
    )
    assert (
        cell.lead.high < 0
        and max(candidate.after.value for candidate in demo_map().cells if candidate.tolerance) < imputation.value
    )
    assert "Every cell is below imputation: what disclosure adds there is no leak of the model." in finding.evidence
    assert cell.gain.low > 0 and cell.members.low <= 0.5 <= cell.members.high
    tighter = [
        demo_map().cell(tolerance, 1.0) for tolerance in demo_map().plan.tolerances if tolerance and tolerance < 0.1
    ]
    assert (
        max(candidate.n_true for candidate in tighter) < 10 and noiseless.n_true == 10
    )  # most often they are no true claims
    assert finding.evidence.endswith(" At ε = 1 tolerance 0.1 holds in 12 of 20 seeds.") and cell.n_true == 12
    assert finding.caveats[0] == (
        "At ε = 1 and tolerance 0.1 model accuracy is 64.6% (72.1% without noise; majority class 56.9%)."
    )
    assert round(1000 * demo_map().controls()["majority_label"].value) == 569
    assert "Splits: 20." in finding.caveats[1]


@pytest.mark.parametrize("better", [-0.03, 0.0, 0.03])
def test_a_gain_of_the_map_names_imputation_and_is_a_leak_only_beyond_it(better: float):
    """Imputation is moved so that the cell spoken of lies below it, at it, and above it, in every seed but two."""
    full_map = demo_map()
    readings = next(r for r in full_map.readings if (r.tolerance, r.epsilon) == (0.1, 1.0))
    noise = [0.001 * (-1) ** index for index in range(len(readings.after))]
    strong = tuple(after - better + shift for after, shift in zip(readings.after, noise, strict=True))
    moved = replace(full_map, strong=strong)
    cell, finding = moved.cell(0.1, 1.0), tension(moved)
    assert percent(moved.controls()["strong"], decimals=1) in finding.point
    assert f"+{100 * cell.gain.value:.1f} points" in finding.point and percent(cell.after, decimals=1) in finding.point
    phrases = {-0.03: "That is no leak", 0.0: "not significantly different from imputation", 0.03: "which is beyond"}
    assert [phrase in finding.point for phrase in phrases.values()] == [
        phrase == phrases[better] for phrase in phrases.values()
    ]
    sides = {-0.03: cell.lead.high < 0, 0.0: cell.lead.low < 0 < cell.lead.high, 0.03: cell.lead.low > 0}
    assert sides[better]
    if better > 0:
        assert "Every cell is below imputation" not in finding.evidence


def test_nothing_measured_nothing_claimed():
    none = replace(demo_map(), readings=tuple(unmoved(r) for r in demo_map().readings))
    finding = tension(none)
    assert finding.point.startswith("No disclosed tolerance") and "holds in" not in finding.evidence
    assert len(finding.caveats) == 1 and not any(cell.measured for cell in none.cells)  # no change, and no width
    bold = [cell for cell in demo_map().cells if cell.measured]
    assert {cell.gain.value > 0 for cell in bold} == {True, False}
    assert all(cell.gain.low > 0 or cell.gain.high < 0 for cell in bold)
