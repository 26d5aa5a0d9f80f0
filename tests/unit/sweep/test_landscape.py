"""The map: its cells, what is kept of it, and the kept map of the demo, of which some cells are made anew."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from core.config import AuditConfig
from core.correction import smallest_tolerance
from core.datasets import AuditDataset, Roles, build_dataset, demo_table
from core.datasets.splits import split
from core.errors import Cancelled, FairLeakError, InputError
from core.estimates import over_repeats
from core.models.private_fair import fit_private_fair
from core.seeds import child_seed
from core.sweep.landscape import (
    EPSILONS,
    TOLERANCES,
    Landscape,
    LandscapePlan,
    landscape,
    landscape_key,
    landscape_steps,
    read_landscape,
    write_landscape,
)
from pages.common.start_map import KEPT_MAP
from tests import samples

PLAN = LandscapePlan(tolerances=(0.01, None), epsilons=(math.inf, 1.0), seeds=(0, 3))


@cache
def people() -> AuditDataset:
    return samples.dataset(900)


@cache
def made() -> Landscape:
    return landscape(people(), PLAN)


def test_the_controls_are_those_of_the_training_people():
    for i, seed in enumerate(PLAN.seeds):
        train = split(people(), seed=seed).train
        assert made().majority[i] == pytest.approx(np.bincount(people().sensitive[train]).max() / train.size, abs=1e-6)
    assert made().majority_name == "others" or made().majority_name in people().group_names


def test_nothing_promised_nothing_told():
    for epsilon in PLAN.epsilons:
        (alone,) = (r for r in made().readings if r.tolerance is None and r.epsilon == epsilon)
        assert alone.after == made().before and all(math.isnan(v) for v in alone.told)
        cell = made().cell(None, epsilon)
        assert cell.gain.value == 0 and not cell.measured and cell.n_true == 0


def test_a_promise_is_told_as_it_was_trained_unless_no_answer_can_meet_it():
    (readings,) = (r for r in made().readings if r.tolerance == 0.01 and r.epsilon == math.inf)
    assert all(told >= 0.01 for told in readings.told)
    splits = split(people(), seed=0)
    tree = fit_private_fair(
        people().features[splits.train],
        people().labels[splits.train],
        people().sensitive[splits.train],
        epsilon=math.inf,
        n_groups=2,
        domains=people().domains,
        seed=child_seed(0, "landscape, epsilon inf"),
    )
    drawn = tree.fair(0.01).predict(
        people().features, people().sensitive, seed=child_seed(0, "landscape, tolerance 0.01")
    )
    assert readings.told[0] == pytest.approx(max(0.01, smallest_tolerance(drawn[splits.train])), abs=1e-6)
    assert readings.accuracy[0] == pytest.approx((drawn == people().labels)[splits.test].mean(), abs=1e-6)


def test_without_noise_members_are_told_apart_and_with_noise_hardly():
    open_, noisy = (made().cell(0.01, epsilon).members for epsilon in (math.inf, 1.0))
    assert open_.value > 0.55 > noisy.value


def test_cells_are_means_over_seeds_paired_with_what_was_before():
    cell = made().cell(0.01, math.inf)
    (readings,) = (r for r in made().readings if r.tolerance == 0.01 and r.epsilon == math.inf)
    changes = [after - before for after, before in zip(readings.after, made().before, strict=True)]
    assert cell.gain == over_repeats(changes) and cell.n_seeds == 2
    assert cell.after.value == pytest.approx(sum(readings.after) / 2)
    true = [a <= t + 1e-6 for a, t in zip(readings.unfairness_train, readings.told, strict=True)]
    assert cell.n_true == sum(true)


def test_a_map_reports_its_steps_and_can_be_stopped():
    told: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        told.append((done, total))
        if done == 2:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        landscape(people(), PLAN, report=report)
    assert told == [(1, landscape_steps(PLAN)), (2, landscape_steps(PLAN))] and landscape_steps(PLAN) == 6


def test_more_than_two_groups():
    table = samples.table(900)
    data = build_dataset(
        table, Roles(label="hired", positive="yes", sensitive="score", cuts=(0.0, 1.0), excluded=("origin",))
    )
    found = landscape(data, LandscapePlan(tolerances=(0.05,), epsilons=(5.0,), seeds=(1,)))
    (cell,) = found.cells
    assert 0 <= cell.after.value <= 1 and math.isnan(cell.after.low) and not cell.measured
    assert cell.told >= 0.05


def test_a_map_is_written_and_read(tmp_path: Path):
    path = tmp_path / "map.json"
    write_landscape(made(), path)
    again = read_landscape(path)
    assert again == made() and again.to_dict().keys() == made().to_dict().keys()
    json.loads(path.read_text("utf-8"))
    with pytest.raises(InputError, match="must be a file in a folder that exists"):
        write_landscape(made(), tmp_path / "none" / "map.json")


@pytest.mark.parametrize("content", ["", "{}", "[1", '{"plan": 3}', "\x00"])
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
    assert len(set(keys)) == len(keys) and made().made_from == keys[0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"tolerances": (2.0,)},
        {"epsilons": (0.0,)},
        {"seeds": ()},
        {"seeds": (1, 1)},
        {"seeds": tuple(range(51))},
        {"seeds": (-1,)},
        {"tree_share": 1.0},
        {"metric": "beauty"},
    ],
    ids=str,
)
def test_bad_plans(wrong: dict[str, object]):
    with pytest.raises(InputError):
        LandscapePlan(**wrong)  # type: ignore[arg-type]


# The kept map of the demo


@cache
def kept() -> Landscape:
    return read_landscape(KEPT_MAP)


@cache
def demo() -> AuditDataset:
    table = demo_table()
    return build_dataset(table, table.roles[0])


def test_the_kept_map_is_that_of_the_demo_and_of_the_pages_settings():
    plan = LandscapePlan(train_share=AuditConfig().train_share, seeds=tuple(range(20)))
    assert kept().plan == plan and kept().made_from == landscape_key(demo(), plan)
    assert [(r.epsilon, r.tolerance) for r in kept().readings] == [(e, t) for e in EPSILONS for t in TOLERANCES]
    assert all(len(r.after) == 20 for r in kept().readings)


def test_cells_of_the_kept_map_made_anew_are_the_same():
    epsilons, tolerances = (math.inf, 1.0), (0.001, None)
    again = landscape(demo(), replace(kept().plan, epsilons=epsilons, tolerances=tolerances, seeds=(0,)))
    for name in ("majority", "before", "strong", "majority_label"):
        assert getattr(again, name)[0] == pytest.approx(getattr(kept(), name)[0], abs=1e-6)
    for readings in again.readings:
        there = next(r for r in kept().readings if (r.tolerance, r.epsilon) == (readings.tolerance, readings.epsilon))
        for name in (
            "told",
            "after",
            "unfairness_train",
            "unfairness_test",
            "difference_train",
            "difference_test",
            "accuracy",
            "members",
        ):
            now, then = getattr(readings, name)[0], getattr(there, name)[0]
            assert now == pytest.approx(then, abs=1e-6, nan_ok=True), (readings.tolerance, readings.epsilon, name)
