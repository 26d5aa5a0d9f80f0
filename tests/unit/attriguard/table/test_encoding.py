"""Inputs of linear classifiers, and scores that add up over the columns."""

from __future__ import annotations

import numpy as np
import pytest

from core.attriguard.table_people import fit_encoder, table_columns
from core.attriguard.table_search import TABLE_DEFENDERS, fit_defender
from tests.table_people import people


@pytest.mark.parametrize("kind", TABLE_DEFENDERS)
@pytest.mark.parametrize("m", [2, 4])
def test_terms_add_up_to_the_classifiers_scores(kind: str, m: int) -> None:
    village = people(m)
    defender = fit_defender(village.known, village.known_truth, table_columns(village), kind=kind)
    records = village.public.copy()
    records[0] = [-1.0, 9.0, 0.0, 100.0, 1e3]  # values nobody known has
    scores = defender.all_terms(records).sum(axis=2) + defender.offsets[:, None]
    asked = defender.classifier.decision_function(defender.encoder.transform(records))
    np.testing.assert_allclose(scores[1] - scores[0] if m == 2 else scores.T, asked, atol=1e-9)
    np.testing.assert_array_equal(scores.argmax(axis=0), defender.predict(records))


def test_inputs_by_hand() -> None:
    village = people()
    records = np.array([[0.0, 2.0, 1.0, 3.0, 0.5], [9.0, 0.0, 0.0, 0.0, 0.0]])
    inputs = fit_encoder(village.known, table_columns(village)).transform(records).toarray()
    assert inputs.shape == (2, 4 + 3 + 2 + 2)
    assert inputs[0, :9].tolist() == [1, 0, 0, 0, 0, 0, 1, 0, 1]
    assert inputs[1, :4].tolist() == [0, 0, 0, 0]  # a category nobody known has
    numbers = village.known[:, 3:]
    np.testing.assert_allclose(inputs[:, 9:], (records[:, 3:] - numbers.mean(axis=0)) / numbers.std(axis=0))


def test_numbers_in_ranges_have_one_indicator_each() -> None:
    village = people()
    inputs = fit_encoder(village.known, table_columns(village), ranges=True).transform(village.public).toarray()
    assert set(np.unique(inputs)) == {0.0, 1.0} and (inputs.sum(axis=1) == 5).all()
    shares = fit_encoder(village.known, table_columns(village), ranges=True).block(4, village.known[:, 4]).mean(axis=0)
    np.testing.assert_allclose(shares, 0.1, atol=0.02)


def test_a_constant_number_is_no_obstacle() -> None:
    village = people()
    known = village.known.copy()
    known[:, 4] = 7.0
    assert np.isfinite(fit_encoder(known, table_columns(village)).transform(known).toarray()).all()
