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
from core.studies.measured_epsilon import audits, bounds
from core.studies.measured_epsilon.study import STUDY as BUDGETS
from core.studies.measured_epsilon.study import MeasuredEpsilon, MeasuredEpsilonSettings
from core.studies.planted import SyntheticRecords, subject_of
from core.studies.subject import OutputsPlan, Progress, Subject, train_model
from core.studies.two_models import study as two_models
from core.studies.two_models.study import Inferred, TwoModels, TwoModelsSettings
from tests.golden.numbers import Named, compare_numbers, refused

SETS = (20, 50, 26)
"""Training, attack and test records."""


def subject(seed: int, groups: int = 2, *, scores: bool = False, accept: float = 0.5, **config: Any) -> Subject:
    """Return given predictions for few people, in groups of unlike sizes."""
    rng, n = np.random.default_rng([seed, groups]), sum(SETS)
    sensitive = np.minimum(rng.integers(0, 2 * groups - 1, n) * rng.integers(0, 2, n), groups - 1)
    for start in (0, 20, 55, 70):  # of training, attack, validation and test records
        sensitive[start : start + 3 * groups] = np.arange(3 * groups) % groups
    labels = rng.integers(0, 2, n).astype(np.uint8)
    said = np.round(rng.random(n) * 0.6 + 0.2 * (sensitive > 0) + 0.2 * labels, 2)
    people = SyntheticRecords(
        features=rng.normal(size=(n, 2)), labels=labels, sensitive=(sensitive > 0).astype(np.uint8)
    )
    answers = (said >= np.quantile(said, 1 - accept) if 0 < accept < 1 else np.full(n, accept)).astype(np.uint8)
    made = subject_of(people, answers, SETS, seed=1, scores=said if scores else None)
    names = ("ash", "birch", "cedar", "elm")[:groups]
    dataset = replace(made.dataset, sensitive=sensitive.astype(np.uint8), group_names=names)
    given = replace(made, dataset=dataset, model=train_model(made.config, dataset, made.splits))
    return replace(given, config=replace(given.config, **config))


def _planted(study: Any, planted: bool) -> list[Any]:
    made, settings = study.plants[0].make(5, planted)
    return [settings, made.model.unfairness_test, made.model.predictions, made.model.scores, made.dataset.labels]


def _short(cell: object) -> str:
    return f"{cell:.5g}" if isinstance(cell, float) else str(cell)


def _fairness() -> Named:
    for seed, groups, accept in ((1, 2, 0.5), (2, 3, 0.3), (3, 4, 0.8), (4, 2, 0.0), (5, 3, 1.0), (6, 2, 0.05)):
        found = subject(seed, groups, accept=accept, scores=seed % 2 == 0)
        if seed == 3:  # nobody of the test records has label 0
            labels = found.dataset.labels.copy()
            labels[found.splits.test] = 1
            found = replace(found, dataset=replace(found.dataset, labels=labels))
        for name, measured in FAIRNESS.checks(found, FairnessSettings()).items():
            yield f"{seed} {name}", [measured.estimate, list((measured.details or {}).values()), measured.attacked]
        for one in fairness.fairness_metrics(found):
            yield f"{seed} {one.metric} {one.records}", [one.people, one.unfairness, one.difference]
        yield f"{seed} heading", fairness.metrics_heading(found, "test set")
        for records in fairness.SETS:
            yield f"{seed} words {records}", [" | ".join(row.values()) for row in fairness.metric_table(found, records)]
        for title, rows in FAIRNESS.tables(found, FairnessSettings()).items():
            if title != fairness.METRICS_TABLE or seed == 2:
                yield f"{seed} {title}", [" ".join(map(_short, row.values())) for row in rows[:9]]
        yield f"{seed} constraint", [" ".join(map(_short, row.values())) for row in fairness.constraint_rows(found)]
        if accept in (0.0, 1.0):
            said = fairness.headline(found)
            yield f"{seed} said", [said.point, said.so_what, said.to_do]
    yield "planted", [_planted(FAIRNESS, planted) for planted in (False, True)]
    yield "planted questions", [_planted(QUERIES, planted) for planted in (False, True)]
    rates = [proportion(k, n) for k, n in ((0, 5), (1, 5), (2, 9), (5, 5), (40, 90), (90, 90))]
    for one, other in product(rates, repeat=2):
        if one.value <= other.value:
            yield f"ratio {one.value:.3f} {other.value:.3f}", rate_ratio(one, other)


