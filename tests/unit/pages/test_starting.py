"""The sentences about the map say what its seeds support."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

from core.sweep.landscape import Landscape, Readings, read_landscape
from pages.common import start_map as words
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


def test_an_attack_that_is_better_than_chance_is_only_weakened():
    still = changed((1.0,), members=0.55)
    assert words.finding(still)[0].startswith("Noise at ε = 1 weakens")


def test_without_a_gain_under_noise_only_the_noiseless_counts():
    rows = tuple(unmoved(r) if not math.isinf(r.epsilon) else r for r in kept().readings)
    point, cell = words.finding(replace(kept(), readings=rows))
    assert point.startswith("Only without noise") and "+1.8 points" in point
    assert "promise of 0.001 is true in 3 of 20 seeds." in words.promise(cell)
    assert "ε = ∞ the model is right for 68.9%; one answer" in words.cost(kept(), cell)


def test_nothing_measured_nothing_claimed():
    none = replace(kept(), readings=tuple(unmoved(r) for r in kept().readings))
    assert words.finding(none)[0].startswith("No promise on this map has a statistically significant effect")
    single = replace(
        kept(),
        plan=replace(kept().plan, seeds=(0,)),
        before=kept().before[:1],
        majority=kept().majority[:1],
        strong=kept().strong[:1],
        majority_label=kept().majority_label[:1],
        readings=tuple(
            replace(
                r,
                **{
                    name: getattr(r, name)[:1]
                    for name in (
                        "told",
                        "after",
                        "unfairness_train",
                        "unfairness_test",
                        "difference_train",
                        "difference_test",
                        "accuracy",
                        "members",
                    )
                },
            )
            for r in kept().readings
        ),
    )
    assert words.finding(single)[0].startswith("No promise on this map")  # one seed has no interval
    assert "one seed" in words.quantity(single)


def test_a_gain_elsewhere_on_the_map_is_counted():
    rows = tuple(unmoved(r) if r.tolerance == 0.001 else r for r in kept().readings)
    point, cell = words.finding(replace(kept(), readings=rows))
    assert (
        point.startswith("A promise helps this attacker significantly in ")
        and "of 36 cells, at most +3.3 points" in point
    )
    assert "at tolerance 0.01 and ε = 10" in point
    assert f"promise of 0.01 is true in {kept().cell(0.01, 10.0).n_true} of 20 seeds" in words.promise(cell)
    assert words.promise(None) == words.cost(kept(), None) == ""


def test_the_map_says_why_its_figures_are_not_the_headlines():
    said = words.unlike_headline(kept())
    assert "private trees" in said and "20 seeds" in said
    one = replace(kept(), plan=replace(kept().plan, seeds=(3,)))
    assert "a seed of its own" in words.unlike_headline(one)


def test_a_map_below_its_control_says_so():
    low = replace(kept(), majority=(0.9,) * 20, attribute="*sex*", majority_name="<men>")
    said = words.quantity(low)
    assert "Every cell is below the baseline." in said and "\\*sex\\*" in said and "\\<men\\>" in said
    assert "below" not in words.quantity(kept()) and "66.5%" in words.quantity(kept())
