"""The desk: what is charged, free, refused and told, on both databases; its noise and what all of it reveals."""

import itertools
import math
import secrets
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import FairLeakError, InputError
from core.desk import TestSet, desk_roles, example_ledger, open_ledger, verify_export
from core.desk.findings import price, prices, suggested_price
from core.desk.ledger import MOST_WRONG_FILES
from core.desk.noise import (
    NoisyNumber,
    centred,
    discrete_laplace,
    gap_interval,
    gap_value,
    millionths,
    on_grid,
    release,
    standard_error,
)
from core.store import chain
from core.studies.bias_queries import statistical_parity_gap
from tests.ledger_work import ATTRIBUTE, NAME, people, question, seeded

H, G = question(1), question(2)


def ask(ledger, scores, epsilon=0.3, **more):
    return ledger.ask(NAME, people(), scores, epsilon=epsilon, asker="team A", **more)


def changed(**changes):
    original = people()
    return TestSet(**{"ids": original.ids, "attribute": original.attribute, "labels": original.labels} | changes)


def flipped(person):
    """The registered test set with another attribute of one person; of none where there is no such number."""
    attribute = people().attribute
    return changed(attribute=np.where(np.arange(60) == person, 1 - attribute, attribute))


def fresh(test_set=None, budget=1, **more):
    ledger = example_ledger(1)
    ledger.register(NAME, test_set or people(), budget=budget, roles=ATTRIBUTE, **more)
    return ledger


def test_a_question_is_charged_once_and_its_repeats_are_free(ledger):
    first, second = ask(ledger, H), ask(ledger, G)
    assert (first.charged, second.charged, second.remaining) == (0.3, 0.3, 1.2)
    status = ledger.status(NAME)
    for scores, answer in ((H, first), (G[:], second)):
        again = ledger.ask(NAME, people(), scores, epsilon=5, asker="team B")  # whatever is offered
        assert (again.number, again.gap, again.seal, again.asker) == (answer.number, answer.gap, answer.seal, "team A")
        assert again.from_past and again.charged == 0 and again.remaining == 1.2
    assert ledger.status(NAME) == status  # not written a second time
    assert ask(ledger, 1 - H).charged == 0.3  # what could be computed from the past is a question like any other


@pytest.mark.parametrize("metric", ["statistical_parity", "equal_opportunity"])
def test_scores_that_are_all_the_same_have_no_gap_and_no_price(metric, ledger):
    answer = ask(ledger, np.full(60, 0.7), metric=metric)
    assert answer.gap.value == 0 and answer.charged == 0 and answer.standard_error < 1e-6
    assert ask(ledger, np.full(60, 0.7), metric=metric, again=True).number == answer.number
    quote = ledger.quote(NAME, people(), np.ones(60), epsilon=1, metric=metric)
    assert quote.charged == 0 and "earlier" not in price(quote, 1)[0]  # there is none


@given(st.integers(1, 10**9).map(lambda amount: amount / 10**6))
def test_prices_begin_with_a_small_share_and_end_with_all_that_remains(remaining):
    offered = prices(remaining, least=1e-6)
    assert offered[-1] == remaining and list(offered) == sorted(set(offered))
    assert all(0 < millionths(offer, name="price") <= millionths(remaining, name="left") for offer in offered)
    assert len({f"{offer:.10g}" for offer in offered}) == len(offered) <= 20
    first = suggested_price(remaining, least=1e-6)
    assert first in offered and (remaining <= 0.001 or 0.03 * remaining <= first <= 0.07 * remaining)


def test_answers_are_near_the_truth_when_the_budget_is_large(location):
    ledger = open_ledger(location, create=True)
    ledger.register(NAME, people(), budget=1000, roles=ATTRIBUTE, count_epsilon=300)
    attribute, positive = people().attribute, people().labels == 1
    truth = statistical_parity_gap(H, attribute)[0]
    assert ask(ledger, H, 200).gap.value == pytest.approx(truth, abs=0.003)
    answer = ask(ledger, G, 150, metric="equal_opportunity")
    truth = statistical_parity_gap(G[positive], attribute[positive])[0]
    assert answer.gap.value == pytest.approx(truth, abs=0.006)
    assert (answer.gap.n, answer.gap.level, answer.charged) == (people().n_positive, 0.95, 450)


