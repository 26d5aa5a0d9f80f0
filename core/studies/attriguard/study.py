"""The study of AttriGuard, on an audited table or on ratings, at the noise budget that is planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...base.validation import child_generator
from ...datasets.ratings import Ratings
from ...stats.estimates import share, strongest
from ..study import (
    SHARE,
    Check,
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Row,
    Study,
    draw_people,
    subject_of,
)
from ..subject import Subject
from .attackers import ATTACKER_TITLES
from .defense import (
    ProtectedRecords,
    RatingsDefense,
    TableDefense,
    defense_of,
    google_play,
    synthetic,
)
from .findings import findings
from .result import AttriGuardSettings, Exposure

if TYPE_CHECKING:
    from ...charts.drawing import Drawing

_SETS = (100, 900, 500)
"""Training, attack and test records."""


def _people(seed: int, leaks: bool) -> tuple[Subject, AttriGuardSettings]:
    rng = child_generator(seed, f"AttriGuard on people, {leaks}")
    people = draw_people(sum(_SETS), rng)
    planted = rng.random(people.features.shape) < 0.4
    planted_features = np.where(planted, 2 * people.sensitive[:, np.newaxis], people.features)
    if leaks:
        features = planted_features
    else:
        features = rng.permutation(people.features)
    people = replace(people, features=features)
    answers = rng.integers(0, 2, sum(_SETS)).astype(np.uint8)
    return subject_of(people, answers, _SETS, seed=seed), AttriGuardSettings(budget=0.5)


class AttriGuardStudy(Study[AttriGuardSettings, Exposure]):
    """Attribute inference from records with AttriGuard's noise."""

    name = "attriguard"
    title = "AttriGuard"
    settings = AttriGuardSettings
    command_defaults: ClassVar[Mapping[str, Any]] = {"budget": 0.5}
    other_data: ClassVar[Mapping[str, Any]] = {"ratings": google_play, "demo_ratings": synthetic}
    declared = (
        Check(
            name="attriguard_exposure",
            title="{attribute} inferred despite AttriGuard",
            unit="percent",
            definition="Accuracy of the best attacker, adaptive ones among them, on records with AttriGuard's noise at "
            "the planned budget; never below the majority-class baseline (Jia and Gong 2018).",
            needs=("a guard",),
        ),
        Check(
            name="attriguard_cost",
            title="AttriGuard: columns changed",
            unit="columns",
            definition="Columns of a person's record that AttriGuard changes on average at the planned budget.",
            needs=("a guard",),
        ),
    )

    plants = (
        Plant(
            attack="Attribute inferred from records with AttriGuard's noise",
            explanation="Null: features that tell nothing of the group. Planted: features that tell it more than once.",
            make=_people,
            limits={"attriguard_exposure": 1.0 - SHARE},
        ),
    )

    def unavailable(self, subject: Subject | ProtectedRecords, settings: AttriGuardSettings) -> str:
        """Return why it is not run: it is not planned."""
        if settings.budget:
            return ""
        return "AttriGuard is not planned."

    def steps(self, subject: Subject | ProtectedRecords, settings: AttriGuardSettings) -> int:
        """Return the number of searches for noise and of attackers fitted."""
        kind = RatingsDefense if isinstance(subject.dataset, Ratings) else TableDefense
        return kind.steps(settings)

    def run(
        self,
        subject: Subject | ProtectedRecords,
        settings: AttriGuardSettings,
        report: ReportProgress | None = None,
    ) -> Iterator[Exposure]:
        """Yield the exposure of the protected records, attacker by attacker."""
        yield from defense_of(subject.dataset, subject.config, settings).expose(report)

    def findings(self, result: Exposure, settings: AttriGuardSettings) -> tuple[Finding, ...]:
        """Return who infers how much at the budget, what the noise costs, and how much it takes."""
        return findings(result, settings)

    def charts(self, result: Exposure, settings: AttriGuardSettings) -> Mapping[str, Drawing]:
        """Return every attacker's accuracy by noise budget, and how much noise each value takes."""
        from .charts import drawings

        return drawings(result, settings)

    def checks(self, result: Exposure, settings: AttriGuardSettings) -> Mapping[str, Measurement]:
        """Return the best attacker's accuracy, never below the majority-class baseline, and the columns changed."""
        budget = settings.budget
        points = {point.attacker: point for point in result.at(budget)}
        clean = {point.attacker: point.accuracy for point in result.undefended()}
        name, exposure = strongest(
            {key: point.reported for key, point in points.items()}, within=(0.0, 1.0)
        )
        _, control = strongest(clean, within=(0.0, 1.0))
        details = {ATTACKER_TITLES[key]: point.accuracy.value for key, point in points.items()}
        details |= {
            f"{ATTACKER_TITLES[key]}, without noise": estimate.value
            for key, estimate in clean.items()
        }
        spent = result.spent(budget)
        if (
            spent.high - spent.low < 1e-9
        ):  # everybody spends the budget: nothing is left to estimate
            spent = replace(spent, low=spent.value, high=spent.value)
        best = ATTACKER_TITLES[name]
        people = f"{result.truth.size:,} test people"
        return {
            "attriguard_exposure": Measurement(
                check="attriguard_exposure",
                estimate=exposure,
                control=control,
                control_name="the best attacker without noise",
                attacked=f"The {result.attribute} of {people} whose records change by at most {budget:g} columns each "
                f"on average, inferred by {best[0].lower()}{best[1:]}.",
                knows=f"The records as published, without their label, records and {result.attribute} of "
                f"{result.n_attacker_records:,} other people, and how the noise is made.",
                assumptions=(
                    "The interval is over people, and holds for the attackers tried together.",
                    "Adversarial attackers are trained at the planned budget.",
                ),
                details=details | {"majority-class baseline": result.majority.value},
            ),
            "attriguard_cost": Measurement(
                check="attriguard_cost",
                estimate=spent,
                attacked=f"The records of {people}, changed by AttriGuard.",
                knows="There is no attacker.",
                assumptions=(
                    "The interval is over people; what a person's noise costs is its mean over the noise.",
                ),
                details={"budget": budget, "columns": float(result.n_entries)},
            ),
        }

    def tables(
        self, result: Exposure, settings: AttriGuardSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return every attacker without noise and at the planned budget."""
        rows = tuple(
            {
                "attacker": ATTACKER_TITLES[point.attacker],
                "budget": point.budget,
                "accuracy": share(point.accuracy),
                "balanced accuracy": share(point.balanced),
            }
            for point in (*result.undefended(), *result.at(settings.budget))
        )
        return {self.title: rows}


STUDY = AttriGuardStudy()
