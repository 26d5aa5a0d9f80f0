"""People at risk: every find and every fix against brute force, no leak and a planted one."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from core.auditing.plan import read_plan
from core.auditing.run import audited_of, measured
from core.base.errors import InputError
from core.base.validation import child_generator
from core.stats.estimates import Estimate, proportion
from core.studies.correction import soft_correct, true_tolerance
from core.studies.membership import MembershipSettings
from core.studies.membership.study import STUDY as MEMBERSHIP
from core.studies.model_card import ModelCardSettings, measure_card
from core.studies.people import ATTACKS, PEOPLE, PeopleAtRisk, PeopleSettings, people_attacks
from core.studies.people.people_at_risk import plan_text, plans, remaining_leaks, remedies_of
from core.studies.people.people_attacks import CARDS, IdentifiedRecords, PeopleAttacks, _write, inferred
from core.studies.people.people_study import draw_sets, fix_text, signs_of, why_nobody, without_fix
from core.studies.study import draw_people, posterior
from core.studies.study import subject_of as planted_subject_of
from core.studies.subject import AuditConfig, prior_of, subject_of
from tests import release_samples, samples
from tests.unit.charts.checks import check, written

SETTINGS = PeopleSettings(people=60, answers=20, noise="exact", models=6, shadows=4)
CONFIG = AuditConfig(method="unmitigated", tolerance=0.05, seed=7)


@pytest.fixture(scope="module")
def subject():
    return subject_of(CONFIG, samples.dataset(3600))


@pytest.fixture(scope="module")
def result(subject):
    *_, outcome = PEOPLE.run(subject, SETTINGS)
    assert outcome.at_least(2) and {True, False} == set(map(bool, outcome.fixes))  # there is something to check
    return outcome


@pytest.mark.long
def test_every_find_is_what_the_attack_by_itself_finds(subject, result):
    dataset, model, splits = subject.dataset, subject.model, subject.splits
    prior = prior_of(dataset, splits, splits.train, seed=CONFIG.seed)
    tolerance = true_tolerance(CONFIG.tolerance, model.unfairness_train)
    after = soft_correct(prior, model.predictions[splits.train], tolerance=tolerance)
    truth = dataset.sensitive[result.rows]
    chosen = [splits.train.tolist().index(row) for row in result.rows]
    before, corrected = prior[chosen, truth], after[chosen, truth] >= 0.995
    assert (result.groups == truth).all() and (result.imputed == (before > 0.95)).all()
    assert (result.identified[:, 1] == corrected).all()
    assert (result.leaks[:, 1] == corrected & (before <= 0.95)).all()
    *_, membership = MEMBERSHIP.run(subject, MembershipSettings(shadows=SETTINGS.shadows))
    name = max(membership.guesses, key=lambda name: membership.curves[name].tpr_at(0.01).value)
    score = np.zeros(dataset.n)
    score[membership.rows], _ = membership.guesses[name]
    above = score[splits.test] >= score[result.rows][:, np.newaxis]
    assert (result.identified[:, 4] == (above.mean(axis=1) <= 0.01)).all()
    card = ModelCardSettings(family="mixed", count=6, on="train", decimals=3, seed=CONFIG.seed)
    people = subject.once(CARDS.format(6), pytest.fail)
    study = measure_card(people.some(60, seed=CONFIG.seed), card)
    disclosed = study.pinned.people[study.pinned.inferred == study.people.sensitive[study.pinned.people]]
    assert set(disclosed) <= set(np.flatnonzero(result.leaks[:, 3]))  # who was below 5% before is found too
    assert [attack.reason for attack in result.attacks] == [""] * 5


@pytest.mark.long
def test_every_fix_frees_when_everything_is_run_again_and_nothing_smaller_does(subject, result):
    remedies = remedies_of(subject, SETTINGS)
    assert {remedy.slot for remedy in remedies} == {"outputs", "correction", "queries", "card", "training"}
    freed_by, subjects = {}, {}
    for plan in plans(remedies):
        config, settings, outputs = subject.config, SETTINGS, subject.outputs
        for remedy in plan:
            settings = replace(settings, **dict(remedy.change))
            outputs = remedy.outputs or outputs
            if remedy.training is not None:
                config = replace(config, method="dp_id3", epsilon=remedy.training)
        if (config, outputs) not in subjects:
            subjects[config, outputs] = subject_of(config, subject.dataset).releasing(outputs)
        again = subjects[config, outputs]
        people = subject.once(CARDS.format(settings.models), pytest.fail)
        predictions = np.vstack([again.model.predictions[people.rows][np.newaxis], people.predictions[1:]])
        # the card's variants, which no remedy changes, are not trained once more
        again.once(CARDS.format(settings.models), partial(replace, people, predictions=predictions))
        attacks = PeopleAttacks(again, settings)
        freed_by[plan] = ~np.logical_or.reduce([attacks.run(name, settings).leak for name in ATTACKS])
    at_risk = np.flatnonzero(result.number)
    assert {len(result.fixes[person]) for person in at_risk} == {1, 2, 3}
    for person in at_risk:
        first = next((plan for plan, freed in freed_by.items() if freed[person]), ())
        assert plan_text(result.fixes[person]) == plan_text(first), person
    for effect in result.effects:
        assert effect.freed == int(freed_by[effect.plan][at_risk].sum())
        assert effect.remaining == int((~freed_by[effect.plan]).sum())
        assert effect.new == effect.remaining - len(at_risk) + effect.freed


def test_a_remedy_under_which_an_attack_cannot_be_run_frees_nobody_of_it(monkeypatch):
    def fails(people, card):
        if card.decimals == 1:
            raise InputError("Nothing fits these numbers.")
        return measure_card(people, card)

    monkeypatch.setattr(people_attacks, "measure_card", fails)
    subject, settings = twins(planted=True), PeopleSettings(models=20, shadows=0, decimals=5)
    attacks = PeopleAttacks(subject, settings)
    (remedy,) = [remedy for remedy in remedies_of(subject, settings) if remedy.title == "card with 1 decimal"]
    before, after = (remaining_leaks(attacks, remedies)["card"] for remedies in ((), (remedy,)))
    assert before.any()
    assert np.array_equal(before, after)


def test_codes_are_of_one_of_two_groups_and_of_each_of_three():
    codes = [PeopleAttacks._codes(SimpleNamespace(prior=np.full((5, groups), 1 / groups)), 1) for groups in (2, 3)]
    assert codes == [[1], [0, 1, 2]]


def test_as_many_exact_answers_as_people_find_everybody_of_two_groups():
    settings = replace(SETTINGS, answers=60, models=2)
    attacks, same = (PeopleAttacks(subject_of(CONFIG, samples.dataset(600)), settings) for _ in range(2))
    assert attacks.run("queries", settings).identified.all()
    same.truth = np.full(same.n, np.bincount(same.dataset.sensitive).argmax())
    assert "at least 2 people of each group" in same.run("queries", settings).reason


def risk(leaks, **changes):
    """Return people whom attacks find as an (n, attacks) array says."""
    n = len(leaks)
    attacks = tuple(
        IdentifiedRecords(attack=name, identified=hits, leak=hits, chance=0.5)
        for name, hits in zip(ATTACKS, leaks.T, strict=True)
    )
    result = PeopleAtRisk(
        attribute="origin",
        group_names=("south", "<b>north</b>"),
        rows=np.arange(100, 100 + n),
        groups=(np.arange(n) % 2).astype(np.uint8),
        columns=samples.frame(n),
        attacks=attacks,
        imputed=np.zeros(n, dtype=np.bool_),
        fixes=((),) * n,
        effects=(),
    )
    return replace(result, **changes)


def nobody(n=50):
    return np.zeros((n, len(ATTACKS)), dtype=np.bool_)


def test_expected_number_of_people_of_two_attacks_by_hand():
    """One finds half of the people and one a quarter: by chance an eighth is found by both, and 3/8 by none."""
    leaks = nobody(8)
    leaks[:4, 0] = leaks[:2, 3] = True
    result = risk(leaks)
    assert [result.expected(k) for k in range(3)] == pytest.approx([8, 5, 1])
    assert [result.at_least(k) for k in range(3)] == [8, 4, 2]


@pytest.mark.parametrize(("people", "groups"), [(2, 3), (3, 2)])
def test_write_changes_the_other_group_only_where_there_are_two(people, groups):
    after = np.full((people, groups), 1 / groups)
    _write(after, np.array([0]), 1, np.array([0.9]))
    row = [0.1, 0.9] if groups == 2 else [1 / 3, 0.9, 1 / 3]
    assert after[0] == pytest.approx(row)
    assert after[1:] == pytest.approx(1 / groups)


@pytest.mark.parametrize(("right", "low", "high"), [(0.0, 0.0, 0.00625), (0.3, 0.9, 1.0)], ids=["random", "knowing"])
@pytest.mark.parametrize("claimed", [0.005, 0.02, 0.1])
def test_claims_at_random_seldom_pass_for_a_leak_and_claims_that_know_do(claimed, right, low, high):
    rng, n, tables = np.random.default_rng(5), 1000, 200
    prior, beyond = np.full((n, 2), 0.5), []
    for _ in range(tables):
        truth = (rng.random(n) < 0.9).astype(np.uint8)
        claims = rng.random(n) < claimed + right * truth
        after = np.where(claims[:, None], [0.001, 0.999], prior)
        beyond.append(inferred("card", prior, after, truth).beyond_chance)
    assert low <= np.mean(beyond) < high + 3 * (0.00625 / tables) ** 0.5  # 2.5% of four attacks together


SETS = (300, 400, 1000)


def twins(*, planted):
    """Return a model without leak, and a twin of it on the card that differs in one person's answer, or in none."""
    n, seed = sum(SETS), 5
    people = draw_people(n, child_generator(seed, "twins"))
    lots = child_generator(seed, "lots").integers(0, 2, n).astype(np.uint8)
    twin_subject = planted_subject_of(people, lots, SETS, seed=seed)
    rows = np.arange(SETS[0])
    posteriors = posterior(people)[rows]
    unsure = int(np.abs(posteriors - 0.5).argmin())
    twin = lots[rows].copy()
    twin[unsure] ^= planted
    everybody = replace(
        release_samples.people(SETS[0], 2),
        group="group 1",
        group_names=("group 0", "group 1"),
        posteriors=np.column_stack([1 - posteriors, posteriors]),
        codes=people.sensitive[rows],
        rows=rows,
        predictions=np.stack([lots[rows], twin]),
        labels=people.labels[rows],
    )
    twin_subject.once(CARDS.format(20), lambda: everybody)
    twin_subject.once("unsure", lambda: unsure)
    return twin_subject


