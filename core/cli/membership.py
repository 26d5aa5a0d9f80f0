"""``fairleak attack membership``: membership inference at several privacy budgets, and its gaps between groups."""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated

from ..base.errors import InputError, PrivacyLeakWarning
from ..base.param import Param
from ..base.serialize import plain
from ..base.settings import Settings, from_arguments, params
from ..base.settings import add_arguments as add_settings
from ..base.validation import LEAST_EPSILON
from ..datasets import Roles, Table, build_dataset
from ..stats.quantities import Row
from ..studies.config import AuditConfig
from ..studies.membership import (
    ATTACKS,
    TARGET_TITLES,
    CurvePoint,
    MemberPeople,
    MembershipAudit,
    MembershipFindings,
    MembershipSettings,
    TrainedTarget,
    attack_steps,
    attacked_as,
    default_depth,
    epsilon_curve,
    fairpick_curve,
    iter_audits,
    member_people,
    summarise_curve,
)
from ..studies.membership.findings import (
    DETAILS,
    MEANING,
    MembershipSummary,
    curve_rows,
    deleted_rows,
    deletions,
    epsilon_heading,
    findings,
    picking_heading,
    tables,
)
from ..studies.membership.settings import check_shadows
from ..studies.study import Finding
from .arguments import add_dataset_arguments, add_file_arguments, table_and_roles
from .console import CommandOutcome, Console, present

HELP = "Measure membership inference and its gaps between groups, at several privacy budgets."

_EPSILONS = (math.inf, 10.0, 1.0, 0.1)
_MOST = 100.0
"""Largest finite privacy budget: beyond it the tree grows without end, and noise no longer matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings(Settings):
    """Settings of the command besides those of one attack."""

    epsilons: Annotated[
        tuple[float, ...] | None,
        Param(
            "Privacy budgets",
            "Privacy budgets of the target dp_id3 (default: inf,10,1,0.1).",
            least=LEAST_EPSILON,
            most=_MOST,
            infinite=True,
            some=True,
            flag="--train-epsilons",
        ),
    ] = None
    attacks: Annotated[
        tuple[str, ...], Param("Attacks", "Attacks, or all of them: {options}.", options=ATTACKS, some=True)
    ] = tuple(ATTACKS)
    repeats: Annotated[int, Param("Repeats", "Repeats of the network attack and of FairPick.", least=1)] = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_dataset_arguments(parser)
    add_settings(parser, RunSettings)
    names = (name for name in params(MembershipSettings) if name != "epsilon")
    add_settings(parser, MembershipSettings, *names, defaults={"max_depth": None})
    add_file_arguments(parser)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Check the arguments, then read the data; measure and print."""
    run_settings = from_arguments(arguments, RunSettings)
    settings = from_arguments(arguments, MembershipSettings, epsilon=math.inf)
    _check(run_settings, settings, depth=hasattr(arguments, "depth"))
    table, roles = table_and_roles(arguments)
    people = member_people(table, roles)
    if settings.group >= people.n_groups:
        raise InputError(f"--group must be below {people.n_groups}, how many there are, got {settings.group}.")
    if settings.accounting == "naive":
        console.alert("Warning: with the naive accounting every count gets the whole epsilon; the tree is not private.")
    depth = settings.max_depth if hasattr(arguments, "depth") else default_depth(people)
    membership_run = _Run(table, roles, people, run_settings, replace(settings, max_depth=depth), console)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)  # said above, once
        present(membership_run.outcome(arguments.dataset), arguments, console)


def _check(run_settings: RunSettings, settings: MembershipSettings, *, depth: bool) -> None:
    """Refuse what does not go together."""
    target = settings.target
    check_shadows(settings.shadows, "--shadows")
    for flag, is_set in (
        ("train-epsilons", run_settings.epsilons is not None),
        ("accounting", settings.accounting != "savings"),
    ):
        if is_set and target != "dp_id3":
            raise InputError(f"--{flag} is for the target dp_id3, got it with --target {target}.")
    if depth and target in ("logistic", "audited"):
        raise InputError(f"--depth is for trees that are trained here, got it with --target {target}.")
    for flag, is_set in (("theta", settings.theta < 1.0), ("repeats", run_settings.repeats > 1)):
        if is_set and target == "audited":
            raise InputError(
                f"--{flag} is not for the target audited, whose members are the audit's training records, got it "
                "with --target audited."
            )


