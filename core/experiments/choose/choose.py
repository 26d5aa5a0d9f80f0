"""The choice of a model: which candidates meet a policy, the best of them, and its judgement on fresh people.

The best of many looks better than it is. So one half of the people chooses a single candidate, and the other half
judges it: its interval there is that of one candidate, whatever was tried before. Where no candidate is within all
limits on the half that chooses, the nearest is judged, if none of its limits is exceeded for certain. On both halves it
must be more accurate than one answer for everybody on the same people (paired, 95%), or it is not recommended.

Private candidates are charged together. Each is epsilon-DP by itself; all trees trained here are known, so that the
choice among them costs the sum of their budgets (basic composition). Selection with random stopping would cost a small
multiple of one budget (Liu and Talwar 2019; Papernot and Steinke 2022); it needs candidates whose scores are private
too, and the attacks here look at the training records without noise. The sum covers the trees and what follows from
test records; it does not cover the attacks' numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from ...auditing.policy import CHECKS, CheckVerdict, Policy, Status, Verdict, judge
from ...base.errors import InputError
from ...base.validation import child_generator
from ...models import PRIVATE_METHODS
from ...stats.estimates import Estimate, holm, normal_quantile, not_measured, paired_gain
from ...studies.registry import STUDIES
from ...studies.study import Measurement, Outcome, not_run
from ...studies.two_models import UNFAIR
from .candidates import CandidatePoint, ChooseSettings, Half

_DRAWS = 200
"""Bootstrap draws of the selection optimism."""

_COUNTED = {
    "all": ("attribute", "correction", "membership"),
    "attribute": ("attribute", "correction"),
    "membership": ("membership",),
}
"""Leak counted -> studies whose checks it is taken from."""

_LEAST_SPAN = 0.01
"""What a limit at or below chance counts as above it, so that every result can be set in relation to it."""


class ChoiceOutcome(StrEnum):
    """How a choice ended."""

    RECOMMENDED = "recommended"
    NOT_CONFIRMED = "not confirmed"
    """The chosen candidate is within all limits where it was chosen, and not where it was judged."""
    NONE = "none"
    """No candidate is within all limits where it would be chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A candidate on one half of the people, over its seeds.

    `majority` is the accuracy of one answer for everybody, and `gain` how much more accurate than that it is, on the
    same people. `leak` is the largest gain relative to its limit of the attacks that count, and `leaking` its check;
    `low` and `high` are the largest of the lower and of the upper ends of these gains' intervals.
    """

    accuracy: Estimate
    majority: Estimate
    gain: Estimate
    verdict: Verdict
    leak: float
    low: float
    high: float
    leaking: str

    @property
    def beats_majority(self) -> bool:
        """Whether it is more accurate than one answer for everybody, beyond chance (95%)."""
        return self.gain.low > 0.0

    @property
    def status(self) -> Status:
        """The verdict of the limits that candidates are judged by."""
        return self.verdict.overall

    @property
    def blocking(self) -> tuple[CheckVerdict, ...]:
        """The required checks that do not pass."""
        return tuple(
            row for row in self.verdict.rows if row.is_decisive and row.verdict != Status.PASS
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """A recipe with its replicates, one a seed, first seed first."""

    points: tuple[CandidatePoint, ...]
    choosing: Side
    judging: Side
    reach: float
    """How far it is, at worst, beyond a limit that it is not within for certain, relative to the limit."""
    unfair: bool
    """Whether it exceeds the limit of unfairness on the half that chooses."""
    missing: tuple[str, ...]
    """The required checks of the leak counted that it has no number for on the half that chooses, excused or not."""

    @property
    def title(self) -> str:
        """What to call it."""
        return self.points[0].title

    @property
    def constant(self) -> bool:
        """Whether it gives everybody the same answer, with any seed: then it decides nothing."""
        return any(point.constant for point in self.points)

    @property
    def is_biased(self) -> bool:
        """Whether its method makes it unfair; of given answers, whether they exceed the limit of unfairness."""
        point = self.points[0]
        if point.name:
            return self.unfair
        return point.config.method in UNFAIR

    @property
    def is_complete(self) -> bool:
        """Whether there is a number of every attack that counts, and of every check that it hangs on."""
        return not self.missing and math.isfinite(self.reach)

    def useful(self, least: float) -> bool:
        """Whether it is accurate enough on the half that chooses, and decides better than one answer for everybody."""
        return (
            self.choosing.accuracy.value >= least
            and self.choosing.beats_majority
            and not self.constant
        )

    def p_as_leaky(self, rival: Candidate) -> float:
        """Return the p-value of leaking at least as much as another, where the chosen one is judged.

        The half widths are combined as of independent people: of the same people the difference varies less.
        """
        side = self.judging
        rival_side = rival.judging
        gap = rival_side.leak - side.leak
        half = math.hypot(rival_side.leak - rival_side.low, side.high - side.leak)
        if gap <= 0.0:
            return 1.0
        if half:
            return math.erfc(normal_quantile(side.accuracy.level) * gap / half / math.sqrt(2.0))
        return 0.0

    def accuracy_lead(self, reference: Candidate) -> Estimate:
        """Return how much more accurate it is than another where it is judged, over the seeds both have, if any."""
        rivals = {point.config.seed: point for point in reference.points}
        gains = []
        for point in self.points:
            if (rival := rivals.get(point.config.seed)) is not None:
                right = point.judging.correct
                rival_right = rival.judging.correct
                gains.append(
                    paired_gain(
                        int((right & ~rival_right).sum()),
                        int((rival_right & ~right).sum()),
                        right.size,
                    )
                )
        if gains:
            return mean_of(gains)
        return not_measured()


@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """What was chosen, and from what.

    `policy` holds the limits that candidates are judged by; `left_out` are the checks of the policy that none of them
    is measured by. `chosen` is the recommended candidate, or the nearest. `planned` is how many models were asked for.
    """

    candidates: tuple[Candidate, ...]
    chosen: Candidate
    outcome: ChoiceOutcome
    policy: Policy
    left_out: tuple[str, ...]
    least_accuracy: float
    planned: int
    attribute: str
    prefer: str = "accuracy"

    @property
    def leaks_least(self) -> bool:
        """Whether it was chosen for the smallest leak; not where no candidate is of use and measured whole."""
        chosen = self.chosen
        return self.prefer == "leak" and chosen.useful(self.least_accuracy) and chosen.is_complete

    @cached_property
    def shown_leakier(self) -> tuple[Candidate, ...]:
        """The candidates that are shown to leak more than the chosen one, where that one is judged (Holm, 95%)."""
        rivals = [candidate for candidate in self.candidates if candidate is not self.chosen]
        chances = holm([self.chosen.p_as_leaky(candidate) for candidate in rivals])
        return tuple(
            candidate for candidate, chance in zip(rivals, chances, strict=True) if chance < 0.05
        )

    @property
    def trained(self) -> int:
        """How many models there are, replicates counted."""
        return sum(len(candidate.points) for candidate in self.candidates)

    @property
    def untried(self) -> int:
        """How many of the models asked for are missing."""
        return max(0, self.planned - self.trained)

    def with_status(self, status: Status) -> tuple[Candidate, ...]:
        """Return the candidates with a verdict on the half that chooses."""
        return tuple(
            candidate for candidate in self.candidates if candidate.choosing.status == status
        )

    @cached_property
    def eligible(self) -> tuple[Candidate, ...]:
        """The candidates within all limits on the half that chooses, and of use."""
        return tuple(
            candidate
            for candidate in self.with_status(Status.PASS)
            if candidate.useful(self.least_accuracy)
        )

    @cached_property
    def frontier(self) -> tuple[Candidate, ...]:
        """The candidates of which none other is as accurate and leaks as little, the smallest leak first."""
        ordered = sorted(
            self.candidates,
            key=lambda candidate: (candidate.choosing.leak, -candidate.choosing.accuracy.value),
        )
        frontier: list[Candidate] = []
        for candidate in ordered:
            if (
                not frontier
                or candidate.choosing.accuracy.value > frontier[-1].choosing.accuracy.value
            ):
                frontier.append(candidate)
        return tuple(frontier)

    @cached_property
    def unconstrained(self) -> Candidate | None:
        """The most accurate candidate without a fairness constraint."""
        free = [
            candidate
            for candidate in self.candidates
            if candidate.points[0].config.method == "unmitigated"
        ]
        return max(free, key=lambda candidate: candidate.choosing.accuracy.value, default=None)

    @cached_property
    def runner_up(self) -> Candidate | None:
        """The next most accurate candidate within all limits."""
        rivals = [candidate for candidate in self.eligible if candidate is not self.chosen]
        return max(rivals, key=lambda candidate: candidate.choosing.accuracy.value, default=None)

    @cached_property
    def selection_optimism(self) -> float:
        """How much better than it is the most accurate of the candidates looks where it is chosen.

        The mean, over bootstrap draws of people, of what the best of a draw gains by its draw. Of one seed, the first,
        and of the candidates within all limits, at least one.
        """
        eligible = self.eligible
        seed = eligible[0].points[0].config.seed
        halves = [
            p.choosing for candidate in eligible for p in candidate.points if p.config.seed == seed
        ]
        right = np.array(
            [half.correct for half in halves if half.accuracy.n == halves[0].accuracy.n],
            dtype=np.float64,
        )
        n = right.shape[1]
        drawn = child_generator(0, "flattery of the best").multinomial(
            n, np.full(n, 1.0 / n), size=_DRAWS
        )
        means = drawn @ right.T / n  # (draws, candidates)
        best = means.argmax(axis=1)
        return max(0.0, float((means[np.arange(_DRAWS), best] - right.mean(axis=1)[best]).mean()))

    @property
    def fair_and_biased(self) -> bool:
        """Whether both fair and biased models are among the candidates: made so by a method, or given and so measured.

        Of given answers those are biased that exceed the limit of unfairness.
        """
        kinds = {candidate.is_biased for candidate in self.candidates}
        return len(kinds) == 2

    @property
    def spent(self) -> float:
        """The privacy budget of all private candidates together, replicates counted; 0 where there are none."""
        return sum(
            p.config.epsilon
            for candidate in self.candidates
            for p in candidate.points
            if p.config.method in PRIVATE_METHODS
        )


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean over replicates on much the same people, with the mean of their ends as its interval.

    The deviation of a mean is at most the mean of the deviations, however much the replicates have in common.
    """
    return Estimate(
        value=float(np.mean([estimate.value for estimate in estimates])),
        low=float(np.mean([estimate.low for estimate in estimates])),
        high=float(np.mean([estimate.high for estimate in estimates])),
        n=estimates[0].n,
        level=estimates[0].level,
    )


