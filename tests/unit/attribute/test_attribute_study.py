"""What is said of attribute inference from outputs; that plants are found is the test of the self-test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.adversaries.released_outputs import NO_ATTACK
from core.stats.estimates import Estimate, accuracy, percent
from core.studies.attribute.study import (
    STUDY,
    AttributeInference,
    AttributeSettings,
    closing_precision,
    closing_sentence,
    released_posteriors,
)
from core.studies.correction import attack_model
from core.studies.study import Outcome
from core.studies.subject import prior_of

SETTINGS = AttributeSettings()


@pytest.mark.long
@pytest.mark.parametrize("leaks", [True, False])
def test_findings_say_what_the_checks_measured(leaks: bool):
    progress: list[tuple[int, int]] = []
    subject, _ = STUDY.plants[1].make(1, leaks)
    (inference,) = STUDY.run(subject, SETTINGS, lambda done, total: progress.append((done, total)))
    assert progress == [(1, 1)]
    checks = STUDY.checks(inference, SETTINGS)
    assert list(checks) == [check.name for check in STUDY.declared]
    headline, bits = STUDY.findings(inference, SETTINGS)
    assert headline.estimate == checks["attribute_excess"].estimate
    assert headline.baseline == checks["attribute_excess"].control
    assert bits.estimate == checks["attribute_bits"].estimate
    if leaks:
        assert headline.so_what.endswith(f"{inference.attribute} better than without the outputs.")
        assert not inference.closing or headline.to_do in checks["attribute_bits"].assumptions
        unsure = Estimate(value=0.004, low=-0.006, high=0.014, n=900)
        worse = Estimate(value=-0.03, low=-0.05, high=-0.01, n=900)
        headline, _ = STUDY.findings(
            replace(inference, gains=dict.fromkeys(inference.gains, ("outside", unsure))), SETTINGS
        )
        assert "which is not statistically significant" in headline.point
        headline, bits = STUDY.findings(
            replace(inference, gains=dict.fromkeys(inference.gains, ("outside", worse))), SETTINGS
        )
        assert headline.point.startswith(f"What is released adds −3.0 points to inferring the {inference.attribute} (")
        assert f"features and label alone: {percent(checks['attribute_excess'].control)})" in headline.point
        assert "−0.030 bits" in bits.point and bits.evidence == "95% CI −0.050 to −0.010 bits." and not headline.so_what
    else:
        assert all(check.estimate is not None and check.estimate.low <= 0 for check in checks.values())
        assert headline.point.startswith("No attack on what is released beat imputation")
        assert not headline.to_do and not headline.so_what and not inference.closing


@pytest.mark.long
def test_the_first_significant_gain_leads():
    subject, _ = STUDY.plants[1].make(13, True)  # a minority
    (inference,) = STUDY.run(subject, AttributeSettings(closed=1.0))
    attacker, gain = inference.gains["accuracy"]
    unsure = replace(gain, value=0.0, low=-0.01, high=0.01)
    inference = replace(inference, gains=inference.gains | {"accuracy": (attacker, unsure)})
    headline, _ = STUDY.findings(inference, SETTINGS)
    balanced = STUDY.checks(inference, SETTINGS)["attribute_balanced"]
    assert inference.gains["accuracy"][1].low <= 0 < balanced.estimate.low
    assert (headline.estimate, headline.baseline) == (balanced.estimate, balanced.control)
    assert " points in balanced accuracy to inferring" in headline.point and headline.so_what
    assert headline.evidence.startswith("Balanced accuracy on 900 people: ")
    none = replace(balanced.estimate, value=0.0, low=-0.01, high=0.01)
    inference = replace(
        inference, gains={**dict.fromkeys(inference.gains, ("outside", none)), "bits": inference.gains["bits"]}
    )
    headline, bits = STUDY.findings(inference, SETTINGS)
    assert headline.estimate == bits.estimate and " bits a person to inferring" in headline.point
    assert headline.so_what.endswith("of their guesses this was not shown.")


@pytest.mark.long
def test_a_coarser_release_is_tried_only_where_the_gains_are_not_small_already():
    subject, _ = STUDY.plants[1].make(1, True)
    (inference,) = STUDY.run(subject, AttributeSettings(closed=1.0))
    gains = [inference.gains[measure][1] for measure in ("accuracy", "balanced_accuracy")]
    assert min(gain.low for gain in gains) > 0
    most = max(gain.high for gain in gains)
    assert not closing_precision(subject, closed=most) and closing_precision(subject, closed=most - 1e-9)
    assert closing_sentence(inference, AttributeSettings(closed=most)).startswith("The gains are small, ")
    assert not closing_sentence(inference, AttributeSettings(closed=most - 1e-9))


def test_there_is_one_imputation_of_the_same_people():
    """Attribute inference, correction, and whatever starts from the prior compare with the same guesses."""
    subject, _ = STUDY.plants[1].make(3, False)
    posteriors = released_posteriors(subject)["outside"]
    prior = prior_of(subject.dataset, subject.splits, subject.splits.train, seed=subject.config.seed)
    assert np.array_equal(posteriors.before, prior)
    rows = subject.dataset, subject.splits, subject.model.predictions
    strong = attack_model("strong", "held_out", *rows, config=subject.config)
    assert np.array_equal(strong.attacked.probability, prior)
    assert accuracy(strong.attacked.truth, strong.attacked.guess) == posteriors.level("accuracy", posteriors.before)


@pytest.fixture(scope="module")
def leaking() -> AttributeInference:
    subject, _ = STUDY.plants[1].make(2, True)  # a last digit
    (inference,) = STUDY.run(replace(subject), AttributeSettings(closed=1.0))  # made anew, with the controls
    return inference


@pytest.mark.long
def test_a_significant_gain_is_tried_on_outputs_that_tell_nothing_and_on_fitted_ones(leaking: AttributeInference):
    attacker, gain = leaking.gains["accuracy"]
    posteriors = leaking.posteriors[attacker]
    assert gain.low > 0.1 and posteriors.level("accuracy", posteriors.after).value > 0.99  # 84% without the scores
    assert set(leaking.permuted) == set(leaking.fitted) == set(leaking.gains)
    assert all(gain.low <= 0 for gain in leaking.permuted.values())
    assert leaking.fitted["accuracy"].value < 0.05
    headline, _ = STUDY.findings(leaking, SETTINGS)
    line = "Any well-fitted score of these features would give "
    assert line in headline.evidence
    checks = STUDY.checks(leaking, SETTINGS)
    assert any(text.startswith(line) for text in checks["attribute_excess"].assumptions)


def test_an_attack_that_gains_from_permuted_outputs_is_no_measurement(leaking: AttributeInference):
    biased = Estimate(value=0.04, low=0.01, high=0.07, n=900)
    inference = replace(leaking, permuted=dict(leaking.permuted) | {"accuracy": biased})
    checks = STUDY.checks(inference, SETTINGS)
    excess = checks["attribute_excess"]
    assert (excess.outcome, excess.estimate) == (Outcome.NOT_RUN, None)
    assert excess.reason.startswith("The attack gains +4.0 points in accuracy from permuted outputs")
    assert checks["attribute_balanced"].outcome == Outcome.DONE
    assert STUDY.findings(inference, SETTINGS)[0].so_what == excess.reason


@pytest.mark.long
def test_findings_where_no_attack_beats_imputation():
    subject, _ = STUDY.plants[1].make(3, False)
    (inference,) = STUDY.run(subject, SETTINGS)
    posteriors_by_attacker = {
        attacker: replace(posteriors, attack=NO_ATTACK, after=posteriors.before)
        for attacker, posteriors in inference.posteriors.items()
    }
    nothing = Estimate(value=0.0, low=-0.01, high=0.01, n=900)
    inference = replace(
        inference, posteriors=posteriors_by_attacker, gains=dict.fromkeys(inference.gains, ("outside", nothing))
    )
    headline, _ = STUDY.findings(inference, SETTINGS)
    assert headline.point.startswith("No attack on what is released beat imputation ")
    assert headline.point.endswith(" on the attacker's validation records.")
    alone = percent(posteriors_by_attacker["outside"].level("accuracy", posteriors_by_attacker["outside"].before))
    assert headline.evidence.startswith(f"Accuracy on 900 people: {alone} from features and label alone")
    assert "no attack, as none beat imputation" in STUDY.checks(inference, SETTINGS)["attribute_excess"].attacked