def _said() -> Named:
    ends = ((0.04, 0.01, 0.05), (0.02, 0.01, 0.03), (0.05, 0.02, 0.09), (0.1, 0.05, 0.2), (0.051, 0.0501, 0.2))
    both = ("given", "exponentiated_gradient")
    kinds = [*product(both, (0.05,), (0.05, 0.0504, 0.2), ends), *product(METHODS, (0.0,), (0.05,), ends[:1])]
    for method, tolerance, train, test in kinds:
        made = subject(1, method=method, tolerance=tolerance, epsilon=0.5)
        unseen = replace(made.model.unfairness_test, **dict(zip(("value", "low", "high"), test, strict=True)))
        model = replace(made.model, unfairness_train=train, unfairness_test=unseen)
        found = fairness.headline(replace(made, model=model))
        yield f"{method} {tolerance} {train} {test[0]}", [found.point, found.so_what]
    for method, metric, scores, known in product(
        ("given", "dp_id3", "threshold_optimizer"), METRICS[:2], (False, True), (True, False)
    ):
        config = {"method": method, "metric": metric, "tolerance": 0.01 * scores, "epsilon": 3.0 if known else math.inf}
        made = subject(2, 3, scores=scores, **config)
        dataset = replace(made.dataset, sets=made.dataset.sets if known else None)
        made = replace(made, dataset=dataset, model=replace(made.model, needs_sensitive=scores))
        found = fairness.headline(made)
        yield f"{method} {metric} {scores} {known}", [found.evidence, found.to_do, *fairness.cautions(made)]
        assumed = FAIRNESS.checks(made, FairnessSettings())["unfairness"].assumptions
        yield "people", [made.sets_known, made.trained_on, *made.over_people, *assumed]
        yield "findings", [one.point for one in FAIRNESS.findings(made, FairnessSettings())]


def _subject() -> Named:
    for scores, accept in product((False, True), (0.0, 0.5, 1.0)):
        made = subject(7, scores=scores, accept=accept)
        yield f"constant {scores} {accept}", [made.model.constant(made.splits), made.model.constant_scores(made.splits)]
    for scores in (False, True):
        made = subject(7, scores=scores)
        for released, decimals in (("scores", None), ("scores", 0), ("scores", 1), ("labels", None)):
            plan = OutputsPlan(released=released, decimals=decimals)
            scores_given = made.scores_of(plan), replace(made, outputs=plan).released_scores
            yield f"{released} {decimals}", [plan.text, *scores_given]
    made = subject(8, 3, scores=True)
    one_unlike = replace(made.model, predictions=np.zeros(sum(SETS), dtype=np.uint8))
    for place in (0, SETS[0] - 1, SETS[0], sum(SETS) - 1):
        one_unlike.predictions[:] = np.arange(sum(SETS)) == place
        yield f"one unlike {place}", one_unlike.constant(made.splits)
    for rows in (np.arange(sum(SETS)) % 12 != 11, np.arange(sum(SETS)) % 4 > 0, made.dataset.sensitive < 2):
        part = refused(made.part, rows)
        if not isinstance(part, str):
            part = [part.model.unfairness_test, part.splits.test, part.model.accuracy_train]
        yield "part", part
    yield "model", replace(made.model, predictions=made.model.predictions[:8])
    for metric in METRICS:
        for name, keep in product(("train", "validation", "test"), (2, 3)):
            fewer = getattr(made.splits, name)
            last = np.flatnonzero(made.dataset.sensitive[fewer] == 2)
            splits = replace(made.splits, **{name: np.delete(fewer, last[keep:])})
            yield f"cells {metric} {name} {keep}", refused(subjects.check_cells, metric, made.dataset, splits)
    for most in (made.splits.known.size - 1, made.splits.known.size):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(subjects, "MAX_ATTACKER_SAMPLE", most)
            yield f"most {most}", made.over_people
    labels = made.dataset.labels.copy()
    labels[made.dataset.sensitive == 1] = 1
    for known in (made.dataset, replace(made.dataset, labels=labels)):
        yield "labels", refused(subjects.check_labels, known, made.splits)
    for method in ("given", "threshold_optimizer"):
        config = replace(made.config, method=method)
        for kept in (replace(made.dataset, predictions=None), replace(made.dataset, labels=labels)):
            found = refused(train_model, config, kept, made.splits)
            yield f"trained {method}", found if isinstance(found, str) else found.accuracy_test
    prior, *known = [
        refused(subjects.prior_of, made.dataset, made.splits, rows, seed=3)
        for rows in (made.splits.test, made.splits.known[:2])
    ]
    yield "prior", [prior, prior.sum(axis=1), *known]
    steps: list[Any] = []
    progress = Progress(3, lambda done, total: steps.append((done, total)))
    progress.tick()
    for done in (0, 2, 9):
        progress.reach(done)
    progress.tick()
    yield "progress", steps