def test_equal_opportunity_pays_for_its_count_once(ledger):
    first, second = (ask(ledger, scores, 0.2, metric="equal_opportunity") for scores in (H, G))
    assert (first.charged, second.charged) == (0.4, 0.2)
    assert ask(ledger, H, metric="equal_opportunity").from_past
    assert ask(ledger, H, 0.1).charged == 0.1  # who has no positive label was never asked about
    rescored = np.where(people().labels == 1, H, 1 - H)  # the same question about those with label 1
    assert ask(ledger, rescored, metric="equal_opportunity").number == first.number


def test_a_question_over_budget_is_refused_and_leaves_no_trace(ledger):
    before = ledger.status(NAME)
    answer = ask(ledger, H, 1.9)
    assert answer.refused and np.isnan(answer.gap.value) and answer.charged == 0 and answer.seal is None
    assert answer.reason == "The question costs epsilon 1.9, and 1.8 of 2 is left for 'loans'."
    assert ledger.status(NAME) == before
    assert not ask(ledger, H, 1.8).refused  # to the last millionth
    assert ask(ledger, G, 0.002).refused
    assert ask(ledger, H, 1000).from_past  # what is free stays free
    assert ledger.status(NAME).remaining == 0


def test_refusals_do_not_depend_on_the_attribute():
    outcomes = []
    for person in range(4):
        test_set = flipped(person)
        ledger = fresh(test_set)
        questions = [(H, 0.3), (H, 0.3), (G, 0.4), (H * G, 0.3), (H * G, 0.2), (np.zeros(60), 1)]
        answers = [ledger.ask(NAME, test_set, h, epsilon=e, asker="x") for h, e in questions]
        outcomes.append([(a.refused, a.reason, a.charged, a.from_past, a.remaining) for a in answers])
    assert all(outcome == outcomes[0] for outcome in outcomes) and outcomes[0][3][0]


def test_paying_again_gives_a_new_answer_and_repeats_the_most_precise_answer(ledger):
    cheap = ask(ledger, H, 0.002)
    quote = ledger.quote(NAME, people(), H, epsilon=1)
    assert quote.from_past and quote.coarse and quote.standard_error == cheap.standard_error
    dear = ask(ledger, H, 1, again=True)
    assert dear.charged == 1 and dear.standard_error == pytest.approx(quote.fresh_error, rel=0.5)
    assert dear.gap != cheap.gap
    assert ask(ledger, H, 0.002, again=True).number == dear.number + 1
    assert ask(ledger, H).number == dear.number
    quote = ledger.quote(NAME, people(), H, epsilon=0.5)
    assert quote.from_past and not quote.coarse
    assert ledger.quote(NAME, people(), G, epsilon=0.5).fresh_error is None


def test_a_quote_says_what_will_be_charged_and_releases_nothing(location):
    ledger = open_ledger(location, create=True)
    ledger.register(NAME, people(), budget=400, roles=ATTRIBUTE, count_epsilon=40)
    for scores, metric in ((H, "statistical_parity"), (H, "equal_opportunity"), (1 - H, "equal_opportunity")):
        before = ledger.status(NAME)
        quote = ledger.quote(NAME, people(), scores, epsilon=60, metric=metric)
        assert ledger.status(NAME) == before
        answer = ask(ledger, scores, 60, metric=metric)
        assert (quote.charged, quote.from_past, quote.refused) == (answer.charged, answer.from_past, False)
        assert quote.standard_error == pytest.approx(answer.standard_error, rel=0.5)
    assert ledger.quote(NAME, people(), G, epsilon=500).refused


def test_neither_attribute_nor_identifiers_nor_predictions_are_stored(ledger, location):
    ask(ledger, H)
    stored = ledger.record()[0]
    if "://" not in location:
        stored += b"".join(path.read_bytes() for path in Path(location).parent.glob("store*"))
    for order in (np.arange(60), people().order):
        for attribute in (people().attribute[order], 1 - people().attribute[order]):
            assert attribute.astype(np.uint8).tobytes() not in stored
            assert "".join(map(str, attribute)).encode() not in stored
        assert np.rint(H[order] * (1 << 24)).astype("<i4").tobytes() not in stored
    assert b"person 1" not in stored


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"scores": np.full(60, np.nan)}, r"must be in \[0, 1\], got nan"),
        ({"epsilon": 0.00099}, "epsilon must be at least 0.001, a thousandth of the budget of 'loans', got 0.00099"),
        ({"asker": " "}, "asker must be 1 to 80 printable characters"),
    ],
)
def test_bad_questions(changes, message):
    ledger = fresh()
    arguments = {"scores": H, "epsilon": 0.1, "asker": "x"} | changes
    with pytest.raises(InputError, match=message):
        ledger.ask(NAME, people(), **arguments)
    assert ledger.status(NAME).spent == 0.1


