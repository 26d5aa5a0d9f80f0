"""What the page says of FairPick beside its control: differences within repeats, and nothing of too few of them."""

from __future__ import annotations

from core.membership import CurvePoint
from core.membership.findings import picking_heading


def points(repeats: int, *, apart: float) -> list[CurvePoint]:
    """Return points whose repeats differ far more than FairPick and its control do within them."""
    made = []
    for repeat in range(repeats):
        for variant, extra in (("random", 0.0), ("fairpick", apart + 0.001 * (repeat % 3 - 1))):
            vd = 0.2 * (repeat % 2) + extra
            rates = dict.fromkeys(("accuracy_train", "accuracy_test", "auc", "precision", "recall"), 0.5)
            gaps = {"vd": vd, "fpr_gap": 0.0, "advantage_gap": vd}
            made.append(CurvePoint(at=0.4, repeat=repeat, variant=variant, **rates, **gaps))
    return made


def test_a_small_difference_within_repeats_is_told_and_none_is_not():
    assert "no statistically significant" not in picking_heading(points(6, apart=-0.01), "vd")
    assert "−0.010 (−0.011 to −0.009) within repeats" in picking_heading(points(6, apart=-0.01), "vd")
    assert "no statistically significant difference" in picking_heading(points(6, apart=0.0), "vd")


def test_the_means_are_over_the_repeats_that_have_both():
    whole = picking_heading(points(6, apart=0.0), "vd")
    assert "(mean over 6 repeats)" in whole
    half = points(7, apart=0.0)[:-1]  # the seventh has no FairPick yet
    assert picking_heading(half, "vd", growing=True) == whole.replace("6 repeats", "6 repeats so far")


def test_of_too_few_repeats_nothing_is_said():
    said = picking_heading(points(4, apart=0.0), "vd")
    assert said.startswith("VD +0.1") and "within" not in said and "significant" not in said
    assert picking_heading(points(4, apart=0.0)[:1], "vd") == "What FairPick changes"
