"""The study of two models of one table: what releasing both adds to what the better one alone reveals.

The idea is that of Tian et al. (2023, FD-MIA, arXiv 2311.03865; 2025, FD-AIA, arXiv 2503.06150): a fair model and the
biased one it replaces answer one person differently, and by how much depends on whether the person was trained on.
Differs from the papers, of which the idea alone is taken: half of the people teach the attackers, instead of shadow
models, so that what is found bounds what shadows would find; the gain is counted against the better model alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...adversaries.released_outputs import cross_fitted, cross_fitted_interval, released_columns
from ...base.serialize import Result
from ...base.settings import Param, Settings
from ...base.validation import Codes, Floats, child_generator
from ...models import METHOD_TITLES, METHODS, PRIVATE_METHODS
from ...stats.estimates import (
    Estimate,
    balanced_accuracy,
    balanced_gain,
    count,
    estimate_columns,
    min_estimate,
    percent,
    point_interval,
    points,
    strongest,
)
from ..study import (
    Check,
    Finding,
    Measurement,
    Plant,
    ReportProgress,
    Row,
    Study,
    subject_of,
    synthetic_people,
)
from ..subject import Subject, fit_rows

COUNTERPART = "counterpart"
"""The unmitigated model of a mitigated one; of another one exponentiated gradient at the audited tolerance."""

NONE = "none"
"""One model is released."""

_COMPANIONS = {
    NONE: "None",
    COUNTERPART: "Unmitigated or fair counterpart",
    **{name: METHOD_TITLES[name] for name in METHODS if name not in PRIVATE_METHODS},
}
"""Second models on offer; no private tree, whose ε is one of the audited model alone."""

UNFAIR = ("unmitigated", "dp_id3")
"""Methods without a fairness constraint."""

WARNING = "These models are variants of one table: if two are released, their difference can reveal people."
"""What is said wherever a biased and a fair model, or other variants, could both be released."""

ONE_MODEL = "No second model is released: choose its method to see what the models reveal together."
"""Why the study is not run where the plan names no second model."""

FEWEST = 40
"""Fewest people of either kind: of 20 in each half something can be learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoModelsSettings(Settings):
    """Which model is released beside the audited one."""

    companion: Annotated[
        str,
        Param(
            "Second model",
            'Method of the model that is released beside the audited one: {options}. "counterpart" is the unmitigated '
            "model beside a fair one, else exponentiated gradient at the audited tolerance.",
            options=_COMPANIONS,
        ),
    ] = NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Inferred(Result):
    """How well one thing is inferred of people, in balanced accuracy: 0.5 is random guessing."""

    target: str
    """ "membership", or the group that people are inferred to belong to."""
    alone: tuple[Estimate, Estimate]
    """From what the audited model releases, and from what the second one does."""
    both: Estimate
    gain: Estimate
    """Of both over the better one alone, on the same people."""

    @property
    def better(self) -> int:
        """Which model alone reveals more: 0 is the audited one."""
        return int(self.alone[1].value > self.alone[0].value)


def companion_of(subject: Subject, settings: TwoModelsSettings) -> str:
    """Return the method of the second model."""
    if settings.companion != COUNTERPART:
        return settings.companion
    if subject.config.method in UNFAIR:
        return "exponentiated_gradient"
    return "unmitigated"


def second_model(subject: Subject, method: str) -> tuple[Codes, Floats]:
    """Return everybody's predictions and scores by a model of another method, trained once on the same records."""

    def train() -> tuple[Codes, Floats]:
        dataset = subject.dataset
        seed = subject.config.seed
        x = dataset.features
        s = dataset.sensitive
        model = fit_rows(
            replace(subject.config, method=method), dataset, subject.splits.train, seed=seed
        )
        return model.predict(x, s, seed=seed), model.scores(x, s)

    return subject.once(f"second model {method}", train)


def membership(subject: Subject, method: str) -> Inferred:
    """Infer who of the training and test records was trained on."""
    train = subject.splits.train
    test = subject.splits.test
    rows = np.concatenate([train, test])
    member = np.repeat([1, 0], [train.size, test.size]).astype(np.uint8)
    return _inferred(subject, method, rows, member, (), target="membership")


