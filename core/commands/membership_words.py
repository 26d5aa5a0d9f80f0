"""What ``python -m core membership`` prints: the target, the attacks, the gaps between groups, FairPick."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from core.commands.text_tables import aligned, estimate_words
from core.estimates import Estimate
from core.membership import (
    ATTACK_TITLES,
    DELETION_REMINDER,
    TARGET_TITLES,
    AttackFindings,
    CurveBand,
    DisparityResult,
    GapTest,
    MembershipFindings,
)

if TYPE_CHECKING:
    from core.commands.membership_work import Audit

_NOTHING = "n/a"
_GAPS = ("vd", "fpr_gap", "advantage_gap")
_GAP_HEADER = ("VD", "FPR gap", "TPR - FPR gap")


def told(audit: Audit) -> Iterator[str]:
    """Yield the lines, tables included."""
    yield from _head(audit)
    yield ""
    yield _target_table(audit)
    yield ""
    yield _attack_table(audit)
    yield ""
    yield from _gap_table(audit)
    if audit.over_epsilon:
        yield ""
        yield from _repeats_table(audit)
    if audit.deletions is not None:
        yield ""
        yield from _fairpick_table(audit)


def _head(audit: Audit) -> Iterator[str]:
    first = audit.findings[0]
    settings = first.settings
    depth = "" if settings.target in ("logistic", "audited") else f", depth {settings.max_depth}"
    accounting = f", accounting {settings.accounting}" if settings.target == "dp_id3" else ""
    groups = ", ".join(reversed(first.group_names)) if len(first.group_names) == 2 else ", ".join(first.group_names)
    yield f"{audit.people.n:,} people of {first.title}; {first.attribute}: {groups}"
    yield f"Target: {TARGET_TITLES[settings.target]}{depth}{accounting}, seed {settings.seed}"
    yield f"{first.n_members:,} people trained on; {first.n_judged:,} judged, half of them trained on: chance is 50%"
    yield f"Intervals: {100 * settings.level:g}%, over the judged people, for one split and one training"


def _target_table(audit: Audit) -> str:
    rows = []
    for found, cost in zip(audit.findings, audit.costs, strict=True):
        made = found.target
        cells = [made.accuracy_train, made.accuracy_test, made.majority_test]
        bound = "no bound" if math.isinf(cost) else f"{cost:g}"
        rows.append([_epsilon(found), bound, *(estimate_words(cell) for cell in cells)])
    return aligned(["epsilon", "true cost", "accuracy in %: train", "test", "majority guess"], rows)


def _epsilon(found: MembershipFindings) -> str:
    return f"{found.settings.epsilon:g}" if found.settings.target == "dp_id3" else "none"


def _attack_table(audit: Audit) -> str:
    rows = []
    for found in audit.findings:
        for attack in found.attacks.values():
            muted = "not measurably above chance" if attack.muted else ""
            rates = [_NOTHING if rate is None else _words(rate) for rate in (attack.precision, attack.recall)]
            auc = estimate_words(attack.roc.auc, percent=False)
            rows.append([_epsilon(found), ATTACK_TITLES[attack.name], auc, *rates, muted])
    return aligned(["epsilon", "attack", "AUC", "precision in %", "recall in %", ""], rows, left=2)


def _words(estimate: Estimate, *, signed: bool = False) -> str:
    return _NOTHING if math.isnan(estimate.value) else estimate_words(estimate, signed=signed)


def _gap_table(audit: Audit) -> Iterator[str]:
    """Yield the gaps, and under them what the marks mean and why something was not measured."""
    rows, reasons = [], dict[str, None]()
    for found in audit.findings:
        for attack in found.attacks.values():
            for group, cells, why in _gap_rows(attack):
                rows.append([_epsilon(found), ATTACK_TITLES[attack.name], group, *cells])
                reasons |= dict.fromkeys(why)
    yield "Gaps in points, group minus others"
    yield aligned(["epsilon", "attack", "group", *_GAP_HEADER, "TPR gap at 1% FPR"], rows, left=3)
    yield "VD: members called members. FPR gap: outsiders called members. TPR - FPR gap: membership advantage, net"
    yield "of false positives."
    yield "*: no gap at all would show such a gap in less than 5% of cases (permutation test, Holm over groups);"
    yield "   at 1% FPR the interval leaves out 0 as well."
    if any("muted" in cell for row in rows for cell in row):
        yield "muted: not measurably better than chance (the AUC interval is not above 0.5): says nothing of a leak."
    yield from reasons


def _gap_rows(attack: AttackFindings) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield, a group at a time, its name, its four gaps and why some were not measured."""
    measured = {} if attack.disparities is None else {result.group: result for result in attack.disparities.results}
    left_out = {} if attack.disparities is None else dict(attack.disparities.not_measured)
    for low in attack.low_fpr:
        why = []
        if low.group in measured:
            cells = _three(measured[low.group], muted=attack.muted)
        else:
            cells = [_NOTHING] * len(_GAPS)
            why.append(left_out.get(low.group, f"{ATTACK_TITLES[attack.name]} gives scores and no verdict: no VD."))
        if low.reason:
            why.append(f"TPR gap at 1% FPR, {low.group}: {low.reason}")
        yield low.group, [*cells, _words(low.estimate, signed=True) + _star(low.test)], why