@pytest.mark.parametrize(
    ("location", "create", "message"),
    [
        ("nothing", False, "There is no ledger at"),
        (".", True, "A ledger must be a file or a PostgreSQL URL"),
        ("mysql://localhost/x", True, "a URL of 'mysql'"),
        (str(Path(__file__).parent / "ledger.sqlite"), True, "must not lie in FairLeak's own folder"),
        ("x" * 400, True, "ledger"),
        ("nul\0.sqlite", False, "ledger"),
    ],
)
def test_places_that_are_none(location, create, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message) as error:
        open_ledger(location, create=create)
    assert "\n" not in str(error.value)
    assert not [*tmp_path.iterdir()]


def test_a_password_among_a_urls_options_is_not_told_either():
    pytest.importorskip("psycopg")
    with pytest.raises(FairLeakError) as error:
        open_ledger("postgresql://someone@127.0.0.1:9/x?password=secret&connect_timeout=2&sslpassword=secret")
    assert "someone" in str(error.value) and "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "test_set", "attribute", "message"),
    [
        (NAME, people(30, seed=4), "sex", "registered already"),
        ("again", people(), "sex", "have a budget for this attribute already, under the name 'loans'"),
        ("again", TestSet(ids=people().ids[::-1], attribute=people().attribute[::-1]), "gender", "budget"),
        ("again", flipped(3), "SEX", "have a budget"),
        ("again", flipped(3), "gender", "have a budget already, as 'loans' for 'sex'"),
    ],
)
def test_nobody_gets_a_second_budget(name, test_set, attribute, message):
    ledger = fresh()
    with pytest.raises(InputError, match=message):
        ledger.register(name, test_set, budget=1, roles=desk_roles(attribute))
    assert len(ledger.statuses()) == 1


def test_another_attribute_of_the_same_people_has_a_separate_budget(ledger):
    race = TestSet(ids=people().ids, attribute=np.arange(60) % 2)
    with pytest.raises(InputError, match="have a budget already, as 'loans' for 'sex'; if 'race' is another attribute"):
        ledger.register("race", race, budget=1, roles=desk_roles("race"))
    ledger.register("race", race, budget=1, roles=desk_roles("race"), another_attribute=True)
    assert ledger.status("race").remaining == 0.9
    assert b'"another_attribute":true' in ledger.record()[0]


@pytest.mark.parametrize(
    ("test_set", "counted"),
    [
        (people(61), 0),
        (changed(ids=("stranger", *people().ids[1:])), 0),
        (changed(attribute=np.roll(people().attribute, 1)), 1),
        (changed(labels=np.roll(people().labels, 1)), 1),
    ],
)
def test_all_wrong_files_are_told_the_same_and_guesses_go_on_record(test_set, counted):
    ledger, scores = fresh(), question(1, test_set.n)
    for use in (partial(ledger.ask, asker="x"), ledger.quote) * 2:  # the same file twice tells nothing new
        with pytest.raises(InputError) as refusal:
            use(NAME, test_set, scores, epsilon=0.1)
        wrong = "The test set must be the one registered as 'loans'; this file is not the registered one."
        assert str(refusal.value) == wrong
    status = ledger.status(NAME)
    assert status.answers == () and status.wrong_files == counted and status.spent == 0.1
    assert verify_export(ledger.record()[0]).n_entries == 2 + counted


def test_so_many_guesses_and_no_more_are_compared():
    """Each wrong file tells one fact about the attribute exactly; twenty of them close the registration."""
    ledger = fresh()
    messages = []
    for person in range(MOST_WRONG_FILES + 5):
        with pytest.raises(InputError) as quoted:
            ledger.quote(NAME, flipped(person), H, epsilon=0.1)
        messages.append(str(quoted.value))
    with pytest.raises(InputError, match="'loans' is closed: 20 files"):  # the right one too: a difference would tell
        ledger.quote(NAME, people(), H, epsilon=0.1)
    assert len(set(messages[:MOST_WRONG_FILES])) == len(set(messages[MOST_WRONG_FILES:])) == 1
    assert ledger.status(NAME).wrong_files == MOST_WRONG_FILES
    assert verify_export(ledger.record()[0]).ok