def attributes(subject: Subject, method: str) -> tuple[Inferred, ...]:
    """Infer the group of the training records, each group against all others; of two groups the second alone.

    Left out are groups with fewer than `FEWEST` people inside or outside. The attackers know everybody's features.
    """
    dataset = subject.dataset
    rows = subject.splits.train
    inferences = []
    for code in range(int(dataset.n_groups == 2), dataset.n_groups):
        inside = (dataset.sensitive[rows] == code).astype(np.uint8)
        if np.bincount(inside, minlength=2).min() >= FEWEST:
            features = tuple(dataset.features[rows].T)
            inferences.append(
                _inferred(subject, method, rows, inside, features, target=dataset.group_names[code])
            )
    return tuple(inferences)


def _inferred(
    subject: Subject,
    method: str,
    rows: npt.NDArray[np.intp],
    truth: Codes,
    feature_columns: Sequence[Floats],
    *,
    target: str,
) -> Inferred:
    """Let three attackers judge the same people, taught by the same half: each model's, and that of both."""
    labels = subject.dataset.labels[rows]
    seed = subject.config.seed
    predictions, scores = second_model(subject, method)
    released_scores = subject.released_scores
    decimals = subject.outputs.decimals
    if released_scores is not None and decimals is not None:
        scores = np.round(scores, decimals)
    audited: _Answers = (subject.model.predictions[rows], None)
    second: _Answers = (predictions[rows], None)
    if released_scores is not None:
        audited = (subject.model.predictions[rows], released_scores[rows])
        second = (predictions[rows], scores[rows])
    columns = {"audited": released_columns(audited[0], labels, audited[1])}
    columns["second"] = released_columns(second[0], labels, second[1])
    columns["both"] = [
        *columns["audited"],
        *columns["second"],
        *_differences(audited, second, labels),
    ]
    verdicts = {
        name: cross_fitted(
            [*feature_columns, *released], truth, seed=seed, name=f"two models, {target}, {name}"
        )[1]
        for name, released in columns.items()
    }
    joint_verdict = verdicts.pop("both")
    gains = {
        name: cross_fitted_interval(balanced_gain(truth, verdict, joint_verdict), 0.0)
        for name, verdict in verdicts.items()
    }
    audited_accuracy, second_accuracy, joint_accuracy = (
        cross_fitted_interval(balanced_accuracy(truth, verdict), 0.5)
        for verdict in (verdicts["audited"], verdicts["second"], joint_verdict)
    )
    return Inferred(
        target=target,
        alone=(audited_accuracy, second_accuracy),
        both=joint_accuracy,
        gain=min_estimate(gains)[1].within(-1.0, 1.0),
    )


_Answers = tuple[Codes, Floats | None]
"""Predictions, and scores where these are released."""