def _budgets() -> Named:
    counts = [(1, 0), (1, 1), (20, 0), (20, 10), (20, 17), (20, 20), (300, 190)]
    for delta in (0.0, 1e-3, 0.2):
        for epsilon in (0.0, 0.7, 4.0):
            yield f"p {delta} {epsilon}", [bounds.one_run_p_value(*one, epsilon, delta) for one in counts]
        for confidence in (0.5, 0.95, 0.9999):
            every, level = np.arange(21), {"delta": delta, "confidence": confidence}
            yield "two tables", bounds.two_table_bound(20, every[:, np.newaxis], every, **level)
    rng = np.random.default_rng(2)
    for shift, n, delta in ((0.0, 9, 0.0), (1.5, 40, 0.0), (-2.5, 41, 0.0), (3.0, 200, 0.05)):
        one = np.round(rng.normal(size=n) + shift, 1)
        yield f"distinguished {shift} {n}", bounds.distinguished(one, np.round(rng.normal(size=n), 1), delta=delta)
    for epsilon, noise in ((1.0, 1.0), (1.0, 0.25), (4.0, 0.5)):
        found = [make() for make in audits.audits(epsilon, noise=noise, canaries=50, repeats=60, seed=4)]
        for one in found:
            told = [one.promised, one.spent, one.delta, one.seen, one.spends, one.measured(0.9)]
            yield f"{one.mechanism} {epsilon} {noise}", told
        settings = MeasuredEpsilonSettings(epsilon=epsilon, noise=noise, confidence=0.9)
        for kept in (found[:1], found):
            result = MeasuredEpsilon(audited=tuple(kept))
            yield "above", [one.mechanism for one in result.above]
            yield "found", [[one.point, one.evidence, *one.caveats] for one in BUDGETS.findings(result, settings)]
            yield "check", BUDGETS.checks(result, settings)["measured_epsilon"].estimate
        yield "rows", [list(row.values()) for row in BUDGETS.tables(result, settings)[BUDGETS.title]]
    runs = [bounds.OneRun(guesses=200, correct=correct) for correct in (0, 150, 200)]
    pairs = ((0.0, runs[0]), (0.5, runs[1]), (0.5, runs[2]), (9.0, runs[2]))
    some = [
        audits.MechanismAudit(mechanism=f"{k}", promised=p, spent=None, seen=seen) for k, (p, seen) in enumerate(pairs)
    ]
    for result in (MeasuredEpsilon(audited=tuple(some)), MeasuredEpsilon(audited=tuple(some[:1]))):
        check, *said = BUDGETS.checks(result, settings)["measured_epsilon"], *BUDGETS.findings(result, settings)
        yield "broken", [check.estimate, check.details, [[one.point, *one.caveats] for one in said]]
    fewest = MeasuredEpsilonSettings(canaries=50, repeats=200)
    yield "steps", [BUDGETS.steps(subject(1), fewest), len(list(BUDGETS.run(subject(1), fewest)))]
    yield "planted", [_planted(BUDGETS, planted) for planted in (False, True)]
    outputs = [np.array([[0.0, 1.0], [2.0, 5.0], [-1.0, 0.5]] * 3), np.array([[1.0, 1.0], [2.5, -3.0], [0.0, 0.5]] * 3)]
    for cauchy, delta in product((False, True), (0.0, 0.1)):
        laws = [[0.0, 1.0], [1.0, 0.5]], [[1.0, 2.0], [0.5, 3.0]]
        yield f"compared {cauchy}", audits._compared(outputs, *laws, cauchy=cauchy, delta=delta)
    runs = [audits.tree_run(epsilon, 50, seed=seed) for epsilon, seed in ((0.5, 1), (8.0, 2), (100.0, 3))]
    yield "tree", runs
    yield "desk", [audits.desk_draws(1.0, asked, 50, seed=2) for asked in (1.0, 20.0)]
    yield "card", [audits.card_draws(1.0, asked, 50, seed=2) for asked in (1.0, 20.0)]