def test_twin_models_on_a_card_find_the_one_person_and_a_coarser_card_frees_them():
    subject = twins(planted=True)
    settings = PeopleSettings(models=20, shadows=0, decimals=5)
    *_, result = PEOPLE.run(subject, settings)
    person = subject.once("unsure", pytest.fail)
    assert np.flatnonzero(result.number).tolist() == [person]
    assert result.leaks[person].tolist() == [False, False, False, True, False]
    (fix,) = result.fixes[person]
    assert fix.slot == "card"
    *_, again = PEOPLE.run(twins(planted=True), replace(settings, **dict(fix.change)))
    assert not again.leaks[:, 3].any()


def test_nobody_is_found_without_a_leak():
    *_, result = PEOPLE.run(twins(planted=False), PeopleSettings(models=20, shadows=0))
    assert not result.leaks.any()
    assert not any(result.fixes)
    finding = PEOPLE.findings(result, PeopleSettings())[0]
    assert finding.point == "People found by an attack: 0 of 300. Not run: Bias queries, Membership."
    assert finding.to_do.startswith("Read the Report")


@pytest.mark.long
def test_people_at_risk_agree_with_the_report_of_the_same_plan():
    plan = read_plan(
        '[data]\nfile = "t.csv"\nlabel = "hired"\npositive = "yes"\nfavourable = "yes"\nsensitive = "origin"\n'
        'group = ["north"]\n[model]\ntrain_share = 0.3\n[outputs]\ndecimals = 2\n[model_card]\ndecimals = 2\n'
        '[bias_queries]\nquestions = 12\nmechanism = "laplace"\n[membership]\nshadows = 4\n'
        'attacks = ["lira"]\n[people]\npeople = 1000\n'
    )
    audited, settings, answers = audited_of(plan, samples.table(3040)), plan.people_settings, plan.bias_queries
    planned = (answers.questions, answers.mechanism, answers.epsilon, plan.membership.shadows)
    assert (settings.answers, settings.noise, settings.answer_epsilon, settings.shadows) == planned
    assert (settings.models, settings.decimals) == (1, 2)
    attacks = PeopleAttacks(audited, settings)
    outputs, members = (attacks.run(name, settings) for name in ("outputs", "membership"))
    report = {name: measured(name, audited) for name in ("attribute_excess", "membership_auc", "membership_caught")}
    assert members.average == report["membership_auc"].estimate
    assert outputs.measure != "accuracy" or outputs.average == report["attribute_excess"].estimate
    assert outputs.setting == "predicted labels and scores with 2 decimals"
    # All training records are drawn: the rate of the report is theirs, but for ties and ranks between people.
    assert attacks.n == audited.splits.train.size
    assert abs(members.identified.mean() - report["membership_caught"].estimate.value) < 0.005


