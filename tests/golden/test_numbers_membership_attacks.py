"""What membership attacks say of few people is as it was, attack by attack, over curves, and in a release's checks.

What is learned by many steps of floating-point numbers is kept to a few digits.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from core.adversaries import released_outputs
from core.base.errors import PrivacyLeakWarning
from core.models.model_answers import QueryAccess
from core.stats.estimates import Estimate
from core.studies.membership import (
    REGISTRY,
    Evidence,
    MemberGuess,
    MembershipSettings,
    curves,
    findings,
    study,
)
from core.studies.membership.attack import Shadows, above_threshold, audited_access, evidence_of, judging_everybody
from core.studies.membership.attacks import attacks_on, bavaria, boundary, network, quantile, rmia
from core.studies.membership.attacks.bavaria import fitted_prior
from core.studies.membership.findings import curve_rows
from core.studies.study import Measurement, SyntheticRecords, not_run, subject_of
from core.studies.subject import AuditConfig, OutputsPlan
from core.studies.subject import subject_of as trained
from tests import samples
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.zhang_protocol import member_split


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what learns by many steps take few, or none where the last of them depends on the machine."""
    monkeypatch.setattr(released_outputs, "_TREES", 4)
    monkeypatch.setattr(network, "_STEPS", 12)
    monkeypatch.setattr(bavaria, "fitted_prior", lambda *arguments: (0.6, 1.7, 0.9))


def _evidence(*, shadows: int = 4, everybody: bool = False, decimals: int = 2) -> Evidence:
    """Return people whose scores tie, of a law that remembers some of those it is trained on."""
    n = 260
    rng = np.random.default_rng(29)
    features = np.column_stack([rng.integers(0, 4, n), rng.integers(0, 3, n), np.round(rng.normal(size=n), 1)])
    labels = (rng.random(n) < 0.3 + 0.1 * features[:, 0]).astype(np.uint8)
    split = member_split(n, seed=5, known_share=0.25, judged_share=0.5)
    if everybody:
        split = judging_everybody(np.arange(0, 150), np.arange(150, 230), aside=np.arange(230, 260))

    def train(rows: np.ndarray, seed: int) -> np.ndarray:
        scores = features[:, 1] - 1 + np.random.default_rng(seed).normal(size=n)
        scores[rows] += np.where(labels[rows] == 1, 1.5, -1.0)
        return np.clip(np.round(1 / (1 + np.exp(-scores)), decimals), 0.0, 1.0)

    return Evidence(
        labels=labels,
        split=split,
        released=train(split.members, 1),
        features=features,
        access=QueryAccess(columns=3, ask=lambda rows: _answers(features[rows, np.arange(3)])),
        train=train,
        shadows=shadows,
        seed=7,
    )


def _answers(records: np.ndarray) -> np.ndarray:
    return ((records[:, 0] + 2 * records[:, 2] > 1) ^ (records[:, 1] == 2)).astype(np.uint8)


def _guess_values(guess: MemberGuess, digits: int) -> Any:
    return np.round(guess.score, digits), guess.verdict


def attacks() -> NamedValues:
    for everybody, name in product((False, True), REGISTRY):
        guess = REGISTRY[name].judge(_evidence(everybody=everybody))
        yield f"{name}, {'all' if everybody else 'some'}", _guess_values(guess, 3 if name == "network" else 8)
    yield "lira, 64", REGISTRY["lira"].judge(_evidence(shadows=64)).score
    evidence = _evidence(everybody=True)
    labels_alone = replace(evidence, released=None, predictions=_answers(evidence.records))
    for name in ("gap", "released", "boundary"):
        yield f"{name}, labels alone", _guess_values(REGISTRY[name].judge(labels_alone), 8)
    yield (
        "boundary.kept",
        boundary._count_unchanged(
            evidence.access, np.arange(0, 260, 7), evidence.labels[::7], 260, np.random.default_rng(3)
        ),
    )
    nobody = replace(evidence, split=replace(evidence.split, aside=evidence.split.aside[:0]))
    for name in ("quantile", "rmia"):
        yield f"{name}, nobody", refused(lambda name=name: REGISTRY[name].judge(nobody).score)
    yield "above", above_threshold(np.round(evidence.label_probability, 1), evidence)
    for released, shadows, queries in product(("scores", "labels"), (True, False), (True, False)):
        yield (
            f"attacks on {released}, {shadows}, {queries}",
            [attack.name for attack in attacks_on(released, shadows=shadows, queries=queries)],
        )
    for name, attack in REGISTRY.items():
        yield f"{name}.knows", [attack.knows(scores=scores, shadows=6) for scores in (True, False)]


