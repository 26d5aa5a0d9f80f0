"""``python -m core membership``: membership inference at several privacy budgets, and what it finds about groups."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Any

from core.cli.arguments import add_dataset_arguments, add_file_arguments, table_and_roles
from core.cli.console import Console, picked
from core.cli.runner import Row, sentences, show
from core.config import AuditConfig
from core.datasets import build_dataset
from core.errors import InputError, PrivacyLeakWarning
from core.estimates import not_measured
from core.membership import (
    ATTACKS,
    DELETION_REMINDER,
    FEWEST_SHADOWS,
    REGISTRY,
    TARGET_TITLES,
    Attacked,
    AttackFindings,
    CurveBand,
    CurvePoint,
    DisparityResult,
    MemberPeople,
    MembershipFindings,
    MembershipSettings,
    attack_steps,
    attacked,
    attacked_audit,
    default_depth,
    epsilon_curve,
    fairpick_curve,
    guesses,
    judge,
    ledger_of,
    member_people,
    summarise_curve,
    target_of,
)
from core.membership.disparity import GapResult
from core.membership.fairpick import FairPickFindings
from core.membership.findings import NO_BETTER, Reading, headline
from core.param import Param
from core.serialize import plain
from core.settings import Settings, from_arguments, params
from core.settings import add_arguments as add_settings
from core.validation import LEAST_EPSILON

NAME = "membership"
HELP = "print how well attackers tell who was in the training data, and which group more, at several privacy budgets"

_AUDITED = "audited"
_EPSILONS = (math.inf, 10.0, 1.0, 0.1)
_MOST = 100.0
"""Largest finite privacy budget: beyond it the tree grows without end, and noise no longer matters."""

_GAPS = ", ".join(f"+{gap}, {gap} p" for gap in ("vd", "fpr gap", "advantage gap", "tpr gap at 1% fpr")) + ", muted"
_OVER_REPEATS = "accuracy_test, =auc, precision, recall, +vd, +fpr_gap, +advantage_gap"
"""Columns of tables."""
_WAYS = {
    ("fairpick", True): "everybody",
    ("fairpick", False): "FairPick",
    ("random", False): "as many deleted at random",
}
"""Variant of a curve and whether nobody is deleted -> what the target is trained on."""
_RATES = (0.001, 0.01, 0.1)
"""FPRs at which the JSON file has the TPR."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was found at each privacy budget.

    Over epsilon are several repeats; over theta, at each budget, what FairPick and its control change; the deletions
    are those of FairPick at the first. A true cost is inf without a bound.
    """

    people: MemberPeople
    repeats: int
    findings: Sequence[MembershipFindings]
    over_epsilon: Sequence[CurveBand]
    over_theta: Mapping[float, Sequence[CurveBand]]
    deletions: FairPickFindings | None

    @property
    def first(self) -> MembershipFindings:
        """The findings at the first budget."""
        return self.findings[0]

    @property
    def private(self) -> bool:
        """Whether the model has a privacy budget."""
        return self.first.settings.target == "dp_id3"

    def cost(self, found: MembershipFindings) -> float:
        """Return what the tree costs in truth."""
        return ledger_of(self.people, found.settings).total if self.private else math.inf

    @property
    def sides(self) -> str:
        """Which groups the gaps of a curve are between."""
        names = self.people.group_names
        return f"{names[self.first.settings.group]} minus {names[0] if len(names) == 2 else 'all others'}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, RunSettings)
    own = (name for name in params(MembershipSettings) if name != "epsilon")
    add_settings(parser, MembershipSettings, *own, defaults={"max_depth": None})
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Check the arguments, then read the data; measure and print."""
    asked, settings = from_arguments(arguments, RunSettings), from_arguments(arguments, MembershipSettings)
    _check(asked, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # said above, once
        audit = _measured(arguments, asked, settings, console)
    rows = list(_rows(audit, arguments.dataset))
    show(_sections(audit, rows), arguments, console, rows=rows, content=_everything(audit, arguments.dataset))


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


def _measured(
    arguments: argparse.Namespace, asked: RunSettings, settings: MembershipSettings, console: Console
) -> Audit:
    """Do the work, with progress: the attacks at each budget, then the curves over repeats."""
    data, roles = table_and_roles(arguments)
    people = member_people(data, roles)
    if settings.group >= people.n_groups:
        raise InputError(f"--group must be below {people.n_groups}, how many there are, got {settings.group}.")
    if settings.accounting == "naive":
        console.note("Warning: with the naive accounting every count gets the whole epsilon; the tree is not private.")
    private, theta, repeats = settings.target == "dp_id3", settings.theta, asked.repeats
    depth = settings.max_depth if hasattr(arguments, "max_depth") else default_depth(people)
    budgets = tuple(dict.fromkeys(asked.epsilons or _EPSILONS)) if private else (math.inf,)  # others have none
    each = [replace(settings, max_depth=depth, theta=1.0, epsilon=epsilon) for epsilon in budgets]
    left_out = [name for name in ATTACKS if name not in asked.attacks]
    steps = sum(attack_steps(settings, [name for name in ATTACKS if name in asked.attacks]).values())
    # FairPick has four points a repeat: itself and its control, at the theta asked for and at 1.
    total = len(each) * (steps + repeats * ((repeats > 1) + 4 * (theta < 1.0)))
    report, numbers = console.counting("steps", every=16), count(1)

    def tick(*_: object) -> None:
        report(next(numbers), total)

    def target(own: MembershipSettings) -> Attacked:
        if own.target != _AUDITED:
            return attacked(people, own, target_of(people, own))
        config = AuditConfig(dataset=arguments.dataset, seed=own.seed, roles=roles)
        return attacked_audit(people, own, config=config, dataset=build_dataset(data, roles))

    def found(own: MembershipSettings) -> MembershipFindings:
        made = target(own)
        attacks = {guess.name: judge(made, guess) for guess in guesses(made, there=left_out, report=tick)}
        return replace(made.findings, attacks=attacks)

    def bands(points: Iterable[CurvePoint]) -> Sequence[CurveBand]:
        return summarise_curve(_counted(points, tick))

    findings = [found(own) for own in each]
    over_epsilon: Sequence[CurveBand] = ()
    if repeats > 1 and private:
        over_epsilon = bands(epsilon_curve(people, each[0], epsilons=budgets, repeats=repeats))
    elif repeats > 1:  # FairPick's curve has it for targets without a privacy budget
        whole = fairpick_curve(people, each[0], thetas=(1.0,), repeats=repeats)
        over_epsilon = bands(replace(point, at=math.inf) for point in whole if point.variant == "fairpick")
    picks = theta < 1.0
    return Audit(
        people=people,
        repeats=repeats,
        findings=findings,
        over_epsilon=over_epsilon,
        deletions=target(replace(each[0], theta=theta)).findings.fairpick if picks else None,
        over_theta={
            own.epsilon: bands(fairpick_curve(people, own, thetas=(theta, 1.0), repeats=repeats))
            for own in each
            if picks
        },
    )


def _counted(points: Iterable[CurvePoint], tick: Callable[[], None]) -> Iterator[CurvePoint]:
    for point in points:
        tick()
        yield point


def _sections(audit: Audit, rows: Sequence[Row]) -> Iterator[Iterable[str]]:
    """Yield the sections: what was attacked, what was found at each budget, the tables."""
    yield _head(audit)
    for found in audit.findings:
        yield sentences(headline(Reading(found, found.settings)))
    yield [picked(rows, "epsilon, true cost, accuracy train, accuracy test, majority test")]
    yield [picked(rows, "epsilon, attack, =auc, precision, recall, muted", left=2, attack=_title)]
    yield [
        "Gaps in points, group minus others",
        picked(rows, f"epsilon, attack, group, {_GAPS}", left=3, attack=_title),
        "VD: gap in TPR. FPR gap: the same among non-members. Advantage gap: VD - FPR gap, net of false positives.",
        "p: how often no gap at all would show such a gap (permutation test, Holm over groups).",
        "At 1% FPR a gap is significant only if the interval leaves out 0 as well.",
        f"muted: the attack is {NO_BETTER} (its AUC interval is not above 0.5): says nothing of a leak.",
        *_reasons(audit),
    ]
    if audit.over_epsilon:
        bands = sorted(audit.over_epsilon, key=lambda band: -band.at)
        yield [
            f"The paper's network over {audit.repeats} repeats, each with its own split and training; {audit.sides}",
            "Means with 95% intervals over repeats, which speak of other seeds on this table",
            picked([{"epsilon": band.at} | band.values for band in bands], f"epsilon, {_OVER_REPEATS}"),
        ]
    if audit.deletions is not None:
        yield _fairpick(audit, audit.deletions)


def _title(row: Row) -> str:
    return REGISTRY[row["attack"]].title


def _head(audit: Audit) -> Iterator[str]:
    first, settings = audit.first, audit.first.settings
    depth = "" if settings.target in ("logistic", _AUDITED) else f", depth {settings.max_depth}"
    accounting = f", accounting {settings.accounting}" if audit.private else ""
    groups = ", ".join(reversed(first.group_names) if len(first.group_names) == 2 else first.group_names)
    yield f"{audit.people.n:,} people of {first.title}; {first.attribute}: {groups}"
    yield f"Target: {TARGET_TITLES[settings.target]}{depth}{accounting}, seed {settings.seed}"
    yield f"{first.n_members:,} people trained on; {first.n_judged:,} judged, half of them trained on: chance is 50%"
    yield f"Intervals: {100 * settings.level:g}%, over the judged people, for one split and one training"


def _reasons(audit: Audit) -> Iterable[str]:
    """Return why something was not measured, each reason once."""
    reasons = dict[str, None]()
    for attack in (attack for found in audit.findings for attack in found.attacks.values()):
        if attack.disparities is None:
            reasons[f"{REGISTRY[attack.name].title} gives scores and no verdict: no VD."] = None
        else:
            reasons |= dict.fromkeys(reason for _, reason in attack.disparities.not_measured)
        reasons |= {f"TPR gap at 1% FPR, {low.group}: {low.reason}": None for low in attack.low_fpr if low.reason}
    return reasons


def _fairpick(audit: Audit, made: FairPickFindings) -> Iterator[str]:
    """Yield what FairPick deletes and changes, beside as many rows deleted at random."""
    first, repeats = audit.first, audit.repeats
    by_group = ", ".join(f"{n:,} {name}" for name, n in made.deleted.items())
    yield (
        f"FairPick, theta {made.theta:g}: deletes {sum(made.deleted.values()):,} of the {first.n_members:,} people "
        f"trained on above, in the split of seed {first.settings.seed} ({by_group})"
    )
    yield (
        f"Largest difference between the groups' shares of a cluster: {made.largest_before:.4f} before, "
        f"{made.largest_after:.4f} after"
    )
    yield (
        f"The paper's network in {repeats} repeat{'s' * (repeats > 1)} with splits of their own, of which 'deleted' is "
        f"the mean; {audit.sides}"
    )
    rows: list[Row] = []
    for epsilon, bands in audit.over_theta.items():
        by_way = {(band.variant, band.at == 1.0): band for band in bands}
        for way, title in _WAYS.items():
            values = by_way[way].values
            deleted = f"{values['deleted'].value:,.0f}"
            rows.append({**values, "epsilon": epsilon, "training data": title, "deleted": deleted})
    yield picked(rows, f"epsilon, training data, deleted, {_OVER_REPEATS}", left=2)
    if audit.private and any(math.isfinite(epsilon) for epsilon in audit.over_theta):
        yield DELETION_REMINDER


def _rows(audit: Audit, dataset: str) -> Iterator[Row]:
    """Yield the rows of tables and CSV file: privacy budget, attack and group, without repeats."""
    for found in audit.findings:
        settings = found.settings
        shared: Row = {
            "dataset": dataset,
            "attribute": found.attribute,
            "target": settings.target,
            "epsilon": settings.epsilon,
            "true cost": audit.cost(found),
            "depth": settings.max_depth,
            "seed": settings.seed,
            "accuracy train": found.target.accuracy_train,
            "accuracy test": found.target.accuracy_test,
            "majority test": found.target.majority_test,
        }
        for attack in found.attacks.values():
            own: Row = {
                "attack": attack.name,
                "auc": attack.roc.auc,
                "muted": attack.muted,
                "precision": attack.precision or not_measured(),
                "recall": attack.recall or not_measured(),
            }
            measured = () if attack.disparities is None else attack.disparities.results
            results = {result.group: result for result in measured}
            for low in attack.low_fpr:
                yield {**shared, **own, **_gaps(results.get(low.group), low)}


def _gaps(own: DisparityResult | None, low: GapResult) -> Row:
    """Return a group's gaps, where they were measured, each with its p-value."""
    row: dict[str, Any] = {"group": low.group, "others": low.others}
    for name in ("vd", "fpr_gap", "advantage_gap"):
        title = name.replace("_", " ")
        row[title] = not_measured() if own is None else getattr(own, name)
        row[f"{title} p"] = None if own is None else own.tests[name].p_adjusted
    row["tpr gap at 1% fpr"] = low.estimate
    row["tpr gap at 1% fpr p"] = None if low.test is None else low.test.p_adjusted
    return row | {"reason": low.reason}


def _everything(audit: Audit, dataset: str) -> dict[str, Any]:
    """Return the content of the JSON file; the text "inf" stands for an infinite privacy budget."""
    first = audit.first
    return {
        "dataset": dataset,
        "title": first.title,
        "attribute": first.attribute,
        "groups": list(first.group_names),
        "people": audit.people.n,
        "trained on": first.n_members,
        "judged": first.n_judged,
        "notes": list(audit.people.notes),
        "targets": [
            {
                "settings": plain(found.settings) | {"epsilon": _number(found.settings.epsilon)},
                "true cost": _number(audit.cost(found)),
                "target": plain(found.target),
                "attacks": {name: _attack(attack) for name, attack in found.attacks.items()},
            }
            for found in audit.findings
        ],
        "repeats": audit.repeats,
        "over epsilon": _bands(audit.over_epsilon, "epsilon"),
        "fairpick": plain(audit.deletions),
        "over theta": [
            {"epsilon": _number(epsilon), "bands": _bands(bands, "theta")}
            for epsilon, bands in audit.over_theta.items()
        ],
    }


def _attack(attack: AttackFindings) -> dict[str, Any]:
    """Return an attack's findings; of its curve the area and a few points."""
    curve, found = attack.roc, plain(attack)
    points = {f"{rate:g}": plain(curve.tpr_at(rate)) | {"reason": curve.resolution_reason(rate)} for rate in _RATES}
    found["roc"] = {"auc": plain(curve.auc), "TPR at FPR": points}
    found["roc_by_group"] = [plain(own.auc) for own in attack.roc_by_group]
    return dict(found)


def _bands(bands: Iterable[CurveBand], at: str) -> list[dict[str, Any]]:
    return [{at: _number(band.at), "variant": band.variant, "values": plain(band.values)} for band in bands]


def _number(value: float) -> float | str:
    return "inf" if math.isinf(value) else value
