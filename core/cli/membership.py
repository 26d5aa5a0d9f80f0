"""``python -m core membership``: membership inference at several privacy budgets, and what it finds about groups."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Any

from core.cli.arguments import (
    add_dataset_arguments,
    add_file_arguments,
    interval_cells,
    table_and_roles,
    write_csv,
    write_json,
)
from core.cli.console import Console, aligned, estimate_words
from core.config import AuditConfig
from core.datasets import AuditDataset, build_dataset
from core.errors import InputError, PrivacyLeakWarning
from core.estimates import Estimate
from core.membership import (
    ATTACK_TITLES,
    ATTACKS,
    DELETION_REMINDER,
    FEWEST_SHADOWS,
    TARGET_TITLES,
    AttackFindings,
    CurveBand,
    CurvePoint,
    DisparityResult,
    GapResult,
    GapTest,
    MemberPeople,
    MembershipFindings,
    MembershipSettings,
    attack_steps,
    attacked,
    attacked_audit,
    default_depth,
    epsilon_curve,
    fairpick_curve,
    findings_of,
    guesses,
    judge,
    ledger_of,
    member_people,
    summarise_curve,
    target_of,
)
from core.membership.findings import NO_BETTER, Reading, headline
from core.param import Param
from core.serialize import Result, plain
from core.settings import Settings, from_arguments, params
from core.settings import add_arguments as add_settings
from core.validation import LEAST_EPSILON

NAME = "membership"
HELP = "print how well attackers tell who was in the training data, and which group more, at several privacy budgets"

_AUDITED = "audited"
_EPSILONS = (math.inf, 10.0, 1.0, 0.1)
_MOST = 100.0
"""Largest finite privacy budget: beyond it the tree grows without end, and noise no longer matters."""

_NOTHING = "n/a"
_GAPS = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "advantage gap"}
_RATES = (0.001, 0.01, 0.1)
"""FPRs at which the JSON file has the TPR."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What to do, checked, before any of it: settings for each privacy budget, attacks in the order of `ATTACKS`.

    The dataset is there for the audited model alone, which has no repeats and no FairPick. FairPick is left out where
    its theta is 1.
    """

    people: MemberPeople
    settings: tuple[MembershipSettings, ...]
    attacks: tuple[str, ...]
    audit: AuditConfig
    dataset: AuditDataset | None
    theta: float
    repeats: int

    @property
    def private(self) -> bool:
        """Whether the model has a privacy budget."""
        return self.settings[0].target == "dp_id3"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Result):
    """What was found at each privacy budget, and what the tree costs in truth there, inf without a bound.

    Over epsilon are several repeats; over theta, at each budget, what FairPick and its control change; the deletions
    are those of FairPick at the first, without attacks.
    """

    work: Work
    findings: tuple[MembershipFindings, ...]
    costs: tuple[float, ...]
    over_epsilon: tuple[CurveBand, ...]
    over_theta: tuple[tuple[float, tuple[CurveBand, ...]], ...]
    deletions: MembershipFindings | None

    @property
    def each(self) -> Iterator[tuple[str, MembershipFindings, AttackFindings]]:
        """Budget as text, findings and attack, one after the other."""
        for found in self.findings:
            for attack in found.attacks.values():
                yield self.budget(found.settings.epsilon), found, attack

    def budget(self, epsilon: float) -> str:
        """Write a privacy budget."""
        return f"{epsilon:g}" if self.work.private else "none"


def measured(work: Work, console: Console) -> Audit:
    """Do the work, with progress."""
    steps = sum(attack_steps(work.settings[0], work.attacks).values())
    # FairPick has four points a repeat: itself and its control, at the theta asked for and at 1.
    curves = work.repeats * len(work.settings) * ((work.repeats > 1) + 4 * (work.theta < 1.0))
    report, total, numbers = console.counting("steps", every=16), steps * len(work.settings) + curves, count(1)

    def tick(*_: object) -> None:
        report(next(numbers), total)

    findings = tuple(_attacked(work, settings, tick) for settings in work.settings)
    deletions, over_theta = None, []
    over_epsilon = _over_epsilon(work, tick) if work.repeats > 1 else ()
    if work.theta < 1.0:
        deleted = replace(work.settings[0], theta=work.theta)
        deletions = findings_of(attacked(work.people, deleted, target_of(work.people, deleted)))
        for settings in work.settings:
            curve = fairpick_curve(work.people, settings, thetas=(work.theta, 1.0), repeats=work.repeats)
            over_theta.append((settings.epsilon, _bands(curve, tick)))
    return Audit(
        work=work,
        findings=findings,
        costs=tuple(ledger_of(work.people, each).total if work.private else math.inf for each in work.settings),
        over_epsilon=over_epsilon,
        over_theta=tuple(over_theta),
        deletions=deletions,
    )


_Tick = Callable[..., None]


def _attacked(work: Work, settings: MembershipSettings, tick: _Tick) -> MembershipFindings:
    """Train one target and attack it."""
    if work.dataset is None:
        target = attacked(work.people, settings, target_of(work.people, settings))
    else:
        target = attacked_audit(work.people, settings, config=work.audit, dataset=work.dataset)
    there = tuple(name for name in ATTACKS if name not in work.attacks)
    made = {guess.name: judge(target, guess) for guess in guesses(target, there=there, report=tick)}
    return replace(findings_of(target), attacks=made)


def _over_epsilon(work: Work, tick: _Tick) -> tuple[CurveBand, ...]:
    """Return the network attack over repeats; FairPick's curve has it for targets without a privacy budget."""
    first = work.settings[0]
    if work.private:
        epsilons = [settings.epsilon for settings in work.settings]
        return _bands(epsilon_curve(work.people, first, epsilons=epsilons, repeats=work.repeats), tick)
    whole = fairpick_curve(work.people, first, thetas=(1.0,), repeats=work.repeats)
    return _bands((replace(point, at=math.inf) for point in whole if point.variant == "fairpick"), tick)