def test_why_nobody_names_the_gain_that_makes_no_one_certain():
    gain = Estimate(value=0.049, low=0.02, high=0.08, n=50)
    hits = np.zeros(50, dtype=np.bool_)
    attack = IdentifiedRecords(attack="outputs", identified=hits, leak=hits, measure="accuracy", average=gain)
    changes = ({}, {"average": replace(gain, low=-0.01)}, {"beyond_chance": True})
    certain, *silent = (why_nobody(risk(nobody(), attacks=(replace(attack, **change),))) for change in changes)
    assert "(+4.9 points of accuracy over imputation)" in certain and "nobody" in certain
    assert silent == ["", ""]


def test_an_attack_that_was_not_run_finds_nobody_and_clears_nobody():
    hits, gain = np.zeros(50, dtype=np.bool_), Estimate(value=0.71, low=0.68, high=0.74, n=50)
    changes = {"reason": "Non-members are too few.", "average": gain, "measure": "auc"}
    attack = IdentifiedRecords(attack="membership", identified=hits, leak=hits, **changes)
    result = risk(nobody(), attacks=(*risk(nobody()).attacks[:4], attack))
    headline, *_ = PEOPLE.findings(result, SETTINGS)
    assert headline.point == "People found by an attack: 0 of 50. Not run: Membership."
    assert "Membership: a gain on average (AUC 0.71, chance 0.50); it was not run on single people." in headline.so_what
    assert headline.caveats == ("Membership was not run on single people: Non-members are too few.",)
    assert list(signs_of(result, 0)) == ["·"] * 4 + ["–"]


