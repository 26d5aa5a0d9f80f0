"""The study of privacy budgets: its numbers, words, check and progress; planted violations are seen, nulls are not."""

from __future__ import annotations

import pytest

from core.errors import Cancelled
from core.measured_epsilon import STUDY, MeasuredEpsilonSettings
from core.subject import Subject


@pytest.fixture(scope="module")
def subject() -> Subject:
    return STUDY.plants[0].make(1, False)[0]


def last(subject: Subject, settings: MeasuredEpsilonSettings):  # type: ignore[no-untyped-def]
    *_, result = STUDY.run(subject, settings)
    return result


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_no_mechanism_is_measured_above_what_it_promises(epsilon: float, subject: Subject):
    settings = MeasuredEpsilonSettings(epsilon=epsilon, repeats=4_000)
    found = last(subject, settings)
    assert [one.mechanism for one in found.audited if one.seen.bound(0.9999) > epsilon] == [] == list(found.above)
    check = STUDY.checks(found, settings)["measured_epsilon"]
    assert check.estimate is not None and check.estimate.value == check.estimate.high == 0.0
    headline, _ = STUDY.findings(found, settings)
    bound = found.audited[0].measured(0.95)
    assert 0.4 * epsilon < bound <= 0.85 * epsilon  # a leaf has 85% of the budget
    assert f"At ε = {epsilon:g} promised, an audit in one run shows at least ε = {bound:.2f} for" in headline.point
    assert "proves nothing more" in headline.text and "above" in headline.so_what
    (rows,) = STUDY.tables(found, settings).values()
    assert len(rows) == 7 and {row["promised ε"] for row in rows} == {epsilon}
    spent = {row["mechanism"]: row["spent ε"] for row in rows}
    assert spent["Private tree"] == pytest.approx(epsilon) and spent["Cauchy answers"] <= 0.236 * epsilon
    assert spent["Query desk"] == epsilon
    assert spent["Smooth Laplace answers"] == (epsilon if epsilon < 1 else None)
    for row in rows:
        assert row["measured ε (95% lower bound)"] <= (row["spent ε"] or epsilon)


def test_half_the_noise_is_seen_although_the_ledger_does_not_change(subject: Subject):
    settings = MeasuredEpsilonSettings(noise=0.5)
    found = last(subject, settings)
    above = {one.mechanism for one in found.above}
    assert above == {"Private tree", "Laplace answers", "Noisy sums", "Query desk", "Model card"}
    assert STUDY.checks(found, settings)["measured_epsilon"].estimate.value == pytest.approx(5 / 7)
    finding = STUDY.findings(found, settings)[0]
    assert "more is measured" in finding.point and "does not hold" in finding.so_what
    assert found.audited[0].spent == last(subject, MeasuredEpsilonSettings()).audited[0].spent == pytest.approx(1.0)
    assert any("on purpose" in caveat for caveat in finding.caveats)


def test_it_grows_repeats_itself_and_can_be_stopped(subject: Subject):
    settings, steps = MeasuredEpsilonSettings(canaries=50, repeats=200), []
    grown = list(STUDY.run(subject, settings, lambda done, total: steps.append((done, total))))
    assert [len(result.audited) for result in grown] == list(range(1, 8)) and steps == [(i, 7) for i in range(1, 8)]
    assert grown[-1] == last(subject, settings) and len(STUDY.findings(grown[0], settings)) == 1

    def stop(done: int, total: int) -> None:
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        list(STUDY.run(subject, settings, stop))
