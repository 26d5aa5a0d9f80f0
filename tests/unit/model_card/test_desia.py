"""DeSIA on a card: proofs beside every vector of memberships, the classifier beside the exact posterior, nulls."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from core.model_card import Release, ReleaseSettings, ReleaseStudy, desia, project
from core.model_card.ceiling import exact_posterior
from core.model_card.desia import OPEN, classified, proved_cells
from core.model_card.findings import by_proof_and_simulation
from core.model_card.study import STUDY
from tests.oracles.exact_posterior import exact_posterior as by_every_vector
from tests.release_cases import Case, impossible, large_case, small_case


def in_every_vector(case: Case) -> np.ndarray:
    """Return who is of one group in every vector that agrees with the numbers: 1, 0 or `OPEN`."""
    found = by_every_vector(np.full(case.release.n, 0.5), case.published)
    return np.where(found > 1 - 1e-12, 1, np.where(found < 1e-12, 0, OPEN))


@pytest.mark.parametrize("sizes", [True, False])
@pytest.mark.parametrize("precision", ["exact", "rounded"])
def test_what_is_proved_holds_in_every_vector_that_agrees(precision: str, sizes: bool):
    proved = missed = 0
    for seed in range(40):
        case = small_case(seed, precision=precision, sizes=sizes)
        proof, left = proved_cells(case.published, case.sensitive)
        said, true = proof[case.release.cells.pattern], in_every_vector(case)
        assert left == 0 and (said[said != OPEN] == true[said != OPEN]).all()
        assert (said[said != OPEN] == case.sensitive[said != OPEN]).all()
        assert (proved_cells(case.published, 1 - case.sensitive)[0] == proof).all()  # without the truth to start from
        proved, missed = proved + int((said != OPEN).sum()), missed + int(((said == OPEN) & (true != OPEN)).sum())
    assert proved > 0
    if sizes:  # gaps of groups of unknown size are left out of the programs
        assert missed == 0


def test_nothing_is_proved_under_noise_or_where_no_people_agree():
    noisy = small_case(3, precision="noisy")
    assert set(proved_cells(noisy.published, noisy.sensitive)[0]) == {OPEN}
    proof, left = proved_cells(impossible(), np.zeros(6, dtype=np.uint8))
    assert set(proof) == {OPEN} and left == 0


def test_a_program_that_is_not_settled_proves_nothing(monkeypatch: pytest.MonkeyPatch):
    case = large_case(1, n=300, k=20, decimals=2)
    whole, left = proved_cells(case.published, case.sensitive)
    assert (whole != OPEN).any() and left == 0
    monkeypatch.setattr(importlib.import_module("core.model_card.desia"), "_MOST_PROGRAMS", 2)
    some, left = proved_cells(case.published, case.sensitive)
    assert left > 0 and ((some == OPEN) | (some == whole)).all()


def one_model(seed: int, n: int = 300) -> Case:
    """Return people of whom one model's gap and the group size are published, exactly."""
    rng = np.random.default_rng(seed)
    posterior = rng.uniform(0.05, 0.95, n)
    sensitive = (rng.random(n) < posterior).astype(np.uint8)
    release = Release((rng.random(n) < 0.4).astype(np.uint8), statistics=("sp_gap",))
    return Case(posterior=posterior, sensitive=sensitive, release=release, published=release.publish(sensitive))


def test_the_classifier_is_near_the_exact_posterior_of_hundreds():
    for seed in range(3):
        case = one_model(seed)
        exact = exact_posterior(case.posterior, case.published)
        assert exact is not None
        found, simulated = classified(case.posterior, case.published, seed=seed)
        assert simulated == 2_000
        off, before = np.abs(found - exact).mean(), np.abs(case.posterior - exact).mean()
        assert off < 0.005 and off < 0.5 * before + 0.002


@pytest.mark.parametrize("precision", ["exact", "rounded", "noisy"])
def test_of_few_people_it_is_nearer_to_the_exact_posterior_than_the_prior(precision: str):
    before, after = [], []
    for seed in range(40):
        case = small_case(seed, precision=precision)
        exact = by_every_vector(case.posterior, case.published)
        projected = project(case.posterior, case.published).probability
        found = desia(case.posterior, case.published, projected, sensitive=case.sensitive, seed=seed)
        before.append(np.abs(case.posterior - exact).mean())
        after.append(np.abs(found.probability - exact).mean())
    assert np.mean(after) < 0.5 * np.mean(before)


def planted(seed: int, leaks: bool) -> ReleaseStudy:
    subject, settings = STUDY.plants[0].make(seed, leaks)
    *_, found = STUDY.run(subject, settings)
    assert isinstance(found, ReleaseStudy)
    return found


def test_a_model_that_accepts_one_group_alone_proves_everybody_and_one_that_draws_lots_nobody():
    found = planted(1, True)
    assert found.desia is not None and found.desia.proved == found.n and found.desia.proved_right.value == 1.0
    assert found.desia.gain.low > 0
    finding = by_proof_and_simulation(found, found.desia)
    assert "the numbers alone prove the" in finding.point and finding.so_what
    assert finding in STUDY.findings(found, ReleaseSettings())
    (rows,) = STUDY.tables(found, ReleaseSettings()).values()
    assert [row["attack"] for row in rows[:3]] == ["imputation, no card", "information projection", "DeSIA"]
    gains = []
    for seed in range(8):
        found = planted(seed, False).desia
        assert found is not None and found.proved == 0 and found.pinned.count == 0
        gains.append(found.gain)
    assert sum(gain.low > 0 for gain in gains) <= 2
