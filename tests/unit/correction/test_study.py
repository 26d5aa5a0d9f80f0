"""The studies of correction and of the model's fairness: they find what is planted, and say what was measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.stats.estimates import percent
from core.studies.correction import STUDY, CorrectionResult, CorrectionSettings, findings
from core.studies.correction.attribute_attacks import ATTACKERS
from core.studies.subject import Subject


def ran(subject: Subject) -> CorrectionResult:
    *_, result = STUDY.run(subject, CorrectionSettings())
    return result


@pytest.fixture(scope="module")
def leaking() -> CorrectionResult:
    return ran(STUDY.plants[0].make(1, True)[0])


@pytest.mark.parametrize("adversary", ["features", "strong"])
def test_the_findings_say_what_the_disclosure_measured(leaking: CorrectionResult, adversary: str) -> None:
    settings = CorrectionSettings(adversary=adversary, tolerance=0.1)
    now = leaking.disclose(0.1, adversary=adversary)
    headline, effect, truth, proof, control, validation = STUDY.findings(leaking, settings)
    tables = STUDY.tables(leaking, settings)["Corrections over tolerances"]
    (row,) = (row for row in tables if (row["tolerance"], row["attacker"]) == (0.1, ATTACKERS[adversary]))
    assert now.after is not None and (row["after, low"], row["after, high"]) == (now.after.low, now.after.high)
    assert headline.estimate == now.after and headline.baseline == now.majority
    assert ("helps" in headline.point) == (now.gain is not None and now.gain.low > 0)
    assert "Imputation without the model: " in headline.evidence or adversary == "strong"
    worse = adversary == "features" and (now.after or now.before).high < now.majority.value
    assert headline.so_what.startswith("This attacker is worse than always guessing") == worse
    assert effect.estimate == leaking.explained(adversary, 0.1).steps[-2].changes["accuracy"].estimate
    assert ("does not hold" in truth.point) == (not now.is_true)
    assert f"Guesses changed: {now.n_changed} of {now.before.n}" in proof.evidence
    assert control.estimate == leaking.disclose(0.1, adversary=adversary, permuted=True).gain
    assert validation.estimate == leaking.attack(adversary).held_out_accuracy


def test_the_step_of_the_constraint_names_what_it_builds_on(leaking: CorrectionResult) -> None:
    leak = leaking.explained("features", 0.1)
    step = leak.step("constraint")
    finding = findings.constraint_effect(leak)
    before, after = (percent(leak.step(name).values["accuracy"].value) for name in (step.builds_on, "constraint"))
    assert step.builds_on == "shares" and f"Without the tolerance {before}, with it {after}." in finding.evidence


def test_a_tolerance_that_no_guess_meets_names_the_smallest_that_some_do(leaking: CorrectionResult) -> None:
    subject = leaking.subject
    odd = leaking.attack("features").attacked
    rows = slice(0, 7)
    few = replace(
        odd,
        **{name: getattr(odd, name)[rows] for name in ("probability", "calibrated", "labels", "truth")},
        predictions=odd.predictions[rows] * 0 + [1, 1, 1, 0, 0, 0, 0],
    )
    attacks = {key: replace(attack, attacked=few) for key, attack in leaking.attacks.items()}
    result = CorrectionResult(subject=replace(subject), attacks=attacks)
    headline, _, _, proof, *_ = STUDY.findings(result, CorrectionSettings(tolerance=0.0))
    smallest = result.disclose(0.0).smallest_tolerance
    assert smallest is not None and f"the smallest that can be met is {smallest:.2g}" in headline.point
    tolerance = float(headline.point.rstrip(".").rpartition(" ")[2])
    assert smallest <= tolerance < smallest + 1e-4 and result.disclose(tolerance).after is not None
    assert proof.point == "No correction exists at tolerance 0." and headline.estimate is None


@pytest.mark.parametrize("tolerance", [0.0004, 0.4])
def test_the_disclosed_tolerance_is_judged_as_it_is(leaking: CorrectionResult, tolerance: float) -> None:
    """However fine, and however loose: the truth of another one is no truth of it."""
    subject = replace(leaking.subject, config=replace(leaking.subject.config, tolerance=tolerance))
    result = replace(leaking, subject=subject)
    assert subject.model.unfairness_train < 0.0004 and findings.first_tolerance(result) == tolerance
    assert STUDY.findings(result, CorrectionSettings())[2].point == "The disclosed tolerance holds."


@pytest.mark.parametrize(
    ("gain", "gain_text", "true", "false"),
    [
        ((0.01, 0.0003, 0.02), "+1.00 points (+0.03 to +2.00)", "helps", "+1.0 points"),
        ((0.01, 0.0, 0.02), "+1.0 points (0.0 to +2.0)", "has no", "not statistically significant"),
        ((0.01, -0.0003, 0.02), "+1.0 points (0.0 to +2.0)", "has no", "not statistically significant"),
        ((-0.01, -0.02, 0.0), "−1.0 points (−2.0 to 0.0)", "has no", "not statistically significant"),
        ((-0.01, -0.02, -0.0003), "−1.00 points (−2.00 to −0.03)", "misleads", "−1.0 points"),
    ],
)
def test_a_gain_is_one_where_its_interval_excludes_nought_and_reads_so(
    leaking: CorrectionResult, gain: tuple[float, float, float], gain_text: str, true: str, false: str
) -> None:
    now = leaking.disclose(0.1)
    assert now.gain is not None and now.is_true and now.after is not None
    now = replace(now, gain=replace(now.gain, value=gain[0], low=gain[1], high=gain[2]))
    finding = findings.headline(leaking, now, adversary="features")
    assert f"Gain {gain_text}." in finding.evidence and finding.point.startswith(
        f"Publishing the fairness tolerance {true} "
    )
    start = percent(now.before)
    assert (f", from {start}" in finding.point) == (true != "has no")
    untrue = findings.headline(leaking, replace(now, achieved=0.1234), adversary="features")
    on = "" if false.endswith("significant") else f", from {start}"
    assert untrue.point.endswith(f"Effect of believing it on the published attack: {false}{on}.")
    assert "The smallest tolerance that holds is 0.124." in untrue.to_do


def test_fewer_than_400_people_are_a_hint(leaking: CorrectionResult) -> None:
    now = leaking.disclose(0.1)
    assert now.after is not None
    for n, hints in ((399, ("People attacked: 399. Take it as a hint.",)), (400, ())):
        few = replace(now, after=replace(now.after, n=n))
        assert findings.headline(leaking, few, adversary="features").caveats == hints