def _three(result: DisparityResult, *, muted: bool) -> list[str]:
    cells = []
    for name in _GAPS:
        estimate: Estimate = getattr(result, name)
        mark = " muted" if muted and name == "vd" else ""
        cells.append(_words(estimate, signed=True) + _star(result.tests[name]) + mark)
    return cells


def _star(test: GapTest | None) -> str:
    return "*" if test is not None and test.significant else ""


def _repeats_table(audit: Audit) -> Iterator[str]:
    yield f"The paper's network over {audit.repeats} repeats, each with its own split and training; {_sides(audit)}"
    yield "Means with 95% intervals over repeats, which speak of other seeds on this table"
    rows = []
    for band in sorted(audit.over_epsilon, key=lambda band: -band.at):
        budget = f"{band.at:g}" if audit.findings[0].settings.target == "dp_id3" else "none"
        rows.append([budget, *_rates(band), *_three_of(band)])
    yield aligned(["epsilon", "test in %", "AUC", "precision in %", "recall in %", *_GAP_HEADER], rows)


def _sides(audit: Audit) -> str:
    """Return which groups the gaps of a curve are between."""
    names, code = audit.people.group_names, audit.findings[0].settings.group
    return f"{names[code]} minus {names[0] if len(names) == 2 else 'all others'}"


def _rates(band: CurveBand) -> list[str]:
    values = band.values
    auc = estimate_words(values["auc"], percent=False)
    return [_words(values["accuracy_test"]), auc, _words(values["precision"]), _words(values["recall"])]


def _three_of(band: CurveBand) -> list[str]:
    return [_words(band.values[name], signed=True) for name in _GAPS]


def _fairpick_table(audit: Audit) -> Iterator[str]:
    """Yield what FairPick deletes and changes, beside as many rows deleted at random."""
    assert audit.deletions is not None and audit.deletions.fairpick is not None
    made, before = audit.deletions.fairpick, audit.findings[0].n_members
    rows, seed = sum(made.deleted.values()), audit.deletions.settings.seed
    several = "s" * (audit.repeats > 1)
    by_group = ", ".join(f"{count:,} {name}" for name, count in made.deleted.items())
    yield (
        f"FairPick, theta {made.theta:g}: deletes {rows:,} of the {before:,} people trained on above, in the split of "
        f"seed {seed} ({by_group})"
    )
    yield (
        f"Largest difference between the groups' shares of a cluster: {made.largest_before:.4f} before, "
        f"{made.largest_after:.4f} after"
    )
    yield (
        f"The paper's network in {audit.repeats} repeat{several} with splits of their own, of which 'deleted' is "
        f"the mean; {_sides(audit)}"
    )
    private = audit.findings[0].settings.target == "dp_id3"
    cells = [
        [f"{epsilon:g}" if private else "none", title, deleted, *_rates(band)[:2], *_three_of(band)]
        for epsilon, bands in audit.over_theta
        for title, band in _variants(bands)
        for deleted in (f"{band.values['deleted'].value:,.0f}",)
    ]
    yield aligned(["epsilon", "training data", "deleted", "test in %", "AUC", *_GAP_HEADER], cells, left=2)
    if private and any(math.isfinite(epsilon) for epsilon, _ in audit.over_theta):
        yield DELETION_REMINDER


def _variants(bands: tuple[CurveBand, ...]) -> Iterator[tuple[str, CurveBand]]:
    """Yield everybody, FairPick and its control, in this order."""
    by_name = {(band.variant, band.at == 1.0): band for band in bands}
    yield "everybody", by_name["fairpick", True]
    yield "FairPick", by_name["fairpick", False]
    yield "as many deleted at random", by_name["random", False]
