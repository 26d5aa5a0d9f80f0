"""Whether a released score singles people out: how many share theirs with too few others."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from core.base.serialize import Result
from core.base.settings import Param, Settings
from core.stats.estimates import Estimate, count, interval, percent, proportion
from core.studies.study import Check, Finding, Measurement, Plant, Study, draw_people, subject_of


@dataclass(frozen=True, slots=True, kw_only=True)
class UniquenessSettings(Settings):
    """How many people must share a score."""

    fewest: Annotated[
        int, Param("People who share a score", "Fewest people who must share a score.", least=2, most=1_000)
    ] = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniqueness(Result):
    """How many people are singled out by what is released about them, and by the label alone."""

    by_score: Estimate
    by_label: Estimate
    sizes: tuple[tuple[str, int], ...]
    """How many people share their score with how many."""


_SETS = (100, 100, 400)
"""Training, attack and test records of the people it is tried on."""


def _people(seed, planted):
    rng = np.random.default_rng(seed)
    people = draw_people(sum(_SETS), rng)
    scores = np.round(0.2 + 0.6 * rng.random(sum(_SETS)), 12 if planted else 1)
    subject = subject_of(people, (scores >= 0.5).astype(np.uint8), _SETS, seed=seed, scores=scores)
    return subject, UniquenessSettings()


class UniquenessStudy(Study[UniquenessSettings, Uniqueness]):
    """Does a released score single people out?"""

    name = "uniqueness"
    title = "People singled out by their score"
    settings = UniquenessSettings
    plants = (
        Plant(
            attack=title,
            explanation="Null: scores with one decimal. Planted: scores with every digit.",
            make=_people,
            limits={"score_uniqueness": 0.05},
        ),
    )
    declared = (
        Check(
            name="score_uniqueness",
            title="People singled out by their released score",
            unit="percent",
            definition="Share of the test people whose released score fewer people have than the plan asks for.",
            needs=("scores",),
        ),
    )

    def unavailable(self, subject, settings):
        """Return that no scores are released, where none are."""
        return "" if subject.released_scores is not None else "Scores are needed; labels alone are released."

    def run(self, subject, settings, report=None):
        """Count who shares a score."""
        rows, scores = subject.splits.test, subject.released_scores
        assert scores is not None
        shared, by_label = (_sharing(values[rows]) for values in (scores, subject.model.predictions))
        edges = (1, settings.fewest, 10 * settings.fewest)
        sizes = tuple((f"at least {low}", int(np.count_nonzero(shared >= low))) for low in edges)
        if report is not None:
            report(1, 1)
        n = rows.size
        yield Uniqueness(
            by_score=proportion(int(np.count_nonzero(shared < settings.fewest)), n),
            by_label=proportion(int(np.count_nonzero(by_label < settings.fewest)), n),
            sizes=sizes,
        )

    def findings(self, result, settings):
        """Return the one finding."""
        estimate = result.by_score
        return (
            Finding(
                point=f"{percent(estimate)} of the people share their score with fewer than {settings.fewest} others.",
                evidence=f"95% CI: {interval(estimate)}, {count(estimate.n)} people; "
                f"{percent(result.by_label)} by label.",
                so_what="Whoever sees a score of one of them sees which record it is.",
                to_do="Release fewer decimals.",
                caveats=("The attacker holds the records with their scores.",),
                estimate=estimate,
                baseline=result.by_label,
                attacker_knows="Everybody's released score.",
            ),
        )

    def checks(self, result, settings):
        """Return the one check."""
        finding = self.findings(result, settings)[0]
        return {
            "score_uniqueness": Measurement(
                check="score_uniqueness",
                estimate=result.by_score,
                control=result.by_label,
                control_name="labels alone",
                attacked=finding.point,
                knows=finding.attacker_knows,
                assumptions=finding.caveats,
            )
        }

    def tables(self, result, settings):
        """Return how many share their score with how many."""
        return {self.title: tuple({"share a score with": name, "people": size} for name, size in result.sizes)}


def _sharing(values):
    """Return for everybody how many have the same value."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray(counts[inverse])


STUDY = UniquenessStudy()