class _Run:
    """The attacks at each privacy budget, then the curves over repeats, with progress."""

    def __init__(
        self,
        table: Table,
        roles: Roles,
        people: MemberPeople,
        run_settings: RunSettings,
        settings: MembershipSettings,
        console: Console,
    ) -> None:
        self.people, self.run_settings, self.settings = people, run_settings, settings
        self.dataset, self.config = build_dataset(table, roles), AuditConfig(seed=settings.seed, roles=roles)
        private = settings.target == "dp_id3"
        budgets = (
            tuple(dict.fromkeys(run_settings.epsilons or _EPSILONS)) if private else (math.inf,)
        )  # others have none
        self.models = [replace(settings, theta=1.0, epsilon=epsilon) for epsilon in budgets]
        self.picks, self.repeats = settings.theta < 1.0, run_settings.repeats
        self.over_epsilon = private and run_settings.repeats > 1
        self.over_theta = self.picks or (run_settings.repeats > 1 and not private)
        self.tick = self._ticks(console)

    def _ticks(self, console: Console) -> Callable[..., None]:
        """Return what counts steps: of the attacks on each model, and points of the curves."""
        chosen = [name for name in ATTACKS if name in self.run_settings.attacks]
        points = self.over_epsilon + self.over_theta * (3 if self.picks else 1)
        total = len(self.models) * (sum(attack_steps(self.settings, chosen).values()) + self.repeats * points)
        report, numbers = console.counting("steps", every=16), count(1)
        return lambda *_: report(next(numbers), total)

    def _counted(self, points: Iterator[CurvePoint]) -> list[CurvePoint]:
        """Return a curve's points; at θ = 1, where nobody is deleted, there is no control."""
        counted_points = []
        for point in points:
            if point.at < 1.0 or point.variant != "random":
                self.tick()
                counted_points.append(point)
        return counted_points

    def _target(self, settings: MembershipSettings) -> TrainedTarget:
        return attacked_as(self.people, settings, config=self.config, dataset=self.dataset)

    def _attacked(self, settings: MembershipSettings) -> MembershipFindings:
        target = self._target(settings)
        left_out = [name for name in ATTACKS if name not in self.run_settings.attacks]
        *_, last = iter_audits(
            MembershipAudit(findings=target.findings, target=target), left_out=left_out, report=self.tick
        )
        return last.findings

    def outcome(self, dataset: str) -> CommandOutcome:
        """Measure."""
        models = [self._attacked(settings) for settings in self.models]
        all_findings = [finding for model in models for finding in findings(MembershipSummary(model, model.settings))]
        all_tables = dict(tables(models))
        for title, curve_findings, rows in self._curves(MembershipSummary(models[0], self.settings).names):
            all_findings += curve_findings
            all_tables[title] = rows
        return CommandOutcome(
            about=list(_about(models[0], self.people)),
            findings=all_findings,
            tables=all_tables,
            details=DETAILS,
            notes=MEANING,
            settings={"dataset": dataset, "attribute": models[0].attribute, "settings": plain(self.settings)}
            | {"run": plain(self.run_settings), "notes": list(self.people.notes)},
        )

    def _curves(self, names: tuple[str, str]) -> Iterator[tuple[str, list[Finding], Sequence[Row]]]:
        """Yield title, findings and rows: the private tree over ε, each model over θ, and what FairPick deletes."""
        sides = f"gaps {names[0]} − {names[1]}"
        over = f"the published attack, {sides}, repeats with own split, noise and training: {self.repeats}"
        if self.over_epsilon:
            budgets = [settings.epsilon for settings in self.models]
            points = epsilon_curve(self.people, self.models[0], epsilons=budgets, repeats=self.repeats)
            bands = summarise_curve(self._counted(points), level=self.settings.level)
            yield f"Over ε: {over}", [Finding(point=epsilon_heading(bands, names))], curve_rows(bands, "ε")
        level, thetas = self.settings.level, (self.settings.theta, 1.0) if self.picks else (1.0,)
        for model in self.models if self.over_theta else ():
            curve_points = self._counted(fairpick_curve(self.people, model, thetas=thetas, repeats=self.repeats))
            at = f", ε = {model.epsilon:g}" if model.target == "dp_id3" else ""
            picking_findings = [Finding(point=picking_heading(curve_points, "vd", level=level))] if self.picks else []
            yield f"Over θ{at}: {over}", picking_findings, curve_rows(summarise_curve(curve_points, level=level), "θ")
        if self.picks:
            fairpick_findings = self._target(replace(self.models[0], theta=self.settings.theta)).findings
            assert fairpick_findings.fairpick is not None
            yield "Rows deleted by FairPick", [deletions(fairpick_findings)], deleted_rows(fairpick_findings.fairpick)


def _about(first: MembershipFindings, people: MemberPeople) -> Iterator[str]:
    settings = first.settings
    depth = "" if settings.target in ("logistic", "audited") else f", depth {settings.max_depth}"
    accounting = f", accounting {settings.accounting}" if settings.target == "dp_id3" else ""
    groups = ", ".join(reversed(first.group_names) if len(first.group_names) == 2 else first.group_names)
    yield f"{people.n:,} people of {first.title}; {first.attribute}: {groups}"
    yield f"Target: {TARGET_TITLES[settings.target]}{depth}{accounting}, seed {settings.seed}"
    yield f"{first.n_members:,} people trained on; {first.n_targets:,} judged, half of them trained on: chance is 50%"
    yield f"Intervals: {100 * settings.level:g}%, over the judged people, for one split and one training"
