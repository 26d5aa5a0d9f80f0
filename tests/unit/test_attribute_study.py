"""What is said of attribute inference from outputs; that plants are found is the test of the self-test."""

from dataclasses import replace

import numpy as np
import pytest

from core.stats.estimates import Estimate, accuracy
from core.studies.attribute.study import (
    STUDY,
    AttributeSettings,
    _frequencies,
    closing_precision,
    closing_sentence,
    released_posteriors,
)
from core.studies.correction import attack_model
from core.studies.study import Outcome, draw_people, subject_of
from core.studies.subject import prior_of

SETTINGS = AttributeSettings()


@pytest.fixture(scope="module")
def leak():
    """A release whose last digit leaks, and what is inferred of it, with the controls."""
    subject = replace(STUDY.plants[1].make(2, True)[0])  # made anew
    (inference,) = STUDY.run(subject, AttributeSettings(closed=0.99))
    return subject, inference


@pytest.fixture(scope="module")
def learnt():
    """What an attacker infers who learns a table of the groups by looks and label."""
    subject, settings = STUDY.plants[0].make(2, True)
    (inference,) = STUDY.run(subject, settings)
    return inference


def test_findings_say_what_the_checks_measured(learnt):
    checks = STUDY.checks(learnt, SETTINGS)
    headline, bits = STUDY.findings(learnt, SETTINGS)
    excess = checks["attribute_excess"]
    assert (headline.estimate, headline.baseline) == (excess.estimate, excess.control)
    assert bits.estimate == checks["attribute_bits"].estimate
    assert headline.so_what.endswith(f"{learnt.attribute} better than without the outputs.")


@pytest.mark.long
def test_a_release_that_tells_nothing_beats_no_imputation():
    subject, _ = STUDY.plants[1].make(1, False)
    (inference,) = STUDY.run(subject, SETTINGS)
    headline, _ = STUDY.findings(inference, SETTINGS)
    assert all(check.estimate.low <= 0 for check in STUDY.checks(inference, SETTINGS).values())
    assert headline.point.startswith("No attack on what is released beat imputation")
    assert (headline.to_do, headline.so_what, inference.closing) == ("", "", ())


@pytest.mark.long
def test_a_coarser_release_is_tried_only_where_the_gains_are_not_small_already(leak):
    subject, inference = leak
    gains = [inference.gains[measure][1] for measure in ("accuracy", "balanced_accuracy")]
    assert min(gain.low for gain in gains) > 0
    most = max(gain.high for gain in gains)
    assert not closing_precision(subject, closed=most) and closing_precision(subject, closed=most - 1e-9)
    assert closing_sentence(inference, AttributeSettings(closed=most)).startswith("The gains are small, ")
    assert not closing_sentence(inference, AttributeSettings(closed=most - 1e-9))


def test_there_is_one_imputation_of_the_same_people():
    """Attribute inference, correction, and whatever starts from the prior compare with the same guesses."""
    people = draw_people(900, np.random.default_rng(3))
    scores = np.random.default_rng(4).random(900).round(3)
    subject = subject_of(people, (scores >= 0.5).astype(np.uint8), (400, 300, 200), seed=3, scores=scores)
    posteriors = released_posteriors(subject)["outside"]
    prior = prior_of(subject.dataset, subject.splits, subject.splits.train, seed=subject.config.seed)
    assert np.array_equal(posteriors.before, prior)
    rows = subject.dataset, subject.splits, subject.model.predictions
    strong, _ = attack_model("strong", "held_out", *rows, config=subject.config)
    assert np.array_equal(strong.probability, prior)
    assert accuracy(strong.truth, strong.guess) == posteriors.level("accuracy", posteriors.before)


@pytest.mark.long
def test_a_significant_gain_is_tried_on_outputs_that_tell_nothing_and_on_fitted_ones(leak):
    subject, leaking = leak
    attacker, gain = leaking.gains["accuracy"]
    posteriors = leaking.posteriors[attacker]
    assert gain.low > 0.1 and posteriors.level("accuracy", posteriors.after).value > 0.99  # 84% without the scores
    assert set(leaking.permuted) == set(leaking.fitted) == set(leaking.gains)
    assert all(gain.low <= 0 for gain in leaking.permuted.values())
    assert leaking.fitted["accuracy"].value < 0.05
    (unexplained,) = STUDY.run(subject, AttributeSettings(closed=1.0))
    assert (unexplained.permuted, unexplained.fitted) == (leaking.permuted, {})
    headline, _ = STUDY.findings(leaking, SETTINGS)
    line = "If the model's outputs are replaced by outputs predicted from the features alone, the same attack gains "
    texts = STUDY.checks(leaking, SETTINGS)["attribute_excess"].assumptions
    assert line in headline.evidence and any(text.startswith(line) for text in texts)


def test_an_attack_that_gains_from_permuted_outputs_is_no_measurement(learnt):
    biased = Estimate(value=0.04, low=0.01, high=0.07, n=900)
    inference = replace(learnt, permuted=dict(learnt.permuted) | {"accuracy": biased})
    checks = STUDY.checks(inference, SETTINGS)
    excess = checks["attribute_excess"]
    assert (excess.outcome, checks["attribute_balanced"].outcome) == (Outcome.NOT_RUN, Outcome.DONE)
    assert excess.reason.startswith("The attack gains +4.0 points in accuracy from permuted outputs")
    assert STUDY.findings(inference, SETTINGS)[0].so_what == excess.reason


def test_frequencies_add_one_person_of_everybodys_share_to_each_kind():
    frequencies = _frequencies(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]), 0.25)
    assert frequencies[0] == pytest.approx([1.75 / 4, 2.25 / 4])
    assert frequencies[1] == pytest.approx([1.75 / 2, 0.25 / 2])
    assert frequencies[2:] == pytest.approx(np.tile([0.75, 0.25], (len(frequencies) - 2, 1)))


@pytest.mark.parametrize(("lower", "advice"), [(True, "Release only predicted labels."), (False, "Nothing narrower ")])
def test_only_a_release_that_gains_less_by_both_measures_is_advised(learnt, lower, advice):
    gains = [learnt.gains[measure][1] for measure in ("accuracy", "balanced_accuracy")]
    change = -0.01 if lower else 0.01
    finer = ("predicted labels and scores with 4 decimals", gains[0], gains[1])
    coarser = ("predicted labels", replace(gains[0], value=gains[0].value + change), replace(gains[1], value=-0.01))
    sentence = closing_sentence(replace(learnt, closing=(finer, coarser)), SETTINGS)
    assert sentence.startswith(advice)
    assert sentence.endswith("(releases tried: 2, not adjusted for).")
