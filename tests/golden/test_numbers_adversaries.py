"""What attackers learn of a few uneven people, and what is released about them, is as it was.

Numbers that follow boosting or a search are rounded to four decimals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.adversaries import adversary, imputation, output_evidence, released_outputs
from core.base.validation import decimals_of
from core.stats.estimates import Estimate
from core.studies.attribute import study
from core.studies.attribute.study import AttackerPosteriors, AttributeSettings
from core.studies.study import SyntheticRecords, draw_people, subject_of
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.reference.strong_adversary import train_strong_adversary

Outputs = output_evidence.Outputs


@cache
def people(n: int = 90, k: int = 2, seed: int = 1) -> dict[str, Any]:
    """Return uneven groups, of whom features, one of them categorical, and answers say something."""
    rng = np.random.default_rng(seed)
    groups = np.minimum(rng.integers(0, k + 1, n), k - 1).astype(np.uint8)
    x = np.column_stack([rng.normal(size=n).round(2) + 0.8 * groups, rng.integers(0, 4, n), rng.integers(0, 2, n)])
    labels = (rng.random(n) < 0.3 + 0.15 * x[:, 2]).astype(np.uint8)
    answers = (rng.random(n) < 0.25 + 0.4 * (groups == k - 1)).astype(np.uint8)
    scores = (0.2 + 0.4 * answers + 0.05 * x[:, 1] + 0.15 * rng.random(n)).round(3)
    return {"x": x, "labels": labels, "groups": groups, "answers": answers, "scores": scores}


CATEGORICAL = np.array([False, True, False])


def _trained() -> NamedValues:
    for k in (2, 3):
        sample = people(k=k)
        for seen in (None, sample["answers"]):
            training = (
                sample["x"][:60],
                sample["labels"][:60],
                sample["groups"][:60],
                None if seen is None else seen[:60],
            )
            held_out = sample["x"][60:], sample["labels"][60:], sample["answers"][60:]
            for kind in adversary.ADVERSARIES:
                few = {"n_estimators": 7, "max_depth": 3}
                forest = adversary.train_adversary(kind, *training, seed=3, parameters=few)
                probability = forest.probability(*held_out)
                yield f"{k} groups, {kind}, {seen is not None}", (forest.sees_predictions, probability)
                scale = adversary.fit_platt_scale(probability, sample["groups"][60:])
                yield (
                    f"{k} groups, {kind}, {seen is not None}: calibrated",
                    (
                        scale.slope.round(3),
                        scale.intercept.round(3),
                        scale.apply(probability).round(3),
                    ),
                )
            for categorical in (None, CATEGORICAL, ~CATEGORICAL & False):
                strong = train_strong_adversary(*training, categorical=categorical, seed=3)
                name = f"{k} groups, strong, {seen is not None}, {categorical}"
                yield name, (strong.estimator.n_iter_, strong.probability(*held_out).round(4))
        records = adversary.AttackedRecords(
            probability=probability,
            calibrated=scale.apply(probability),
            predictions=held_out[2],
            labels=held_out[1],
            truth=sample["groups"][60:],
        )
        yield f"{k} groups: records", (records.guess, records.calibrated_guess, records.confidence, records.n_groups)
    for counts in ((5, 5), (5, 6), (7, 7, 6), (7, 7, 7), (20, 1), (19, 2)):
        groups = np.repeat(np.arange(len(counts)), counts)
        strong = train_strong_adversary(np.arange(groups.size)[:, None] % 7, groups % 2, groups, seed=1)
        yield f"stops early with {counts}", bool(strong.estimator.do_early_stopping_)
    many = np.column_stack([np.arange(600) % modulus for modulus in (255, 256, 3)])
    for categorical in ([True, True, False], [False, False, True]):
        strong = train_strong_adversary(many, many[:, 2] % 2, many[:, 0] % 2, categorical=np.array(categorical))
        yield f"categories {categorical}", strong.estimator.is_categorical_


def _scaled() -> NamedValues:
    scale = adversary.PlattScale(slope=np.array([[1.5, -0.25], [0.5, 2.0]]), intercept=np.array([0.3, -1.0]))
    three = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1e-9, 0.4, 0.6]])
    yield "of three", scale.apply(three)
    yield "log-odds", adversary._log_odds(three)
    two = adversary.PlattScale(slope=np.array([[0.7]]), intercept=np.array([-0.4]))
    yield "of two", two.apply(np.array([[0.2, 0.8], [1.0, 0.0], [0.5, 0.5]]))
    wrong = ({"max_depth": None}, {"max_depth": 0}, {"max_depth": 64}, {"max_depth": 65}, {"n_estimators": None})
    more = ({"n_estimators": 3001}, {"n_estimators": 3000}, {"min_samples_split": 1}, {"min_samples_leaf": 10_001})
    for parameters in (
        None,
        *wrong,
        *more,
        {"max_features": None},
        {"criterion": None},
        {"max_features": 3},
        {"depth": 3},
    ):
        yield f"forest of {parameters}", refused(adversary.forest_parameters, parameters)
    for groups in ([0, 0], [0, 1], [0, 2], [1, 2], [2, 1, 0], [1, 1]):
        yield f"groups {groups}", refused(adversary.check_groups, np.array(groups))
    yield "a group is missing", refused(adversary.fit_platt_scale, three, np.array([0, 1, 1, 0]))
    records = np.arange(6.0).reshape(3, 2), np.array([1, 1, 0])
    yield "columns", adversary.known_columns(*records, np.array([1, 0, 0]))
    yield "columns without answers", adversary.known_columns(*records)


def _crossed() -> NamedValues:
    sample = people()
    for score in (None, sample["scores"], np.where(sample["answers"] == 1, 1.0, sample["x"][:, 1] / 4)):
        yield "columns", released_outputs.released_columns(sample["answers"], sample["labels"], score)
    for counts in ((3, 4), (1, 1), (0, 5), (6, 3)):
        member = np.repeat([0, 1], counts).astype(np.uint8)
        yield f"halves of {counts}", str(released_outputs.halves(member, seed=2).astype(int).tolist())
    for value, low, high in ((0.6, 0.52, 0.7), (0.6, 0.55, 0.65), (0.5, 0.45, 0.55), (0.4, 0.3, 0.6)):
        estimate = Estimate(value=value, low=low, high=high, n=30)
        for chance in (0.5, value - math.sqrt(1 + 2 / math.pi) * (value - low), 0.2):
            yield f"taught {value} {low}, {chance:.3f}", released_outputs.cross_fitted_interval(estimate, chance)
    score, verdict = released_outputs.cross_fitted(
        [sample["x"][:, 0], sample["x"][:, 1]], sample["groups"], seed=1, name="x"
    )
    yield "cross-fitted", (score, verdict)


def _released() -> NamedValues:
    sample, three = people(), people(120, 3, 2)
    scores = sample["scores"].copy()
    scores[[3, 40]] = np.nan
    scores[[5, 6]] = 0.0, 1.0
    for decimals in (0, 1, 2, 3, 6, 12, 15):
        rounded = Outputs(labels=sample["answers"], scores=np.round(scores, decimals), decimals=decimals)
        yield (
            f"{decimals} decimals",
            (
                decimals_of(np.round(scores, decimals)),
                output_evidence.late_decimals(np.round(scores, decimals), decimals),
            ),
        )
        logits = output_evidence.Logits.of(rounded)
        yield f"{decimals} decimals: logits", (logits.values, logits.variance)
    yield "of some", replace(rounded.of(np.array([3, 5, 7])), labels=sample["answers"][:3])
    for queried, kind in product((people(), three), (None, CATEGORICAL)):
        k = int(queried["groups"].max()) + 1
        outputs = Outputs(labels=queried["answers"], scores=queried["scores"], decimals=3)
        categorical = CATEGORICAL & (kind is not None)
        before = _imputation(queried, categorical)
        name, rows = f"{k} groups, {kind is not None}", np.arange(queried["groups"].size)
        yield (
            f"{name}: imputation",
            (before.combination, before.odds[:20].round(4), before.about(queried["x"][:9]).odds.round(4)),
        )
        evidence = output_evidence.OutputEvidence.of(queried["x"], outputs, queried["groups"], before, rows[-20:])
        for about, columns in (("learners", evidence.columns()), ("asked", evidence.columns(rows[-9:]))):
            output = [getattr(columns, field.name) for field in fields(columns)]
            yield (
                f"{name}: {about}",
                [value[:9].round(4) if isinstance(value, np.ndarray) else value for value in output],
            )
    for tied, queried in (
        ([0.1, 0.1, 0.3, 0.3, 0.3, 0.7], [0.1, 0.2, 0.3, 0.9]),
        (np.arange(20) / 20, [0.05]),
        ([*np.arange(19) / 20, 0.0], [0.05]),
    ):
        groups, column = np.arange(len(tied)) % 3, np.array(tied)
        table = output_evidence.ValueTable.of(column, groups, 3)
        yield (
            f"values {len(tied)}",
            (table.odds(np.array(queried)), table.odds_out_of_fold(column, groups, np.arange(len(tied)) % 2)),
        )
    cut = imputation.known_records(np.arange(20, 60), sample["groups"], seed=1)
    yield "cut", [str(row_set.tolist()) for row_set in (cut.learners, cut.fold, cut.validation)]
    for cohort, columns in ((sample, None), (sample, scores), (three, three["scores"]), (three, None)):
        outputs = Outputs(labels=cohort["answers"], scores=columns, decimals=3)
        n, k = cohort["groups"].size, int(cohort["groups"].max()) + 1
        before, targets = _imputation(cohort, CATEGORICAL), np.arange(n // 2, n)
        output = released_outputs.attack_released(cohort["x"], outputs, cohort["groups"], before, targets)
        yield (
            f"attack on {k} groups",
            (output.before.round(4), output.after.round(4), output.attack, output.share, output.n_attacker_records),
        )


def _imputation(cohort: dict[str, Any], categorical: Any) -> imputation.ImputationAttacker:
    """Return what half of the people teach."""
    groups = cohort["groups"]
    records = imputation.known_records(np.arange(groups.size // 2), groups, seed=2)
    k = int(groups.max()) + 1
    return imputation.train_imputation(cohort["x"], groups, records, n_groups=k, categorical=categorical, seed=2)


class _RecordingLearner:
    """A learner that keeps what it was asked to be, and is nearly certain of the likelier label."""

    parameters: dict[str, Any]
    likely: float

    def __init__(self, **parameters: Any) -> None:
        _RecordingLearner.parameters = {
            name: value for name, value in parameters.items() if not isinstance(value, np.ndarray)
        }

    def fit(self, x: Any, y: Any) -> _RecordingLearner:
        self.likely = 1e-7 if np.mean(y) < 0.4 else 1.0 - 1e-7 if np.mean(y) > 0.6 else 0.5
        return self

    def predict_proba(self, x: Any) -> Any:
        return np.tile([1.0 - self.likely, self.likely], (len(x), 1))

    def predict(self, x: Any) -> Any:
        return np.full(len(x), 0.25)


def _boosters() -> NamedValues:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"):
            patch.setattr(f"sklearn.ensemble.{name}", _RecordingLearner)
        for n, rare in product((39, 40, 120, 299, 300, 499, 500, 1050), (4, 5, 9, 10, 35)):
            groups = (np.arange(n) < rare).astype(np.uint8)
            x, flags = np.column_stack([np.arange(n), groups]).astype(float), np.array([False, True])
            for slow in (False, True):
                imputation.fit_group_boosting(x, groups, flags, seed=5, slow=slow)
                yield f"group of {rare} in {n}, slow {slow}", _RecordingLearner.parameters
            _RecordingLearner.parameters = {}
            before = SimpleNamespace(countable=flags, seed=5)
            model = output_evidence.value_model(x, groups == 1, before)  # type: ignore[arg-type]
            chance = output_evidence.value_probability(model, x[:1])
            yield f"label of {rare} in {n}", (chance, _RecordingLearner.parameters)
        for n in (19, 20, 40, 499, 500, 999, 1000):
            groups = np.arange(n) % 2
            x = np.zeros((n, 2))
            released_outputs._fitted(x.astype(np.float32), groups.astype(np.uint8), 4)
            yield f"half of {n}", _RecordingLearner.parameters
            output_evidence.BoostedMeans.fit(x, groups, groups / 4.0, np.zeros(2, bool), n_groups=2, seed=6)
            yield f"scores of {n}", _RecordingLearner.parameters


def _many() -> NamedValues:
    sample = people()
    n = sample["groups"].size
    for enough in range(n - 1, n + 2):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(imputation, "_MANY", enough)
            output = imputation.known_records_with_folds(np.arange(n), np.arange(0), sample["groups"], seed=2)
        yield f"{enough} are many", str(output.fold.tolist())
    for most in (44, 45, 46):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(released_outputs, "MAX_TEACHERS", most)
            output = released_outputs.cross_fitted([sample["x"][:, 0]], sample["groups"], seed=1, name="x")
        yield f"{most} teach", output


def _evaluated() -> NamedValues:
    rng = np.random.default_rng(4)
    truth = np.array([0, 0, 1, 0, 1, 2, 0, 1, 0, 0, 2, 0])
    before, after = (rng.dirichlet(np.ones(3), 12) * 0.5 + 0.5 * weight * np.eye(3)[truth] for weight in (0.3, 1.0))
    before, after = (weights / weights.sum(axis=1, keepdims=True) for weights in (before, after))
    after[3] = [0.0, 1.0, 0.0]
    posteriors = AttackerPosteriors(
        truth=truth, before=before, after=after, share=np.array([0.6, 0.3, 0.1]), attack="all", n_attacker_records=30
    )
    for measure in study.MEASURES:
        yield f"{measure}: level", [posteriors.level(measure, probability) for probability in (before, after)]
        yield f"{measure}: gain", posteriors.gain(measure)
    yield "guesses", [str(posteriors.guess(after, balanced=balanced).tolist()) for balanced in (False, True)]
    yield "bits", posteriors.bits(after)
    for rows in (np.arange(12), np.arange(3, 10)):
        yield f"halves of {rows.size}", [str(half.tolist()) for half in study._halves(rows, truth, 3)]
    attack = replace(
        posteriors, truth=truth[:5], before=before[:5], after=after[:5], attack="label", n_attacker_records=8
    )
    second_attack = replace(attack, truth=truth[5:10], attack="all", before=before[5:9], n_attacker_records=9)
    for attacks in ([attack], [attack, second_attack], [attack] * 2):
        yield f"together {len(attacks)}", study._together(attacks)
    for low, high, closed in ((0.0, 0.02, 0.02), (0.01, 0.02, 0.0199), (-0.1, 0.1, 0.1), (0.001, 0.5, 1.0)):
        gains = [
            Estimate(value=(low + high) / 2, low=low, high=high, n=9),
            Estimate(value=0.0, low=-0.1, high=0.01, n=9),
        ]
        yield f"{low} to {high} within {closed}", [study._significant(gains), study._within(gains, closed)]
    kinds = np.array([0, 1, 1, 2, 17, 17, 17])
    yield "frequencies", study._frequencies(kinds, np.array([0, 1, 0, 1, 1, 1, 0], np.uint8), 0.3)[[0, 1, 2, 3, 17, 20]]


def _studied() -> NamedValues:
    for seed in range(5):
        subject, settings = study._released(seed, seed != 2)
        train = subject.splits.train
        sensitive, predictions = subject.dataset.sensitive, subject.model.predictions
        summary = sensitive.size, np.bincount(sensitive[train]), predictions[train].mean()
        yield (
            f"released {seed}",
            (*summary, None if subject.dataset.scores is None else subject.dataset.scores[train], settings),
        )
    subject, settings = study._tabled(1, True)
    (result,) = study.STUDY.run(subject, settings)
    yield "tabled", (result.gains, result.posteriors["outside"].before, result.posteriors["outside"].after)
    rng = np.random.default_rng(6)
    drawn = draw_people(330, rng)
    scores = (0.1 + 0.5 * drawn.sensitive + 0.3 * rng.random(330)).round(2)
    subject = subject_of(drawn, (scores >= 0.5).astype(np.uint8), (130, 160, 40), seed=1, scores=scores)
    (result,) = study.STUDY.run(subject, AttributeSettings())
    yield "gains", {measure: (position, gain.value.__round__(4)) for measure, (position, gain) in result.gains.items()}
    yield (
        "closing",
        [(name, round(gain.value, 4), round(balanced_gain.value, 4)) for name, gain, balanced_gain in result.closing],
    )
    yield "places", [str(result.posteriors), result.released][1:]
    yield (
        "checks",
        [
            (measurement.check, measurement.attacked, measurement.knows, *measurement.assumptions)
            for measurement in study.STUDY.checks(result, AttributeSettings()).values()
        ],
    )


def _even_attack(*arguments: Any, **_: Any) -> AttackerPosteriors:
    sensitive, before, targets = arguments[2:]
    even = np.full((targets.size, 2), 0.5)
    return AttackerPosteriors(
        truth=sensitive[targets],
        before=even,
        after=even,
        attack="label",
        share=np.array([0.5, 0.5]),
        n_attacker_records=before.records.n,
    )


def _placed() -> NamedValues:
    for rare in (38, 39, 40, 41, 80, 81, 82):
        groups = np.concatenate([np.arange(120) < rare, np.arange(80) % 2 > 0]).astype(np.uint8)
        drawn = SyntheticRecords(
            features=np.arange(400.0).reshape(200, 2), labels=np.arange(200, dtype=np.uint8) // 3 % 2, sensitive=groups
        )
        subject = subject_of(drawn, np.arange(200, dtype=np.uint8) % 2, (120, 60, 20), seed=1)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(study, "attack_released", _even_attack)
            posteriors = study._posteriors(subject, subject.outputs)
        yield (
            f"{rare} of 120",
            {
                position: (posterior.n_attacker_records, posterior.truth.size, posterior.truth.sum())
                for position, posterior in posteriors.items()
            },
        )


def _tuned() -> NamedValues:
    sample = people(70, 3, 9)
    parameters = adversary.tune_forest(
        "predictions", sample["x"], sample["labels"], sample["groups"], sample["answers"], evaluations=2, seed=1
    )
    yield "tuned", {field.name: getattr(parameters, field.name) for field in fields(parameters)}


CASES: dict[str, Callable[[], NamedValues]] = {
    "trained": _trained,
    "scaled": _scaled,
    "crossed": _crossed,
    "released": _released,
    "boosters": _boosters,
    "many": _many,
    "judged": _evaluated,
    "studied": _studied,
    "placed": _placed,
    "tuned": _tuned,
}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"adversaries_{case}", CASES[case]())