@pytest.mark.parametrize("labels", [people().attribute, 1 - people().attribute])
def test_the_attribute_is_no_true_outcome(labels):
    with pytest.raises(InputError, match="must say something else than the sensitive attribute"):
        fresh(changed(labels=labels))


def test_a_clock_that_was_ahead_does_not_break_the_record(monkeypatch):
    ledger = fresh()
    for number, time in enumerate(("2031-05-06T07:08:09Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")):
        monkeypatch.setattr(chain, "now", lambda time=time: time)
        ask(ledger, question(number), 0.1)
    assert [answer.time for answer in ledger.status(NAME).answers] == ["2031-05-06T07:08:09Z"] * 3
    assert verify_export(ledger.record()[0]).ok


def test_a_registration_tells_nothing_about_a_guessed_attribute():
    messages = []
    for person in (60, 0):
        ledger, test_set = fresh(), flipped(person)
        for name in ("sex", "gender"):
            with pytest.raises(InputError) as refusal:
                ledger.register("x", test_set, budget=1, roles=desk_roles(name))
            messages.append(str(refusal.value))
        ledger.register("x", test_set, budget=1, roles=desk_roles("gender"), another_attribute=True)
    assert messages[:2] == messages[2:]


@pytest.mark.parametrize("moved", [60, 1], ids=["all people", "all with label 1"])
def test_an_empty_group_is_accepted_and_answered_like_any_group(moved):
    """Otherwise what succeeds would tell that both groups occur, among all people or those with a positive label."""
    attribute = people().labels.copy()
    attribute[np.flatnonzero(attribute == 0)[:moved]] = 1
    test_set = changed(attribute=attribute)
    ledger = fresh(test_set, 5, count_epsilon=1)
    size = ledger.status(NAME).n_disadvantaged
    assert 0 <= size.low <= (attribute == 0).sum() <= size.high <= 60
    for metric in ("statistical_parity", "equal_opportunity"):
        answer = ledger.ask(NAME, test_set, H, epsilon=0.1, metric=metric, asker="x")
        assert not answer.refused and -1 <= answer.gap.low <= answer.gap.value <= answer.gap.high <= 1


OPENED_WITH = open_ledger.__kwdefaults__["randbelow"]
"""Before any test replaces it."""


def law(x, numerator, denominator):
    p = math.exp(-denominator / numerator)
    return (1 - p) / (1 + p) * p ** abs(x)


@pytest.mark.parametrize(("numerator", "denominator"), [(1, 2), (5, 2), (10, 1)])
def test_the_noise_has_the_law_it_should(numerator, denominator):
    randbelow = seeded(numerator * 10 + denominator)
    noise, nobody = NoisyNumber(numerator, denominator * 1_000_000, 1.0), np.zeros(1, dtype=bool)
    draws = np.array([release(np.ones(1), nobody, noise, randbelow) for _ in range(20_000)])
    values = np.arange(-4 * numerator, 4 * numerator + 1)
    expected = np.array([law(x, numerator, denominator) for x in values]) * draws.size
    observed = (draws == values[:, None]).sum(axis=1)
    keep = expected > 5
    assert keep.sum() >= 3
    chi2 = float((np.square(observed - expected) / expected)[keep].sum())
    assert chi2 < keep.sum() + 4 * math.sqrt(2 * keep.sum())


def test_noise_comes_from_the_operating_system():
    assert OPENED_WITH is secrets.randbelow
    assert len({discrete_laplace(10**9, 1, secrets.randbelow) for _ in range(20)}) == 20


@given(st.integers(1, 200), st.integers(1, 1000), st.floats(0.5, 0.999))
def test_the_bound_is_the_quantile(reach, thousandths, level):
    noise = NoisyNumber(reach, thousandths * 1000, 1.0)
    p = math.exp(-thousandths / (1000 * reach))
    bound = noise.bound(level)
    beyond = 2 * p ** (bound + 1) / (1 + p)
    assert beyond <= (1 - level) * (1 + 1e-9)
    assert bound == 0 or 2 * p**bound / (1 + p) > (1 - level) * (1 - 1e-9)


