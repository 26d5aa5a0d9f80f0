"""The study of people at risk: one run of all attacks, findings and tables.

It is run on a subject as other studies are, but is none of `core.studies.registry.STUDIES`: it is about single people,
and so for internal use. No policy, experiment or public summary reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..study import Finding, ReportProgress, Row, Study
from ..subject import Subject
from . import findings as wording
from .people_at_risk import PeopleAtRisk
from .people_attacks import ATTACKS, PeopleAttacks, PeopleSettings
from .remedies import effect_of, remedies_of, smallest_fixes, strongest_plan


class PeopleAtRiskStudy(Study[PeopleSettings, PeopleAtRisk]):
    """Whom the attacks find, and what would stop it."""

    name = "people"
    title = "People at risk"
    settings = PeopleSettings

    def steps(self, subject: Subject, settings: PeopleSettings) -> int:
        """Return how many steps are reported at least: the models with their shadows."""
        return settings.steps

    def run(
        self, subject: Subject, settings: PeopleSettings, report: ReportProgress | None = None
    ) -> Iterator[PeopleAtRisk]:
        """Yield whom the attacks find, with the fix of each."""
        attacks = PeopleAttacks(subject, settings, report)
        now = tuple(attacks.run(name, settings) for name in ATTACKS)
        remedies = remedies_of(subject, settings)
        strictest = strongest_plan(remedies)
        tried = [*((remedy,) for remedy in remedies), *([strictest] if len(strictest) > 1 else [])]
        somebody = any(attack.leak.any() for attack in now)
        yield PeopleAtRisk(
            attribute=subject.attribute,
            group_names=subject.dataset.group_names,
            rows=attacks.rows,
            groups=attacks.truth,
            columns=attacks.people.columns,
            attacks=now,
            imputed=attacks.imputed,
            fixes=smallest_fixes(attacks, remedies),
            effects=tuple(effect_of(attacks, plan) for plan in tried) if somebody else (),
        )

    def findings(self, result: PeopleAtRisk, settings: PeopleSettings) -> tuple[Finding, ...]:
        """Return how many people are found and by how many attacks, what chance gives, and how they differ."""
        return wording.findings(result)

    def tables(
        self, result: PeopleAtRisk, settings: PeopleSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return attacks, people, sets, remedies, groups and common values."""
        return {title: tuple(rows) for title, rows in wording.tables(result).items()}


PEOPLE = PeopleAtRiskStudy()
