"""What a disclosed tolerance and shares change for a few uneven people, by people and over resamples, is as it was."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from core.adversaries import AttackedRecords
from core.stats.estimates import Estimate
from core.stats.fairness import METRICS
from core.studies.correction import attribution, bootstrap, disclosure, knowledge, soft
from core.studies.correction.attribute_attacks import (
    ATTACKERS,
    KINDS,
    CorrectionResult,
    attack_saying,
    attacks_of,
    protocols_of,
)
from core.studies.correction.numbers import (
    ATTACK_NUMBERS,
    CONTROL_NUMBERS,
    ESTIMATE_NUMBERS,
    controlled_attribution,
    number_of,
)
from core.studies.correction.study import STUDY, CorrectionSettings, applied_tolerance, correction_gain
from core.studies.study import draw_people, posterior, subject_of
from tests.golden.numbers import NamedValues, compare_numbers, refused


def records(n: int, *, groups: int = 2, seed: int = 0, lean: float = 0.2) -> AttackedRecords:
    """Return people of whom some are guessed alike, with a model that accepts more of the last group."""
    rng = np.random.default_rng(seed)
    truth = np.minimum(rng.integers(0, groups + 1, n), groups - 1)
    odds = rng.integers(0, 8, (n, groups)) + 1.0 + 5.0 * (np.arange(groups) == truth[:, None])
    predictions = rng.random(n) < 0.35 + lean * (truth == groups - 1)
    shrunk = odds + 2.0 * (np.arange(groups) == 0)
    return AttackedRecords(
        probability=odds / odds.sum(axis=1, keepdims=True),
        calibrated=shrunk / shrunk.sum(axis=1, keepdims=True),
        predictions=predictions.astype(np.uint8),
        labels=(rng.random(n) < 0.4 + 0.2 * predictions).astype(np.uint8),
        truth=truth.astype(np.uint8),
    )


SMALL, HELD_OUT = records(24, seed=3), records(17, seed=4)
MANY, MANY_HELD_OUT = records(40, groups=3, seed=5), records(30, groups=3, seed=6)


def _of(record: disclosure.Disclosure, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _disclosed() -> NamedValues:
    for metric, cost, tolerance in product(METRICS, disclosure.COSTS, (0.0, 0.06)):
        for raised in (False, True)[: 1 + (cost == "published")]:
            options: dict[str, Any] = {
                "tolerance": tolerance,
                "metric": metric,
                "cost": cost,
                "raise_until_true": raised,
            }
            outcome = disclosure.disclose(SMALL, HELD_OUT, **options, draws=12, seed=1)
            name = f"{metric}, {cost}, {tolerance}{', raised' * raised}"
            yield name, _of(outcome, "used", "achieved", "reached", "before", "balanced_before")
            yield f"{name}: after", (outcome.after, outcome.gain, outcome.balanced_after)
            yield f"{name}: counted", _of(outcome, "n_changed", "n_right", "exponent", "smallest_tolerance", "is_true")
            yield f"{name}: groups", [(group.group, group.before.value, group.after) for group in outcome.groups]
    for draws in (0, 9, None):
        outcome = disclosure.disclose(SMALL, HELD_OUT, tolerance=0.05, draws=draws)
        yield f"{draws} draws", (outcome.gain, outcome.after, outcome.majority)
    three = disclosure.disclose(MANY, MANY_HELD_OUT, tolerance=0.05, cost="count", draws=0)
    yield "three groups", _of(three, "achieved", "n_changed", "majority", "certificate")
    yield "three groups, by group", [(group.group, group.before.value) for group in three.groups]
    attackers = {"one": SMALL, "other": replace(SMALL, probability=SMALL.calibrated)}
    for tolerance, metric in product((0.0, 0.1), METRICS[:2]):
        disclosures = {
            name: disclosure.disclose(
                attacker, HELD_OUT, tolerance=tolerance, metric=metric, raise_until_true=True, draws=0
            )
            for name, attacker in attackers.items()
        }
        yield f"best at {tolerance}, {metric}", disclosure.gain_of_best(attackers, disclosures, seed=2)


def _priced() -> NamedValues:
    for metric, cost, tolerance in product(METRICS, disclosure.COSTS, (0.0, 0.1)):
        yield f"{metric}, {cost}, {tolerance}", disclosure.prices_of(SMALL, HELD_OUT, tolerance, metric, cost)
    for cost in ("log_odds", "count"):
        yield f"three groups, {cost}", disclosure.prices_of(MANY, MANY_HELD_OUT, 0.1, METRICS[0], cost)
    for confidence, exponent in (([1.1], 1), ([0.0], 1), ([0.7], -1), ([0.7], math.inf)):
        yield f"{confidence} to {exponent}", refused(disclosure.published_cost, confidence, exponent)
    for metric in METRICS:
        yield f"permuted, {metric}", disclosure.permuted_records(HELD_OUT, metric=metric, seed=1).predictions


def _resampled() -> NamedValues:
    rng = np.random.default_rng(8)
    for people, metric in product((SMALL, MANY), METRICS):
        blocks = bootstrap.Blocks.of(people, people.guess, 1 + people.confidence**2, metric=metric)
        counts = rng.integers(0, 3, (3, blocks.everybody.size)) * blocks.everybody
        counts[0] = blocks.everybody
        name = f"{people.n_groups} groups, {metric}"
        yield f"{name}: blocks", (blocks.cells, blocks.price)
        for tolerance, raised in ((0.0, False), (0.05, False), (0.05, True), (0.4, False)):
            if people is SMALL:
                intervals = blocks.corrected(counts, tolerance, raise_until_true=raised)
                yield f"{name}: {tolerance}{' raised' * raised}", intervals
        sizes = counts.reshape(3, -1, 2, people.n_groups, 32 * people.n_groups).sum(axis=4)
        yield f"{name}: unfairness", bootstrap._unfairness(sizes)
    for tolerance in (0.0, 0.03, 0.3):
        price = np.sort(rng.integers(1, 9, (2, 2, 4)), axis=2) / 2.0
        size = rng.integers(0, 6, (4, 2, 2, 4)).astype(float)
        yield f"who at {tolerance}", bootstrap._of_two(price, size, np.full(4, tolerance))
    for large in (1.0, 1e9):
        price = np.array([[[1.0, 2.0], [1.0, large]], [[large, 4.0 * large], [3.0, large]]])
        people_counts = np.array([[[3.0, 9.0], [7.0, 1.0]], [[5.0, 2.0], [8.0, 9.0]]])
        scaled = bootstrap._scaled(price, people_counts, 0.01)
        leave, _ = bootstrap._program(scaled, people_counts, 0.01)
        yield f"prices up to {large}", float((leave * price).sum())
        yield f"scaled up to {large}", bool(scaled.max() <= 4.0)
    estimate = Estimate(value=0.6, low=0.5, high=0.72, n=40)
    for value, shift, draws in product((0.6, 0.7, math.nan), (0.0, 0.2), (9, 10, 25)):
        values = np.concatenate([[value], 0.55 + shift + 0.03 * rng.standard_normal(draws)])
        yield f"widened {value} {shift} {draws}", bootstrap.combine_intervals(estimate, values)
    values[3:5] = np.nan
    yield "widened, cut", bootstrap.combine_intervals(replace(estimate, level=0.8), values, within=(0.58, 0.61))
    yield "widened, nothing", bootstrap.combine_intervals(replace(estimate, value=math.nan), values)
    blocks = bootstrap.Blocks.of(SMALL, SMALL.guess, None, metric=METRICS[0])
    for draws, raised in ((None, False), (4, True)):
        intervals = bootstrap.bootstrap_correction(blocks, 0.03, raise_until_true=raised, draws=draws, seed=3)
        yield f"{draws} draws", intervals
    drawn = bootstrap.bootstrap_correction(bootstrap.Blocks.of(MANY, MANY.truth, None, metric=METRICS[0]), 0.9)
    yield "draws of three groups", (drawn.size, drawn.before, drawn.after)
    guesses = SMALL.guess, SMALL.calibrated_guess
    both = [bootstrap.Blocks.of(SMALL, guess, None, metric=METRICS[1]) for guess in guesses]
    yield "together", bootstrap.bootstrap_jointly(both, 0.02, draws=3, seed=1)


def _softly() -> NamedValues:
    count = np.array([5, 3, 2, 7])
    for tolerance, parts in product((None, 0.0, 0.04, 0.35, 0.99, 1.0), ((None,), (0,), (1,), (0, 1))):
        rows = soft.soft_statistics(count, parts=parts, n_groups=3, tolerance=tolerance, group_shares=None)
        yield f"{tolerance} within {parts}", [str(np.round(row.astype(float), 9).tolist()) for row in rows]
    shares = [None, [0.3, None, 0.2], [(0.1, 0.5), (0.0, 0.4), (0.6, 1.0)], [0.2, 0.2, 0.6000004], [0.5, 0.5]]
    for disclosed in [*shares, [0.4, 0.4, (0.1, 0.15)], [0.9, 0.2, None]]:
        yield f"shares {disclosed}", refused(soft._share_rows, disclosed, 17, np.eye(3))
        yield f"intervals {disclosed}", refused(soft._intervals, disclosed, 3)
    for share, n in ((0.1, 30), (1 / 3, 21), (1 / 3, 20), (0.35, 20), (0.3500001, 20)):
        yield f"{share} of {n}", soft._records(share, n)
    for people, metric, tolerance in product((SMALL, MANY), METRICS, (None, 0.0, 0.07)):
        for group_shares in (None, [0.5] * 2 if people is SMALL else [0.3, 0.2, 0.5]):
            if tolerance is None and group_shares is None:
                continue
            options = {"tolerance": tolerance, "metric": metric, "labels": people.labels, "group_shares": group_shares}
            moved = soft.soft_correct(people.probability, people.predictions, **options)
            yield f"{people.n_groups} groups, {metric}, {tolerance}, {group_shares}", moved
    for shape, more in (((24, 2, 1), {}), ((24, 1), {}), ((23,), {}), ((24,), {"metric": METRICS[2]})):
        inputs = np.full(shape, 0.4), SMALL.predictions
        yield f"{shape} {list(more)}", refused(soft.soft_correct, *inputs, tolerance=0.05, **more)


def _stepwise() -> NamedValues:
    people = {
        name: (
            sample,
            *(replace(sample, probability=w * sample.calibrated + (1 - w) / sample.n_groups) for w in (0.8, 0.4)),
        )
        for name, sample in (("two", SMALL), ("three", MANY))
    }
    for (name, (now, before, shuffled)), metric, tolerance in product(people.items(), METRICS[:3:2], (0.0, 0.1)):
        prior = [0.7, 0.3] if name == "two" else [0.2, 0.3, 0.5]
        options: dict[str, Any] = {"prior": prior, "metric": metric, "tolerance": tolerance, "permuted": shuffled}
        leak = attribution.attribute_leak(name, before, now, **options, seed=4)
        yield f"{name}, {metric}, {tolerance}", (leak.n_true, leak.n_seeds)
        for step in leak.steps:
            title = f"{name}, {metric}, {tolerance}, {step.step}"
            yield (
                f"{title}: values",
                [(estimate.value, estimate.low, estimate.high) for estimate in step.values.values()],
            )
            yield (
                f"{title}: changes",
                [(estimate.value, estimate.low, estimate.high) for estimate in step.changes.values()],
            )
    for sample in (SMALL, HELD_OUT, MANY):
        yield "estimated", knowledge.estimate_constraint(sample.predictions, sample.truth, sample.labels).metric


@cache
def _result() -> CorrectionResult:
    rng, sizes = np.random.default_rng(13), (90, 60, 30)
    people = draw_people(sum(sizes), rng)
    predictions = (rng.random(sum(sizes)) < 0.3 + 0.25 * people.sensitive).astype(np.uint8)
    subject = subject_of(people, predictions, sizes, seed=5)
    attacks = {}
    for index, (kind, protocol) in enumerate(attacks_of(as_published=True)):
        p = posterior(people, noise=(0.2 + 0.3 * index) * rng.standard_normal(sum(sizes)))
        probabilities, rows = np.column_stack([1.0 - p, p]), (subject.splits.train, subject.splits.validation)
        about = probabilities[rows[0]], probabilities[rows[1]]
        attacks[kind, protocol] = attack_saying(about, about, rows, subject.dataset, predictions)
    return CorrectionResult(subject=subject, attacks=attacks)


def _trained() -> NamedValues:
    subject = _result().subject
    config = replace(subject.config, forest=(("max_depth", 3), ("n_estimators", 9)), seed=3)
    result = CorrectionResult.of(replace(subject, config=config))
    for kind in ATTACKERS:
        settings = CorrectionSettings(adversary=kind, tolerance=config.tolerance)
        for number in (*ATTACK_NUMBERS, *CONTROL_NUMBERS, *ESTIMATE_NUMBERS):
            measured = number_of(number.name, result, settings)
            yield (
                f"{kind}, {number.name}",
                (measured.estimate, measured.control, measured.control_name, measured.reason),
            )
    for name, (adversary, _) in KINDS.items():
        leak = controlled_attribution(result, CorrectionSettings(adversary=adversary))
        yield name, [round(step.values["accuracy"].value, 4) for step in leak.steps]
    reported: list[tuple[int, int]] = []
    every = CorrectionResult.of(
        replace(subject, config=config), as_published=True, report=lambda done, total: reported.append((done, total))
    )
    yield "reported", reported
    for pair, attack in every.attacks.items():
        yield " ".join(pair), (attack.held_out_accuracy, attack.attacked.probability.round(4), attack.held_out.guess)


def _planted() -> NamedValues:
    for misled in (False, True):
        subject, settings = STUDY.plants[0].make(2, misled)
        yield f"misled {misled}", (subject.dataset.labels, subject.model.predictions, STUDY.steps(subject, settings))
        for (kind, _), attack in CorrectionResult.of(subject).attacks.items():
            yield f"misled {misled}, {kind}", (attack.attacked.probability[:, 1], attack.held_out.calibrated[:, 1])
    yield "steps as published", STUDY.steps(subject, CorrectionSettings(as_published=True))


def _together() -> NamedValues:
    result = _result()
    protocols = [protocols_of(kind) for kind in ATTACKERS]
    yield "told", (applied_tolerance(result), result.strong, str(attacks_of(as_published=False)), str(protocols))
    gained = correction_gain(result)
    yield "gain", (gained.estimate, gained.control, gained.attacked, gained.knows, *gained.assumptions, gained.details)
    for adversary, published in product(ATTACKERS, (False, True)):
        name = f"{adversary}{', as published' * published}"
        yield f"{name}: held out", result.attack(adversary, as_published=published).held_out_accuracy
        for more in ({}, {"permuted": True}, {"until_true": True}, {"permuted": True, "until_true": True}):
            outcome = result.disclose(0.03, adversary=adversary, as_published=published, **more)
            yield f"{name}, {more}", (outcome.used, outcome.achieved, outcome.gain, outcome.exponent)
    curve = result.curve(0.0333, adversary="strong", cost="count")
    yield (
        "curve",
        (
            [point.disclosed_tolerance for point in curve],
            [point.gain.value if point.gain else math.nan for point in curve],
        ),
    )
    for name in ("published", "boosting"):
        yield name, [step.changes["log_loss"].value for step in result.attribution(name, 0.02).steps[1:]]
    for more in knowledge.disclose_more(result, 0.05):
        yield f"more: {more.knowledge}", (more.before.value, more.certificate, more.reason)
    for settings in (CorrectionSettings(), CorrectionSettings(adversary="strong", as_published=True, tolerance=0.1)):
        texts = [
            (finding.point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats)
            for finding in STUDY.findings(result, settings)
        ]
        yield f"said {settings.adversary}", texts


CASES: dict[str, Callable[[], NamedValues]] = {
    "disclosed": _disclosed,
    "priced": _priced,
    "resampled": _resampled,
    "softly": _softly,
    "stepwise": _stepwise,
    "planted": _planted,
    "together": _together,
    "trained": _trained,
}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"disclosure_{case}", CASES[case]())
