"""What the noise of AttriGuard promises, on whatever hypothesis finds.

Phase I: noisy records are the plain loop's of Algorithm 1, keep to policy and domain, and are read as wanted or left
alone. Phase II: mechanisms are on the simplex, keep to the budget, and meet the conditions of Karush, Kuhn and Tucker.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.studies.attriguard import AttriGuardSettings, TableDefense, allocate, expected_size, representatives
from core.studies.attriguard.allocation import changes_per_entry
from tests.linear_cases import cases, dense, plain_panda, plain_weights
from tests.table_people import CATEGORIES, NAMES, leads, pairs_held, people


def plain_records(case):
    """Return the plain loop's noisy records for every (person, value), and where it found one."""
    weights, offsets = plain_weights(case.classifier, centred=case.centred)
    u, m = len(case.public), len(weights)
    noisy, reachable = np.repeat(case.public, m, axis=0), np.zeros((u, m), bool)
    reachable[np.arange(u), case.classifier.predict(case.public)] = True
    for k, i in np.argwhere(~reachable):
        for policy in dict.fromkeys((case.policy, "modify_add")):  # which it falls back on
            noisy_record = plain_panda(case.public[k], weights, offsets, i, **case.settings | {"policy": policy})
            if noisy_record is not None:
                break
        if noisy_record is not None and case.classifier.predict([noisy_record])[0] == i:
            noisy[k * m + i], reachable[k, i] = noisy_record, True
    return noisy, reachable


@pytest.mark.long
@settings(max_examples=250)
@given(cases() | cases(steps=(0.2, 0.3, 0.5, 0.7)) | cases(values=(25, 30)))
def test_the_search_is_the_plain_loop(case):
    noise = representatives(case.records, case.classifier, **case.settings)
    noisy, reachable = plain_records(case)
    assert np.array_equal(dense(noise.noisy), noisy)
    assert np.array_equal(noise.reached, reachable)
    u, m = noise.size.shape
    assert np.array_equal((noisy != np.repeat(case.public, m, axis=0)).sum(axis=1), noise.size.ravel())
    read, targets = case.classifier.predict(noisy), np.tile(np.arange(m), u)
    assert np.array_equal(read[reachable.ravel()], targets[reachable.ravel()])


SIZE = st.one_of(st.integers(0, 8).map(float), st.floats(0, 50).map(lambda size: round(size, 4)))
SHARE = st.one_of(st.just(0.0), st.integers(1, 20).map(float), st.sampled_from([1e-9, 1e-4, 1000.0]))
BUDGET = st.one_of(st.just(0.0), st.sampled_from([1e-3, 0.05, 0.3, 1.0, 3.0, 20.0]))


@st.composite
def programs(draw):
    """Draw noise sizes, a goal, a budget of at least everybody's smallest noise, and which noise was found."""
    m, u = draw(st.sampled_from([1, 2, 3, 5, 25, 30])), draw(st.integers(1, 4))
    size = np.array(draw(st.lists(st.lists(SIZE, min_size=m, max_size=m), min_size=u, max_size=u)))
    nothing = draw(st.lists(st.integers(0, m - 1), min_size=u, max_size=u))
    if draw(st.booleans()):
        size[np.arange(u), nothing] = 0.0
    shares = np.array(draw(st.lists(SHARE, min_size=m, max_size=m)))
    assume(shares.sum() > 0)
    reachable = np.array(draw(st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=u, max_size=u)))
    reachable[np.arange(u), nothing] = True
    least = np.where(reachable, size, np.inf).min(axis=1).max()
    return size, shares / shares.sum(), float(least + draw(BUDGET)), reachable


def check_conditions(size, p, budget, reachable, mechanism):
    """Check the conditions of Karush, Kuhn and Tucker, for everybody who has a finite multiplier."""
    excess = size - budget
    for k in range(len(size)):
        if np.where(reachable[k], size[k], np.inf).min() >= budget:
            continue  # all on the cheapest: no multiplier is finite
        weight = mechanism[k] * excess[k]
        mu = float(weight @ (p[k] - mechanism[k]) / (weight @ weight)) if weight.any() else 0.0
        assert mu >= -1e-9
        assert np.abs(mechanism[k] * (1 + mu * excess[k]) - p[k]).max() < 1e-9
        assert (1 + mu * excess[k][reachable[k]] >= -1e-9).all()