def test_the_size_of_the_disadvantaged_group_has_the_shortest_interval_of_its_level():
    ledger = example_ledger(1)
    ledger.register(NAME, people(400), budget=1, roles=ATTRIBUTE, count_epsilon=0.5)
    size = ledger.status(NAME).n_disadvantaged
    half = round(size.high - size.value)
    assert size.value - size.low == size.high - size.value == half
    held, shorter = (sum(law(x, 2, 1) for x in range(-k, k + 1)) for k in (half, half - 1))
    assert shorter < size.level <= held


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_everything_released_together_stays_within_what_was_spent(seed):
    """All that a ledger released about 5 people; a neighbour is another attribute of one, which moves each sum.

    The largest |log P(u | sum x) - log P(u | sum y)| over u is |x - y| epsilon / reach, exactly.
    """
    rng = np.random.default_rng(seed)
    n, labels = 5, np.array([1, 1, 1, 0, 0])
    test_set = TestSet(ids=tuple("abcde"), attribute=np.array([0, 1, 0, 1, 1]), labels=labels)
    ledger = example_ledger(seed)
    ledger.register(NAME, test_set, budget=3, roles=ATTRIBUTE, count_epsilon=0.125)
    steps = {}
    for _ in range(8):
        h = rng.random(n) if rng.random() < 0.5 else rng.integers(0, 2, n)
        metric = ("statistical_parity", "equal_opportunity")[int(rng.integers(2))]
        again = bool(rng.random() < 0.2)
        epsilon = float(rng.choice([0.1, 0.25, 0.7]))
        answer = ledger.ask(NAME, test_set, h, epsilon=epsilon, metric=metric, asker="x", again=again)
        steps[answer.number] = on_grid(h)
    account = ledger._current_state().accounts[NAME]
    metrics = {answer.number: answer.metric for answer in account.answers}
    losses = [Fraction(0)] * n
    for (entry, part), number in account.released.items():
        people = np.ones(n, bool) if metrics.get(entry) != "equal_opportunity" else labels == 1
        moves = centred(steps[entry], people)[0] if part == "sum" else people.astype(np.int64)
        for person, move in enumerate(np.abs(moves).tolist()):
            losses[person] += Fraction(move * number.epsilon, number.reach)
    assert len(account.released) >= 3
    assert 0 < max(losses) <= account.spent <= account.budget == 3_000_000


@settings(max_examples=60)
@given(st.integers(0, 2**31), st.floats(0, 3), st.floats(0, 3), st.floats(-1, 1), st.floats(-1, 1))
def test_the_interval_holds_every_gap_that_fits(seed, reach, count_reach, by, count_by):
    """Brute force over all attribute vectors: sum and count within their errors put the gap into the interval."""
    rng = np.random.default_rng(seed)
    n = 7
    h = rng.random(n) if seed % 2 else rng.integers(0, 2, n).astype(float)
    constant = float(rng.random())
    secret = rng.permutation(n) < rng.integers(1, n)
    part = float((h - constant)[secret].sum()) + by * reach
    count = float(secret.sum()) + count_by * count_reach
    interval = gap_interval(h - constant, part=part, reach=reach, count=count, count_reach=count_reach)
    assert -1 <= interval.low <= interval.value <= interval.high <= 1 and interval.level == 0.95
    everybody = np.array(list(itertools.product((0, 1), repeat=n))[1:-1])  # both groups occur
    complement, g = 1 - everybody, h - constant
    gaps = everybody @ h / everybody.sum(axis=1) - complement @ h / complement.sum(axis=1)
    fits = (np.abs(complement @ g - part) <= reach) & (np.abs(complement.sum(axis=1) - count) <= count_reach)
    assert ((interval.low - 1e-9 <= gaps) & (gaps <= interval.high + 1e-9))[fits].all()


@given(st.integers(0, 2**31), st.floats(-2, 2))
def test_the_gap_is_the_papers_and_does_not_depend_on_the_constant(seed, constant):
    rng = np.random.default_rng(seed)
    h, a = rng.random(9), np.array([0, 0, 1, 1, 0, 1, 1, 1, 0])
    g = h - constant
    assert gap_value(g.sum(), g[a == 0].sum(), 4, 9) == pytest.approx(statistical_parity_gap(h, a)[0])


def test_the_standard_error_is_the_derivative():
    h, step = np.linspace(-0.5, 0.5, 11) ** 3, 1e-6
    total, n = float(h.sum()), h.size
    at = gap_value(total, 0.2, 4, n)
    slopes = np.array([gap_value(total, 0.2 + step, 4, n) - at, gap_value(total, 0.2, 4 + step, n) - at]) / step
    actual = standard_error(n, total=total, part=0.2, deviation=0.01, count=4, count_deviation=0.03)
    assert actual == pytest.approx(np.hypot(*(slopes * (0.01, 0.03))), rel=1e-3)