def limits_for(points: Sequence[CandidatePoint], policy: Policy) -> tuple[Policy, tuple[str, ...]]:
    """Return a policy's limits that some candidate has a number for on the half that chooses, and the other checks.

    InputError if none of them is required.
    """
    measured_checks = {
        name
        for point in points
        for name, measurement in point.choosing.checks.items()
        if measurement.outcome != Outcome.NOT_RUN
    }
    limits = tuple(limit for limit in policy.limits if limit.check in measured_checks)
    if not any(limit.required for limit in limits):
        names = ", ".join(sorted(measured_checks))
        raise InputError(
            f"The policy must require a check that candidates are measured by ({names}), got none."
        )
    return replace(policy, limits=limits), tuple(
        limit.check for limit in policy.limits if limit.check not in measured_checks
    )


def choose(
    points: Sequence[CandidatePoint],
    policy: Policy,
    settings: ChooseSettings,
    *,
    attribute: str,
    planned: int = 0,
) -> Choice:
    """Choose a candidate on one half of the people and judge it on the other.

    InputError if there is no candidate, or the policy limits nothing that they are measured by.
    """
    if not points:
        raise InputError("There must be at least one finished model to choose from, got none.")
    candidate_policy, left_out = limits_for(points, policy)
    recipes: dict[object, list[CandidatePoint]] = {}
    for point in points:
        recipes.setdefault(point.recipe, []).append(point)
    counted = {check.name for name in _COUNTED[settings.leak] for check in STUDIES[name].declared}
    if settings.leak != "all" and not any(
        limit.required and limit.check in counted for limit in candidate_policy.limits
    ):
        raise InputError(
            f"The policy must require a check of the leak counted ({settings.leak}), got none."
        )
    candidates = [
        _candidate(
            sorted(replicates, key=lambda p: p.config.seed), candidate_policy, attribute, counted
        )
        for replicates in recipes.values()
    ]
    least_accuracy = settings.least_accuracy
    if least_accuracy is None:
        least_accuracy = float(np.mean([point.majority.value for point in points]))
    ordered = tuple(
        sorted(candidates, key=lambda candidate: _rank(candidate, least_accuracy, settings.prefer))
    )
    chosen = _preferred(ordered, least_accuracy, settings.prefer)
    passes = chosen.choosing.status == Status.PASS
    may_pass = passes or chosen.choosing.status == Status.INCONCLUSIVE
    accepted = chosen.useful(least_accuracy)
    if (
        accepted
        and may_pass
        and chosen.judging.status == Status.PASS
        and chosen.judging.beats_majority
    ):
        outcome = ChoiceOutcome.RECOMMENDED
    else:
        if accepted and passes:
            outcome = ChoiceOutcome.NOT_CONFIRMED
        else:
            outcome = ChoiceOutcome.NONE
    return Choice(
        candidates=ordered,
        chosen=chosen,
        outcome=outcome,
        policy=candidate_policy,
        left_out=left_out,
        least_accuracy=least_accuracy,
        planned=planned,
        attribute=attribute,
        prefer=settings.prefer,
    )