def _bands(points: Iterable[CurvePoint], tick: _Tick) -> tuple[CurveBand, ...]:
    """Return the means of a curve's points, counted as they come."""
    found = []
    for point in points:
        found.append(point)
        tick()
    return summarise_curve(found)


def told(audit: Audit) -> Iterator[str]:
    """Yield the lines, tables included."""
    yield from _head(audit)
    for found in audit.findings:
        finding, budget = headline(Reading(found, found.settings)), f"epsilon {found.settings.epsilon:g}: "
        yield ""
        yield f"{budget * audit.work.private}{finding.point}"
        yield f"  {finding.evidence}"
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
    depth = "" if settings.target in ("logistic", _AUDITED) else f", depth {settings.max_depth}"
    accounting = f", accounting {settings.accounting}" if audit.work.private else ""
    groups = ", ".join(reversed(first.group_names)) if len(first.group_names) == 2 else ", ".join(first.group_names)
    yield f"{audit.work.people.n:,} people of {first.title}; {first.attribute}: {groups}"
    yield f"Target: {TARGET_TITLES[settings.target]}{depth}{accounting}, seed {settings.seed}"
    yield f"{first.n_members:,} people trained on; {first.n_judged:,} judged, half of them trained on: chance is 50%"
    yield f"Intervals: {100 * settings.level:g}%, over the judged people, for one split and one training"


def _target_table(audit: Audit) -> str:
    rows = []
    for found, cost in zip(audit.findings, audit.costs, strict=True):
        made, bound = found.target, "no bound" if math.isinf(cost) else f"{cost:g}"
        cells = [estimate_words(cell) for cell in (made.accuracy_train, made.accuracy_test, made.majority_test)]
        rows.append([audit.budget(found.settings.epsilon), bound, *cells])
    return aligned(["epsilon", "true cost", "accuracy in %: train", "test", "majority guess"], rows)


def _attack_table(audit: Audit) -> str:
    rows = [
        [
            budget,
            ATTACK_TITLES[attack.name],
            estimate_words(attack.roc.auc, percent=False),
            _words(attack.precision),
            _words(attack.recall),
            NO_BETTER if attack.muted else "",
        ]
        for budget, _, attack in audit.each
    ]
    return aligned(["epsilon", "attack", "AUC", "precision in %", "recall in %", ""], rows, left=2)


