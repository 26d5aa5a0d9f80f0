"""What a report's own numbers reveal: what core.model_card says of them, and what others read."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.estimates import proportion
from core.model_card import Release, ReleasedPeople, measured, meter, pinned, predict, project
from core.report import Reports, document
from core.report.canonical import decimals_of, printed
from core.report.card_section import exposure
from core.report.metering import meter_of, published_of
from tests.oracles.edition_attack import attacked
from tests.report_people import people_of
from tests.samples_report import GROUPS, SMALL_GROUPS, group, sample

disclosure_edition = partial(document, edition="disclosure")

RATES = ("sp_rate", "tpr_rate", "fpr_rate")
TINY = (group("a", (6, 0, 0, 0), 10, 20), group("b", (0, 0, 0, 6), 10, 20))
LARGE = (
    group("a", (20_000, 10_000, 15_000, 25_000), 40_000, 90_000),
    group("b", (40_000, 20_000, 30_000, 60_000), 80_000, 190_000),
)


def metered(groups=GROUPS, who=None):
    """Return the reports of a sample, and its test people."""
    who = people_of(groups) if who is None else who
    return Reports(sample(groups), who), who


def row_of(reports, form):
    return next(row for row in reports.meter.forms if row.form == form)


def test_people_of_another_audit_are_refused():
    edition = disclosure_edition(sample())
    with pytest.raises(InputError, match="groups must be those of the people, got 'women'"):
        published_of(edition, replace(people_of(), group_names=("x", "y")), 1)
    few = people_of().some(4975, seed=0)
    with pytest.raises(InputError, match="must not have more than the 4,975 people attacked"):
        published_of(edition, few, 1)
    told = disclosure_edition(sample(), people=few)["release_meter"]
    assert told["outcome"] == "failed" and "4,975" not in told["told"]


def assert_is(row, posterior, truth, published):
    """Compare a row with what core.model_card says of numbers."""
    read, after = meter(posterior, published), project(posterior, published)
    found = measured(posterior, after.probability, truth)
    named = pinned(posterior, after.probability, sensitive=truth)
    assert row.df_bits == pytest.approx(predict(posterior, published).bits.value, rel=1e-9)
    for name in ("joint_bits", "prior_bits", "person_bits"):
        assert getattr(row, name) == pytest.approx(getattr(read, name), rel=1e-9)
    assert row.bits.value == pytest.approx(found.bits.value, abs=1e-6)
    assert (row.unsure, row.pinned, row.status) == (named.n_unsure, named.count, after.status)
    assert row.accuracy.value == found.accuracy_after.value


def test_with_every_digit_a_report_gives_away_what_its_sizes_and_rates_do():
    audit, who = metered()
    release = Release(who.predictions, labels=who.labels, statistics=RATES)
    row = row_of(audit, "every_digit")
    assert row.numbers == 9 and row.group == who.group_names[1]
    assert_is(row, who.posteriors[:, 1], who.sensitive, release.publish(who.sensitive))


def test_the_digits_of_a_large_table_leave_something_open():
    audit, who = metered(LARGE)
    exact, printed, given = (row_of(audit, form) for form in ("every_digit", "page", "disclosure"))
    assert given.df_bits == printed.df_bits < exact.df_bits
    assert given.joint_bits < exact.joint_bits
    published = published_of(disclosure_edition(sample(LARGE)), who, 1)
    assert_is(given, who.posteriors[:, 1], who.sensitive, published)
    truth = Release(who.predictions, labels=who.labels, statistics=RATES).publish(who.sensitive)
    true = {number.statistic: number.value for number in truth.numbers}
    assert len(published.numbers) == 9 and {number.statistic for number in published.numbers} == set(true)
    for number in published.numbers:
        assert number.low - 1e-9 <= true[number.statistic] <= number.high + 1e-9
        assert number.high - number.low <= 0.00101


def test_two_groups_leave_the_counts_that_give_every_number_as_it_is_printed():
    """Of 70,000 and 150,000 people 105,000 are accepted; rates, unfairness and ratio are printed."""
    edition, (n, m, accepted) = disclosure_edition(sample(LARGE)), (70_000, 150_000, 105_000)
    own, others = (g["test_rate"] for g in edition["groups"])
    (ratio,) = (found["estimate"] for found in edition["measurements"] if found["check"] == "four_fifths")

    def same(k: int, n: int, stated: dict) -> bool:
        rate = proportion(k, n)
        return printed(rate.value, rate.low, rate.high) == tuple(stated[end] for end in ("value", "low", "high"))

    by_rates = [k for k in range(n + 1) if same(k, n, own) and same(accepted - k, m, others)]
    left = []
    for k in by_rates:
        rates = (k / n, (accepted - k) / m)
        gap = max(abs(rate - accepted / (n + m)) for rate in rates)
        told = round(gap, 3), round(min(rates) / max(rates), 2)
        left += [k] if told == (edition["model"]["unfairness_test"]["value"], ratio["value"]) else []
    assert 0 < len(left) < len(by_rates)
    numbers = {one.statistic: one for one in published_of(edition, people_of(LARGE), 1).numbers}
    assert (numbers["sp_rate_1"].low * n, numbers["sp_rate_1"].high * n) == pytest.approx((left[0], left[-1]))
    ends = accepted - left[-1], accepted - left[0]
    assert (numbers["sp_rate_0"].low * m, numbers["sp_rate_0"].high * m) == pytest.approx(ends)


def planted(groups, few: int = 12) -> ReleasedPeople:
    """Return people of whom a reader knows everybody's group but that of the first so many accepted of one group."""
    who = people_of(groups)
    open_ = np.flatnonzero((who.codes == 1) & (who.predictions[0] == 1) & (who.labels == 0))[:few]
    k = len(groups)
    certain = np.where(np.eye(k)[who.codes] == 1, 1 - 1e-6 * (k - 1), 1e-6)
    certain[open_] = np.where(np.arange(k) == 0, 0.6, 0.4 / (k - 1))
    return replace(who, posteriors=certain)