def _differences(first: _Answers, second: _Answers, labels: Codes) -> list[npt.NDArray[np.float64]]:
    """Return by how much two models differ on each person: as it is, towards the person's own label, and its size."""
    (predicted, score) = first
    (other_predicted, other_score) = second
    if score is None or other_score is None:
        return [predicted.astype(np.float64) - other_predicted]
    score_difference = np.round(
        score - other_score, 12
    )  # equal scores, no difference, but for rounding
    return [
        score_difference,
        np.where(labels == 1, score_difference, -score_difference),
        np.abs(score_difference),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoModels(Result):
    """What is inferred from two models of the same training records."""

    audited: str
    second: str
    """What the models' methods are called."""
    attribute: str
    released: str
    membership: Inferred
    attributes: tuple[Inferred, ...]
    """Of each group that is large enough."""


_SETS = (300, 100, 300)
"""Training, attack and test records of the people it is tried on."""


def _people(seed: int, planted: bool) -> tuple[Subject, TwoModelsSettings]:
    """Return two models whose scores are noise, the same in both models for half of the people.

    Planted, these are the members, or the people of group 1, in turn by the seed; else they are drawn at random. Each
    score alone is the same noise for everybody.
    """
    rng = child_generator(seed, f"two models, planted {planted}")
    n = sum(_SETS)
    labels = rng.integers(0, 2, n).astype(np.uint8)
    sensitive = rng.integers(0, 2, n).astype(np.uint8)
    people = synthetic_people(np.zeros((n, 1)), labels, sensitive)
    if seed % 2:
        marked = people.sensitive == 1
    else:
        marked = np.arange(n) < _SETS[0]
    shared = marked if planted else rng.random(n) < 0.5
    scores: Floats = rng.random(n)
    second = np.where(shared, scores, rng.random(n))
    subject = subject_of(people, (scores >= 0.5).astype(np.uint8), _SETS, seed=seed, scores=scores)
    subject.trainable = True
    settings = TwoModelsSettings(companion=COUNTERPART)
    answers = (second >= 0.5).astype(np.uint8), second
    subject.once(f"second model {companion_of(subject, settings)}", lambda: answers)
    return subject, settings


class TwoModelsStudy(Study[TwoModelsSettings, TwoModels]):
    """Gain of two models of the same training records over the better one, for membership and attribute inference."""

    name = "two_models"
    title = "Two models of one table"
    settings = TwoModelsSettings
    reads_outputs = True
    command_defaults: ClassVar[Mapping[str, Any]] = {"companion": COUNTERPART}
    plants = (
        Plant(
            attack="Members and groups inferred from the difference of two models' scores",
            explanation="Null: two models whose scores agree about half of the people, drawn at random. Planted, in "
            "turn: "
            "models that agree about members alone, or about one group alone.",
            make=_people,
            limits={"two_models_gain": 0.0},
        ),
    )
    declared = (
        Check(
            name="two_models_gain",
            title="Two models released: gain over the better one",
            unit="points",
            definition="Balanced accuracy of an attack on a fair and an unmitigated model of the same records, minus "
            "that of the same attack on the better model alone. It is the larger of the gains in membership and "
            "attribute inference.",
            needs=("a model trained here",),
        ),
    )

    def unavailable(self, subject: Subject, settings: TwoModelsSettings) -> str:
        """Return why there is one model alone: it was not trained here, or the second would be the same."""
        if settings.companion == NONE:
            return ONE_MODEL
        if not subject.trainable:
            return (
                "Two models of the same records are needed; only the predictions of one are given."
            )
        if (method := companion_of(subject, settings)) == subject.config.method:
            return f"The second model must be of another method than the audited one, got {METHOD_TITLES[method]}."
        return ""

    def run(
        self, subject: Subject, settings: TwoModelsSettings, report: ReportProgress | None = None
    ) -> Iterator[TwoModels]:
        """Train the second model, and infer membership and groups from either model and from both."""
        method = companion_of(subject, settings)
        members = membership(subject, method)
        groups = attributes(subject, method)
        if report is not None:
            report(1, 1)
        yield TwoModels(
            audited=METHOD_TITLES[subject.config.method],
            second=METHOD_TITLES[method],
            attribute=subject.attribute,
            released=subject.outputs.text,
            membership=members,
            attributes=groups,
        )

    def findings(self, result: TwoModels, settings: TwoModelsSettings) -> tuple[Finding, ...]:
        """Return what both models add to membership inference, then to inferring the attribute."""
        findings = [_finding(result, result.membership, result.membership.gain)]
        if result.attributes:
            best, gain = _largest(result.attributes)
            findings.append(
                replace(_finding(result, best, gain), caveats=())
            )  # the headline has them
        return tuple(findings)

    def checks(self, result: TwoModels, settings: TwoModelsSettings) -> Mapping[str, Measurement]:
        """Return the larger of the gains, with an interval for all that was inferred."""
        best, gain = _largest((result.membership, *result.attributes))
        details: dict[str, float] = {}
        for inference in (result.membership, *result.attributes):
            details |= {
                f"{inference.target}, {name}": level.value
                for name, level in _levels(result, inference).items()
            }
        return {
            "two_models_gain": Measurement(
                check="two_models_gain",
                estimate=gain,
                control=best.alone[best.better],
                control_name=f"{_models(result)[best.better]} alone, balanced accuracy",
                attacked=f"{_inferring(result, best)} from the {result.released} of 2 models of the "
                f"same records ({result.audited}; {result.second}), by boosting.",
                knows=_knows(result, best),
                assumptions=(
                    *_CAVEATS,
                    "The interval holds for membership and all groups together.",
                ),
                details=details,
            )
        }

    def tables(
        self, result: TwoModels, settings: TwoModelsSettings
    ) -> Mapping[str, tuple[Row, ...]]:
        """Return the balanced accuracy from each model alone and from both, of membership and of each group."""
        rows: list[Row] = []
        for inference in (result.membership, *result.attributes):
            for name, level in _levels(result, inference).items():
                rows.append(
                    {
                        "inferred": inference.target,
                        "from": name,
                        **estimate_columns("balanced accuracy", level),
                    }
                )
        return {self.title: tuple(rows)}


_CAVEATS = (
    "Compared is one attack, boosting, on 1 model and on 2. Membership inference and Attribute inference try other "
    "attacks on one model, which may find more.",
    "The interval is over people like these; models, attackers and seed are taken as they are.",
    "The second model is trained here on the same records; other pairs may reveal more.",
)


def _largest(inferences: tuple[Inferred, ...]) -> tuple[Inferred, Estimate]:
    """Return what gains most, and its gain with an interval for all."""
    by_target = {inference.target: inference for inference in inferences}
    name, gain = strongest(
        {target: inference.gain for target, inference in by_target.items()}, within=(-1.0, 1.0)
    )
    return by_target[name], gain


def _models(result: TwoModels) -> tuple[str, str]:
    return f"the audited model ({result.audited})", f"the second model ({result.second})"


def _levels(result: TwoModels, inference: Inferred) -> dict[str, Estimate]:
    return {
        **dict(zip(_models(result), inference.alone, strict=True)),
        "both models": inference.both,
    }


def _inferring(result: TwoModels, inference: Inferred) -> str:
    if inference is result.membership:
        return "Training records inferred"
    return f"{result.attribute[:1].upper()}{result.attribute[1:]} ({inference.target}) inferred"


def _knows(result: TwoModels, inference: Inferred) -> str:
    if inference is result.membership:
        return f"Everybody's label and {result.released} by the 2 models; who is a member, for half of the people."
    known_attributes = f"the {result.attribute} of half of the training records"
    return f"Everybody's features, label and {result.released} by the 2 models; {known_attributes}."


def _finding(result: TwoModels, inference: Inferred, gain: Estimate) -> Finding:
    """Return what both models add to inferring one thing."""
    members = inference is result.membership
    leaks = gain.low > 0
    if members:
        what = "identifying training records"
        reveals = "whether a person was in the training data"
    else:
        what = f"inferring the {result.attribute} ({inference.target})"
        reveals = f"the {result.attribute}"
    if "scores" in result.released:
        output_name = "scores"
    else:
        output_name = "labels"
    alone = inference.alone[inference.better]
    better = _models(result)[inference.better]
    point = f"Releasing the 2 models adds {points(gain)} to {what}, over {better} alone"
    if gain.low <= 0 <= gain.high:
        point += ", which is not statistically significant"
    so_what = ""
    to_do = ""
    if leaks:
        so_what = f"The difference of the models' {output_name} reveals {reveals}."
        to_do = (
            "Do not release the 2 models together: withdraw one, or train them on different people."
        )
    return Finding(
        point=f"{point}.",
        evidence=f"95% CI {point_interval(gain)} points, {count(gain.n)} people. "
        f"Balanced accuracy from {better} alone: {percent(alone)}.",
        so_what=so_what,
        to_do=to_do,
        caveats=_CAVEATS,
        estimate=gain,
        baseline=alone,
        attacker_knows=_knows(result, inference),
    )


STUDY = TwoModelsStudy()
