"""A choice among models is as it was, in numbers and words: invented candidates, ties, limits met exactly."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.auditing import AuditPlan, catalogue_plan
from core.auditing.policy import Limit, Policy
from core.experiments.choose import (
    LEAKS,
    PREFERENCES,
    CandidatePoint,
    CandidateSet,
    Choice,
    ChooseSettings,
    candidate_configs,
    choose,
    findings,
)
from core.experiments.choose.candidates import (
    CandidateMeasure,
    Half,
    config_title,
    in_choosing_half,
    measure_all,
    quick_plan,
)
from core.experiments.choose.candidates import _half as _half_of
from core.experiments.choose.choose import mean_of
from core.models import METHODS
from core.stats.estimates import Estimate, Quantity, certain, paired_gain, proportion
from core.studies.study import Measurement, Outcome, not_run
from core.studies.subject import AuditConfig
from tests import samples
from tests.golden.numbers import NamedValues, compare_numbers, refused

LIMITS = {"attribute_excess": 0.02, "membership_auc": 0.55, "unfairness": 0.05, "four_fifths": 0.8}
LIMITS |= {"correction_gain": 0.01, "membership_caught": 0.01, "attribute_bits": 0.3}
POLICY = Policy(
    name="test",
    version="1",
    limits=tuple(Limit(check=name, value=value, required=name != "attribute_bits") for name, value in LIMITS.items()),
)
CHANCE = {"membership_auc": 0.5, "membership_caught": 0.01}
RECIPES = (
    ("unmitigated", 4, ""),
    ("exponentiated_gradient", 8, ""),
    ("dp_id3", 8, ""),
    ("threshold_optimizer", 4, ""),
    ("given", 8, "one"),
    ("given", 8, "two"),
)


def _half(rng: np.random.Generator, n: int, near: float, *, safe: bool = False) -> Half:
    """Return a half whose checks lie about their limits, some at them exactly, or without a number."""
    right = rng.random(n) < rng.choice([0.6, 0.75, 0.9])
    checks, reasons, broken = {}, {}, ()
    for name, limit in LIMITS.items():
        inside = 1 if name == "four_fifths" else -1
        away = inside * near * max(limit, 0.05) * float(rng.choice([0.0, 0.1, 0.3, rng.normal()]))
        wide = float(rng.choice([0.0, 0.02, 0.1]))
        if safe:
            away, wide = inside * limit * float(rng.choice([0.15, 0.2])), limit * float(rng.choice([0.0, 0.05]))
        if safe or rng.random() < 0.93:
            value, low, high = np.clip(
                [limit + away, limit + away - wide, limit + away + 1.5 * wide], 0.0, 1.0
            ).tolist()
            checks[name] = Estimate(value=value, low=low, high=high, n=n)
        elif rng.random() < 0.5:
            reasons[name] = f"No {name}."
        else:
            broken = (*broken, name)
    chance = {name: CHANCE.get(name, 0.0) * float(rng.choice([1.0, 1.0, 1.2])) for name in checks}
    majority = np.arange(n) < n // 2
    return Half(
        accuracy=proportion(int(right.sum()), n),
        majority=proportion(int(majority.sum()), n),
        gain=paired_gain(int((right & ~majority).sum()), int((majority & ~right).sum()), n),
        right=np.packbits(right).tobytes().hex(),
        checks=checks,
        chance=chance,
        reasons=reasons,
        broken=broken,
    )


def _points(seed: int) -> list[CandidatePoint]:
    """Return one to eight candidates of one to three seeds each."""
    rng = np.random.default_rng(seed)
    points, near = [], float(rng.choice([0.5, 2.0, 8.0]))
    for number in range(int(rng.integers(1, 9))):
        method, depth, name = RECIPES[int(rng.integers(4)) if seed % 3 else int(rng.integers(4, 6))]
        safe, same = rng.random() < (0.1, 0.3, 0.7)[seed // 2 % 3], rng.random() < 0.8
        for replicate in range(int(rng.choice([1, 1, 3]))):
            config = replace(
                AuditConfig(),
                method=method,
                depth=depth,
                tolerance=number / 100,
                epsilon=1.0 + number,
                seed=replicate + number % 2,
            )
            n = (17, 40, 200)[(config.seed + seed) % 3]
            points.append(
                CandidatePoint(
                    config=config,
                    name=name and f"{name} {number}",
                    choosing=_half(rng, n, near, safe=bool(safe)),
                    judging=_half(rng, n, near, safe=bool(safe and same)),
                    majority=proportion(int(rng.choice([0.5, 0.6, 0.75]) * n), n),
                    constant=bool(rng.random() < 0.1),
                )
            )
    if seed % 3 == 1:  # as accurate as one answer for everybody, at the least
        points = [replace(point, majority=certain(point.judging.accuracy.low, 9)) for point in points]
    return points


def _choice_numbers(choice: Choice) -> NamedValues:
    yield (
        "outcome",
        (choice.outcome.value, choice.least_accuracy, choice.left_out, choice.trained, choice.untried, choice.spent),
    )
    yield "order", [candidate.title for candidate in choice.candidates]
    yield (
        "numbers",
        np.array(
            [
                [
                    getattr(side, what)
                    for side in (candidate.choosing, candidate.judging)
                    for what in ("leak", "low", "high")
                ]
                for candidate in choice.candidates
            ]
        ),
    )
    yield (
        "accuracy",
        np.array(
            [
                [
                    candidate.choosing.accuracy.value,
                    candidate.judging.accuracy.low,
                    candidate.judging.accuracy.high,
                    min(candidate.reach, 9e9),
                ]
                for candidate in choice.candidates
            ]
        ),
    )
    yield (
        "who",
        [
            (
                candidate.choosing.leaking,
                str(candidate.choosing.status),
                str(candidate.judging.status),
                candidate.unfair,
                candidate.constant,
            )
            for candidate in choice.candidates
        ],
    )
    yield (
        "sets",
        [[candidate.title for candidate in some] for some in (choice.eligible, choice.frontier, choice.shown_leakier)],
    )
    yield "flags", (choice.leaks_least, choice.fair_and_biased, choice.selection_optimism if choice.eligible else None)
    for rival in (choice.unconstrained, choice.runner_up, choice.candidates[-1]):
        if rival is not None:
            yield "lead", (rival.title, choice.chosen.accuracy_lead(rival), choice.chosen.p_as_leaky(rival))


def _choice_sentences(choice: Choice) -> Iterator[str]:
    finding = findings.finding(choice, running=choice.untried > 0)
    yield from (finding.point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats)
    yield findings.choice_reason(choice)
    section = findings.report_section(choice, choice.candidates[-1])
    yield from (section.findings[1].point, section.findings[1].evidence, *section.findings[1].caveats)
    for row in findings.rows(choice)[:2]:
        yield str({key: f"{cell.value.value:.4g}" if isinstance(cell, Quantity) else cell for key, cell in row.items()})
    yield " ".join(findings.order_texts(choice))
    last = findings.numbers(choice)[-1]
    yield f"{len(findings.numbers(choice))} numbers, {last['Model']}, {last['Half']}, {last['Check']}, {last['Limit']}"


def _choices() -> Iterator[tuple[str, Choice]]:
    for seed in range(24):
        prefer, leak = (list(names)[number % 3] for names, number in ((PREFERENCES, seed), (LEAKS, seed // 3)))
        settings = ChooseSettings(prefer=prefer, leak=leak, least_accuracy=0.7 if seed % 4 == 3 else None)
        points = _points(seed)
        yield f"{seed}", choose(points, POLICY, settings, attribute="sex", planned=len(points) + seed % 3)


def _numbers() -> NamedValues:
    for name, choice in _choices():
        for what, value in _choice_numbers(choice):
            yield f"{name}, {what}", value


def _sentences() -> NamedValues:
    for name, choice in itertools.islice(_choices(), 16):
        yield name, list(_choice_sentences(choice))
    rng = np.random.default_rng(3)
    safe, leaky = _half(rng, 40, 1.0, safe=True), _half(rng, 40, 8.0)
    same = CandidatePoint(
        config=AuditConfig(depth=2), name="", choosing=safe, judging=safe, majority=proportion(20, 40)
    )
    same = replace(same, constant=True)
    rival = replace(same, config=AuditConfig(depth=3), constant=False, choosing=leaky, judging=leaky)
    exact = safe.accuracy.value
    for least, accurate in itertools.product((exact, exact + 0.01), (0.2, exact, 0.99)):
        more = replace(leaky, accuracy=proportion(round(40 * accurate), 40))
        points = [same, replace(rival, choosing=more)]
        choice = choose(points, POLICY, ChooseSettings(least_accuracy=least), attribute="sex")
        yield f"same answer, {least:.2f} and {accurate:.2f}", findings.finding(choice).point


def _candidates() -> NamedValues:
    base = AuditPlan(config=AuditConfig(depth=3))
    for methods, depths, epsilons in (
        (METHODS, (4, 8), (10.0, 3.0)),
        (("dp_id3", "unmitigated"), (2,), (1.0, math.inf)),
    ):
        settings = ChooseSettings(methods=methods, depths=depths, epsilons=epsilons, tolerances=(0.0, 0.125))
        configs = candidate_configs(base, settings, (3, 1))
        yield (
            f"{len(methods)} methods",
            [f"{config_title(config)}, {config.epsilon}, {config.seed}" for config in configs],
        )
    for n in (20, 21):
        many = ChooseSettings(methods=("dp_id3",), epsilons=tuple(range(1, n + 1)), depths=tuple(range(1, 6)))
        yield f"{n} budgets", refused(lambda many=many: len(candidate_configs(base, many, range(5))))
    data = samples.dataset(211)
    mine = in_choosing_half(data)
    cells = 2 * data.sensitive.astype(int) + data.labels
    yield "halves", (mine, np.bincount(cells), np.bincount(cells[mine]))
    for n in (1, 8, 9, 17):
        right = np.arange(n) % 3 == 0
        half = replace(_half(np.random.default_rng(n), n, 1.0), right=np.packbits(right).tobytes().hex())
        yield f"{n} right", half.correct.tolist()
    low, high = (Estimate(value=v, low=v - 0.1, high=v + 0.2, n=n) for v, n in ((0.3, 5), (0.7, 9)))
    yield "mean", mean_of([low, high, high])
    for check in (*LIMITS, "", "zzz"):
        yield f"short {check}", findings.short_check(check, "origin")
    config = base.config
    first = CandidateSet([config], data, catalogue_plan("demo"), "a")
    for name, more in (
        ("labels", {"labels": 1 - data.labels}),
        ("groups", {"sensitive": data.sensitive[::-1]}),
        ("features", {"features": data.features + 1}),
    ):
        yield f"other {name}", _refused(first, CandidateSet([config], replace(data, **more), first.plan, "b"))
    for more in ({"seed": 9}, {"train_share": 0.5}, {"metric": "equal_opportunity"}):
        yield f"other {more}", _refused(first, CandidateSet([replace(config, **more)], data, first.plan, "b"))


def _measured() -> NamedValues:
    """Yield what is kept of one half's measurements: with a control or without, not run, broken."""
    labels, test = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1, 1], np.uint8), np.array([9, 1, 2, 3, 5, 6, 7, 8, 0])
    model = SimpleNamespace(
        predictions=1 - labels[::-1], accuracy_test=proportion(4, 9), majority_test=proportion(5, 9)
    )
    audited = SimpleNamespace(model=model, dataset=SimpleNamespace(labels=labels), splits=SimpleNamespace(test=test))

    def measured(check: str, _: Any) -> Measurement:
        number = sum(map(ord, check)) % 6
        if number < 2:
            return not_run(check, f"No {check}.", outcome=(Outcome.NOT_RUN, Outcome.FAILED)[number])
        control = certain(number / 10, 9) if number % 2 else None
        return Measurement(check=check, estimate=proportion(number, 9), control=control)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["core.experiments.choose.candidates"], "measured", measured)
        outcome = _half_of(audited)  # type: ignore[arg-type]
    yield "half", (outcome, outcome.correct.tolist())
    plan = quick_plan(catalogue_plan("demo"))
    yield "parts", CandidateMeasure(plan, "forest").parts
    yield "quick", (plan.membership.shadows, [name for name, _ in plan.studies], str(plan.config))


def _refused(*candidate_sets: CandidateSet) -> str:
    return str(refused(lambda: next(measure_all(candidate_sets))))


CASES: dict[str, Callable[[], NamedValues]] = {
    "numbers": _numbers,
    "sentences": _sentences,
    "candidates": _candidates,
    "measured": _measured,
}


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    compare_numbers(f"choose_{name}", CASES[name]())