def parts() -> NamedValues:
    rng = np.random.default_rng(31)
    probability = np.round(rng.random((6, 9)), 2)
    trained = rng.random((6, 9)) < 0.5
    trained[:, 0], trained[:, 1], trained[1:, 2] = True, False, False
    for present in (True, False):
        shadows = Shadows(n_targets=7, label_probability=probability, trained=trained & present)
        yield f"marginal {present}", rmia._marginal(shadows)
    count, mean, squares = np.array([3, 0, 2, 5]), np.array([0.5, -1.0, 2.0, 0.1]), np.array([2.0, 0.0, 0.5, 4.0])
    for means in (mean, np.zeros(4)):
        prior = fitted_prior(count, means, squares, 0.3)
        yield "prior", [f"{value:.2g}" for value in prior]
    p = np.round(rng.random(60), 1)
    member = (rng.random(60) < 0.2 + 0.6 * p).astype(np.uint8)
    for inside in (member, member[:0], np.ones(60, np.uint8)):
        scores = network._learned(p[: inside.size], inside, np.array([0.0, 0.3, 1.0]), 3)
        yield f"network {inside.size} {int(inside.sum())}", np.round(scores, 3)
    records, phi = rng.integers(0, 3, (80, 2)).astype(float), rng.normal(size=80)
    yield "expected", quantile._expected(records, phi + records[:, 0], records[:9], 3)
    yield "expected of one", quantile._expected(records[:12], np.ones(12), records[:3], 3)
    robust, isolated = rng.integers(0, 5, 60) / 5, rng.integers(0, 5, 60) / 5
    for better in (robust, isolated):
        yield "either", boundary._either(robust, isolated, (better + rng.random(60) > 1.0).astype(np.uint8), seed=1)