def _rank(candidate: Candidate, least_accuracy: float, prefer: str) -> tuple[bool | float, ...]:
    """Return a candidate's place: of those of use first those within all limits, by accuracy, then the nearest.

    Where the least leak is preferred, those within all limits by leak, then the others; of either last those without
    a number of some attack, which is no small leak, whether or not their policy excuses it.
    """
    side = candidate.choosing
    passes = side.status == Status.PASS
    useless = not candidate.useful(least_accuracy)
    if prefer == "leak":
        return useless, not passes, not candidate.is_complete, side.leak
    reach = 0.0 if passes else candidate.reach
    return useless, not passes, reach, -side.accuracy.value


def _preferred(ordered: Sequence[Candidate], least_accuracy: float, prefer: str) -> Candidate:
    """Return the first, or the one that leaks least of those about as accurate (one standard error)."""
    eligible = [
        candidate
        for candidate in ordered
        if candidate.useful(least_accuracy) and candidate.choosing.status == Status.PASS
    ]
    if prefer != "balanced" or not eligible:
        return ordered[0]
    best_accuracy = eligible[0].choosing.accuracy
    error = (best_accuracy.high - best_accuracy.low) / 2 / normal_quantile(best_accuracy.level)
    return min(
        (
            candidate
            for candidate in eligible
            if candidate.choosing.accuracy.value >= best_accuracy.value - error
        ),
        key=lambda candidate: (not candidate.is_complete, candidate.choosing.leak),
    )


