"""Numbers of people at risk are as they were: whom attacks find, chance, remedies and what they change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.studies.people import PEOPLE, PeopleAtRisk, PeopleSettings
from core.studies.people.people_at_risk import (
    Effect,
    Remedy,
    anybody,
    effect_of,
    plan_text,
    plans,
    remaining_leaks,
    remedies_of,
    smallest_fixes,
    strongest_plan,
)
from core.studies.people.people_attacks import PeopleAttacks, _about, _write, exceeding, inferred
from core.studies.people.people_study import best_effect, findings, people_rows, tables, tenths, what_helps
from core.studies.subject import AuditConfig, Subject, subject_of
from tests import samples
from tests.golden.numbers import NamedValues, compare_numbers, refused
from tests.unit.people.test_sets_chart import risk


def in_finds() -> NamedValues:
    """Whom one attack finds, of probabilities and of scores with ties."""
    prior = np.array([[0.05, 0.95], [0.04, 0.96], [0.5, 0.5], [0.5, 0.5], [0.3, 0.7], [0.951, 0.049], [0.2, 0.8]])
    after = np.array(
        [[0.0, 1.0], [0.0, 1.0], [0.005, 0.995], [0.0051, 0.9949], [1.0, 0.0], [0.999, 0.001], [0.9951, 0.0049]]
    )
    for truth in ([1, 1, 1, 1, 1, 0, 1], [1, 0, 0, 1, 0, 0, 1], [1] * 7, [0] * 7):
        codes = np.array(truth, dtype=np.uint8)
        yield f"inferred {truth}", inferred("card", prior, after, codes, "as said")
        three = np.column_stack([0.5 * prior, 0.5 * prior[:, 0]]), np.column_stack([after, 0 * after[:, :1]])
        yield f"three groups {truth}", inferred("queries", *three, codes + (np.arange(7) == 4).astype(np.uint8))
    many = np.repeat([[0.5, 0.5]], 90, axis=0)
    for sure in (3, 30, 80):
        claimed = np.where(np.arange(90)[:, None] < sure, [[0.001, 0.999]], [[0.4, 0.6]])
        for wrong in (0, 2, 20):
            records = inferred("card", many, claimed, (np.arange(90) >= wrong).astype(np.uint8))
            yield f"{sure} claimed, {wrong} wrong", [records.chance, records.beyond_chance, int(records.leak.sum())]
    for outsiders in (99, 100, 101, 250):
        for ties in (0, 1, 3):
            outside = np.sort(np.arange(outsiders) % (outsiders // (1 + 2 * ties)))
            score = np.concatenate([outside, [outsiders, outsiders - 1, outsiders - 2, outsiders // 2, 0.5, *range(8)]])
            records = exceeding(
                "membership", score, np.arange(score.size) >= outsiders, np.arange(outsiders, score.size)
            )
            yield f"{outsiders}, ties {ties}", [records.identified.tolist(), records.chance, records.beyond_chance]
    for k in (2, 3):
        after = np.full((4, k), 0.1)
        _write(after, np.array([1, 3]), k - 1, np.array([0.25, 0.7]))
        yield f"written {k}", [after, _about([0, 1], after)]


def people_at_risk(seed: int) -> PeopleAtRisk:
    """Return people whom attacks find at random, of two groups or three, some found by imputation too."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 30))
    leaks = rng.random((n, 5)) < rng.choice([0.0, 0.1, 0.4], 5)
    people = risk(leaks, reason="Not here." if seed % 3 == 1 else "")
    names = ("a", "b", "c") if seed % 2 else ("a", "b")
    more = leaks | (rng.random((n, 5)) < 0.1)
    attacks = tuple(
        replace(
            attack,
            identified=more[:, i],
            chance=float(rng.choice([0.0, 0.04, 0.6, 14.0])),
            beyond_chance=bool(seed % 4),
        )
        for i, attack in enumerate(people.attacks)
    )
    return replace(
        people, attacks=attacks, group_names=names, groups=rng.integers(0, len(names), n), imputed=rng.random(n) < 0.2
    )