def over_settings() -> NamedValues:
    config, dataset = AuditConfig(method="dp_id3", depth=3, seed=2, train_share=0.4), samples.dataset(700)
    budgets = list(curves.epsilon_curve(config, dataset, epsilons=(2.0, math.inf), repeats=2))
    picked = list(curves.fairpick_curve(config, dataset, thetas=(0.3, 1.0), repeats=2))
    for point in (*budgets, *picked):
        short = replace(point, auc=round(point.auc, 3))
        yield f"{point.variant} {point.at:g} {point.repeat}", short
    again = curves.fairpick_curve(config, dataset, thetas=(0.3, 1.0), repeats=2, finished=picked[:1] + picked[2:])
    yield "again picked", [(point.at, point.repeat, point.variant) for point in again]
    access = audited_access(trained(replace(config, method="unmitigated"), dataset))
    asked_rows = np.random.default_rng(3).integers(0, 400, (50, access.columns))
    yield "access", (access.columns, access.ask(asked_rows))
    rng = np.random.default_rng(37)
    names = (*findings.RATES, *findings.GAPS)
    points = [
        replace(picked[0], at=at, repeat=repeat, variant=variant, deleted=int(9 / at))
        for at, repeat, variant in product((0.4, 0.8, 1.0), range(6), ("random", "fairpick"))
        if (at, repeat, variant) not in {(0.4, 0, "random"), (0.8, 1, "fairpick"), (0.8, 2, "random")}
    ]
    drawn = [replace(p, **dict(zip(names, np.round(rng.random(8), 2), strict=True))) for p in points]
    drawn[3] = replace(drawn[3], precision=math.nan)
    summary, differences = findings.summarise_curve(drawn[::-1]), findings.fairpick_differences(drawn)
    yield "bands", summary
    yield (
        "apart",
        (differences, [[band.at, band.values["vd"].low] for band in findings.steady((*differences, *summary))]),
    )
    yield "rows", (curve_rows(summary, "θ")[:3], curve_rows(findings.summarise_curve(budgets), "ε")[:1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        yield "accountings", curves.accountings(replace(config, epsilon=4.0), dataset)


def _release(members: int, outsiders: int, groups: int, decimals: int | None, released: str) -> study.MembershipResult:
    n, aside = members + outsiders + 40, 40
    rng = np.random.default_rng(41)
    drawn = SyntheticRecords(
        features=rng.integers(0, 3, (n, 2)).astype(float),
        labels=(rng.random(n) < 0.4).astype(np.uint8),
        sensitive=rng.choice(groups, n, p=[0.3, 0.7] if groups == 2 else [0.25, 0.35, 0.4]).astype(np.uint8),
    )
    mask = (np.arange(n) < members) & (rng.random(n) < 0.3 + 0.3 * (drawn.sensitive == 1))
    scores = np.round(np.clip(np.where(drawn.labels == 1, 0.6, 0.4) + rng.normal(0, 0.2, n), 0.01, 0.99), 3)
    scores[mask] = drawn.labels[mask]
    subject = subject_of(drawn, (scores >= 0.5).astype(np.uint8), (members, aside, outsiders), seed=3, scores=scores)
    subject.outputs = OutputsPlan(released=released, decimals=decimals)
    if groups > 2:
        subject.dataset = replace(subject.dataset, group_names=("a", "b", "c"))
    *_, result = study.STUDY.run(subject, MembershipSettings(shadows=0))
    return result


def limits() -> NamedValues:
    """What is read exactly at a limit."""

    def auc(low: float, n: int = 50) -> Estimate:
        return Estimate(value=0.75, low=low, high=1.0, n=n)

    for low, high in ((0.0, 0.5), (1e-9, 0.5), (-0.5, 0.0), (-0.5, -1e-9), (-0.1, 0.1), (math.nan, math.nan)):
        yield f"significant {low} {high}", findings.significant(replace(auc(low), high=high))
        checks = {f"membership_{name}": not_run(name, "") for name in ("auc", "caught", "gap")}
        checks["membership_auc"] = Measurement(check="membership_auc", estimate=auc(0.5 + low))
        yield f"released {low}", findings.release_findings(checks)[0].point
    for epsilon in (1.999, 2.0, 6.899, 6.9, math.log(1e6), 13.9, 1e-6):
        yield f"factor {epsilon}", findings._factor(epsilon)
    many = _release(300, 990, 2, None, "scores")
    for limit in (644, 645, 646):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(study, "MAX_TEACHERS", limit)
            yield f"taught {limit}", study._assumptions(many)
    again = replace(many.subject, trainable=True)
    yield "steps", study.STUDY.steps(again, MembershipSettings(shadows=6))
    yield "left out", study._assumptions(replace(many, subject=again))[-1]
    again.once_for_model(study.TARGET, lambda: lambda rows, seed: np.full(1330, rows.size / 7919 + seed))
    for decimals in (None, 2):
        again.outputs = OutputsPlan(decimals=decimals)
        evidence = evidence_of(again, 4)
        yield (
            f"evidence {decimals}",
            (evidence.train(np.arange(100), 3)[0], evidence.shadows, evidence.split, evidence.released),
        )
    many.subject.dataset = replace(many.subject.dataset, sets=None)
    yield "sets unknown", refused(evidence_of, many.subject, 4)
    private = _release(300, 1000, 2, None, "scores")
    private.subject.config = replace(private.subject.config, method="dp_id3", epsilon=0.5)
    yield "guaranteed", study.membership_caught(private).details


def releases() -> NamedValues:
    for name, how in {
        "scores": (1300, 4000, 2, None, "scores"),
        "three groups": (900, 5100, 3, 1, "scores"),
        "few": (300, 990, 2, 2, "scores"),
        "labels": (300, 200, 2, None, "labels"),
    }.items():
        result, plan = _release(*how), MembershipSettings(shadows=0)
        for check, measurement in study.STUDY.checks(result, plan).items():
            yield f"{name}.{check}", measurement
        for finding in study.STUDY.findings(result, plan):
            yield f"{name}.finding", (finding.point, finding.evidence, finding.so_what, finding.to_do, finding.baseline)
        if len(result.subject.dataset.group_names) < 3:
            yield f"{name}.table", study.STUDY.tables(result, plan)["Membership attacks"][::2]
    for make, planted in product((study._tied, study._grown, study._remembering, study._remembering_one_group), (0, 1)):
        subject, plan = make(2, bool(planted))
        yield f"{make.__name__} {planted}", (subject.model.scores, subject.splits.train.size, plan.shadows)
        yield f"{make.__name__} {planted}.steps", study.STUDY.steps(subject, MembershipSettings(shadows=6))
    law = study._law(np.zeros(4), np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 1, 0], dtype=np.uint8))
    yield "law", law(np.array([1, 3]), 5)


CASES: dict[str, Callable[[], NamedValues]] = {
    "attacks": attacks,
    "parts": parts,
    "curves": over_settings,
    "limits": limits,
    "releases": releases,
}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"membership_{case}", CASES[case]())
