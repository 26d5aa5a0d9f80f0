"""The sentences about the map say what its seeds support."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import cache

from core.sweep.findings import tension
from core.sweep.landscape import Landscape, Readings, read_landscape
from pages.common.start_map import KEPT_MAP


@cache
def kept() -> Landscape:
    return read_landscape(KEPT_MAP)


def changed(epsilons: tuple[float, ...], **values: float) -> Landscape:
    """Return the kept map with the same numbers for every seed of some budgets, but for what is told nothing."""
    rows = tuple(
        replace(r, **{name: (value,) * 20 for name, value in values.items()})
        if r.epsilon in epsilons and r.tolerance is not None
        else r
        for r in kept().readings
    )
    return replace(kept(), readings=rows)


def unmoved(r: Readings) -> Readings:
    return replace(r, after=kept().before)


def test_the_kept_map_says_what_noise_stops_and_what_it_does_not():
    told = tension(kept())
    cell, noiseless = kept().cell(0.001, 1.0), kept().cell(0.001, math.inf)
    areas, gain = f"{noiseless.members.value:.2f} → {cell.members.value:.2f}", f"+{100 * cell.gain.value:.1f} points"
    assert told.point == (
        f"At ε = 1 membership inference drops to chance (AUC {areas}), but disclosing tolerance 0.001 still adds "
        f"{gain} to attribute inference"
    )
    assert cell.gain.low > 0 and cell.members.low <= 0.5 <= cell.members.high
    assert not kept().cell(0.001, 0.3).gain.low > 0
    assert told.evidence.endswith(" At ε = 1 tolerance 0.001 holds in 2 of 20 seeds.") and cell.n_true == 2
    assert told.caveats[0] == (
        "At ε = 1 and tolerance 0.001 model accuracy is 63.0% (68.9% without noise; majority class 56.9%)."
    )
    assert round(1000 * kept().controls()["majority_label"].value) == 569
    assert "private decision trees and 20 other splits" in told.caveats[1]


def test_an_attack_that_is_better_than_chance_only_gets_weaker():
    assert "gets weaker" in tension(changed((1.0,), members=0.55)).point


def test_without_a_gain_under_noise_only_the_noiseless_counts():
    rows = tuple(unmoved(r) if not math.isinf(r.epsilon) else r for r in kept().readings)
    told = tension(replace(kept(), readings=rows))
    assert told.point.startswith("Only without noise") and "+1.8 points" in told.point
    assert "tolerance 0.001 holds in 3 of 20 seeds." in told.evidence
    assert "model accuracy is 68.9% (majority class" in told.caveats[0]


def test_nothing_measured_nothing_claimed():
    none = replace(kept(), readings=tuple(unmoved(r) for r in kept().readings))
    told = tension(none)
    assert told.point.startswith("No disclosed tolerance") and "holds in" not in told.evidence
    assert len(told.caveats) == 1
    first = {name: getattr(kept(), name)[:1] for name in ("before", "majority", "strong", "majority_label")}
    one_seed = [
        replace(r, **{f.name: getattr(r, f.name)[:1] for f in fields(r) if f.name not in ("tolerance", "epsilon")})
        for r in kept().readings
    ]
    single = replace(kept(), plan=replace(kept().plan, seeds=(0,)), readings=tuple(one_seed), **first)
    told = tension(single)
    assert told.point.startswith("No disclosed tolerance")  # one seed has no interval
    assert "one seed" in told.evidence and "another split" in told.caveats[-1]


def test_a_gain_elsewhere_on_the_map_is_counted():
    rows = tuple(unmoved(r) if r.tolerance == 0.001 else r for r in kept().readings)
    told = tension(replace(kept(), readings=rows))
    assert told.point.startswith("Disclosure helps this attack significantly in ")
    assert "of 36 cells, at most +3.3 points, at tolerance 0.01 and ε = 10" in told.point
    assert f"tolerance 0.01 holds in {kept().cell(0.01, 10.0).n_true} of 20 seeds" in told.evidence


def test_a_map_below_its_baseline_says_so():
    low = tension(replace(kept(), majority=(0.9,) * 20))
    assert "Every cell is below the baseline." in low.evidence
    usual = tension(kept()).evidence
    assert "below" not in usual and "66.5%" in usual