def in_people() -> NamedValues:
    """How many people are found by how many attacks, who they are, and in which order they stand."""
    for seed in range(10):
        people = people_at_risk(seed)
        yield f"{seed}", [[people.at_least(k), people.expected(k)] for k in range(1, 5)]
        yield (
            f"{seed}, groups",
            [*people.rates, [people.gap(code) for code in range(len(people.group_names))], people.by_chance],
        )
        yield f"{seed}, sets", [people.sets, people.beyond_chance, len(people.common)]
        for at_least in (1, 2):
            for hide in (False, True):
                yield f"{seed}, {at_least}, {hide}", [people.chosen(at_least=at_least, hide_imputed=hide).tolist()]
        yield f"{seed}, of b", [people.chosen(group="b").tolist(), people.chosen(record=" 2 ").tolist()]
        for finding in findings(people):
            yield f"{seed}, said", [finding.point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats]
        yield f"{seed}, rows", [" ".join(map(str, row.values())) for row in people_rows(people, range(3))]
    for record in ("-1", "1.5", "99", "x", "1" * 13, "²"):
        yield f"record {record}", refused(people_at_risk(1).chosen, record=record)
    yield "tenths", [tenths(value) for value in (0.0, 1e-9, 0.0499, 0.05, 9.96, 10.0, 1234.5)]
    even = replace(
        people_at_risk(1), effects=(Effect(plan=(Remedy(slot="card", title="card"),), freed=2, remaining=15, new=2),)
    )
    yield "as many", [what_helps(even), best_effect(even)]
    remedies = [Remedy(slot=slot, title=slot) for slot in ("correction", "card", "training")]
    for seed in range(12):
        people, rng = people_at_risk(seed), np.random.default_rng(seed)
        tried = [*((remedy,) for remedy in remedies), tuple(remedies)][: 4 - seed % 2]
        counts = [sorted(rng.integers(0, 1 + people.at_least(1), 2).tolist(), reverse=seed % 3 > 0) for _ in tried]
        effects = [
            Effect(plan=plan, freed=freed, remaining=5, new=new)
            for plan, (freed, new) in zip(tried, counts, strict=True)
        ]
        people = replace(people, effects=tuple(effects))
        best = best_effect(people)
        yield (
            f"helps {seed}",
            [what_helps(people), best and best.plan, [effect.fewer for effect in effects], people.at_least(1)],
        )


class Attacks:
    """Attacks on six people, each of which a remedy of its slot, or a private tree, keeps from some of them."""

    n = 6
    settings = PeopleSettings(answers=9, models=2, noise="exact")

    def run(self, attack: str, settings: PeopleSettings, training: Any = None, outputs: Any = None) -> Any:
        hit = np.array(
            {
                "outputs": [0, 0, 0, 0, 0, outputs is None],
                "correction": [1, 1, 0, 0, 0, 1],
                "queries": [0, 1, 1, 0, 0, 1],
                "card": [0, 0, 0, 1, 0, 1],
                "membership": [0, 0, 0, 0, 1, 0],
            }[attack],
            dtype=bool,
        )
        if attack == "correction" and settings.tolerance is not None:
            hit &= settings.tolerance < np.array([0.05, 0.02, 1, 1, 1, 0.1])
        if attack == "queries" and settings.noise != "exact":
            hit &= settings.answer_epsilon > np.array([1, 5, 1, 1, 1, 1])
        if attack == "card" and (settings.card_epsilon or (settings.decimals or 9) < 3):
            hit = np.array([0, 0, 1, 0, 0, 0], dtype=bool)
        if training is not None:
            hit &= attack != "membership" or training[1] > 1.0
        return SimpleNamespace(leak=hit, reason="")


