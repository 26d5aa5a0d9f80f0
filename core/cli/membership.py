"""``python -m core membership``: membership inference at several privacy budgets, and what it finds about groups."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from core.cli.console import Console, estimate_words, table
from core.config import AuditConfig
from core.datasets import build_dataset
from core.errors import InputError, PrivacyLeakWarning
from core.estimates import Estimate
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
    guesses,
    judge,
    ledger_of,
    member_people,
    summarise_curve,
    target_of,
)
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

_GAPS = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "advantage gap"}
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

    def budget(self, epsilon: float) -> str:
        """Write a privacy budget."""
        return f"{epsilon:g}" if self.private else "none"

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
    console.results(_lines(audit))
    write_csv(list(_records(audit, arguments.dataset)), arguments, console)
    write_json(_everything(audit, arguments.dataset), arguments, console)


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


def _lines(audit: Audit) -> Iterator[str]:
    """Yield the lines, tables included."""
    yield from _head(audit)
    for found in audit.findings:
        finding, budget = headline(Reading(found, found.settings)), f"epsilon {found.settings.epsilon:g}: "
        yield from ("", f"{budget * audit.private}{finding.point}", f"  {finding.evidence}")
    yield from ("", table([_target_row(audit, found) for found in audit.findings]))
    yield from ("", table([_attack_row(*one) for one in _each(audit)], left=2), "")
    yield from _gap_table(audit)
    if audit.over_epsilon:
        yield ""
        yield f"The paper's network over {audit.repeats} repeats, each with its own split and training; {audit.sides}"
        yield "Means with 95% intervals over repeats, which speak of other seeds on this table"
        bands = sorted(audit.over_epsilon, key=lambda band: -band.at)
        rates = {"precision": "precision in %", "recall": "recall in %"}
        yield table([{"epsilon": audit.budget(band.at)} | _band_cells(band, rates) for band in bands])
    if audit.deletions is not None:
        yield ""
        yield from _fairpick_table(audit, audit.deletions)


def _each(audit: Audit) -> Iterator[tuple[str, AttackFindings]]:
    """Yield budget as text and attack, one after the other."""
    for found in audit.findings:
        for attack in found.attacks.values():
            yield audit.budget(found.settings.epsilon), attack


def _head(audit: Audit) -> Iterator[str]:
    first, settings = audit.first, audit.first.settings
    depth = "" if settings.target in ("logistic", _AUDITED) else f", depth {settings.max_depth}"
    accounting = f", accounting {settings.accounting}" if audit.private else ""
    groups = ", ".join(reversed(first.group_names) if len(first.group_names) == 2 else first.group_names)
    yield f"{audit.people.n:,} people of {first.title}; {first.attribute}: {groups}"
    yield f"Target: {TARGET_TITLES[settings.target]}{depth}{accounting}, seed {settings.seed}"
    yield f"{first.n_members:,} people trained on; {first.n_judged:,} judged, half of them trained on: chance is 50%"
    yield f"Intervals: {100 * settings.level:g}%, over the judged people, for one split and one training"


def _target_row(audit: Audit, found: MembershipFindings) -> dict[str, str]:
    cost = audit.cost(found)
    return {
        "epsilon": audit.budget(found.settings.epsilon),
        "true cost": "no bound" if math.isinf(cost) else f"{cost:g}",
        "accuracy in %: train": estimate_words(found.target.accuracy_train),
        "test": estimate_words(found.target.accuracy_test),
        "majority guess": estimate_words(found.target.majority_test),
    }


def _attack_row(budget: str, attack: AttackFindings) -> dict[str, str]:
    return {
        "epsilon": budget,
        "attack": REGISTRY[attack.name].title,
        "AUC": estimate_words(attack.roc.auc, percent=False),
        "precision in %": _words(attack.precision),
        "recall in %": _words(attack.recall),
        "": NO_BETTER if attack.muted else "",
    }


def _words(estimate: Estimate | None, *, signed: bool = False, test: GapTest | None = None) -> str:
    """Write an estimate, with a star where its test is significant."""
    star = "*" if test is not None and test.significant else ""
    return estimate_words(estimate, signed=signed, nothing="n/a") + star


def _gap_table(audit: Audit) -> Iterator[str]:
    """Yield the gaps, and under them what the marks mean and why something was not measured."""
    rows, reasons = [], dict[str, None]()
    for budget, attack in _each(audit):
        title, measured = REGISTRY[attack.name].title, attack.disparities
        results = {} if measured is None else {result.group: result for result in measured.results}
        left_out = {} if measured is None else dict(measured.not_measured)
        for low in attack.low_fpr:
            cells = dict.fromkeys(_GAPS.values(), "n/a")
            if (own := results.get(low.group)) is not None:
                cells = {
                    told: _words(getattr(own, gap), signed=True, test=own.tests[gap]) for gap, told in _GAPS.items()
                }
                cells["VD"] += " muted" if attack.muted else ""
            else:
                reasons[left_out.get(low.group, f"{title} gives scores and no verdict: no VD.")] = None
            if low.reason:
                reasons[f"TPR gap at 1% FPR, {low.group}: {low.reason}"] = None
            last = {"TPR gap at 1% FPR": _words(low.estimate, signed=True, test=low.test)}
            rows.append({"epsilon": budget, "attack": title, "group": low.group} | cells | last)
    yield "Gaps in points, group minus others"
    yield table(rows, left=3)
    yield "VD: gap in TPR. FPR gap: the same among non-members. Advantage gap: VD - FPR gap, net of false positives."
    yield "*: no gap at all would show such a gap in less than 5% of cases (permutation test, Holm over groups);"
    yield "   at 1% FPR the interval leaves out 0 as well."
    if any("muted" in row["VD"] for row in rows):
        yield f"muted: the attack is {NO_BETTER} (its AUC interval is not above 0.5): says nothing of a leak."
    yield from reasons


def _band_cells(band: CurveBand, rates: Mapping[str, str]) -> dict[str, str]:
    """Return accuracy, AUC, these rates and the gaps over repeats."""
    return (
        {"test in %": _words(band.values["accuracy_test"])}
        | {"AUC": estimate_words(band.values["auc"], percent=False)}
        | {title: _words(band.values[name]) for name, title in rates.items()}
        | {title: _words(band.values[name], signed=True) for name, title in _GAPS.items()}
    )


def _fairpick_table(audit: Audit, made: FairPickFindings) -> Iterator[str]:
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
    ways = {
        ("fairpick", True): "everybody",
        ("fairpick", False): "FairPick",
        ("random", False): "as many deleted at random",
    }
    rows = []
    for epsilon, bands in audit.over_theta.items():
        by_way = {(band.variant, band.at == 1.0): band for band in bands}
        for way, title in ways.items():
            deleted = f"{by_way[way].values['deleted'].value:,.0f}"
            named = {"epsilon": audit.budget(epsilon), "training data": title, "deleted": deleted}
            rows.append(named | _band_cells(by_way[way], {}))
    yield table(rows, left=2)
    if audit.private and any(math.isfinite(epsilon) for epsilon in audit.over_theta):
        yield DELETION_REMINDER


def _records(audit: Audit, dataset: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of the CSV file: privacy budget, attack and group, without repeats."""
    for found in audit.findings:
        settings = found.settings
        shared: dict[str, Any] = {
            "dataset": dataset,
            "attribute": found.attribute,
            "target": settings.target,
            "epsilon": settings.epsilon,
            "true cost": audit.cost(found),
            "depth": settings.max_depth,
            "seed": settings.seed,
        }
        for name in ("accuracy_train", "accuracy_test", "majority_test"):
            shared |= interval_cells(name.replace("_", " "), getattr(found.target, name))
        for attack in found.attacks.values():
            own = shared | {"attack": attack.name, **interval_cells("auc", attack.roc.auc), "muted": attack.muted}
            own |= {**interval_cells("precision", attack.precision), **interval_cells("recall", attack.recall)}
            for cells in _group_records(attack):
                yield own | cells


def _group_records(attack: AttackFindings) -> Iterator[dict[str, Any]]:
    """Yield each group's gap at a low FPR, and its other gaps where they were measured."""
    measured = () if attack.disparities is None else attack.disparities.results
    results = {result.group: result for result in measured}
    for low in attack.low_fpr:
        row: dict[str, Any] = {"group": low.group, "others": low.others}
        own = results.get(low.group)
        for name in _GAPS:
            text = name.replace("_", " ")
            row |= interval_cells(text, None if own is None else getattr(own, name))
            row[f"{text} p"] = None if own is None else own.tests[name].p_adjusted
        row |= interval_cells("tpr gap at 1% fpr", low.estimate)
        row["tpr gap at 1% fpr p"] = None if low.test is None else low.test.p_adjusted
        yield row | {"reason": low.reason}


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
