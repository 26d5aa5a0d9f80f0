"""The release meter on a report's own numbers: what core.model_card says of them, and what others read."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from html import unescape

import numpy as np
import pytest

from core.estimates import Estimate
from core.model_card import Release, measured, meter, pinned, predict, project
from core.release_audit import same_numbers
from core.report import AttackedPeople, csv_files, document, from_json, meter_of, to_html, to_json
from core.report.document import sealed
from core.report.edition_attack import attack_edition, statements_of
from core.report.edition_meter import BITS_OF_THE_EDITION, BITS_OF_THE_METER, published_of, told_of
from tests.report_people import people_of
from tests.samples_report import GROUPS, SMALL_GROUPS, group, sample

disclosure_edition = partial(document, edition="disclosure")

RATES = ("sp_rate", "tpr_rate", "fpr_rate")
TINY = (group("a", (6, 0, 0, 0), 10, 20), group("b", (0, 0, 0, 6), 10, 20))
LARGE = (
    group("a", (20_000, 10_000, 15_000, 25_000), 40_000, 90_000),
    group("b", (40_000, 20_000, 30_000, 60_000), 80_000, 190_000),
)


def people(groups=GROUPS, **settings):
    return AttackedPeople(**people_of(groups, **settings))


def metered(groups=GROUPS, who=None):
    who = people(groups) if who is None else who
    return replace(sample(groups), release_meter=meter_of(sample(groups), who)), who


def row_of(audit, form):
    return next(row for row in audit.release_meter.forms if row.form == form)


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
    assert_is(row, who.posterior[:, 1], who.sensitive, release.publish(who.sensitive))


def test_the_digits_of_a_large_table_leave_something_open():
    audit, who = metered(LARGE)
    exact, printed, given = (row_of(audit, form) for form in ("every_digit", "page", "disclosure"))
    assert given.df_bits == printed.df_bits < exact.df_bits
    assert given.joint_bits < exact.joint_bits
    told = statements_of(disclosure_edition(sample(LARGE)), who.predictions, who.labels, who.group_names)
    published = published_of(told, who, 1)
    assert_is(given, who.posterior[:, 1], who.sensitive, published)
    truth = Release(who.predictions, labels=who.labels, statistics=RATES).publish(who.sensitive)
    true = {number.statistic: number.value for number in truth.numbers}
    assert len(published.numbers) == 9 and {number.statistic for number in published.numbers} == set(true)
    for number in published.numbers:
        assert number.low - 1e-9 <= true[number.statistic] <= number.high + 1e-9
        assert number.high - number.low <= 0.00101


def test_of_more_groups_the_one_with_the_most_bits_is_told():
    audit, who = metered(SMALL_GROUPS)
    release = Release(who.predictions, labels=who.labels, statistics=RATES)
    bits = {
        name: predict(who.posterior[:, g], release.publish((who.sensitive == g).astype(np.uint8))).bits.value
        for g, name in enumerate(who.group_names)
    }
    row = row_of(audit, "every_digit")
    assert row.df_bits == pytest.approx(max(bits.values())) and row.group == max(bits, key=bits.get)
    assert row.numbers == 6  # sizes and rates of this group; the others' are not read
    assert "each of the groups was metered" in audit.release_meter.told.lower()


def test_twelve_people_are_pinned_by_every_digit_and_not_by_what_others_get():
    who = replace(people(TINY), posterior=np.full((12, 2), 0.5))
    audit, _ = metered(TINY, who)
    whole, given = row_of(audit, "every_digit"), row_of(audit, "disclosure")
    assert (whole.pinned, whole.pinned_right, whole.unsure) == (12, 12, 12)
    assert whole.bits.value == pytest.approx(12) and whole.prior_bits == pytest.approx(12)
    assert (given.numbers, given.df_bits, given.bits.value, given.pinned, given.status) == (0, 0.0, 0.0, 0, "nothing")
    assert given.prior_bits == pytest.approx(12)
    assert audit.release_meter.told == (
        "Features and label leave open 12.0 bits of who is in which group, and the attacker unsure about 12 people. Of "
        "this the fairness numbers of this report tell: with every digit, as in the files and as the page prints them "
        "alike, 12.0 bits (95%: 4.2 to 12.0; the meter predicted 1.5, below that), 12 of 12 people unsure before "
        "pinned down, 12 rightly; in the disclosure edition, nothing, "
        "for no size or rate of a group on the test records stands there."
    )
    assert "right for 50% (" in audit.release_meter.control


def test_the_attack_on_the_edition_counts_other_bits_only_where_its_probabilities_differ():
    audit, who = metered()
    logit = np.log(who.posterior[:, 1] / who.posterior[:, 0]) + 0.7
    worse = np.column_stack([1 / (1 + np.exp(logit)), 1 / (1 + np.exp(-logit))])
    edition = disclosure_edition(audit, people=replace(who, prior=worse))
    bits = row_of(audit, "disclosure").bits.value
    assert edition["release_meter"]["forms"][0]["bits"]["value"] == round(bits, 1)
    assert edition["edition_attack"]["bits"] > 1.5 * bits
    assert attack_edition(edition, replace(who, prior=who.posterior)).bits == pytest.approx(bits, abs=1e-3)
    page = unescape(to_html(document(audit, edition="disclosure", people=replace(who, prior=worse))))
    assert BITS_OF_THE_EDITION in page and BITS_OF_THE_METER in page
    internal = unescape(to_html(document(audit)))
    assert BITS_OF_THE_EDITION not in internal and BITS_OF_THE_METER in internal


def test_the_edition_tells_its_bits_only_where_nothing_is_withheld():
    audit, who = metered()
    told = disclosure_edition(audit, people=who)["release_meter"]
    assert [row["form"] for row in told["forms"]] == ["disclosure"]
    own = row_of(audit, "disclosure")
    assert told["forms"][0]["df_bits"] == round(own.df_bits, 1)
    assert told["forms"][0]["bits"]["value"] == pytest.approx(own.bits.value, abs=0.05 + 1e-9)
    bits = told["forms"][0]["bits"]
    assert f"the fairness numbers of this edition tell {bits['value']} bits (95%: {bits['low']:.1f} to" in told["told"]
    cut = []
    for groups in (SMALL_GROUPS, TINY):
        audit, who = metered(groups)
        cut.append(disclosure_edition(audit, people=who)["release_meter"])
    assert cut[0] == cut[1]  # one sentence, whatever was found
    assert (cut[0]["outcome"], cut[0]["forms"], cut[0]["people"]) == ("withheld", [], 0)
    assert not any(character.isdigit() for character in cut[0]["told"] + cut[0]["control"])


def test_what_cannot_be_metered_is_said_in_one_sentence():
    nobody = meter_of(sample(), None)
    assert nobody.outcome == "not_run" and nobody.forms == () and nobody.told.count(". ") == 0
    untold = meter_of(sample(), replace(people(), posterior=None, reason="it knows 3 people"))
    assert untold.told == "What the fairness numbers give away was not metered: it knows 3 people."
    others = meter_of(sample(), people(LARGE))
    assert others.outcome == "failed" and others.reason and math.isnan(others.majority.value)
    edition = disclosure_edition(sample(), people=replace(people(), posterior=None, reason="it knows 3 people"))
    assert edition["release_meter"]["outcome"] == "not_run" and "3" not in edition["release_meter"]["told"]
    assert "not at hand" in disclosure_edition(sample())["release_meter"]["told"]


@pytest.mark.parametrize("groups", [GROUPS, SMALL_GROUPS, TINY])
def test_both_editions_follow_the_schema_and_are_drawn(groups):
    audit, who = metered(groups)
    for edition in ("internal", "disclosure"):
        told = document(audit, edition=edition, people=who)
        assert from_json(to_json(told)) == told
        page, files = to_html(told), csv_files(told)
        assert "What the numbers of this report give away" in page and told["release_meter"]["control"][:20] in page
        assert ("release-meter.csv" in files) == bool(told["release_meter"]["forms"])
        assert "posterior" not in to_json(told).replace("posterior before", "")
    rows = csv_files(document(audit))["release-meter.csv"].decode("utf-8-sig").splitlines()
    assert len(rows) == 4 and rows[1].startswith('"every_digit","')


def test_a_report_of_before_the_meter_is_read_drawn_and_compared():
    audit, _ = metered()
    new = document(audit)
    old = {name: value for name, value in new.items() if name not in ("release_meter", "fingerprint")}
    old = sealed(old)
    assert from_json(to_json(old)) == old
    assert "What the numbers of this report give away" not in to_html(old) and "release-meter.csv" not in csv_files(old)
    assert same_numbers(old, new).status == "identical"
    other = {**new, "release_meter": {**new["release_meter"], "people": 3}}
    assert same_numbers(new, other).status == "different"
    assert same_numbers(new, old).status == "different"


def test_what_holds_for_all_forms_is_said_once_and_each_measured_number_has_its_interval():
    audit, _ = metered(LARGE)
    meter_, said = audit.release_meter, audit.release_meter.told
    assert said.count("who is in which group") == said.count("unsure about") == said.count("fairness numbers") == 1
    assert len(said) < 700
    for form in ("every_digit", "page", "disclosure"):
        row = row_of(audit, form)
        ends = f"95%: {row.bits.low:,.1f} to {row.bits.high:,.1f}; the meter predicted {row.df_bits:,.1f}"
        below = ", below that" if row.df_bits < row.bits.low else ""
        assert f"{row.bits.value:,.1f} bits ({ends}{below})".replace("-", "−") in said
    assert {row.group for row in meter_.forms} == {"a"} or {row.group for row in meter_.forms} == {"b"}


def test_a_prediction_outside_the_interval_is_called_so():
    audit, _ = metered()
    row = replace(row_of(audit, "page"), bits=Estimate(value=20.0, low=10.0, high=30.0, n=9, level=0.95), unsure=1)
    for predicted, side in ((9.9, ", below that"), (10.0, ""), (30.0, ""), (30.1, ", above that")):
        said = told_of([replace(row, df_bits=predicted)], 2)
        assert f"20.0 bits (95%: 10.0 to 30.0; the meter predicted {predicted}{side})" in said
    assert "unsure about one person." in said and "nobody pinned down." in said


def test_forms_about_different_groups_each_say_of_which():
    audit, _ = metered()
    row = replace(row_of(audit, "page"), bits=Estimate(value=20.0, low=10.0, high=30.0, n=9, level=0.95))
    rows = [replace(row, form="every_digit", group="east"), replace(row, group="west", prior_bits=99.0)]
    said = told_of([*rows, replace(row, form="disclosure", numbers=0)], 3)
    assert "with every digit, as in the files, about east against all others, 20.0 bits (" in said
    assert " of 99.0 bits left open, nobody of " in said and "in the disclosure edition, nothing, for" in said
    assert said.count("Each of the groups was metered") == 1