def test_without_fix_is_said_once_for_all_people():
    leaks = nobody()
    leaks[:9, 1] = True
    result = risk(leaks)
    assert without_fix(result, result.chosen()).startswith("No remedy on the list frees 9 of these 9;")
    assert not any(fix_text(result, int(index)) for index in result.chosen())


def test_chosen_finds_a_person_by_identifier():
    result = risk(nobody())
    names = [f"A-{row}" for row in result.rows]
    assert result.chosen(record=f" A-{result.rows[3]} ", identifiers=names).tolist() == [3]
    with pytest.raises(InputError, match="one of the 50 people drawn, got x"):
        result.chosen(record="x", identifiers=names)


@pytest.mark.parametrize(
    ("sizes", "claimed", "leaks", "chance"),
    [
        ((0, 50), range(20), 20, 0.0),  # nobody of another group could have been claimed wrongly
        ((10, 40), (0, *range(35, 50)), 15, 4.0),  # of 10 in group 0 one is claimed for group 1, which has 40
    ],
)
def test_inferred_expects_as_many_chance_finds_as_the_rate_of_wrong_claims(sizes, claimed, leaks, chance):
    truth = np.repeat([0, 1], sizes).astype(np.uint8)
    after = np.where(np.isin(np.arange(50), claimed)[:, None], [0.001, 0.999], 0.5)
    records = inferred("card", np.full((50, 2), 0.5), after, truth)
    assert records.leak.sum() == leaks
    assert not records.leak[0] or chance == 0
    assert records.chance == pytest.approx(chance)
    assert chance or not records.beyond_chance


def test_a_row_a_set_with_its_attacks_and_its_number():
    leaks = nobody()
    leaks[:9, 4] = leaks[6:20, 2] = leaks[0, :] = True
    drawing = draw_sets(risk(leaks))
    figure = check(drawing)
    rows = {row["attacks"]: row["people"] for row in drawing.rows}
    sets = ("Bias queries", "Membership", "Bias queries and Membership", " and ".join(ATTACKS.values()))
    assert rows == dict(zip(sets, (11, 5, 3, 1), strict=True))
    assert [text for text in written(figure) if text in {"11", "5", "3", "1"}][-4:] == ["11", "5", "3", "1"]
    bars = [trace for trace in figure.data if trace.type == "bar"]
    lengths = [bar.x[0] for bar in bars]
    assert np.array(lengths) / lengths[0] == pytest.approx(np.array([11, 5, 3, 1]) / 11)
    assert len({bar.base[0] for bar in bars}) == 1


def test_rates_are_the_share_of_each_group_that_is_found_with_its_interval():
    leaks = nobody()
    leaks[:10, 0] = leaks[2:5, 1] = leaks[20, 2] = True  # 6 of 25 even rows, 5 of 25 odd ones
    assert risk(leaks).rates == (proportion(6, 25), proportion(5, 25))
