"""The studies of correction and of the model's fairness: they find what is planted, and say what was measured."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from core.correction import PROTOCOLS, STUDY, CorrectionResult, CorrectionSettings
from core.model_fairness import STUDY as FAIRNESS
from core.release_audit.result import TableTitle
from core.study import Finding
from core.subject import Subject


def ran(subject: Subject) -> CorrectionResult:
    *_, result = STUDY.run(subject, CorrectionSettings())
    return result


@pytest.fixture(scope="module")
def leaking() -> CorrectionResult:
    return ran(STUDY.planted(1))


@pytest.mark.parametrize("adversary", ["features", "strong"])
def test_the_findings_say_what_the_disclosure_measured(leaking: CorrectionResult, adversary: str) -> None:
    settings = CorrectionSettings(adversary=adversary, tolerance=0.1)
    now = leaking.disclose(0.1, adversary=adversary)
    headline, effect, truth, proof, control, own = STUDY.findings(leaking, settings)
    assert headline.estimate == now.after and headline.baseline == now.majority
    assert ("helps" in headline.point) == (now.gain is not None and now.gain.low > 0)
    assert "Imputation without the model: " in headline.evidence or adversary == "strong"
    assert effect.estimate == leaking.explained(adversary, 0.1).steps[-2].accuracy_change
    assert ("does not hold" in truth.point) == (not now.is_true)
    assert f"{now.n_changed} of {now.before.n} guesses changed" in proof.evidence
    assert control.estimate == leaking.disclose(0.1, adversary=adversary, permuted=True).gain
    assert own.estimate == leaking.attack(adversary).held_out_accuracy


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
    assert proof.point == "No correction exists at tolerance 0." and headline.estimate is None


def test_sentences_are_short_and_about_they(leaking: CorrectionResult) -> None:
    findings: list[Finding] = [*FAIRNESS.findings(leaking.subject, FAIRNESS.settings())]
    attacks = {(kind, p): each for (kind, _), each in leaking.attacks.items() for p in PROTOCOLS}
    result = CorrectionResult(subject=leaking.subject, attacks=attacks)
    for published in (False, True):
        findings += STUDY.findings(result, CorrectionSettings(as_published=published, tolerance=0.05))
    for finding in findings:
        for sentence in re.split(r"(?<=[.;:]) ", finding.text):
            assert len(sentence.split()) <= 25, sentence
        assert not re.search(r"\b(she|her|hers|told|rightly|promise)\b", finding.text), finding.text


def test_the_tables_are_those_of_a_report_and_hold_every_attacker(leaking: CorrectionResult) -> None:
    tables = STUDY.tables(leaking, CorrectionSettings())
    assert set(tables) == {TableTitle.ATTRIBUTION, TableTitle.CORRECTIONS, TableTitle.TRUE_CORRECTION}
    assert len(tables[TableTitle.CORRECTIONS]) == 4 * 7  # the disclosed tolerance is one of the seven
    assert {row["attacker"] for row in tables[TableTitle.ATTRIBUTION]} == {
        "The paper's attacker",
        "The strong attacker",
    }
    (name,) = FAIRNESS.tables(leaking.subject, FAIRNESS.settings())
    assert name == TableTitle.RATES
    shown = [row["gain"] for row in tables[TableTitle.CORRECTIONS]]
    assert all(isinstance(gain, float) and not math.isnan(gain) for gain in shown)