def _candidate(
    points: Sequence[CandidatePoint], policy: Policy, attribute: str, counted: Collection[str]
) -> Candidate:
    choosing, chance = _side([point.choosing for point in points], policy, attribute, counted)
    judging, _ = _side([point.judging for point in points], policy, attribute, counted)
    unfair = [
        row
        for row in choosing.verdict.rows
        if row.check == "unfairness" and row.limit and row.measurement
    ]
    return Candidate(
        points=tuple(points),
        choosing=choosing,
        judging=judging,
        reach=max(
            (_beyond(row, chance.get(row.check, 0.0)) for row in choosing.blocking), default=0.0
        ),
        unfair=any(_relative(row, 0.0)[0] > 1.0 for row in unfair),
        missing=tuple(
            row.check
            for row in choosing.verdict.rows
            if row.limit
            and row.limit.required
            and row.check in counted
            and row.attempt.estimate is None
        ),
    )


def _mean_chance(check: str, halves: Sequence[Half]) -> float:
    """Return what a check reaches without the model, over replicates."""
    return float(np.mean([half.chance(check) for half in halves]))


def _side(
    halves: Sequence[Half], policy: Policy, attribute: str, counted: Collection[str]
) -> tuple[Side, dict[str, float]]:
    chance = {name: _mean_chance(name, halves) for name in halves[0].checks}
    verdict = judge(
        policy, [_measurement(limit.check, halves) for limit in policy.limits], attribute=attribute
    )
    leaks = {
        row.check: _relative(row, chance.get(row.check, 0.0))
        for row in verdict.rows
        if row.is_decisive and row.check in counted and row.attempt.estimate
    }
    leaking = max(leaks, key=lambda check: leaks[check][0], default="")
    leak, low, high = (
        max(0.0, *ends) for ends in zip((0.0, 0.0, 0.0), *leaks.values(), strict=True)
    )
    side = Side(
        accuracy=mean_of([half.accuracy for half in halves]),
        majority=mean_of([half.majority for half in halves]),
        gain=mean_of([half.gain for half in halves]),
        verdict=verdict,
        leak=leak,
        low=low,
        high=high,
        leaking=leaking,
    )
    return side, chance


def _measurement(check: str, halves: Sequence[Half]) -> Measurement:
    """Return a check's mean over the replicates; the reason of the first that has no number."""
    estimates = []
    for half in halves:
        measurement = half.checks[check]
        if measurement.estimate is None:
            return not_run(check, measurement.reason, outcome=measurement.outcome)
        estimates.append(measurement.estimate)
    return Measurement(check=check, estimate=mean_of(estimates))


def _span(row: CheckVerdict, chance: float) -> float:
    assert row.limit is not None
    return max(abs(row.limit.value - chance), _LEAST_SPAN)


def _relative(row: CheckVerdict, chance: float) -> tuple[float, float, float]:
    """Return a result's gain over chance, where its limit's is 1, with the ends of its interval; 0 for nan."""
    assert row.limit is not None
    estimate = row.attempt.estimate
    if estimate is None or math.isnan(estimate.value):
        return 0.0, 0.0, 0.0
    limit = row.limit.value
    span = _span(row, chance)
    value, low, high = (
        1.0 + (end - limit) / span for end in (estimate.value, estimate.low, estimate.high)
    )
    return value, low, high


def _beyond(row: CheckVerdict, chance: float) -> float:
    """Return how far the interval of a verdict reaches over its limit, relative to it; without one infinitely."""
    if row.limit is None or row.decided is None:
        return math.inf
    limit = row.limit.value
    at_least = CHECKS[row.check].at_least
    if at_least:
        over = limit - row.decided.low
    else:
        over = row.decided.high - limit
    return over / _span(row, chance)