@pytest.mark.long
@settings(max_examples=500)
@given(programs())
def test_mechanisms_meet_the_conditions_keep_to_simplex_and_budget_and_use_it_up(program):
    size, goal, budget, reachable = program
    mechanism = allocate(size, goal, budget, available=reachable)
    least = np.where(reachable, size, np.inf).min(axis=1)
    p = np.where(reachable, goal, 0.0)  # everybody's goal over what was found for her
    p[p.sum(axis=1) == 0] = (reachable & (size == least[:, None]))[p.sum(axis=1) == 0]
    p /= p.sum(axis=1, keepdims=True)
    assert (mechanism >= 0).all() and mechanism.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert not mechanism[~reachable].any()
    spent, goal_size = expected_size(mechanism, size), expected_size(p, size)
    assert (spent <= budget + 1e-9).all()
    slack = goal_size <= budget
    assert mechanism[slack] == pytest.approx(p[slack], abs=1e-12)
    # the budget is used up unless mass without a purpose lies on the cheapest, which costs as little as can be
    binding = ~slack & ((p > 0) & (size < budget)).any(axis=1)
    useless = ((mechanism > 1e-12) & (p == 0)).any(axis=1)
    assert spent[binding & ~useless] == pytest.approx(budget, abs=1e-9)
    assert (spent >= least - 1e-9).all()
    check_conditions(size, p, budget, reachable, mechanism)


@st.composite
def guards(draw):
    """Draw a guard of 2 to 6 values: some columns frozen, rules found or not, some added."""
    village = people(
        draw(st.integers(2, 6)),
        n=draw(st.integers(60, 300)),
        u=draw(st.integers(6, 20)),
        seed=draw(st.integers(0, 2**32 - 1)),
        leak=draw(st.sampled_from([0.3, 1.0, 3.0])),
    )
    jobs, clubs = (sorted({CATEGORIES[j][int(v)] for v in village.attacker_records[:, j]}) for j in (0, 2))
    pair = st.tuples(st.just("job"), st.sampled_from(jobs), st.just("club"), st.sampled_from(clubs))
    settings = AttriGuardSettings(
        frozen=tuple(draw(st.sets(st.sampled_from(NAMES), max_size=3))),
        rules=draw(st.booleans()),
        forbidden_pairs=tuple(draw(st.sets(pair, max_size=2))),
        defender=draw(st.sampled_from(["logistic", "ranges"])),
        margin=draw(st.sampled_from([0.0, 0.5, 2.0])),
    )
    return TableDefense(village, settings)


@settings(max_examples=60)
@given(guards(), st.floats(0.0, 3.0))
def test_noise_keeps_every_promise(guard, budget):
    public, noise = guard.people.public, guard.noise
    u, m = noise.size.shape
    noisy, read = noise.noisy.reshape(u, m, -1), guard.defender.predict(noise.noisy).reshape(u, m)
    changed, predicted = noisy != public[:, None], np.arange(m) == noise.predicted[:, None]
    # found says the truth, and only where something was found is anything changed
    assert (read == np.arange(m))[noise.reached].all()
    assert not changed[~noise.reached].any() and np.array_equal(changed.sum(axis=2), noise.size)
    # and reads it with the margin
    lead = np.einsum("kii->ki", leads(guard.defender, noise.noisy).reshape(u, m, m))
    assert (lead[noise.size > 0] >= guard.settings.margin - 1e-9).all()
    # what the classifier reads anyway costs nothing, anything else does
    assert noise.reached[predicted].all()
    assert np.array_equal(noise.size > 0, noise.reached & ~predicted)
    for j, column in enumerate(guard.columns):
        assert not (column.frozen and changed[:, :, j].any())
        assert np.isin(noisy[:, :, j][changed[:, :, j]], column.domain).all()
    for k, i in np.argwhere(noise.size > 0):
        held, before = (pairs_held(record, guard.columns, guard.rules) for record in (noisy[k, i], public[k]))
        assert held <= before
    used = guard.mechanism(budget)
    assert used.sum(axis=1) == pytest.approx(1.0) and not used[~noise.reached].any()
    assert ((used * noise.size).sum(axis=1) <= budget + 1e-9).all()
    assert changes_per_entry(public, noise, used).sum() <= (budget + 1e-9) * len(used)