def in_remedies() -> NamedValues:
    """Remedies of a plan, their order, the smallest fix of each person, and what each does to all."""
    for method, epsilon in (("unmitigated", np.inf), ("dp_id3", 10.0), ("dp_id3", 1.0)):
        for unfairness in (0.0, 0.03, 0.1):
            subject: Any = SimpleNamespace(
                config=AuditConfig(method=method, epsilon=epsilon, tolerance=0.02),
                model=SimpleNamespace(unfairness_train=unfairness),
                trainable=epsilon != 10.0,
                released_scores=np.array([0.25, 0.5]),
            )
            for settings in (
                PeopleSettings(),
                PeopleSettings(answers=9, models=2),
                PeopleSettings(tolerance=0.05, models=2, decimals=2),
                PeopleSettings(answers=9, models=2, answer_epsilon=5.0, decimals=None),
                PeopleSettings(answers=9, models=2, answer_epsilon=1.0, card_epsilon=2.0),
                PeopleSettings(answers=9, models=2, noise="rounded", card_epsilon=1.0, decimals=1),
            ):
                titles = [remedy.title for remedy in remedies_of(subject, settings)]
                yield f"{method}, {epsilon}, {unfairness}, {settings.noise}, {settings.decimals}", titles
    subject.config, subject.trainable = AuditConfig(method="unmitigated", tolerance=0.0), True
    subject.model.unfairness_train = 0.0
    attacks: Any = Attacks()
    remedies = remedies_of(subject, attacks.settings)
    yield "plans", [plan_text(plan) for plan in plans(remedies)][::3]
    yield "strictest", plan_text(strongest_plan(remedies))
    yield "fixes", [plan_text(plan) for plan in smallest_fixes(attacks, remedies)]
    for plan in plans(remedies):
        if len(plan) < 2:
            leaks, effect = remaining_leaks(attacks, plan), effect_of(attacks, plan)
            yield (
                f"effect of {plan_text(plan)}",
                [effect.freed, effect.remaining, effect.new, effect.fewer, anybody(leaks)],
            )


@cache
def subject() -> Subject:
    return subject_of(AuditConfig(method="unmitigated", tolerance=0.05, seed=7), samples.dataset(1200))


def in_attacks() -> NamedValues:
    """The attacks on some people of a small table, as a study runs them and under other settings."""
    settings = PeopleSettings(people=60, answers=20, noise="exact", models=3, shadows=0)
    *_, result = PEOPLE.run(subject(), settings)
    for identified in result.attacks:
        yield (
            identified.attack,
            [
                identified.setting,
                identified.reason,
                identified.identified,
                identified.leak,
                identified.chance,
                identified.beyond_chance,
            ],
        )
    yield "fixes", [plan_text(plan) for plan in result.fixes]
    yield "effects", [[plan_text(effect.plan), effect.freed, effect.remaining, effect.new] for effect in result.effects]
    for title, rows in tables(result).items():
        yield title, [[str(value) for value in row.values()] for row in rows[:4]]
    steps: list[tuple[int, int]] = []
    attacks = PeopleAttacks(subject(), settings, lambda *done: steps.append(done))
    yield "who", [attacks.rows, attacks.truth, attacks.imputed, attacks._rated, attacks._codes(1)]
    for name, changes in {
        "no answers": {"answers": 0},
        "one answer": {"answers": 1},
        "more answers": {"answers": 1000},
        "noisy answers": {"noise": "noisy_sums", "answer_epsilon": 2.0},
        "rounded answers": {"noise": "rounded"},
        "a tolerance": {"tolerance": 0.3},
        "a noisy card": {"card_epsilon": 1.0},
        "an exact card": {"decimals": None},
    }.items():
        for attack in ("correction", "queries", "card"):
            identified = attacks.run(attack, replace(settings, **changes))
            yield (
                f"{name}, {attack}",
                [
                    identified.setting,
                    identified.reason,
                    int(identified.identified.sum()),
                    int(identified.leak.sum()),
                    identified.chance,
                ],
            )
    for n_positive in (1, 2):
        few = PeopleAttacks(subject(), replace(settings, people=20))
        few.truth = (np.arange(20) < n_positive).astype(np.uint8)
        result = few.run("queries", settings)
        yield f"few people, {n_positive}", [result.setting, result.reason, few._rated, few.run("card", settings).reason]
    yield "steps", [steps, settings.steps, PeopleSettings().steps]


CASES: dict[str, Callable[[], NamedValues]] = {
    "finds": in_finds,
    "risk": in_people,
    "remedies": in_remedies,
    "attacks": in_attacks,
}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_numbers_of_people(case: str) -> None:
    compare_numbers(f"people_{case}", CASES[case]())