def _words(estimate: Estimate | None, *, signed: bool = False) -> str:
    return estimate_words(estimate, signed=signed, nothing=_NOTHING)


def _by_group(attack: AttackFindings) -> Iterator[tuple[GapResult, DisparityResult | None]]:
    """Yield each group's gap at a low FPR, and its other gaps where they were measured."""
    results = () if attack.disparities is None else attack.disparities.results
    for low in attack.low_fpr:
        yield low, next((result for result in results if result.group == low.group), None)


def _gap_table(audit: Audit) -> Iterator[str]:
    """Yield the gaps, and under them what the marks mean and why something was not measured."""
    rows, reasons = [], dict[str, None]()
    for budget, _, attack in audit.each:
        left_out = {} if attack.disparities is None else dict(attack.disparities.not_measured)
        for low, own in _by_group(attack):
            cells = [_NOTHING] * len(_GAPS)
            if own is not None:
                cells = [_words(getattr(own, name), signed=True) + _star(own.tests[name]) for name in _GAPS]
                cells[0] += " muted" if attack.muted else ""
            else:
                alone = f"{ATTACK_TITLES[attack.name]} gives scores and no verdict: no VD."
                reasons[left_out.get(low.group, alone)] = None
            if low.reason:
                reasons[f"TPR gap at 1% FPR, {low.group}: {low.reason}"] = None
            last = _words(low.estimate, signed=True) + _star(low.test)
            rows.append([budget, ATTACK_TITLES[attack.name], low.group, *cells, last])
    yield "Gaps in points, group minus others"
    yield aligned(["epsilon", "attack", "group", *_GAPS.values(), "TPR gap at 1% FPR"], rows, left=3)
    yield "VD: gap in TPR. FPR gap: the same among non-members. Advantage gap: VD - FPR gap, net of false positives."
    yield "*: no gap at all would show such a gap in less than 5% of cases (permutation test, Holm over groups);"
    yield "   at 1% FPR the interval leaves out 0 as well."
    if any("muted" in cell for row in rows for cell in row):
        yield f"muted: the attack is {NO_BETTER} (its AUC interval is not above 0.5): says nothing of a leak."
    yield from reasons


def _star(test: GapTest | None) -> str:
    return "*" if test is not None and test.significant else ""


def _repeats_table(audit: Audit) -> Iterator[str]:
    repeats = audit.work.repeats
    yield f"The paper's network over {repeats} repeats, each with its own split and training; {_sides(audit)}"
    yield "Means with 95% intervals over repeats, which speak of other seeds on this table"
    rows = [
        [
            audit.budget(band.at),
            *_quality(band),
            _words(band.values["precision"]),
            _words(band.values["recall"]),
            *_gaps_of(band),
        ]
        for band in sorted(audit.over_epsilon, key=lambda band: -band.at)
    ]
    yield aligned(["epsilon", "test in %", "AUC", "precision in %", "recall in %", *_GAPS.values()], rows)


def _sides(audit: Audit) -> str:
    """Return which groups the gaps of a curve are between."""
    names, code = audit.work.people.group_names, audit.findings[0].settings.group
    return f"{names[code]} minus {names[0] if len(names) == 2 else 'all others'}"


def _quality(band: CurveBand) -> list[str]:
    return [_words(band.values["accuracy_test"]), estimate_words(band.values["auc"], percent=False)]


def _gaps_of(band: CurveBand) -> list[str]:
    return [_words(band.values[name], signed=True) for name in _GAPS]


