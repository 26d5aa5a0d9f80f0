"""The attack on an edition's own numbers: hand-counted statements, and what they can and cannot tell."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.model_card import attacker_posteriors
from core.projection import project
from core.release_audit.inputs import attacked_people
from core.report import AttackedPeople, document
from core.report.canonical import decimals_of, printed, strict
from core.report.edition_attack import Statement, attack_edition, constraints_of, independent, statements_of
from tests.report_people import people_of
from tests.samples_report import GROUPS, SMALL_GROUPS, group, sample

disclosure_edition = partial(document, edition="disclosure")


def people(groups=GROUPS, **settings_):
    return AttackedPeople(**people_of(groups, **settings_))


def test_every_statement_holds_for_the_people_it_is_about():
    for groups in (GROUPS, SMALL_GROUPS):
        who = people(groups)
        edition = disclosure_edition(sample(groups))
        pattern = who.predictions + 2 * who.labels
        for told in statements_of(edition, who.predictions, who.labels, who.group_names):
            count = sum(told.patterns[p] for p in pattern[who.sensitive == told.group])
            assert told.low <= count <= told.high


def test_two_groups_rates_are_four_exact_answers():
    found = attack_edition(disclosure_edition(sample(GROUPS)), people())
    assert (found.outcome, found.numbers, found.equations, found.exact) == ("done", 14, 4, 4)
    assert found.people == 14924


def test_rounded_rates_of_large_groups_are_intervals():
    large = (
        group("a", (20_000, 10_000, 15_000, 25_000), 40_000, 90_000),
        group("b", (40_000, 20_000, 30_000, 60_000), 80_000, 190_000),
    )
    who = people(large)
    edition = disclosure_edition(sample(large))
    hits = [s for s in statements_of(edition, who.predictions, who.labels, who.group_names) if not s.exact]
    assert hits and all(0 < s.high - s.low <= 110 for s in hits)
    assert attack_edition(edition, who).exact < attack_edition(edition, who).equations


def test_the_projection_meets_the_statements_and_helps_the_truth():
    who = people(seed=3)
    edition = disclosure_edition(sample(GROUPS))
    told = statements_of(edition, who.predictions, who.labels, who.group_names)
    found = project(who.prior, constraints_of(told, who.predictions, who.labels, 2))
    assert found.converged
    pattern = who.predictions + 2 * who.labels
    for statement in told:
        expected = sum(statement.patterns[p] * found.probability[pattern == p, statement.group].sum() for p in range(4))
        assert statement.low - 1e-6 <= expected <= statement.high + 1e-6
    attack = attack_edition(edition, who)
    assert attack.bits >= found.value / math.log(2) - 1e-6 > 0
    assert attack.bits <= attack.prior_bits


def test_a_prior_that_already_knows_the_shares_learns_less():
    who = people()
    cell = who.predictions + 2 * who.labels
    share = np.array([(who.sensitive[cell == c] == 1).mean() for c in range(4)])[cell]
    knowing = replace(who, prior=np.column_stack([1 - share, share]))
    edition = disclosure_edition(sample(GROUPS))
    assert abs(attack_edition(edition, knowing).bits) < 1e-3
    assert attack_edition(edition, who).bits > 100
    assert attack_edition(edition, knowing).gain.value == 0.0


def test_twelve_people_are_named_by_their_group_sizes():
    tiny = (group("a", (6, 0, 0, 0), 10, 20), group("b", (0, 0, 0, 6), 10, 20))
    audit = sample(tiny)
    who = people(tiny, sharpness=0.2)
    whole = {**disclosure_edition(audit), "groups": strict(audit.groups)}
    found = attack_edition(whole, replace(who, prior=np.full((12, 2), 0.5)))
    assert found.after.value == 1.0 and found.accuracy_before.value == 0.5
    assert found.pinned == found.pinned_right == 12
    assert found.bits == pytest.approx(12, abs=1e-3)
    edition = disclosure_edition(audit)
    assert edition["groups"][0]["test_rate"] is None
    cut = attack_edition(edition, who)
    assert cut.equations == 0 and cut.bits == 0.0 and "No size or rate of a group" in cut.told


def test_more_than_two_groups():
    who = people(SMALL_GROUPS)
    found = attack_edition(disclosure_edition(sample(SMALL_GROUPS)), who)
    assert found.outcome == "done" and found.numbers == 16 and 0 < found.equations <= 16
    assert found.bits > 0


def test_without_people_the_edition_says_that_it_was_not_attacked():
    edition = disclosure_edition(sample())
    assert edition["edition_attack"]["outcome"] == "not_run"
    assert "was not attacked before it was written" in edition["edition_attack"]["told"]
    told = disclosure_edition(sample(), people=people())["edition_attack"]
    assert told["outcome"] == "done"
    assert "linear equations about 14,924 test people" in told["told"]
    assert "from features and label alone" in told["told"]


def test_people_of_another_audit_are_refused():
    with pytest.raises(InputError, match="groups must be those of the people, got 'women'"):
        disclosure_edition(sample(), people=replace(people(), group_names=("x", "y")))
    few = AttackedPeople(**{k: v if k == "group_names" else v[::3] for k, v in people_of().items()})
    with pytest.raises(InputError, match="must not have more than the 4,975 people attacked"):
        disclosure_edition(sample(), people=few)


def test_independent_statements_are_counted_by_hand():
    def of(group_, label=None, accepted=False):
        return Statement(group=group_, label=label, accepted=accepted, low=1, high=1)

    assert of(0).patterns == (1, 1, 1, 1) and of(0, 1, True).patterns == (0, 0, 0, 1)
    assert independent([], 2) == 0
    assert independent([of(0), of(1)], 2) == 1  # the second is the rest
    assert independent([of(0), of(0, 0), of(0, 1)], 2) == 2
    assert independent([of(g) for g in range(3)], 3) == 2


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


def test_the_people_of_a_real_audit():
    from core.config import AuditConfig
    from core.datasets.splits import split
    from core.subject import train_model
    from tests.samples import dataset

    data = dataset(600)
    config = AuditConfig(method="unmitigated", seed=1)
    splits = split(data, seed=1)
    model = train_model(config, data, splits)
    found = attacked_people(data, splits, model, seed=1)
    assert found.predictions.size == splits.test.size
    assert found.prior.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(found.posterior, attacker_posteriors(data, splits, splits.test, seed=1))
    truth = found.sensitive
    assert (found.prior.argmax(axis=1) == truth).mean() > max(truth.mean(), 1 - truth.mean())
