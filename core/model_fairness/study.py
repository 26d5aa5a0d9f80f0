"""The study of a model's fairness: what it reaches without any attacker, on training and test records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from core.model_fairness.checks import DECLARED, four_fifths, rate_rows, unfairness
from core.model_fairness.findings import cautions, headline
from core.seeds import child_generator
from core.settings import Settings
from core.study import Finding, Measurement, Report, Row, Study
from core.subject import Subject
from core.synthetic import draw_people, synthetic_subject


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessSettings(Settings):
    """Nothing: metric and tolerance are the audit's."""


class FairnessStudy(Study[FairnessSettings, Subject]):
    """How far the groups' rates are from the overall rate; the subject itself is the result."""

    name = "model_fairness"
    title = "Fairness of the model"
    settings = FairnessSettings
    declared = DECLARED

    def steps(self, subject: Subject, settings: FairnessSettings) -> int:
        """Return 0: a subject's model is measured already."""
        return 0

    def run(self, subject: Subject, settings: FairnessSettings, report: Report | None = None) -> Iterator[Subject]:
        """Yield the subject, whose model is measured as it is trained."""
        yield subject

    def findings(self, result: Subject, settings: FairnessSettings) -> tuple[Finding, ...]:
        """Return whether the constraint holds, and what a user of the model must know."""
        return (headline(result), *(Finding(point=caution) for caution in cautions(result)))

    def checks(self, result: Subject, settings: FairnessSettings) -> Mapping[str, Measurement]:
        """Return unfairness and ratio of acceptance rates on the test records."""
        return {"unfairness": unfairness(result), "four_fifths": four_fifths(result)}

    def tables(self, result: Subject, settings: FairnessSettings) -> Mapping[str, tuple[Row, ...]]:
        """Return the groups' rates."""
        return {"Rates by group": tuple(rate_rows(result))}

    def planted(self, seed: int) -> Subject:
        """Return a model that accepts one group much more often."""
        return _accepting(seed, lean=0.2)

    def harmless(self, seed: int) -> Subject:
        """Return a model that accepts by chance."""
        return _accepting(seed, lean=0.0)


def _accepting(seed: int, *, lean: float) -> Subject:
    sizes = (400, 400, 400)
    rng = child_generator(seed, f"fairness, lean {lean:g}")
    people = draw_people(sum(sizes), rng)
    chance = 0.5 + lean * (2.0 * people.sensitive - 1.0)
    return synthetic_subject(people, (rng.random(sum(sizes)) < chance).astype(np.uint8), sizes, seed=seed)


STUDY = FairnessStudy()