def _fairpick_table(audit: Audit) -> Iterator[str]:
    """Yield what FairPick deletes and changes, beside as many rows deleted at random."""
    assert audit.deletions is not None and audit.deletions.fairpick is not None
    made, before, repeats = audit.deletions.fairpick, audit.findings[0].n_members, audit.work.repeats
    by_group = ", ".join(f"{n:,} {name}" for name, n in made.deleted.items())
    yield (
        f"FairPick, theta {made.theta:g}: deletes {sum(made.deleted.values()):,} of the {before:,} people trained on "
        f"above, in the split of seed {audit.deletions.settings.seed} ({by_group})"
    )
    yield (
        f"Largest difference between the groups' shares of a cluster: {made.largest_before:.4f} before, "
        f"{made.largest_after:.4f} after"
    )
    yield (
        f"The paper's network in {repeats} repeat{'s' * (repeats > 1)} with splits of their own, of which 'deleted' is "
        f"the mean; {_sides(audit)}"
    )
    cells = []
    for epsilon, bands in audit.over_theta:
        by_name = {(band.variant, band.at == 1.0): band for band in bands}
        for title, key in (
            ("everybody", ("fairpick", True)),
            ("FairPick", ("fairpick", False)),
            ("as many deleted at random", ("random", False)),
        ):
            band = by_name[key]
            deleted = f"{band.values['deleted'].value:,.0f}"
            cells.append([audit.budget(epsilon), title, deleted, *_quality(band), *_gaps_of(band)])
    yield aligned(["epsilon", "training data", "deleted", "test in %", "AUC", *_GAPS.values()], cells, left=2)
    if audit.work.private and any(math.isfinite(epsilon) for epsilon, _ in audit.over_theta):
        yield DELETION_REMINDER


def records(audit: Audit, dataset: str) -> list[dict[str, Any]]:
    """Return the rows of the CSV file: privacy budget, attack and group, without repeats."""
    rows, costs = [], {found.settings.epsilon: cost for found, cost in zip(audit.findings, audit.costs, strict=True)}
    for _, found, attack in audit.each:
        settings = found.settings
        shared: dict[str, Any] = {
            "dataset": dataset,
            "attribute": found.attribute,
            "target": settings.target,
            "epsilon": settings.epsilon,
            "true cost": costs[settings.epsilon],
            "depth": settings.max_depth,
            "seed": settings.seed,
        }
        for name in ("accuracy_train", "accuracy_test", "majority_test"):
            shared |= interval_cells(name.replace("_", " "), getattr(found.target, name))
        shared |= {"attack": attack.name, **interval_cells("auc", attack.roc.auc), "muted": attack.muted}
        shared |= {**interval_cells("precision", attack.precision), **interval_cells("recall", attack.recall)}
        for low, own in _by_group(attack):
            row = shared | {"group": low.group, "others": low.others}
            for name in _GAPS:
                text = name.replace("_", " ")
                row |= interval_cells(text, None if own is None else getattr(own, name))
                row[f"{text} p"] = None if own is None else own.tests[name].p_adjusted
            row |= interval_cells("tpr gap at 1% fpr", low.estimate)
            row["tpr gap at 1% fpr p"] = None if low.test is None else low.test.p_adjusted
            rows.append(row | {"reason": low.reason})
    return rows


def everything(audit: Audit, dataset: str) -> dict[str, Any]:
    """Return the content of the JSON file; the text "inf" stands for an infinite privacy budget."""
    first = audit.findings[0]
    return {
        "dataset": dataset,
        "title": first.title,
        "attribute": first.attribute,
        "groups": list(first.group_names),
        "people": audit.work.people.n,
        "trained on": first.n_members,
        "judged": first.n_judged,
        "notes": list(audit.work.people.notes),
        "targets": [
            {
                "settings": plain(found.settings) | {"epsilon": _number(found.settings.epsilon)},
                "true cost": _number(cost),
                "target": plain(found.target),
                "attacks": {name: _attack(attack) for name, attack in found.attacks.items()},
            }
            for found, cost in zip(audit.findings, audit.costs, strict=True)
        ],
        "repeats": audit.work.repeats,
        "over epsilon": [_band(band, "epsilon") for band in audit.over_epsilon],
        "fairpick": None if audit.deletions is None else plain(audit.deletions.fairpick),
        "over theta": [
            {"epsilon": _number(epsilon), "bands": [_band(band, "theta") for band in bands]}
            for epsilon, bands in audit.over_theta
        ],
    }