def _inferred(target: str, alone: tuple[float, float], both: float, low: float, high: float) -> Inferred:
    one, other, together = (proportion(round(value * 40), 40) for value in (*alone, both))
    gain = Estimate(value=both - max(alone), low=low, high=high, n=40)
    return Inferred(target=target, alone=(one, other), both=together, gain=gain)


def _two_models() -> Named:
    for method, companion in product(
        ("unmitigated", "dp_id3", "exponentiated_gradient", "given"), ("none", "counterpart", "unmitigated")
    ):
        made, settings = subject(1, method=method), TwoModelsSettings(companion=companion)
        yield f"second {method} {companion}", two_models.companion_of(made, settings)
        either = [replace(made, trainable=able) for able in (False, True)]
        yield "unavailable", [two_models.STUDY.unavailable(one, settings) for one in either]
    labels = np.array([0, 1, 1, 0])
    first = np.array([0, 1, 0, 1]), np.array([0.2, 0.9, 0.3, 0.6])
    second = np.array([1, 1, 0, 0]), np.array([0.7, 0.9 + 1e-14, 0.1, 0.2])
    for one, other in product((first, (first[0], None)), (second, (second[0], None))):
        yield "differences", two_models._differences(one, other, labels)
    for released, gains in product(
        ("predicted labels", "predicted labels and scores"), ((-0.1, 0.1), (0.0, 0.2), (0.01, 0.2), (-0.2, -0.01))
    ):
        members = _inferred("membership", (0.6, 0.6), 0.65, *gains)
        groups = (_inferred("north", (0.5, 0.7), 0.72, -0.05, 0.3), _inferred("south", (0.7, 0.5), 0.76, *gains))
        for attributes in (groups, groups[:1], ()) if gains[0] > 0 else (groups,):
            told: dict[str, Any] = {"released": released, "membership": members, "attributes": attributes}
            result = TwoModels(audited="A", second="B", attribute="origin", **told)
            for one in two_models.STUDY.findings(result, TwoModelsSettings()):
                said = [one.point, one.evidence, one.so_what, one.attacker_knows]
                yield f"{released} {gains} {len(attributes)}", said
            check = two_models.STUDY.checks(result, TwoModelsSettings())["two_models_gain"]
            yield "check", [check.estimate, check.control_name, check.attacked]
    rows = two_models.STUDY.tables(result, TwoModelsSettings())
    yield "rows", [list(row.values()) for row in rows[two_models.STUDY.title]]
    for seed, outputs in ((2, OutputsPlan(decimals=1)), (3, OutputsPlan(released="labels"))):
        made, settings = two_models.STUDY.plants[0].make(seed, True)
        made.outputs = outputs
        yield f"planted {seed} {outputs.text}", next(two_models.STUDY.run(made, settings))
    few = subject(3, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_models, "_inferred", lambda *args, target: (target, args[2:4]))
        for fewest in (3, 4, 8, 9):
            patch.setattr(two_models, "FEWEST", fewest)
            yield f"groups of {fewest}", two_models.attributes(few, "unmitigated")
        yield "members", two_models.membership(few, "unmitigated")


CASES = {"fairness": _fairness, "said": _said, "subject": _subject, "budgets": _budgets, "two-models": _two_models}
PREFIX = "models-"


@pytest.mark.parametrize("part", CASES)
def test_numbers(part: str) -> None:
    compare_numbers(f"models-{part}", CASES[part]())
