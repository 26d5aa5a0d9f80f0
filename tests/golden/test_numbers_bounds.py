"""What is measured of a model by itself, of two models and of mechanisms is as it was: few people, ties."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from core.models import METHODS
from core.stats.estimates import Estimate, proportion
from core.stats.fairness import METRICS
from core.studies import subject as subjects
from core.studies.bias_queries.study import STUDY as QUERIES
from core.studies.fairness import findings as fairness
from core.studies.fairness.study import STUDY as FAIRNESS
from core.studies.fairness.study import FairnessSettings, rate_ratio
from core.studies.measured_epsilon import audits
from core.studies.measured_epsilon.study import STUDY as BUDGETS
from core.studies.measured_epsilon.study import MeasuredEpsilon, MeasuredEpsilonSettings
from core.studies.study import SyntheticRecords, subject_of
from core.studies.subject import OutputsPlan, Progress, Subject, train_model
from core.studies.two_models import study as two_models
from core.studies.two_models.study import Inferred, TwoModels, TwoModelsSettings
from tests.golden.numbers import NamedValues, compare_numbers, refused

SETS = (20, 50, 26)
"""Training, attack and test records."""


def subject(seed: int, groups: int = 2, *, scores: bool = False, accept: float = 0.5, **config: Any) -> Subject:
    """Return given predictions for few people, in groups of unlike sizes."""
    rng, n = np.random.default_rng([seed, groups]), sum(SETS)
    sensitive = np.minimum(rng.integers(0, 2 * groups - 1, n) * rng.integers(0, 2, n), groups - 1)
    for start in (0, 20, 55, 70):  # of training, attack, validation and test records
        sensitive[start : start + 3 * groups] = np.arange(3 * groups) % groups
    labels = rng.integers(0, 2, n).astype(np.uint8)
    score_values = np.round(rng.random(n) * 0.6 + 0.2 * (sensitive > 0) + 0.2 * labels, 2)
    people = SyntheticRecords(
        features=rng.normal(size=(n, 2)), labels=labels, sensitive=(sensitive > 0).astype(np.uint8)
    )
    answers = (score_values >= np.quantile(score_values, 1 - accept) if 0 < accept < 1 else np.full(n, accept)).astype(
        np.uint8
    )
    base = subject_of(people, answers, SETS, seed=1, scores=score_values if scores else None)
    names = ("ash", "birch", "cedar", "elm")[:groups]
    dataset = replace(base.dataset, sensitive=sensitive.astype(np.uint8), group_names=names)
    variant = replace(base, dataset=dataset, model=train_model(base.config, dataset, base.splits))
    return replace(variant, config=replace(variant.config, **config))


def _planted(study: Any, planted: bool) -> list[Any]:
    target, settings = study.plants[0].make(5, planted)
    return [
        settings,
        target.model.unfairness_test,
        target.model.predictions,
        target.model.scores,
        target.dataset.labels,
    ]


def _short(cell: object) -> str:
    return f"{cell:.5g}" if isinstance(cell, float) else str(cell)


def _fairness() -> NamedValues:
    for seed, groups, accept in ((1, 2, 0.5), (2, 3, 0.3), (3, 4, 0.8), (4, 2, 0.0), (5, 3, 1.0), (6, 2, 0.05)):
        audited = subject(seed, groups, accept=accept, scores=seed % 2 == 0)
        if seed == 3:  # nobody of the test records has label 0
            labels = audited.dataset.labels.copy()
            labels[audited.splits.test] = 1
            audited = replace(audited, dataset=replace(audited.dataset, labels=labels))
        for name, measured in FAIRNESS.checks(audited, FairnessSettings()).items():
            yield f"{seed} {name}", [measured.estimate, list((measured.details or {}).values()), measured.attacked]
        for current in fairness.fairness_metrics(audited):
            yield f"{seed} {current.metric} {current.records}", [current.people, current.unfairness, current.difference]
        yield f"{seed} heading", fairness.metrics_heading(audited, "test set")
        for records in fairness.SETS:
            yield (
                f"{seed} words {records}",
                [" | ".join(row.values()) for row in fairness.metric_table(audited, records)],
            )
        for title, rows in FAIRNESS.tables(audited, FairnessSettings()).items():
            if title != fairness.METRICS_TABLE or seed == 2:
                yield f"{seed} {title}", [" ".join(map(_short, row.values())) for row in rows[:9]]
        yield f"{seed} constraint", [" ".join(map(_short, row.values())) for row in fairness.constraint_rows(audited)]
        if accept in (0.0, 1.0):
            finding = fairness.headline(audited)
            yield f"{seed} said", [finding.point, finding.so_what, finding.to_do]
    yield "planted", [_planted(FAIRNESS, planted) for planted in (False, True)]
    yield "planted questions", [_planted(QUERIES, planted) for planted in (False, True)]
    rates = [proportion(k, n) for k, n in ((0, 5), (1, 5), (2, 9), (5, 5), (40, 90), (90, 90))]
    for current, second in product(rates, repeat=2):
        if current.value <= second.value:
            yield f"ratio {current.value:.3f} {second.value:.3f}", rate_ratio(current, second)


def _sentences() -> NamedValues:
    ends = ((0.04, 0.01, 0.05), (0.02, 0.01, 0.03), (0.05, 0.02, 0.09), (0.1, 0.05, 0.2), (0.051, 0.0501, 0.2))
    both = ("given", "exponentiated_gradient")
    kinds = [*product(both, (0.05,), (0.05, 0.0504, 0.2), ends), *product(METHODS, (0.0,), (0.05,), ends[:1])]
    for method, tolerance, train, test in kinds:
        audited = subject(1, method=method, tolerance=tolerance, epsilon=0.5)
        unseen = replace(audited.model.unfairness_test, **dict(zip(("value", "low", "high"), test, strict=True)))
        model = replace(audited.model, unfairness_train=train, unfairness_test=unseen)
        finding = fairness.headline(replace(audited, model=model))
        yield f"{method} {tolerance} {train} {test[0]}", [finding.point, finding.so_what]
    for method, metric, scores, has_sets in product(
        ("given", "dp_id3", "threshold_optimizer"), METRICS[:2], (False, True), (True, False)
    ):
        config = {
            "method": method,
            "metric": metric,
            "tolerance": 0.01 * scores,
            "epsilon": 3.0 if has_sets else math.inf,
        }
        audited = subject(2, 3, scores=scores, **config)
        dataset = replace(audited.dataset, sets=audited.dataset.sets if has_sets else None)
        audited = replace(audited, dataset=dataset, model=replace(audited.model, needs_sensitive=scores))
        finding = fairness.headline(audited)
        yield f"{method} {metric} {scores} {has_sets}", [finding.evidence, finding.to_do, *fairness.cautions(audited)]
        assumed = FAIRNESS.checks(audited, FairnessSettings())["unfairness"].assumptions
        yield "people", [audited.has_true_sets, audited.trained_on, *audited.over_people, *assumed]
        yield "findings", [entry.point for entry in FAIRNESS.findings(audited, FairnessSettings())]


def _subject() -> NamedValues:
    for scores, accept in product((False, True), (0.0, 0.5, 1.0)):
        audited = subject(7, scores=scores, accept=accept)
        yield (
            f"constant {scores} {accept}",
            [audited.model.constant(audited.splits), audited.model.constant_scores(audited.splits)],
        )
    for scores in (False, True):
        audited = subject(7, scores=scores)
        for released, decimals in (("scores", None), ("scores", 0), ("scores", 1), ("labels", None)):
            plan = OutputsPlan(released=released, decimals=decimals)
            score_pair = audited.scores_of(plan), replace(audited, outputs=plan).released_scores
            yield f"{released} {decimals}", [plan.text, *score_pair]
    audited = subject(8, 3, scores=True)
    one_unlike = replace(audited.model, predictions=np.zeros(sum(SETS), dtype=np.uint8))
    for position in (0, SETS[0] - 1, SETS[0], sum(SETS) - 1):
        one_unlike.predictions[:] = np.arange(sum(SETS)) == position
        yield f"one unlike {position}", one_unlike.constant(audited.splits)
    for rows in (np.arange(sum(SETS)) % 12 != 11, np.arange(sum(SETS)) % 4 > 0, audited.dataset.sensitive < 2):
        part = refused(audited.part, rows)
        if not isinstance(part, str):
            part = [part.model.unfairness_test, part.splits.test, part.model.accuracy_train]
        yield "part", part
    yield "model", replace(audited.model, predictions=audited.model.predictions[:8])
    for metric in METRICS:
        for name, keep in product(("train", "validation", "test"), (2, 3)):
            fewer = getattr(audited.splits, name)
            last = np.flatnonzero(audited.dataset.sensitive[fewer] == 2)
            splits = replace(audited.splits, **{name: np.delete(fewer, last[keep:])})
            yield f"cells {metric} {name} {keep}", refused(subjects.check_cells, metric, audited.dataset, splits)
    for most in (audited.splits.attacker_rows.size - 1, audited.splits.attacker_rows.size):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subjects, "MAX_ATTACKER_SAMPLE", most)
            yield f"most {most}", audited.over_people
    labels = audited.dataset.labels.copy()
    labels[audited.dataset.sensitive == 1] = 1
    for variant in (audited.dataset, replace(audited.dataset, labels=labels)):
        yield "labels", refused(subjects.check_labels, variant, audited.splits)
    for method in ("given", "threshold_optimizer"):
        config = replace(audited.config, method=method)
        for dataset in (replace(audited.dataset, predictions=None), replace(audited.dataset, labels=labels)):
            outcome = refused(train_model, config, dataset, audited.splits)
            yield f"trained {method}", outcome if isinstance(outcome, str) else outcome.accuracy_test
    prior, *variant = [
        refused(subjects.prior_of, audited.dataset, audited.splits, rows, seed=3)
        for rows in (audited.splits.test, audited.splits.attacker_rows[:2])
    ]
    yield "prior", [prior, prior.sum(axis=1), *variant]
    steps: list[Any] = []
    progress = Progress(3, lambda done, total: steps.append((done, total)))
    progress.tick()
    for done in (0, 2, 9):
        progress.reach(done)
    progress.tick()
    yield "progress", steps


def _budgets() -> NamedValues:
    counts = [(1, 0), (1, 1), (20, 0), (20, 10), (20, 17), (20, 20), (300, 190)]
    for delta in (0.0, 1e-3, 0.2):
        for epsilon in (0.0, 0.7, 4.0):
            yield f"p {delta} {epsilon}", [audits.one_run_p_value(*count, epsilon, delta) for count in counts]
        for confidence in (0.5, 0.95, 0.9999):
            every, level = np.arange(21), {"delta": delta, "confidence": confidence}
            yield "two tables", audits.two_table_bound(20, every[:, np.newaxis], every, **level)
    rng = np.random.default_rng(2)
    for shift, n, delta in ((0.0, 9, 0.0), (1.5, 40, 0.0), (-2.5, 41, 0.0), (3.0, 200, 0.05)):
        run = np.round(rng.normal(size=n) + shift, 1)
        yield f"distinguished {shift} {n}", audits.distinguished(run, np.round(rng.normal(size=n), 1), delta=delta)
    for epsilon, noise in ((1.0, 1.0), (1.0, 0.25), (4.0, 0.5)):
        audit_runs = [make() for make in audits.audits(epsilon, noise=noise, canaries=50, repeats=60, seed=4)]
        for run in audit_runs:
            numbers = [run.promised, run.spent, run.delta, run.seen, run.spends, run.measured(0.9)]
            yield f"{run.mechanism} {epsilon} {noise}", numbers
        settings = MeasuredEpsilonSettings(epsilon=epsilon, noise=noise, confidence=0.9)
        for subset in (audit_runs[:1], audit_runs):
            result = MeasuredEpsilon(audited=tuple(subset))
            yield "above", [audit.mechanism for audit in result.above]
            yield (
                "found",
                [[finding.point, finding.evidence, *finding.caveats] for finding in BUDGETS.findings(result, settings)],
            )
            yield "check", BUDGETS.checks(result, settings)["measured_epsilon"].estimate
        yield "rows", [list(row.values()) for row in BUDGETS.tables(result, settings)[BUDGETS.title]]
    runs = [audits.OneRun(guesses=200, correct=correct) for correct in (0, 150, 200)]
    pairs = ((0.0, runs[0]), (0.5, runs[1]), (0.5, runs[2]), (9.0, runs[2]))
    some = [
        audits.MechanismAudit(mechanism=f"{k}", promised=p, spent=None, seen=seen) for k, (p, seen) in enumerate(pairs)
    ]
    for result in (MeasuredEpsilon(audited=tuple(some)), MeasuredEpsilon(audited=tuple(some[:1]))):
        check, *findings = BUDGETS.checks(result, settings)["measured_epsilon"], *BUDGETS.findings(result, settings)
        yield "broken", [check.estimate, check.details, [[finding.point, *finding.caveats] for finding in findings]]
    fewest = MeasuredEpsilonSettings(canaries=50, repeats=200)
    yield "steps", [BUDGETS.steps(subject(1), fewest), len(list(BUDGETS.run(subject(1), fewest)))]
    yield "planted", [_planted(BUDGETS, planted) for planted in (False, True)]
    outputs = [np.array([[0.0, 1.0], [2.0, 5.0], [-1.0, 0.5]] * 3), np.array([[1.0, 1.0], [2.5, -3.0], [0.0, 0.5]] * 3)]
    for cauchy, delta in product((False, True), (0.0, 0.1)):
        laws = [[0.0, 1.0], [1.0, 0.5]], [[1.0, 2.0], [0.5, 3.0]]
        yield f"compared {cauchy}", audits._compared(outputs, *laws, cauchy=cauchy, delta=delta)
    runs = [audits.tree_run(epsilon, 50, seed=seed) for epsilon, seed in ((0.5, 1), (8.0, 2), (100.0, 3))]
    yield "tree", runs
    yield "desk", [audits.desk_draws(1.0, budget, 50, seed=2) for budget in (1.0, 20.0)]
    yield "card", [audits.card_draws(1.0, budget, 50, seed=2) for budget in (1.0, 20.0)]


def _inferred(target: str, alone: tuple[float, float], both: float, low: float, high: float) -> Inferred:
    first, second, together = (proportion(round(value * 40), 40) for value in (*alone, both))
    gain = Estimate(value=both - max(alone), low=low, high=high, n=40)
    return Inferred(target=target, alone=(first, second), both=together, gain=gain)


def _two_models() -> NamedValues:
    for method, companion in product(
        ("unmitigated", "dp_id3", "exponentiated_gradient", "given"), ("none", "counterpart", "unmitigated")
    ):
        audited, settings = subject(1, method=method), TwoModelsSettings(companion=companion)
        yield f"second {method} {companion}", two_models.companion_of(audited, settings)
        either = [replace(audited, trainable=able) for able in (False, True)]
        yield "unavailable", [two_models.STUDY.unavailable(candidate, settings) for candidate in either]
    labels = np.array([0, 1, 1, 0])
    first = np.array([0, 1, 0, 1]), np.array([0.2, 0.9, 0.3, 0.6])
    second = np.array([1, 1, 0, 0]), np.array([0.7, 0.9 + 1e-14, 0.1, 0.2])
    for current, opposite in product((first, (first[0], None)), (second, (second[0], None))):
        yield "differences", two_models._differences(current, opposite, labels)
    for released, gains in product(
        ("predicted labels", "predicted labels and scores"), ((-0.1, 0.1), (0.0, 0.2), (0.01, 0.2), (-0.2, -0.01))
    ):
        members = _inferred("membership", (0.6, 0.6), 0.65, *gains)
        groups = (_inferred("north", (0.5, 0.7), 0.72, -0.05, 0.3), _inferred("south", (0.7, 0.5), 0.76, *gains))
        for attributes in (groups, groups[:1], ()) if gains[0] > 0 else (groups,):
            options: dict[str, Any] = {"released": released, "membership": members, "attributes": attributes}
            result = TwoModels(audited="A", second="B", attribute="origin", **options)
            for current in two_models.STUDY.findings(result, TwoModelsSettings()):
                texts = [current.point, current.evidence, current.so_what, current.attacker_knows]
                yield f"{released} {gains} {len(attributes)}", texts
            check = two_models.STUDY.checks(result, TwoModelsSettings())["two_models_gain"]
            yield "check", [check.estimate, check.control_name, check.attacked]
    rows = two_models.STUDY.tables(result, TwoModelsSettings())
    yield "rows", [list(row.values()) for row in rows[two_models.STUDY.title]]
    for seed, outputs in ((2, OutputsPlan(decimals=1)), (3, OutputsPlan(released="labels"))):
        audited, settings = two_models.STUDY.plants[0].make(seed, True)
        audited.outputs = outputs
        yield f"planted {seed} {outputs.text}", next(two_models.STUDY.run(audited, settings))
    few = subject(3, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_models, "_inferred", lambda *args, target: (target, args[2:4]))
        for fewest in (3, 4, 8, 9):
            patch.setattr(two_models, "FEWEST", fewest)
            yield f"groups of {fewest}", two_models.attributes(few, "unmitigated")
        yield "members", two_models.membership(few, "unmitigated")


CASES = {"fairness": _fairness, "said": _sentences, "subject": _subject, "budgets": _budgets, "two-models": _two_models}
PREFIX = "models-"


@pytest.mark.parametrize("part", CASES)
def test_numbers(part: str) -> None:
    compare_numbers(f"models-{part}", CASES[part]())