def _attack(attack: AttackFindings) -> dict[str, Any]:
    """Return an attack's findings; of its curve the area and a few points."""
    found: dict[str, Any] = plain(attack)
    curve = attack.roc
    points = {f"{rate:g}": plain(curve.tpr_at(rate)) | {"reason": curve.resolution_reason(rate)} for rate in _RATES}
    found["roc"] = {"auc": plain(curve.auc), "TPR at FPR": points}
    found["roc_by_group"] = [plain(own.auc) for own in attack.roc_by_group]
    return found


def _band(band: CurveBand, at: str) -> dict[str, Any]:
    return {at: _number(band.at), "variant": band.variant, "values": plain(band.values)}


def _number(value: float) -> float | str:
    return "inf" if math.isinf(value) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(Settings):
    """What is asked besides one attack's own settings."""

    epsilons: Annotated[
        tuple[float, ...] | None,
        Param(
            "Privacy budgets",
            "Privacy budgets of dp_id3; inf,10,1,0.1 when left out.",
            least=LEAST_EPSILON,
            most=_MOST,
            infinite=True,
            some=True,
            flag="--epsilon",
        ),
    ] = None
    attacks: Annotated[
        tuple[str, ...], Param("Attacks", "Which attacks, or all: {options}.", options=ATTACKS, some=True)
    ] = tuple(ATTACKS)
    repeats: Annotated[int, Param("Repeats", "Of the network attack and of FairPick.", least=1)] = 1

    @property
    def budgets(self) -> tuple[float, ...]:
        """The privacy budgets, each once."""
        return _EPSILONS if self.epsilons is None else tuple(dict.fromkeys(self.epsilons))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, RunSettings)
    own = (name for name in params(MembershipSettings) if name != "epsilon")
    add_settings(parser, MembershipSettings, *own, defaults={"max_depth": None})
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and print."""
    work = _work(arguments)
    if work.settings[0].accounting == "naive":
        console.note("Warning: with the naive accounting every count gets the whole epsilon; the tree is not private.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # said above, once
        audit = measured(work, console)
    console.results(told(audit))
    write_csv(records(audit, arguments.dataset), arguments, console)
    write_json(everything(audit, arguments.dataset), arguments, console)


def _work(arguments: argparse.Namespace) -> Work:
    """Check the arguments, then read the data."""
    asked, settings = from_arguments(arguments, RunSettings), from_arguments(arguments, MembershipSettings)
    _check(asked, settings)
    table, roles = table_and_roles(arguments)
    people = member_people(table, roles)
    if settings.group >= len(people.group_names):
        raise InputError(f"--group must be below {len(people.group_names)}, how many there are, got {settings.group}.")
    depth = settings.max_depth if hasattr(arguments, "max_depth") else default_depth(people)
    budgets = asked.budgets if settings.target == "dp_id3" else (math.inf,)  # others have none
    audit = AuditConfig(dataset=arguments.dataset, seed=settings.seed, roles=roles)
    return Work(
        people=people,
        settings=tuple(replace(settings, max_depth=depth, theta=1.0, epsilon=epsilon) for epsilon in budgets),
        attacks=tuple(name for name in ATTACKS if name in asked.attacks),
        audit=audit,
        dataset=build_dataset(table, roles) if settings.target == _AUDITED else None,
        theta=settings.theta,
        repeats=asked.repeats,
    )


def _check(asked: RunSettings, settings: MembershipSettings) -> None:
    """Refuse what does not go together."""
    target, shadows = settings.target, settings.shadows
    if shadows < FEWEST_SHADOWS:
        raise InputError(f"--shadows must be at least {FEWEST_SHADOWS}, got {shadows}.")
    if shadows % 2:
        raise InputError(f"--shadows must be even, half of them with each person, got {shadows}.")
    for flag, there in (("epsilon", asked.epsilons is not None), ("accounting", settings.accounting != "savings")):
        if there and target != "dp_id3":
            raise InputError(f"--{flag} is for the target dp_id3, got it with --target {target}.")
    for flag, there in (("theta", settings.theta < 1.0), ("repeats", asked.repeats > 1)):
        if there and target == _AUDITED:
            raise InputError(
                f"--{flag} is not for the target audited, whose members are the audit's training records, got it "
                "with --target audited."
            )
