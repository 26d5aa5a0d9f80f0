"""Noise on raw columns, whatever the people, rules, frozen columns and margin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.studies.attriguard import AttriGuardSettings, TableDefense
from core.studies.attriguard.allocation import changes_per_entry
from tests.table_people import CATEGORIES, NAMES, leads, pairs_held, people


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
    jobs = sorted({CATEGORIES[0][int(v)] for v in village.attacker_records[:, 0]})
    clubs = sorted({CATEGORIES[2][int(v)] for v in village.attacker_records[:, 2]})
    pair = st.tuples(st.just("job"), st.sampled_from(jobs), st.just("club"), st.sampled_from(clubs))
    return TableDefense(
        village,
        AttriGuardSettings(
            frozen=tuple(draw(st.sets(st.sampled_from(NAMES), max_size=3))),
            rules=draw(st.booleans()),
            forbidden_pairs=tuple(draw(st.sets(pair, max_size=2))),
            defender=draw(st.sampled_from(["logistic", "ranges"])),
            margin=draw(st.sampled_from([0.0, 0.5, 2.0])),
        ),
    )


@settings(max_examples=60)
@given(guards(), st.floats(0.0, 3.0))
def test_noise_keeps_every_promise(guard, budget):
    public, noise = guard.people.public, guard.noise
    u, m = noise.size.shape
    noisy = noise.noisy.reshape(u, m, -1)
    changed = noisy != public[:, None]
    read = guard.defender.predict(noise.noisy).reshape(u, m)
    # found says the truth, and only where something was found is anything changed
    assert (read[noise.reached] == np.nonzero(noise.reached)[1]).all()
    assert not changed[~noise.reached].any()
    np.testing.assert_array_equal(changed.sum(axis=2), noise.size)
    # and reads it with the margin
    lead = leads(guard.defender, noise.noisy).reshape(u, m, m)[:, np.arange(m), np.arange(m)]
    assert (lead[noise.size > 0] >= guard.settings.margin - 1e-9).all()
    # what the classifier reads anyway costs nothing, anything else does
    predicted = np.arange(m) == noise.predicted[:, None]
    assert noise.reached[predicted].all() and not noise.size[predicted].any()
    assert (noise.size[~predicted & noise.reached] > 0).all()
    for j, column in enumerate(guard.columns):
        assert not (column.frozen and changed[:, :, j].any())
        assert np.isin(noisy[:, :, j][changed[:, :, j]], column.domain).all()
    for k, i in np.argwhere(noise.size > 0):
        held, before = (pairs_held(record, guard.columns, guard.rules) for record in (noisy[k, i], public[k]))
        assert held <= before
    used = guard.mechanism(budget)
    np.testing.assert_allclose(used.sum(axis=1), 1.0)
    assert not used[~noise.reached].any() and ((used * noise.size).sum(axis=1) <= budget + 1e-9).all()
    assert changes_per_entry(public, noise, used).sum() <= (budget + 1e-9) * len(used)