EVEN = tuple(group(name, (40, 30, 20, 60), 200, 400) for name in ("a", "b", "c"))


@pytest.mark.parametrize("groups", [EVEN[:2], EVEN, GROUPS, TINY])
@pytest.mark.parametrize("leaking", [False, True])
def test_the_meter_sees_what_an_attack_on_all_groups_at_once_sees(groups, leaking: bool):
    """Of the edition for others: planted, its numbers settle twelve people; of more groups all cards are read."""
    who = planted(groups, few=4 if groups is TINY else 12) if leaking else people_of(groups)
    reports, _ = metered(groups, who)
    row = row_of(reports, "disclosure")
    bits, settled = attacked(disclosure_edition(sample(groups)), who)
    if groups is TINY:
        assert (bits, settled.size, row.bits.value, row.pinned) == (0, 0, 0, 0)
        return
    settles = leaking and groups is not GROUPS
    assert (row.pinned, row.pinned_right, settled.size) == ((12, 12, 12) if settles else (0, 0, 0))
    seen = row.bits.value if len(groups) == 2 else reports.cards[-1].joint_bits
    assert seen == pytest.approx(bits, rel=1e-3)
    if len(groups) > 2:
        assert seen > row.bits.value and f"All groups read together: {bits:.1f} bits." in reports.meter.told


def test_of_more_groups_the_one_with_the_most_bits_is_told():
    audit, who = metered(SMALL_GROUPS)
    release = Release(who.predictions, labels=who.labels, statistics=RATES)
    bits = {
        name: predict(who.posteriors[:, g], release.publish((who.codes == g).astype(np.uint8))).bits.value
        for g, name in enumerate(who.group_names)
    }
    row = row_of(audit, "every_digit")
    assert row.df_bits == pytest.approx(max(bits.values())) and row.group == max(bits, key=bits.get)
    assert row.numbers == 9  # sizes, and rates of this group and of all others
    assert f"Of {row.group} against all others: Information gain" in audit.meter.told


def test_of_more_groups_the_one_that_exposes_the_most_people_is_told():
    """The group with the most bits exposes nobody here, another one twelve people."""
    groups = (*EVEN, group("d", (40, 30, 20, 60), 200, 400))
    who = people_of(groups)
    planted = (who.predictions[0] == 1) & (who.labels == 0)
    certain = np.where(np.eye(4)[who.codes] == 1, 1 - 3e-6, 1e-6)
    certain[np.flatnonzero((who.codes == 1) & planted)[:12]] = [1e-6, 0.4, 0.6 - 2e-6, 1e-6]
    certain[np.isin(who.codes, (0, 3)) & ~planted] = [0.5 - 1e-6, 1e-6, 1e-6, 0.5 - 1e-6]
    audit, _ = metered(groups, replace(who, posteriors=certain))
    assert row_of(audit, "disclosure").pinned == 12
    assert "nearly certain of the sex of 12 people" in exposure(audit.document("disclosure"))


