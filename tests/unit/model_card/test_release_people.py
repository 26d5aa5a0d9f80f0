"""From a dataset to a study: attacker, natural models, what the pinned share, the adviser."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from core.config import AuditConfig
from core.datasets import AuditDataset, build_dataset, demo_table, split
from core.errors import Cancelled, InputError
from core.model_card import (
    Advice,
    Pinned,
    Release,
    ReleasedPeople,
    ReleaseSettings,
    advise,
    attacker_posteriors,
    in_common,
    pinned,
    project,
    released_people,
    study,
)
from core.model_card.natural_models import natural_models
from core.release_audit.card_plan import some_people
from tests.release_cases import Case, large_case

CONFIG = AuditConfig(method="unmitigated", seed=3)


@cache
def demo() -> AuditDataset:
    table = demo_table()
    table = replace(table, frame=table.frame.head(3000), fingerprint="the first 3,000 of the demo")
    return build_dataset(table, table.roles[0])


@cache
def people() -> ReleasedPeople:
    return some_people(released_people(CONFIG, demo(), models="mixed", count=6), 800, seed=CONFIG.seed)


def test_the_attacker_is_calibrated_and_repeatable():
    splits = split(demo(), seed=3)
    q = attacker_posteriors(demo(), splits, splits.test, seed=3)[:, 1]
    s = demo().sensitive[splits.test]
    assert q.shape == s.shape and q.mean() == pytest.approx(s.mean(), abs=0.03)
    for low, high in ((0.1, 0.4), (0.4, 0.6), (0.6, 0.9)):
        inside = (q >= low) & (q < high)
        assert s[inside].mean() == pytest.approx(q[inside].mean(), abs=0.08)
    again = dict(zip(people().rows.tolist(), people().posterior.tolist(), strict=True))
    assert [again[row] for row in sorted(again)] == q[np.argsort(splits.test)][
        np.isin(np.sort(splits.test), people().rows)
    ].tolist()


def test_the_attacker_learns_nothing_from_released_records():
    splits = split(demo(), seed=3)
    with pytest.raises(InputError, match="must not learn from released records, got 5 that are in both"):
        attacker_posteriors(demo(), splits, np.append(splits.test, splits.attack[:5]))
    with pytest.raises(InputError, match="group must be from 0 to 1, got 2"):
        released_people(CONFIG, demo(), models="audited", group=2)


@pytest.mark.parametrize("family", ["mixed", "seeds", "depths", "features"])
def test_a_family_differs_and_grows_from_its_start(family: str):
    splits = split(demo(), seed=3)
    rows = splits.test[:500]
    steps: list[tuple[int, int]] = []
    found = natural_models(demo(), splits, rows, count=4, family=family, seed=1, report=lambda *at: steps.append(at))
    assert found.predictions.shape == (4, 500) and len(set(found.names)) == 4
    assert steps == [(i, 4) for i in range(5)]
    assert len(np.unique(found.predictions, axis=0)) == 4
    fewer = natural_models(demo(), splits, rows, count=2, family=family, seed=1)
    assert (fewer.predictions == found.predictions[:2]).all() and fewer.names == found.names[:2]
    right = (found.predictions == demo().labels[rows]).mean(axis=1)
    assert right.min() > 0.6


def test_a_sweep_of_fair_models():
    splits = split(demo(), seed=3)
    found = natural_models(demo(), splits, splits.test[:300], count=2, family="tolerances", seed=1)
    assert found.names == ("1 fair, tolerance 0.000", "2 fair, tolerance 0.200")


def test_natural_models_can_be_told_what_not_to_see_and_be_stopped():
    splits = split(demo(), seed=3)
    name = demo().feature_names[0]
    natural_models(demo(), splits, splits.test[:10], count=1, without=[name])
    with pytest.raises(InputError, match="without must be one of"):
        natural_models(demo(), splits, splits.test[:10], count=1, without=["shoe size"])
    with pytest.raises(InputError, match="at least one feature"):
        natural_models(demo(), splits, splits.test[:10], count=1, without=demo().feature_names)
    with pytest.raises(InputError, match="count must be a whole number from 1 to 200, got 201"):
        natural_models(demo(), splits, splits.test[:10], count=201)

    def stop(done: int, total: int) -> None:
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        natural_models(demo(), splits, splits.test[:10], count=1, report=stop)


def test_released_people_hold_what_a_study_needs():
    found = people()
    assert found.n == 800 and found.predictions.shape == (6, 800)
    assert found.names[0] == "audited model" and len(found.columns) == 800
    assert found.columns.notna().all().all()
    assert set(found.rows.tolist()) <= set(split(demo(), seed=3).test.tolist())


def test_given_models(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "core.model_card.card_people.attacker_posteriors", lambda _, __, rows, **told: np.full((rows.size, 2), 0.5)
    )
    columns = np.vstack([demo().labels, 1 - demo().labels])
    found = released_people(CONFIG, demo(), models="given", given=columns, names=["a", "b"])
    assert found.names == ("a", "b") and (found.predictions == columns[:, found.rows]).all()
    with pytest.raises(InputError, match="at least one column of predictions"):
        released_people(CONFIG, demo(), models="given")
    with pytest.raises(InputError, match=f"predict for all {demo().n} records, got 7 predictions of model 1"):
        released_people(CONFIG, demo(), models="given", given=np.zeros((1, 7), dtype=np.uint8))


def test_a_study_says_what_its_parts_say():
    found = study(people(), ReleaseSettings(count=6, decimals=None))
    assert found.status == "converged" and found.n == 800 and found.n_models == 6 and found.n_numbers == 3 + 18
    assert found.measured.bits.value == pytest.approx(found.measured.moved_bits, abs=1e-6)
    after = project(people().posterior, found.published).probability
    assert (after == found.probability).all()
    assert found.pinned.count == pinned(people().posterior, after).count
    table = found.to_frame().set_index("quantity")["value"]
    assert table["df_bits"] == found.meter.df_bits and table["pinned"] == found.pinned.count
    told = found.to_dict()
    assert told["settings"]["count"] == 6 and told["pinned"]["count"] == found.pinned.count
    assert len(told["published"]["numbers"]) == found.n_numbers
    assert "probability" not in told and "people" not in told["pinned"]  # nothing about single people
    json.dumps(told)


def test_a_study_with_noise_depends_on_its_seed_only():
    one, two, other = (study(people(), ReleaseSettings(epsilon=5.0, decimals=None, seed=seed)) for seed in (1, 1, 2))
    assert (one.probability == two.probability).all() and not (one.probability == other.probability).all()


def test_a_study_of_models_that_are_not_there():
    with pytest.raises(InputError, match="count must be from 1 to 6 models, got 7"):
        study(people(), ReleaseSettings(count=7))


def _pinned(rows: list[int], n: int) -> Pinned:
    before, after = np.full(n, 0.5), np.full(n, 0.5)
    after[rows] = 1.0
    return pinned(before, after)


def test_what_the_pinned_share():
    n = 400
    rng = np.random.default_rng(0)
    columns = pd.DataFrame({"town": rng.choice(["A", "B", "C"], n), "age": np.arange(n), "seen": np.nan})
    rows = np.flatnonzero((columns["town"] == "B") & (columns["age"] >= 300)).tolist()
    h = np.zeros(n, dtype=int)
    h[rows[:2]] = 1
    h[:100] = 1
    labels = (np.arange(n) >= 300).astype(int)
    found = in_common(_pinned(rows, n), columns, Release(h, labels=labels))
    assert {(row.column, row.value) for row in found.values} == {("town", "B"), ("age", "above 299.25, to 399")}
    assert all(row.among_pinned.value == 1.0 for row in found.values)
    assert found.cell_sizes == ((2, 2), (98, len(rows) - 2))
    assert found.median_cell == 98 and found.median_cell_rest == 200


def test_nobody_pinned_has_nothing_in_common():
    found = in_common(
        _pinned([], 5), pd.DataFrame({"a": range(5)}), Release(np.eye(5, dtype=int)[0], statistics=("sp_gap",))
    )
    assert found.values == () and found.cell_sizes == () and np.isnan(found.median_cell)
    with pytest.raises(InputError, match="one row for each of 5 people, got 2"):
        in_common(
            _pinned([], 5), pd.DataFrame({"a": range(2)}), Release(np.eye(5, dtype=int)[0], statistics=("sp_gap",))
        )


@cache
def advised() -> tuple[Case, Advice]:
    """Of this card three draws at 30 pin nobody, and half of all others do."""
    case = large_case(200, n=250, k=25)
    return case, advise(case.posterior, case.release, sensitive=case.sensitive)


def test_the_adviser_finds_the_finest_precision_that_pins_nobody():
    _, found = advised()
    pins = {(row.decimals, row.epsilon): row.pinned for row in found.tried}
    assert pins[None, None] > 0 and not found.exact
    if found.decimals is not None:
        assert all(pins[d, None] == 0 for d in range(1, found.decimals + 1))
        assert found.decimals == 4 or pins[found.decimals + 1, None] > 0
    assert found.epsilon is not None and all(pins[None, e] == 0 for (_, e) in pins if e and e <= found.epsilon)
    assert list(found.to_frame().columns) == ["decimals", "epsilon", "pinned", "df_bits", "known", "draws"]


def test_an_advised_budget_seldom_pins_somebody_in_a_draw_it_was_not_tried_with():
    case, found = advised()
    assert found.epsilon is not None
    release = case.release.with_precision(epsilon=found.epsilon)
    pins = 0
    for draw in range(28):
        told = release.publish(case.sensitive, rng=np.random.default_rng(draw))
        pins += pinned(case.posterior, project(case.posterior, told).probability).count > 0
    assert pins <= 4


def test_a_precision_whose_posterior_is_not_known_is_not_advised(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.model_card.advice._EPSILONS", (1.0,))
    case = large_case(6, n=600, k=1)
    q = case.posterior.copy()
    q[case.release.predictions[0] == 1] = 0.0  # certain of more people than the sizes allow
    found = advise(q, case.release, sensitive=case.sensitive)
    exact = found.tried[0]
    assert not exact.known and exact.pinned == 0
    assert not found.exact and found.decimals is None
    assert found.tried[-1].known and found.epsilon == 1.0  # much noise rules nothing out


def test_one_model_on_many_people_may_be_published_exactly():
    case = large_case(6, n=2000, k=1)
    found = advise(case.posterior, replace_sizes(case.release), sensitive=case.sensitive)
    assert found.exact and found.decimals is None and found.epsilon is None
    assert all(row.epsilon is None for row in found.tried)  # noise needs published sizes


def replace_sizes(release: Release) -> Release:
    return Release(release.predictions, labels=release.labels, sizes=False)


def test_settings_are_values():
    assert replace(ReleaseSettings(), count=2) == ReleaseSettings(count=2)
