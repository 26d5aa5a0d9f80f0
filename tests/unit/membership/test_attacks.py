"""Attacks that ask one model: what they share, what each is, and what they refuse."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.membership import MembershipSplit, attacks, loss_attack, roc, true_label_probability
from core.membership.attack import NEEDS, USES, Evidence, best_threshold, precision_recall
from core.membership.attacks import gap
from core.membership.attacks.confidence import confidence_attack
from core.membership.attacks.network import network_attack
from tests.unit.membership.villagers import half, remembered

N = 400
ATTACKS = {
    "loss": loss_attack,
    "confidence": confidence_attack,
    "network": lambda p, y, split: network_attack(p, y, split, seed=1),
}


@pytest.mark.parametrize("name", ATTACKS)
@settings(max_examples=4)
@given(seed=st.integers(0, 1000), levels=st.integers(1, 6))
def test_the_same_answer_and_label_get_the_same_verdict(name, seed, levels):
    rng = np.random.default_rng(seed)
    p, y = rng.integers(0, levels + 1, N) / levels, rng.integers(0, 2, N)
    found = ATTACKS[name](p, y, half(N, seed=seed))
    for key in set(zip(p[found.rows], y[found.rows], strict=True)):
        alike = (p[found.rows] == key[0]) & (y[found.rows] == key[1])
        assert np.unique(found.score[alike]).size == 1 and np.unique(found.verdict[alike]).size == 1


@pytest.mark.parametrize("name", ATTACKS)
@settings(max_examples=3)
@given(seed=st.integers(0, 1000))
def test_who_is_judged_has_no_say(name, seed):
    """Others among the judged, their answers and labels change nothing for the rest."""
    rng = np.random.default_rng(seed)
    p, y = rng.random(N).round(1), rng.integers(0, 2, N)
    split = half(N, seed=seed)
    first = ATTACKS[name](p, y, split)
    moved, turned = p.copy(), y.copy()
    others = split.judged_outsiders[::2]
    moved[others], turned[others] = 1 - p[others], 1 - y[others]
    again = ATTACKS[name](moved, turned, split)
    same = ~np.isin(first.rows, others)
    assert first.score[same] == pytest.approx(again.score[same], abs=1e-9)
    assert np.array_equal(first.verdict[same], again.verdict[same])


@pytest.mark.parametrize("name", ATTACKS)
def test_the_order_of_the_people_does_not_matter(name):
    split = half(N)
    p, y = remembered(split, N)
    order = np.random.default_rng(3).permutation(N)
    place = np.argsort(order)
    moved = MembershipSplit(
        **{part: np.sort(place[getattr(split, part)]) for part in MembershipSplit.__dataclass_fields__}
    )
    first, again = ATTACKS[name](p, y, split), ATTACKS[name](p[order], y[order], moved)
    score, verdict = (dict(zip(first.rows, what, strict=True)) for what in (first.score, first.verdict))
    assert again.score == pytest.approx([score[order[row]] for row in again.rows], abs=1e-9)
    assert again.verdict.tolist() == [verdict[order[row]] for row in again.rows]


@pytest.mark.parametrize("name", ATTACKS)
def test_a_memory_is_found_and_none_is_not(name):
    split = half(2000)
    found = ATTACKS[name](*remembered(split, 2000), split)
    assert roc(found.score, split.judged[1]).auc.value == pytest.approx(0.8, abs=0.04)
    precision, recall = precision_recall(found.verdict, split.judged[1])
    assert precision.value == pytest.approx(0.8, abs=0.05) and recall.value == pytest.approx(0.8, abs=0.05)
    nothing = ATTACKS[name](*remembered(split, 2000, share=0.2), split)
    assert roc(nothing.score, split.judged[1]).auc.value == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("name", "runs"), [("loss", 400), ("confidence", 400), ("network", 8)])
def test_without_a_memory_the_interval_holds_one_half(name, runs):
    held = []
    for seed in range(runs):
        split = half(N, seed=seed)
        rng = np.random.default_rng(seed + 1000)
        found = ATTACKS[name](rng.random(N).round(1), rng.integers(0, 2, N), split)
        auc = roc(found.score, split.judged[1]).auc
        held.append(auc.low <= 0.5 <= auc.high)
    assert abs(np.mean(held) - 0.95) <= 3 * np.sqrt(0.95 * 0.05 / runs)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=40))
def test_the_threshold_is_the_best_of_all(people):
    score, member = np.array([x for x, _ in people], dtype=float), np.array([m for _, m in people], dtype=np.uint8)
    if np.unique(member).size < 2:
        return

    def balanced(threshold: float) -> float:
        called = score >= threshold
        return called[member == 1].mean() - called[member == 0].mean()

    found = best_threshold(score, member)
    best = max(balanced(t) for t in [*score, np.inf])
    assert balanced(found) == pytest.approx(best, abs=1e-12)
    assert not [t for t in score if t > found and balanced(t) > best - 1e-12]


def test_loss_and_confidence_are_what_they_say():
    split = half(N)
    p, y = np.random.default_rng(0).random(N), np.random.default_rng(1).integers(0, 2, N)
    loss, sure = loss_attack(p, y, split), confidence_attack(p, y, split)
    assert np.exp(loss.score) == pytest.approx(true_label_probability(p, y)[loss.rows])
    assert sure.score == pytest.approx(np.maximum(p, 1 - p)[sure.rows])
    assert np.isfinite(loss_attack(1.0 - y, y, split).score).all()


def test_a_model_without_an_answer_calls_nobody_a_member():
    split = half(N)
    found = loss_attack(np.full(N, 0.5), np.zeros(N), split)
    assert not found.verdict.any()
    precision, recall = precision_recall(found.verdict, split.judged[1])
    assert np.isnan(precision.value) and recall.value == 0.0


def test_the_network_is_near_the_shares_it_should_learn():
    split = half(20_000)
    p, y = remembered(split, 20_000)
    found = network_attack(p, y, split, seed=0)
    known, member = split.known
    for answer in np.unique(p):
        share = member[p[known] == answer].mean()
        assert found.score[p[found.rows] == answer].mean() == pytest.approx(share, abs=0.03)


def test_a_label_of_one_kind_gets_one_verdict():
    split = half(N)
    p, y = remembered(split, N)
    y[split.known_outsiders] = 0
    found = network_attack(p, y, split, seed=0)
    ones = y[found.rows] == 1
    assert (found.score[ones] == 1.0).all() and found.verdict[ones].all()
    assert np.unique(found.score[~ones]).size > 1
    y[split.known[0]] = 0  # nobody known has label 1
    assert (network_attack(p, y, split, seed=0).score[ones] == 0.5).all()


def test_balance_forgets_how_many_members_were_deleted():
    split = half(4000)
    y = np.random.default_rng(0).integers(0, 2, 4000)
    rare = split.members[y[split.members] == 1]
    left = split.keeping(np.setdiff1d(split.members, rare[rare.size // 2 :]), outsiders=split.outsiders)
    p = np.full(4000, 0.3)  # a model that tells nothing
    plain, even = (network_attack(p, y, left, seed=0, balance=balance) for balance in (False, True))
    ones = y[plain.rows] == 1
    known, member = left.known
    for label, where in ((1, ones), (0, ~ones)):
        assert plain.score[where].mean() == pytest.approx(member[y[known] == label].mean(), abs=0.02)
        assert even.score[where].mean() == pytest.approx(0.5, abs=0.02)


def test_the_seed_makes_the_network():
    split = half(N)
    p, y = remembered(split, N)
    first, again, other = (network_attack(p, y, split, seed=seed).score for seed in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_many_distinct_answers_are_learned_too():
    split = half(4000)
    rng = np.random.default_rng(0)
    inside = np.isin(np.arange(4000), split.members)
    p, y = np.where(inside, rng.beta(4, 2, 4000), rng.beta(2, 2, 4000)), np.ones(4000)
    found = network_attack(p, y, split, seed=0)
    best = roc(p[found.rows], split.judged[1]).auc.value  # the likelihood ratio rises with the answer
    assert roc(found.score, split.judged[1]).auc.value == pytest.approx(best, abs=0.02)


def test_bad_input_is_refused():
    split = half(N)
    with pytest.raises(InputError, match=r"A probability must be in \[0, 1\], got 1.5"):
        loss_attack(np.full(N, 1.5), np.zeros(N), split)
    with pytest.raises(InputError, match=r"A probability must be in \[0, 1\], got nan"):
        network_attack(np.full(N, np.nan), np.zeros(N), split, seed=0)
    with pytest.raises(InputError, match="labels must hold only 0 and 1, got 2"):
        confidence_attack(np.full(N, 0.5), np.full(N, 2), split)
    with pytest.raises(InputError, match="must have the same length"):
        loss_attack(np.full(N, 0.5), np.zeros(N - 1), split)
    with pytest.raises(InputError, match="seed must be a whole number"):
        network_attack(np.full(N, 0.5), np.zeros(N), split, seed=-1)


def test_precision_and_recall_count():
    precision, recall = precision_recall([1, 1, 1, 0, 0], [1, 1, 0, 1, 0])
    assert (precision.value, precision.n, recall.value, recall.n) == (2 / 3, 3, 2 / 3, 3)


def test_a_split_can_be_judged_in_parts():
    split = half(N)
    p, y = remembered(split, N)
    whole = network_attack(p, y, split, seed=0)
    part = network_attack(p, y, replace(split, judged_members=split.judged_members[:20]), seed=0)
    assert part.score[:20] == pytest.approx(whole.score[:20], abs=1e-9)


def test_every_file_of_the_folder_is_an_attack_that_can_be_run():
    files = {path.stem for path in Path(attacks.__path__[0]).glob("*.py")} - {"__init__"}
    assert attacks.REGISTRY.keys() == files
    told: list[int] = []
    split, labels = half(N), np.tile([0, 1], N // 2).astype(np.uint8)
    p = np.random.default_rng(0).random(N)
    evidence = Evidence(
        released=p,
        predicted=(p > 0.5).astype(np.uint8),
        labels=labels,
        split=split,
        seed=1,
        balance=False,
        train=lambda rows, seed: np.random.default_rng(seed).random(N),
        shadows=4,
        online=True,
        report=lambda done, total: told.append(done),
    )
    for name, attack in attacks.REGISTRY.items():
        assert attack.needs and attack.needs <= NEEDS.keys() and attack.uses and attack.uses <= set(USES)
        assert attack.glossary.endswith(".") and attack.knows(scores=True, shadows=4).endswith(".")
        guess = attack.judge(evidence)
        assert guess.name == name and np.array_equal(guess.rows, split.judged[0]) and np.isfinite(guess.score).all()
    assert told == [1, 2, 3, 4]  # the shadow models, trained once for all


def test_one_more_file_is_one_more_attack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = Path(gap.__file__).read_text(encoding="utf-8").replace('name="gap"', 'name="another"')
    (tmp_path / "another.py").write_text(text, encoding="utf-8")
    monkeypatch.setattr(attacks, "__path__", [*attacks.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "core.membership.attacks.another", raising=False)
    found = attacks.attacks_in(list(attacks.__path__))
    assert found.keys() - attacks.REGISTRY.keys() == {"another"}
    monkeypatch.delitem(sys.modules, "core.membership.attacks.another")


def test_readers_list_every_attack_and_name_none():
    from core.docs import settings_reference
    from core.report.page import GLOSSARY

    listed = settings_reference()
    for attack in attacks.REGISTRY.values():
        assert f"| {attack.title} (`{attack.name}`) | {attack.described} |" in listed
        assert (attack.title in GLOSSARY) == bool(attack.uses & {"scores", "labels"})
        for released in ("scores", "labels"):
            assert (attack in attacks.attacks_on(released, shadows=True)) == (released in attack.uses)
    assert not any("shadows" in attack.needs for attack in attacks.attacks_on("scores", shadows=False))