def test_forms_about_different_groups_are_not_held_against_each_others_control():
    cells = ((400, 300, 200, 600), (40, 30, 25, 60), (30, 40, 20, 50))
    groups = tuple(group(name, own, 200, 5000) for name, own in zip("abc", cells, strict=True))
    audit, _ = metered(groups, people_of(groups, seed=1))
    first, other, _ = audit.cards
    assert other.row.group != first.row.group
    assert meter_of([other]).accuracy_before == other.study.measured.accuracy_before
    rows = list(csv.DictReader(audit.files()["release-meter.csv"].decode("utf-8-sig").splitlines()))
    assert float(rows[0]["accuracy before"]) == pytest.approx(first.study.measured.accuracy_before.value, abs=1e-6)
    assert (rows[1]["group"], rows[1]["accuracy before"]) == (other.row.group, "")


def test_twelve_people_are_pinned_by_every_digit_and_not_by_what_others_get():
    who = replace(people_of(TINY), posteriors=np.full((12, 2), 0.5))
    audit, _ = metered(TINY, who)
    whole, given = row_of(audit, "every_digit"), row_of(audit, "disclosure")
    assert (whole.pinned, whole.pinned_right, whole.unsure) == (12, 12, 12)
    assert whole.bits.value == pytest.approx(12) and whole.prior_bits == pytest.approx(12)
    assert (given.numbers, given.df_bits, given.bits.value, given.pinned, given.status) == (0, 0.0, 0.0, 0, "nothing")
    assert given.prior_bits == pytest.approx(12)
    assert audit.meter.told == (
        "This report, every digit (files); This report, as the page prints it: Information gain over imputation: 12.0 "
        "bits in total (95% CI: 4.2 to 12.0; expected: 1.5). Near-certain inference: 12 of 12 people whose sex was "
        "uncertain. All 12 correct. External report (redacted): No size or rate of a group on the test records is "
        "published: they reveal nothing."
    )
    assert "Majority-class baseline (always guess “b”): 50%" in audit.meter.control


def test_the_edition_tells_its_bits_only_where_nothing_is_withheld():
    audit, _ = metered()
    told = audit.document("disclosure")["release_meter"]
    assert [row["form"] for row in told["forms"]] == ["disclosure"]
    own = row_of(audit, "disclosure")
    assert told["forms"][0]["df_bits"] == round(own.df_bits, 1)
    assert told["forms"][0]["bits"]["value"] == pytest.approx(own.bits.value, abs=0.05 + 1e-9)
    bits = told["forms"][0]["bits"]
    gain = f"Information gain over imputation: {bits['value']:.0f} bits in total (95% CI: {bits['low']:.0f} to"
    assert f"External report (redacted): {gain}" in told["told"]
    cut = []
    for groups in (SMALL_GROUPS, TINY):
        cut.append(metered(groups)[0].document("disclosure")["release_meter"])
    assert cut[0] == cut[1]  # one sentence, whatever was found
    assert (cut[0]["outcome"], cut[0]["forms"], cut[0]["people"]) == ("withheld", [], 0)
    assert not any(character.isdigit() for character in cut[0]["told"] + cut[0]["control"])


def test_what_cannot_be_metered_is_said_in_one_sentence():
    nobody = Reports(sample()).meter
    assert nobody.outcome == "not_run" and nobody.forms == () and nobody.told.count(". ") == 0
    untold = metered(who="it knows 3 people")[0].meter
    assert untold.told == "What the fairness numbers reveal was not estimated: it knows 3 people."
    others = metered(who=people_of(LARGE))[0].meter
    assert others.outcome == "failed" and others.reason and math.isnan(others.majority.value)
    edition = disclosure_edition(sample(), people="it knows 3 people")
    assert edition["release_meter"]["outcome"] == "not_run" and "3" not in edition["release_meter"]["told"]
    assert "not at hand" in disclosure_edition(sample())["release_meter"]["told"]


@settings(max_examples=100)
@given(st.floats(0, 1), st.floats(0, 0.2), st.floats(0, 0.2))
def test_rounding_grows_intervals_and_shows_its_own_decimals(value, down, up):
    low, high = max(0.0, value - down), min(1.0, value + up)
    told = printed(value, low, high)
    if low == high:
        assert told == (round(value, 3),) * 3  # computed, not estimated: no interval to grow
        return
    assert told[1] <= low + 1e-9 and high - 1e-9 <= told[2]
    decimals = decimals_of(told[1], told[2])
    assert all(round(number, decimals) == number for number in told)
    assert abs(told[0] - value) <= 0.5 * 10.0**-decimals + 1e-9
